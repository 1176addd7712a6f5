"""The theme that was chosen last, from one start to the next."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LONGEST = 200
"""Bytes that are read: no theme has a longer name."""


class ThemeFile:
    """A file with the name of a theme; without a readable name in it, it is as if it were not there."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def read(self) -> str:
        """The name, whether or not there is such a theme; empty if nothing can be read."""
        with suppress(OSError, ValueError), self._path.open("rb") as file:
            return file.read(LONGEST).decode("utf-8").strip()
        return ""

    def write(self, name: str) -> None:
        """Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(f"{name}\n", encoding="utf-8")
