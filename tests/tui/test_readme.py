"""The READMEs: the top one names every command, and all links lead to files."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tui.cli import COMMANDS, main

PROJECT = Path(__file__).resolve().parent.parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
READMES = [
    "README.md",
    *(
        str(path.relative_to(PROJECT))
        for part in ("engine", "labels", "tui", "tests")
        for path in sorted((PROJECT / part).rglob("README.md"))
    ),
]


def test_every_command_and_option_is_in_the_readme() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command
        assert f"memsift {name}" in README
        for parameter in command.params:
            missing = [option for option in parameter.opts if option.startswith("--") and option not in README]
            assert not missing, f"memsift {name}: {missing}"


def test_the_readme_has_a_picture() -> None:
    assert any(target.endswith(".svg") for target in targets(README))


@pytest.mark.parametrize("path", READMES)
def test_every_link_leads_to_a_file(path: str) -> None:
    text = (PROJECT / path).read_text(encoding="utf-8")
    assert [target for target in targets(text) if not ((PROJECT / path).parent / target).exists()] == []


def targets(text: str) -> list[str]:
    """The relative links and pictures of a page."""
    return [target for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in target]
