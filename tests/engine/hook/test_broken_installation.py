"""Whatever happens to memsift's files, the printed command exits with 0 and prints a whole answer or nothing."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from engine.agents.hook_entry import bare_interpreter
from engine.conversations.activity import ENDED
from tests.engine.hook.installation import Installation
from tests.engine.hook.world import FORMS, World, context_of

SHELLS = [shell for shell in ("/bin/sh", "/bin/bash") if shutil.which(shell)]
SESSIONS = count()


def cut(path: Path) -> None:
    """Keep the first half of a file, as if it was being written."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


SYNTAX_ERROR = "def main() -> None:\n    match x y:\n"
WITHOUT_MEMORIES = {
    "interpreter gone": lambda it: it.remove(it.python),
    "interpreter is a folder": lambda it: (it.remove(it.python), it.python.mkdir()),
    "interpreter is cut": lambda it: (it.remove(it.python), it.python.write_bytes(b"\x7fELF"), it.python.chmod(0o755)),
    "interpreter of a time without -I": lambda it: it.write_interpreter("echo Unknown option: -I >&2; exit 2"),
    "interpreter is killed while it prints": lambda it: it.write_interpreter("printf '{\"hook'; kill -KILL $$"),
    "environment gone": lambda it: it.remove(it.packages),
    "package is a file": lambda it: (it.remove(it.package), it.package.touch()),
    "launcher gone": lambda it: it.remove(it.launcher),
    "launcher cannot be read": lambda it: (it.remove(it.launcher), it.launcher.mkdir()),
    "launcher of another Python version": lambda it: it.launcher.write_text(SYNTAX_ERROR, encoding="utf-8"),
    "module gone": lambda it: it.remove(it.package / "pipeline.py"),
    "module of another Python version": lambda it: (it.package / "config.py").write_text(SYNTAX_ERROR),
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


@pytest.mark.parametrize("name", WITHOUT_MEMORIES)
def test_a_broken_installation_exits_with_0_and_prints_nothing(installation: Installation, name: str) -> None:
    assert run(installation)
    WITHOUT_MEMORIES[name](installation)
    for shell in SHELLS:
        assert run(installation, shell) == b"", shell


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


def started(installation: Installation, shell: str, environ: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """The command in a shell that waits for its stdin, and the number of the hook's process in it."""
    real, told = bare_interpreter(), installation.world.folder / "process"
    told.unlink(missing_ok=True)
    installation.write_interpreter(f"echo $$ > '{told}.new'; mv '{told}.new' '{told}'; exec '{real}' \"$@\"")
    command, pipe = [shell, "-c", installation.command], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environ)
    while not told.exists():
        time.sleep(0.01)
    return process, int(told.read_text("utf-8"))


def is_gone(process: int) -> bool:
    """Whether a process ends within 20 seconds."""
    for _ in range(2000):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_a_hook_that_is_killed_does_not_block_the_prompt(installation: Installation, name: str) -> None:
    shell, hook = started(installation, "/bin/sh", dict(os.environ))
    os.kill(hook, signal.Signals[name])
    assert shell.communicate(timeout=60) == (b"", None)
    assert shell.returncode == 0


ENDLESS = "\n\ndef load_session(*_):\n    import re\n    return re.match('(a+)+$', 'a' * 64 + 'b')\n"
"""A pattern that needs more time than there is, and does not let any other thread run."""


@pytest.mark.parametrize("is_shell_killed", [False, True], ids=["the shell waits", "the shell was killed"])
@pytest.mark.parametrize("shell", ["/bin/sh", pytest.param("/bin/bash", marks=pytest.mark.slow)])
def test_a_pattern_that_never_ends_is_ended_by_the_alarm(
    installation: Installation, shell: str, is_shell_killed: bool
) -> None:
    world, session_id = installation.world, f"{shell} {is_shell_killed}"
    environ = {**world.environ, "PATH": os.environ["PATH"], "MEMSIFT_DEADLINE": "0.5"}
    with (installation.package / "hook/session.py").open("a", encoding="utf-8") as source:
        source.write(ENDLESS)
    process, hook = started(installation, shell, environ)
    assert process.stdin
    process.stdin.write(json.dumps(world.payload(session_id=session_id)).encode())
    if is_shell_killed:
        process.kill()
    assert process.communicate(timeout=60) == (b"", None)
    assert process.returncode == (-signal.SIGKILL if is_shell_killed else 0)
    assert is_gone(hook)

    installation.restore()
    assert run(installation)
    assert run(installation)
    rows = [row for row in world.log() if row["session_id"] == session_id]
    assert [(row["reason"], row["injected"], row["ms"]) for row in rows] == [(ENDED, [], 1000.0)]


HAS_FULL = Path("/dev/full").exists()
CLOSED = ["<&-", ">&-", "<&- >&- 2>&-", *[">/dev/full"] * HAS_FULL]


def test_without_stdin_or_stdout_the_command_exits_with_0(installation: Installation) -> None:
    for closed in CLOSED:
        assert run(installation, "/bin/sh", closed) == b"", closed


def test_a_warning_that_nobody_can_read_costs_no_memories(installation: Installation) -> None:
    installation.world.environ["MEMSIFT_JUDGE_ENABLED"] = "true"
    try:
        assert b"ANTHROPIC_API_KEY" in installation.run("warned").stderr
        for closed in ("2>&-", *["2>/dev/full"] * HAS_FULL):
            assert context_of(run(installation, "/bin/sh", closed).decode()).count("<result ") == 3, closed
    finally:
        del installation.world.environ["MEMSIFT_JUDGE_ENABLED"]


def test_the_script_exits_with_0_whatever_it_is_given(tmp_path: Path) -> None:
    world = World(tmp_path)
    for given in ("--bad-flag", "--help", "-x file", *CLOSED):
        stdin = json.dumps(world.payload(session_id=given)).encode()
        done = world.start(["/bin/sh", "-c", f"{shlex.join(FORMS['script'])} {given}"], stdin)
        assert (done.returncode, bool(done.stdout)) == (0, given not in CLOSED), given
