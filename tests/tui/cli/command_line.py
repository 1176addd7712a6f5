"""`memsift` as a test runs it: in this process, or as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from tui.cli import main

if TYPE_CHECKING:
    from click.testing import Result

PROJECT = Path(__file__).resolve().parents[3]
MAIN = [sys.executable, "-c", "from tui.cli import main; main(prog_name='memsift')"]


def memsift(*arguments: str | Path, **environ: str) -> Result:
    """Run a command in this process, with *environ* on top of the test's environment."""
    return CliRunner().invoke(main, [str(each) for each in arguments], env=dict(environ), prog_name="memsift")


def process(*arguments: str | Path, stdin: str = "", code: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as a process without a terminal."""
    command = [*(code or MAIN), *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=PROJECT, timeout=120, check=False)


def printed(result: Result) -> Any:
    """The JSON that a command that worked printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def rows(result: Result) -> list[dict[str, Any]]:
    """The JSON lines that a command that worked printed."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def refused(result: Result) -> str:
    """The one line that a command that could not start wrote on stderr."""
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "Traceback" not in line
    return line


def jsonl(path: Path, *lines: object) -> Path:
    text = "".join(f"{json.dumps(line) if not isinstance(line, str) else line}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path
