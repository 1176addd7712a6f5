"""What is built and installed: `memsift` alone, which finds its own packages before those of other people."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine import __version__
from tests.engine.hook.world import World
from tests.tui.cli.command_line import PROJECT

START = PROJECT / "tui" / "start"
MAIN, HOOK = "from memsift import main; main()", "from memsift import hook; hook()"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A project whose modules have the names of memsift's packages, and leave a trace if they are run."""
    world = World(tmp_path)
    for name in ("engine", "labels", "tui"):
        (world.project / name).mkdir()
        code = f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n"
        (world.project / name / "__init__.py").write_text(code, encoding="utf-8")
    return world


def run(world: World, *command: str, path: Path = START) -> subprocess.CompletedProcess[bytes]:
    """Run a command in the project with PYTHONPATH=., memsift in *path*, and a request on stdin."""
    environ = {**world.environ, "PATH": os.environ["PATH"], "PYTHONPATH": f".:{path}"}
    request = json.dumps(world.payload(session_id=os.urandom(8).hex())).encode()
    return subprocess.run(command, input=request, cwd=world.project, env=environ, capture_output=True, check=False)


def test_a_project_with_folders_of_the_same_names_is_not_run(world: World, tmp_path: Path) -> None:
    for command in (["-c", MAIN, "--version"], ["-m", "memsift", "--version"]):
        done = run(world, sys.executable, *command)
        assert (done.returncode, done.stdout.decode()) == (0, f"memsift, version {__version__}\n")
    done = run(world, sys.executable, "-c", HOOK)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"additionalContext" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_a_hook_whose_packages_are_gone_is_silent_and_ends_with_0(world: World, tmp_path: Path) -> None:
    shutil.copytree(START / "memsift", tmp_path / "broken/memsift")
    done = run(world, sys.executable, "-c", HOOK, path=tmp_path / "broken")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.slow
def test_the_wheel_holds_memsift_alone_and_a_checkout_gets_no_copy(world: World, tmp_path: Path) -> None:
    pytest.importorskip("build")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(PROJECT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"memsift", f"memsift-{__version__}.dist-info"}
    files = [path for room in ("engine", "labels", "tui") for path in (PROJECT / room).rglob("*") if path.is_file()]
    held = {f"memsift/{path.relative_to(PROJECT)}" for path in files if "__pycache__" not in path.parts}
    assert held | {"memsift/__init__.py", "memsift/__main__.py"} <= {*names}

    folder = tmp_path / "environment"
    venv.create(folder, with_pip=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    for source, home in ((["-e", str(PROJECT)], START), ([str(wheel)], site)):
        install = [str(folder / "bin/pip"), "install", "--quiet", "--no-deps", *source]
        subprocess.run(install, check=True, capture_output=True)
        found = run(world, str(folder / "bin/python"), "-c", "import memsift; print(memsift.__file__)", path=Path())
        assert found.stdout.decode() == f"{home}/memsift/__init__.py\n"
        done = run(world, str(folder / "bin/memsift-hook"), path=home)
        assert b"additionalContext" in done.stdout
