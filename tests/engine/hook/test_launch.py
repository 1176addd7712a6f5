"""The two ways to start the hook give the same answers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.engine.hook.world import ASK, FORMS, LAUNCHER, NOT_REQUESTS, World, context_of

if TYPE_CHECKING:
    from pathlib import Path

PROMPTS = [
    *(ASK, "cache rule 3 please", "what of cache-rule and rule 2", "nothing of the kind is here", "short"),
    *(f"{ASK} [nomem]", "/review the cache rule", "cache \ud800 rule five", "缓存 cache rule 规则"),
]


def payloads(world: World) -> list[bytes]:
    """Twenty: each prompt in a session of its own, a repetition, broken text, and what is no request."""
    requests = [json.dumps(world.payload(text, session_id=str(i))).encode() for i, text in enumerate(PROMPTS)]
    broken = requests[0].replace(b"handle", b"\xff").replace(b'"0"', b'"100"')
    return [*requests, requests[0], broken, *list(NOT_REQUESTS.values())[:9]]


def test_the_launcher_prints_byte_for_byte_what_the_console_script_prints(tmp_path: Path) -> None:
    printed = {}
    for name, command in FORMS.items():
        (tmp_path / name).mkdir()
        world = World(tmp_path / name)
        done = [world.start(command, stdin) for stdin in payloads(world)]
        assert [one.returncode for one in done] == [0] * len(done) == [0] * 20
        printed[name] = [(one.stdout, one.stderr) for one in done]
    assert printed["launcher"] == printed["script"]
    assert sum(bool(stdout) for stdout, _ in printed["launcher"]) > 5
    assert context_of(printed["launcher"][0][0].decode()).count("<result ") == 3


def test_a_package_that_is_broken_is_silent(tmp_path: Path) -> None:
    broken = tmp_path / "engine"
    broken.mkdir()
    (broken / "hook").mkdir()
    shutil.copy(LAUNCHER, broken / "hook")
    (broken / "hook/process.py").write_text("import nothing_of_this_name", encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(broken / "hook" / LAUNCHER.name)]
    done = subprocess.run(command, input=b"{}", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
