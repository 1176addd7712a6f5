"""`memsift` as tests run it, in this process or in a process of its own; and a root with an API that judges it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.settings.trust import trust
from tests.engine.builders import memory
from tests.engine.judge.api_server import KEY, ApiServer, kept_titles
from tui.cli import main

PROJECT = Path(__file__).resolve().parents[3]
RESULT_KEYS = "id title category path tags status snippet updated_at score confidence probability matches".split()
MAIN = [sys.executable, "-c", "from tui.cli import main; main(prog_name='memsift')"]

ASK = "how do we handle the cache rule"
RULES = [memory(f"cache rule {number}", "cache", body="the cache is cold") for number in range(5)]
HTTP = ("--judge", "anthropic-http")
KEEP = kept_titles("cache rule 1", "cache rule 3")


def memsift(*arguments: str | Path, stdin: str | None = None, **environ: str) -> Result:
    """Run a command in this process, with *environ* on top of the test's environment."""
    return CliRunner().invoke(main, [str(each) for each in arguments], stdin, env=dict(environ), prog_name="memsift")


def process(*arguments: str | Path, stdin: str = "", code: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as a process without a terminal."""
    command = [*(code or MAIN), *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=PROJECT, timeout=120, check=False)


def started(*arguments: str | Path) -> subprocess.Popen[str]:
    """A command as a process that can be interrupted."""
    return subprocess.Popen(
        [*MAIN, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test may run in the background
    )


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def printed(result: Result) -> Any:
    """The JSON on stdout of a successful command."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def rows(result: Result) -> list[dict[str, Any]]:
    """The JSON lines on stdout of a successful command."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def refused(result: Result) -> str:
    """The only line on stderr of a command that ended with a setup error."""
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "Traceback" not in line
    return line


def configure(root: Path, **retrieval: object) -> None:
    """Write the settings of a root that the user trusts."""
    (root / "memory-config.json").write_text(json.dumps({"retrieval": retrieval}), encoding="utf-8")
    trust(str(root), os.environ)


def read_rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def jsonl(path: Path, *lines: object) -> Path:
    text = "".join(f"{json.dumps(line) if not isinstance(line, str) else line}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def ask(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the calls of the judges `anthropic` and `anthropic-http` to *server*."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
