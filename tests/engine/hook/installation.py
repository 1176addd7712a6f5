"""An installation of memsift in folders of its own, which a test may break."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click

from engine.agents.hook_entry import bare_interpreter
from tests.engine.hook.world import PROJECT, World


class Installation:
    """Folders with spaces and quotes, as people have them. `command` is the command that `install --print` printed."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.python = folder / "some 'python' $v/python"
        self.packages = folder / 'my "packages"/lib'
        self.package = self.packages / "engine"
        self.launcher = self.package / "hook/launch.py"
        self._untouched = folder / "untouched"
        for name in ("engine", "labels", "tui"):
            hidden = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / name, self._untouched / name, ignore=hidden)
        self.restore()
        self.command = str(self.entry()["command"])

    def restore(self) -> None:
        """Make everything whole again, as if it was just installed."""
        self.remove(self.python.parent)
        if self.package.is_file():
            self.remove(self.package)
        shutil.copytree(self._untouched / "engine", self.package, copy_function=self._copy, dirs_exist_ok=True)
        for name in ("labels", "tui"):  # no test breaks these
            if not (self.packages / name).exists():
                shutil.copytree(self._untouched / name, self.packages / name, copy_function=os.link)
        self.python.parent.mkdir()
        self.python.symlink_to(bare_interpreter())

    def _copy(self, source: str, target: str) -> None:
        """Copy a file that is not there, or not as it was."""
        there, wanted = Path(target), Path(source).stat()
        if there.is_dir():
            self.remove(there)
        if not there.exists() or (there.stat().st_size, there.stat().st_mtime_ns) != (
            wanted.st_size,
            wanted.st_mtime_ns,
        ):
            shutil.copy2(source, target)

    def remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def write_interpreter(self, script: str) -> None:
        """Put a shell script in the interpreter's place."""
        self.remove(self.python)
        self.python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        self.python.chmod(0o755)

    def run(
        self, session_id: str, shell: str = "/bin/sh", redirections: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command as Claude Code does."""
        stdin = json.dumps(self.world.payload(session_id=session_id)).encode()
        command = f"{{ {self.command}; }} {redirections}" if redirections else self.command
        return self.world.start([shell, "-c", command], stdin)

    def entry(self) -> dict[str, Any]:
        """The hook's entry in the settings that `memsift install --print` prints in the project's folder."""
        (group,) = json.loads(self.memsift("install", "--print"))["hooks"]["UserPromptSubmit"]
        (entry,) = group["hooks"]
        assert isinstance(entry, dict)
        return entry

    def memsift(self, *arguments: str) -> str:
        """The stdout of a command of this installation, in the project's folder."""
        site = Path(click.__file__).parent.parent
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{self.packages}:{site}", **self.world.environ}
        command = [str(self.python), "-c", "from tui.cli import main; main()", *arguments]
        return subprocess.check_output(command, env=environ, cwd=self.world.project, text=True)
