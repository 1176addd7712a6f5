"""Whatever happens to memsift's files, the printed command exits with 0 and prints a whole answer or nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.hook.installation import Installation
from tests.engine.hook.world import SCRIPT, World, context_of

if TYPE_CHECKING:
    from collections.abc import Callable

SHELLS = [shell for shell in ("/bin/sh", "/bin/bash") if shutil.which(shell)]
SESSIONS = count()


def cut(path: Path) -> None:
    """Keep the first half of a file, as if it was being written."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


SYNTAX_ERROR = "def main() -> None:\n    match x y:\n"
WITHOUT_MEMORIES = {
    "interpreter gone": lambda it: it.remove(it.python),
    "interpreter renamed": lambda it: it.python.rename(it.python.with_name("python-old")),
    "link to an interpreter that is gone": lambda it: (it.remove(it.python), it.python.symlink_to("/gone/python")),
    "interpreter is a folder": lambda it: (it.remove(it.python), it.python.mkdir()),
    "interpreter is empty and may not run": lambda it: (it.remove(it.python), it.python.touch()),
    "interpreter is cut": lambda it: (it.remove(it.python), it.python.write_bytes(b"\x7fELF"), it.python.chmod(0o755)),
    "interpreter of a time without -I": lambda it: it.write_interpreter("echo Unknown option: -I >&2; exit 2"),
    "interpreter without its library": lambda it: it.write_interpreter("echo Fatal Python error >&2; exit 1"),
    "interpreter is killed": lambda it: it.write_interpreter("kill -KILL $$"),
    "interpreter is killed while it prints": lambda it: it.write_interpreter("printf '{\"hook'; kill -KILL $$"),
    "environment gone": lambda it: it.remove(it.packages),
    "environment moved": lambda it: it.packages.rename(it.packages.with_name("moved")),
    "package gone": lambda it: it.remove(it.package),
    "package renamed": lambda it: it.package.rename(it.packages / "~ngine"),
    "package is a file": lambda it: (it.remove(it.package), it.package.touch()),
    "launcher gone": lambda it: it.remove(it.launcher),
    "launcher cannot be read": lambda it: (it.remove(it.launcher), it.launcher.mkdir()),
    "launcher is empty": lambda it: it.launcher.write_bytes(b""),
    "launcher of another Python version": lambda it: it.launcher.write_text(SYNTAX_ERROR, encoding="utf-8"),
    "launcher needs a module that is gone": lambda it: it.launcher.write_text("import gone", encoding="utf-8"),
    "launcher is binary": lambda it: it.launcher.write_bytes(bytes(range(256))),
    "module gone": lambda it: it.remove(it.package / "pipeline.py"),
    "module cannot be read": lambda it: (it.remove(it.package / "inject.py"), (it.package / "inject.py").mkdir()),
    "module of another Python version": lambda it: (it.package / "config.py").write_text(SYNTAX_ERROR),
    "module raises": lambda it: (it.package / "paths.py").write_text("raise SystemExit(2)"),
    "module is cut": lambda it: cut(it.package / "hook/process.py"),
}
"""The name of a damage, and a function that breaks an installation so that it cannot answer."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def installation(installed: Installation) -> Installation:
    installed.restore()
    return installed


def run(installation: Installation, *options: str) -> bytes:
    """The command's stdout in a session of its own: nothing, or a whole answer."""
    done = installation.run(f"{os.getpid()}-{next(SESSIONS)}", *options)
    assert done.returncode == 0, done
    assert not done.stdout or context_of(done.stdout.decode()), done
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_an_intact_installation_answers(installation: Installation, shell: str) -> None:
    assert context_of(run(installation, shell).decode()).count("<result ") == 3


@pytest.mark.parametrize("name", WITHOUT_MEMORIES)
def test_a_broken_installation_exits_with_0_and_prints_nothing(installation: Installation, name: str) -> None:
    run(installation)
    WITHOUT_MEMORIES[name](installation)
    for shell in SHELLS:
        assert run(installation, shell) == b"", shell


def damage(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


BUNDLES: dict[str, Callable[[bytes], bytes]] = {
    "a bit in its hash": lambda whole: damage(whole, len(whole) - 3),
    "a bit in its middle": lambda whole: damage(whole, len(whole) // 2),
    "a bit at its start": lambda whole: damage(whole, 3),
    "a page of zeros": lambda whole: whole[:8192] + bytes(4096) + whole[12288:],
    "half": lambda whole: whole[: len(whole) // 2],
    "empty": lambda _: b"",
    "without a hash": lambda whole: whole[:-8],
}


@pytest.mark.parametrize("name", BUNDLES)
def test_a_damaged_file_of_compiled_modules_is_not_run(installation: Installation, name: str) -> None:
    run(installation)
    whole = installation.bundle.read_bytes()
    installation.bundle.write_bytes(BUNDLES[name](whole))
    assert run(installation)
    assert installation.bundle.read_bytes() == whole


@pytest.mark.slow
def test_no_single_damaged_bit_of_the_compiled_modules_reaches_the_interpreter(installation: Installation) -> None:
    run(installation)
    whole = installation.bundle.read_bytes()
    for at in range(len(whole) // 40, len(whole), len(whole) // 20):
        installation.bundle.write_bytes(damage(whole, at))
        assert run(installation), at
        assert installation.bundle.read_bytes() == whole, at


def test_compiled_modules_of_another_installation_are_not_run(installation: Installation) -> None:
    run(installation)
    foreign = installation.bundle.read_bytes()
    inject = installation.package / "inject.py"
    inject.write_text(inject.read_text("utf-8").replace('source="memsift"', 'source="changed"'), encoding="utf-8")
    run(installation)
    installation.bundle.write_bytes(foreign)
    assert 'source="changed"' in context_of(run(installation).decode())


FILE_DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_suffix(".old")),
    "half written": cut,
    "raises": lambda path: path.write_text("raise ValueError('half replaced')\n", encoding="utf-8"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILE_DAMAGES)
def test_any_single_file_may_be_broken(installation: Installation, name: str) -> None:
    run(installation)
    silent = 0
    for path in sorted(installation.package.rglob("*.py")):
        kept = path.with_suffix(".kept")
        shutil.copy2(path, kept)
        FILE_DAMAGES[name](path)
        silent += run(installation) == b""
        installation.remove(path)
        kept.rename(path)
    assert silent > 20
    assert run(installation)


@pytest.mark.slow
def test_the_launcher_may_be_cut_anywhere(installation: Installation) -> None:
    whole = installation.launcher.read_bytes()
    for end in range(0, len(whole), 11):
        installation.launcher.write_bytes(whole[:end])
        run(installation)


@pytest.mark.slow
def test_the_package_may_be_replaced_while_prompts_are_answered(installation: Installation, tmp_path: Path) -> None:
    newer = installation.packages / "newer"
    shutil.copytree(installation.package, newer)
    (newer / "inject.py").write_text((newer / "inject.py").read_text("utf-8") + "\n# newer\n", encoding="utf-8")
    loop = (
        'until [ -e "$3" ]; do rm -rf "$1"; cp -r "$2" "$1"; sleep 0.1; for file in $(cd "$1" && find . -name "*.py"); '
        'do cp "$2/$file" "$1/$file"; done; done'
    )
    stop = tmp_path / "stop"
    replacing = subprocess.Popen(["/bin/sh", "-c", loop, "_", str(installation.package), str(newer), str(stop)])
    try:
        answers = [run(installation) for _ in range(60)]
    finally:
        stop.touch()
        replacing.wait()
    assert len(answers) == 60
    installation.restore()
    assert run(installation)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGPIPE"])
def test_a_hook_that_is_killed_does_not_block_the_prompt(installation: Installation, tmp_path: Path, name: str) -> None:
    real, told = installation.python.resolve(), tmp_path / "process"
    installation.write_interpreter(f"echo $$ > '{told}.new'; mv '{told}.new' '{told}'; exec '{real}' \"$@\"")
    shell = subprocess.Popen(["/bin/sh", "-c", installation.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while not told.exists():
        time.sleep(0.01)
    os.kill(int(told.read_text("utf-8")), signal.Signals[name])
    assert shell.communicate(timeout=60) == (b"", None)
    assert shell.returncode == 0


HAS_FULL = Path("/dev/full").exists()
CLOSED = ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-", *[">/dev/full"] * HAS_FULL]


@pytest.mark.parametrize("closed", CLOSED)
def test_without_stdin_or_stdout_the_command_exits_with_0(installation: Installation, closed: str) -> None:
    assert run(installation, "/bin/sh", closed) == b""


@pytest.mark.parametrize("closed", ["2>&-", *["2>/dev/full"] * HAS_FULL])
def test_a_warning_that_nobody_can_read_costs_no_memories(installation: Installation, closed: str) -> None:
    installation.world.environ["MEMSIFT_JUDGE_ENABLED"] = "true"
    try:
        assert b"ANTHROPIC_API_KEY" in installation.run("warned").stderr
        assert context_of(run(installation, "/bin/sh", closed).decode()).count("<result ") == 3
    finally:
        del installation.world.environ["MEMSIFT_JUDGE_ENABLED"]


@pytest.mark.skipif(not SCRIPT.exists(), reason="memsift is not installed: there is no memsift-hook")
@pytest.mark.parametrize("given", ["--bad-flag", "--help", "-x file", *CLOSED])
def test_the_script_exits_with_0_whatever_it_is_given(tmp_path: Path, given: str) -> None:
    world = World(tmp_path)
    done = world.start(["/bin/sh", "-c", f"'{SCRIPT}' {given}"], json.dumps(world.payload()).encode())
    assert done.returncode == 0
    assert bool(done.stdout) == (given not in CLOSED)
