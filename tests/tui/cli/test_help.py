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
from tests.tui.cli.test_commands import COMMANDS
from tui.cli.declaring import SUBJECTS

JUDGED = ("", "search", "replay", "judge", "label", "quality judge", "phrases write")


def test_every_command_explains_itself_in_80_columns() -> None:
    for command in ["", *COMMANDS]:
        text = memsift(*command.split(), "--help", COLUMNS="80").stdout
        lines = text.splitlines()
        assert memsift(*command.split(), "-h", COLUMNS="80").stdout == text
        assert text.startswith("Usage: memsift"), command
        assert not lines[2].startswith("Options:"), "the help says nothing about the command"
        assert all(name in text for name in (COMMANDS if not command else ()))
        assert [line for line in lines if len(line) > 80] == [], command
        assert [line for line in lines if "RANGE" in line] == []  # click's word for a number within limits


def test_the_options_of_the_judge_come_last() -> None:
    for command in JUDGED:
        lines = memsift(*command.split(), "--help").stdout.splitlines()
        headings = [line for line in lines if line[:1].isalpha() and line.endswith(":")]
        commands = [f"{title}:" for title in SUBJECTS] if not command else []
        assert headings[-2 - len(commands) :] == ["Options:", *commands, "Options of the judge:"]
        judge = lines.index("Options of the judge:")
        assert [line for line in lines[:judge] if line.startswith("  --judge")] == []
        assert any(line.startswith("  --judge NAME") for line in lines[judge:])
        assert any("--help" in line for line in lines[:judge])


def test_no_description_of_a_command_is_cut() -> None:
    for command in ("", "quality", "phrases", "config"):
        lines = memsift(*command.split(), "--help").stdout.splitlines()
        begin = next(number for number, line in enumerate(lines) if line.startswith("Commands"))
        end = lines.index("Options of the judge:") if not command else len(lines)
        assert end - begin > 3
        assert [line for line in lines[begin:end] if line.endswith("...") and "ID" not in line] == []


def test_every_option_has_a_text() -> None:
    options = [(name, param) for name, command in ALL_COMMANDS.items() for param in command.params]
    assert [(name, param.opts) for name, param in options if isinstance(param, click.Option) and not param.help] == []


EVERY_HELP = """
import sys
from tests.test_command_reference import COMMANDS
from tests.tui.cli.command_line import memsift
for name in COMMANDS:
    print(memsift(*name.split()[1:], "--help", COLUMNS="80").stdout)
"""


def test_help_is_the_same_where_python_drops_docstrings() -> None:
    optimized = process(code=[sys.executable, "-OO", "-c", EVERY_HELP]).stdout
    usual = "".join(f"{memsift(*name.split()[1:], '--help', COLUMNS='80').stdout}\n" for name in ALL_COMMANDS)
    assert optimized == usual
    assert usual.count("Usage: memsift") == len(ALL_COMMANDS)


def examples(name: str) -> list[str]:
    """The command lines below "Example" in the help of a command."""
    text = memsift(*name.split()[1:], "--help", COLUMNS="80").stdout.replace("\\\n", "")
    shown = re.search(r"^  Examples?:\n((?:    .+\n)+)", text, re.MULTILINE)
    return shown[1].splitlines() if shown else []


def test_every_help_has_an_example_that_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", StringIO("an-id\n"))
    Path("labels.jsonl").touch()
    Path("labels.csv").touch()
    for name in (*ALL_COMMANDS, "memsift phrases", "memsift quality"):
        lines = examples(name)
        assert lines, f"{name} --help has no example"
        assert lines[0].strip().startswith(name), name
        for line in re.split(r" \| |\n", "\n".join(lines)):
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


def test_the_completion_of_a_shell_is_printed() -> None:
    for shell in ("bash", "zsh", "fish"):
        done = memsift("completion", shell)
        assert (done.exit_code, "_MEMSIFT_COMPLETE" in done.stdout) == (0, True), shell


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_options_and_their_values(tmp_path: Path) -> None:
    program = tmp_path / "memsift"
    code = "from tui.cli import main; main(prog_name='memsift')"
    program.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -c "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
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
    assert completed("memsift", "search", "--include") == ["--include-retired"]
    assert completed("memsift", "doctor", "--format", "j") == ["json"]
