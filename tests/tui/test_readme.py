"""The README says what there is, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tui.cli import COMMANDS, main

PROJECT = Path(__file__).resolve().parent.parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_every_command_and_option_is_in_the_readme() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command
        assert f"memsift {name}" in README
        for parameter in command.params:
            missing = [option for option in parameter.opts if option.startswith("--") and option not in README]
            assert not missing, f"memsift {name}: {missing}"


def test_every_picture_and_file_of_the_readme_exists() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in target]
    assert any(target.endswith(".svg") for target in targets)
    assert [target for target in targets if not (PROJECT / target).exists()] == []
