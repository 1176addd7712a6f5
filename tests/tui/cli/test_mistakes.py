"""A mistake in the settings: every command and the app refuse to start, and name key, value and what is allowed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from engine.settings.trust import trust
from tests.engine.hook.test_mistakes import FILES, VARIABLES
from tests.tui.cli.command_line import ASK, MAIN, PROJECT, jsonl, memsift, refused

NO_ANSWER_NEEDED = {name: (content, says) for name, (content, _, says) in FILES.items()}


def write(root: Path, content: object) -> None:
    """Settings of a root that the user trusts."""
    text = content if isinstance(content, str) else json.dumps({"retrieval": content})
    (root / "memory-config.json").write_text(text, encoding="utf-8")
    trust(str(root), os.environ)


def app(root: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """`memsift` with a terminal as stdin and stderr, where it would open the app. stderr is in `stderr`."""
    ours, its = os.openpty()
    try:
        command = [*MAIN, "--root", str(root)]
        environment = {**os.environ, **environ, "PYTHONPATH": str(PROJECT)}
        done = subprocess.run(command, stdin=its, stdout=subprocess.PIPE, stderr=its, env=environment, timeout=60)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), os.read(ours, 9999).decode())
    finally:
        os.close(ours)
        os.close(its)


@pytest.mark.parametrize(("content", "says"), NO_ANSWER_NEEDED.values(), ids=NO_ANSWER_NEEDED)
def test_commands_refuse_a_mistake_in_a_root(root: Path, tmp_path: Path, content: object, says: str) -> None:
    write(root, content)
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    for command in (["search", ASK], ["replay", "--prompts", prompts], ["report"], ["gate", "--min-precision", "0.5"]):
        line = refused(memsift(*command, "--root", root))
        assert line.startswith(f"memsift: {root}/memory-config.json")
        assert says in line


@pytest.mark.parametrize("name", VARIABLES)
def test_commands_refuse_a_mistake_in_a_variable(root: Path, name: str) -> None:
    text, says = VARIABLES[name]
    for command in (["search", ASK], ["report"]):
        assert refused(memsift(*command, "--root", root, **{name: text})).startswith(f"memsift: {says}")


def test_the_nearest_key_is_offered(root: Path) -> None:
    write(root, {"judge": {"time_out_per_call": 3}})
    line = refused(memsift("search", ASK, "--root", root))
    assert line.endswith("Did you mean 'timeout_per_call'?")


@pytest.mark.slow
def test_the_app_does_not_open_on_a_mistake(root: Path) -> None:
    for name in ("unknown judge", "no placeholder", "too large", "null", "unknown key"):
        content, says = NO_ANSWER_NEEDED[name]
        write(root, content)
        done = app(root)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"memsift: {root}/memory-config.json")
        assert says in line
    write(root, {})
    assert "MEMSIFT_MAX_INJECT: 'retrieval.max_inject' is 'many'" in app(root, MEMSIFT_MAX_INJECT="many").stderr
