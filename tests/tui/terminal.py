"""A program in a pseudo-terminal: the keys that a person types, and all that it prints."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from typing import Self

DEADLINE_S = 60.0


def printed_in(command: Sequence[str], columns: int = 110, **environ: str) -> str:
    """All that a program prints into a terminal of so many *columns* until it ends."""
    with Terminal(command, columns, **environ) as terminal:
        terminal.ends()
        return terminal.output.decode().replace("\r\n", "\n")


class Terminal:
    """*command* in a terminal of 30 lines, with *environ* on top of the environment. It is killed at the end."""

    def __init__(self, command: Sequence[str], columns: int = 110, **environ: str) -> None:
        self.output = b""
        self._screen, keyboard = os.openpty()
        fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=keyboard, stdout=keyboard, stderr=keyboard, env={**os.environ, **environ}, process_group=0
        )
        os.close(keyboard)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._screen)

    def types(self, keys: bytes) -> None:
        os.write(self._screen, keys)

    def reads(self, text: bytes) -> None:
        """Wait until the output holds *text*."""
        self._until(lambda: text in self.output, f"{text!r} in {self.output[-2000:]!r}")

    def ends(self) -> None:
        """Wait until the program has ended."""
        self._until(lambda: self.process.poll() is not None, "the end")
        self.look(0.1)

    def look(self, seconds: float) -> None:
        """Take what the program prints within *seconds*. A program that nobody reads stands still."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self._screen], [], [], left)
            with contextlib.suppress(OSError):  # the program has ended
                self.output += os.read(self._screen, 65536) if ready else b""

    def kill(self) -> None:
        """End the program as the power does. It cannot do anything more."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline, f"never came: {what}"
            self.look(0.05)
