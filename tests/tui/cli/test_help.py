"""`--help` can be read like a manual page, and a shell can complete what it lists."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import click
import pytest

from engine.config import GUARD
from labels.exchange.registry import FORMATS
from tests.test_command_reference import COMMANDS as ALL_COMMANDS
from tests.tui.cli.command_line import memsift, process
from tui.cli.declaring import SUBJECTS

JUDGED = ("", "search", "replay", "judge", "label", "quality judge", "phrases write")
HELP = {name.partition(" ")[2]: command for name, command in ALL_COMMANDS.items()} | {"phrases": None, "quality": None}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Command -> its help in 80 columns."""
    return {name: memsift(*name.split(), "--help", COLUMNS="80").stdout for name in HELP}


def test_every_command_explains_itself_in_80_columns(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        lines = text.splitlines()
        assert text.startswith("Usage: memsift"), name
        assert not lines[2].startswith("Options:"), "the help says nothing about the command"
        assert [line for line in lines if len(line) > 80] == [], name
        assert [line for line in lines if "RANGE" in line] == []  # click's word for a number within limits
    assert memsift("search", "-h", COLUMNS="80").stdout == texts["search"]
    assert [name for name in texts if name.partition(" ")[0] not in texts[""]] == []
    options = [(name, param) for name, command in ALL_COMMANDS.items() for param in command.params]
    assert [(name, param.opts) for name, param in options if isinstance(param, click.Option) and not param.help] == []


def test_the_options_of_the_judge_come_last_and_no_description_is_cut(texts: dict[str, str]) -> None:
    for name in JUDGED:
        lines = texts[name].splitlines()
        headings = [line for line in lines if line[:1].isalpha() and line.endswith(":")]
        commands = [f"{title}:" for title in SUBJECTS] if not name else []
        assert headings[-2 - len(commands) :] == ["Options:", *commands, "Options of the judge:"]
        judge = lines.index("Options of the judge:")
        assert [line for line in lines[:judge] if line.startswith("  --judge")] == []
        assert any(line.startswith("  --judge NAME") for line in lines[judge:])
    for name in ("", "quality", "phrases", "config"):
        listed = texts[name].partition("\nCommands")[2].partition("Options of the judge:")[0].splitlines()
        assert len(listed) > 3
        assert [line for line in listed if line.endswith("...") and "ID" not in line] == []


EVERY_HELP = """
import sys
from tests.tui.cli.command_line import memsift
from tests.tui.cli.test_help import HELP
for name in HELP:
    print(memsift(*name.split(), "--help", COLUMNS="80").stdout)
"""


@pytest.mark.slow
def test_help_is_the_same_where_python_drops_docstrings(texts: dict[str, str]) -> None:
    optimized = process(code=[sys.executable, "-OO", "-c", EVERY_HELP]).stdout
    assert optimized == "".join(f"{text}\n" for text in texts.values())


def test_every_help_has_an_example_that_can_be_typed(
    texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", StringIO("an-id\n"))
    Path("labels.jsonl").touch()
    Path("labels.csv").touch()
    for name, text in texts.items():
        shown = re.search(r"^  Examples?:\n((?:    .+\n)+)", text.replace("\\\n", ""), re.MULTILINE)
        assert shown, f"{name} --help has no example"
        assert shown[1].strip().startswith(f"memsift {name}".strip()), name
        for line in re.split(r" \| |\n", shown[1].strip()):
            words = shlex.split(line.split(" > ")[0])
            command = " ".join(words[:3]) if " ".join(words[:3]) in ALL_COMMANDS else " ".join(words[:2])
            found = ALL_COMMANDS[command if command in ALL_COMMANDS else "memsift"]
            found.make_context(command, words[len(command.split()) if command in ALL_COMMANDS else 1 :])


def test_the_help_names_every_variable_that_is_read() -> None:
    source = Path(__file__).parents[3]
    files = (path for package in ("engine", "labels", "tui") for path in (source / package).rglob("*.py"))
    read = {name for path in files for name in re.findall('"(MEMSIFT_[A-Z_]*[A-Z])"', path.read_text("utf-8"))}
    text = memsift("--help").stdout
    named = set(re.findall("MEMSIFT_[A-Z_]+", text[text.index("Environment variables") :]))
    assert named == read - {GUARD}


def test_the_help_defines_the_words_that_commands_use_and_that_of_export_names_every_format() -> None:
    text = memsift("--help").stdout
    words = text[text.index("Words:") : text.index("Files (")]
    used = ("memory", "root", "auto memory", "system", "cutoff", "judge", "label")
    assert [word for word in used if word not in words] == []
    formats = re.split(r"[\s,.]+", memsift("export", "--help", COLUMNS="200").stdout)
    assert [name for name in FORMATS if name not in formats] == []


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_options_and_their_values(tmp_path: Path) -> None:
    program = tmp_path / "memsift"
    code = "from tui.cli import main; main(prog_name='memsift')"
    program.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -c "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    for shell in ("bash", "zsh", "fish"):
        assert "_MEMSIFT_COMPLETE" in memsift("completion", shell).stdout, shell
    script = memsift("completion", "bash").stdout

    def completed(*words: str) -> list[str]:
        call = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _memsift_completion memsift"
        done = subprocess.run(
            ["bash", "-c", f'{script}\n{call}; printf "%s\\n" "${{COMPREPLY[@]}}"'],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert completed("memsift", "inst") == ["install"]
    assert completed("memsift", "doctor", "--format", "j") == ["json"]
