"""The hook's command in settings that a team shares: it works on any machine or is silent, and blocks no prompt."""

import json
import os
import resource
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.agents.claude_code.agent import AGENT
from engine.agents.hook_entry import bare_interpreter, hook_command, shared_entry
from engine.paths import hook_start_file
from tests.engine.builders import put
from tests.engine.hook.installation import Installation
from tests.engine.hook.world import LAUNCHER, World, context_of

SHARED = str(shared_entry(AGENT)["command"])
SHELLS = [shell for shell in ("/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh") if Path(shell).exists()]
NOBODY = 65534
OTHER: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
"""Another account, where this one may start a process of another."""


def run(world: World, shell: str = "/bin/sh", **options: Any) -> str:
    """The stdout of the command on a prompt. It must exit with 0."""
    payload = json.dumps(world.payload(session_id=os.urandom(4).hex()))
    environ = {"PATH": "/usr/bin:/bin", **world.environ, **options.pop("environ", {})}
    command = [shell, "-c", SHARED]
    done = subprocess.run(command, input=payload, env=environ, capture_output=True, text=True, check=False, **options)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def record(world: World, python: str, launcher: str) -> None:
    path = Path(hook_start_file(world.environ))
    put(path, f"{python}\n{launcher}\n")


def script(path: Path, text: str) -> Path:
    put(path, f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_it_starts_the_hook_that_was_recorded(world: World) -> None:
    record(world, bare_interpreter(), str(LAUNCHER))
    for shell in SHELLS:
        assert context_of(run(world, shell)).count("<result ") == 3, shell


@pytest.mark.parametrize("place", [".local/bin", "Library/Python/3.12/bin", "Library/Python/3.9 x/bin"])
def test_without_a_record_it_takes_the_script_of_the_path_or_of_a_usual_place(world: World, place: str) -> None:
    """The places of pipx and uv, and of pip on macOS, where programs with a window get no PATH of a shell."""
    on_path, usual = world.folder / "bin dir", world.home / place
    script(usual / "memsift-hook", "cat >/dev/null; echo from a usual place")
    assert run(world) == "from a usual place"
    script(on_path / "memsift-hook", "cat >/dev/null; echo from the path")
    assert run(world, environ={"PATH": f"{on_path}:/usr/bin:/bin"}) == "from the path"
    record(world, "/gone/python", str(LAUNCHER))
    assert run(world) == "from a usual place"


SILENT = {
    "nothing is installed": lambda _: None,
    "the record is cut": lambda world: record(world, "/usr/bin/pyth", ""),
    "the recorded interpreter fails": lambda world: record(
        world, str(script(world.folder / "python", "printf '{\"hook'; exit 2")), str(LAUNCHER)
    ),
    "the script fails": lambda world: script(world.home / ".local/bin/memsift-hook", "printf '{'; exit 2"),
    "the record is a folder": lambda world: Path(hook_start_file(world.environ)).mkdir(parents=True),
}


@pytest.mark.parametrize("name", SILENT)
def test_it_is_silent_where_there_is_no_hook(world: World, name: str) -> None:
    SILENT[name](world)
    for shell in SHELLS:
        assert run(world, shell) == "", shell


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another account may read."""
    with tempfile.TemporaryDirectory(prefix="some account ") as place:
        Path(place).chmod(0o755)
        yield Path(place)


@pytest.mark.slow
def test_what_one_machine_wrote_works_in_another_account_and_path(tmp_path: Path, open_folder: Path) -> None:
    """The settings of a person are committed. A colleague's memsift lies elsewhere, in an account of its own."""
    ann, bob = Installation(tmp_path), Installation(open_folder)
    ann.memsift("install", "--project")
    committed = json.loads((ann.world.project / ".claude/settings.json").read_text("utf-8"))
    assert committed == {"hooks": {"UserPromptSubmit": [{"hooks": [shared_entry(AGENT)]}]}}
    python = next(filter(can_run, (bare_interpreter(), "/usr/bin/python3")), None)
    if python is None:
        pytest.skip("another account may start no Python")
    for path in (open_folder, *open_folder.rglob("*")):
        os.chown(path, OTHER.get("user", -1), OTHER.get("group", -1), follow_symlinks=False)
    assert run(bob.world, **OTHER) == ""
    script(bob.world.home / ".local/bin/memsift-hook", f"exec '{python}' -I -S {shlex.quote(str(bob.launcher))}")
    assert context_of(run(bob.world, **OTHER)).count("<result ") == 3


def can_run(python: str) -> bool:
    """Whether the other account may start *python*, and it is not too old."""
    code = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([python, "-I", "-S", "-c", code], cwd="/", check=False, **OTHER).returncode == 0
    except OSError:
        return False


LIMITS = {"no process": (resource.RLIMIT_NPROC, 1), "no pipe": (resource.RLIMIT_NOFILE, 4)}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("command", [hook_command(AGENT), SHARED], ids=["own", "shared"])
@pytest.mark.parametrize("shell", [pytest.param("/bin/bash", marks=pytest.mark.slow), "/bin/sh", "/bin/dash"])
def test_a_shell_that_can_start_nothing_exits_with_0(open_folder: Path, shell: str, command: str, name: str) -> None:
    """Bash tries again for 15 seconds. The limit of processes does not bind root, so another account runs it."""
    if not shutil.which(shell) or (name == "no process" and not OTHER):
        pytest.skip(f"{shell}, or another account, is not there")
    script(open_folder / ".local/bin/memsift-hook", "exit 0")
    kind, most = LIMITS[name]
    done = subprocess.run(
        [shell, "-c", command],
        input=b"{}",
        env={"HOME": str(open_folder), "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
        **OTHER,
    )
    assert (done.returncode, done.stdout) == (0, b""), done
    assert done.stderr, "the limit did not bind"
