"""A real terminal for tests: tmux, on a server of its own."""

import os
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Self

import pytest

DEADLINE_S = 60.0


class Terminal:
    """Runs one command at a time at *width* x *height*; closes its own tmux server and no other."""

    def __init__(self, width: int, height: int, environ: Mapping[str, str]) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("tmux is not installed")
        self._tmux = ["tmux", "-L", f"memsift-test-{uuid.uuid4().hex[:8]}", "-f", os.devnull]
        self._size = ["-x", str(width), "-y", str(height)]
        # the workers of pytest-xdist have a size that is not this terminal's, and Textual believes it
        self._environ = {name: value for name, value in environ.items() if name not in ("COLUMNS", "LINES")}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def start(self, command: list[str]) -> None:
        """Start *command*. The terminal stays open after the end of the command, so that its output can be read."""
        line = f"{shlex.join(command)}; echo ended with $?; exec sleep 600"
        new = [*self._tmux, "new-session", "-d", *self._size, "sh", "-c", line]
        deadline = time.monotonic() + DEADLINE_S
        while subprocess.run(new, env=self._environ, check=False).returncode:  # the server before it may still end
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-session"], check=True)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names, such as F3, Enter, Right, a."""
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def type(self, text: str) -> None:
        subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)

    def screen(self) -> str:
        """The text on the screen now."""
        shown = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True)
        return shown.stdout

    def wait_for(self, *texts: str) -> str:
        """The screen, once all of *texts* stand on it."""
        return self.wait_until(lambda screen: all(text in screen for text in texts), f"{texts} on the screen")

    def wait_until(self, holds: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + DEADLINE_S
        while not holds(screen := self.screen()):
            if time.monotonic() > deadline:
                pytest.fail(f"waited {DEADLINE_S:g} s for {what}:\n{screen}")
            time.sleep(0.05)
        return screen
