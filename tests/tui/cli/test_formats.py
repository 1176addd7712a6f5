"""Commands that list give text to a terminal and JSON to a pipe; commands that judge give text everywhere."""

import json
import os
import subprocess
from pathlib import Path

import click
import pytest

from tests.test_command_reference import COMMANDS
from tests.tui.cli.command_line import MAIN, PROJECT, memsift
from tests.tui.cli.every_command import PLAIN, plain, prepare

LISTS = {
    "activity",
    "config",
    "history",
    "list",
    "phrases list",
    "phrases missing",
    "prompts",
    "quality list",
    "search",
}
LISTS |= {"show", "trust"}
FORMATS = {
    name.partition(" ")[2]: param.type.choices
    for name, command in COMMANDS.items()
    for param in command.params
    if param.name == "form" and isinstance(param.type, click.Choice)
}
BOTH = sorted(name for name, choices in FORMATS.items() if {"text", "json"} <= {*choices})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_json(text: str) -> bool:
    try:
        return bool([json.loads(line) for line in text.splitlines()] if text[:2] == '{"' else [json.loads(text)])
    except ValueError:
        return False


@pytest.mark.usefixtures("place")
def test_a_pipe_gets_json_from_lists_and_text_from_judgements() -> None:
    assert set(BOTH) >= LISTS
    memsift("tag", "job-queue-skip-locked", "--root", "root", "--add", "new")
    found = {name: is_json(memsift(*plain(name)).stdout) for name in BOTH}
    assert {name for name, is_list in found.items() if is_list} == LISTS


def on_terminal(*arguments: str, cwd: Path) -> str:
    reader, writer = os.openpty()
    environ = {**os.environ, "PYTHONPATH": str(PROJECT), "TERM": "dumb"}
    subprocess.run([*MAIN, *arguments], env=environ, cwd=cwd, stdin=subprocess.DEVNULL, stdout=writer, timeout=60)
    os.close(writer)
    try:
        return os.read(reader, 100_000).decode().replace("\r\n", "\n")
    finally:
        os.close(reader)


def test_a_terminal_gets_text(place: Path) -> None:
    for name in ("search", "list", "prompts"):
        shown = on_terminal(*plain(name), cwd=place)
        assert shown
        assert not is_json(shown), name
    assert is_json(on_terminal(*plain("show"), "--format", "json", cwd=place))
    assert {name for name in LISTS if "--format" in PLAIN[name]} == set()
