"""The formats of memories: a module for each, and the names by which a root shows its format.

A new format is a module of this package that offers the functions of `Store`, and a line in `FORMATS`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    from engine.memory import Memory, Skipped

    class Store(Protocol):
        """A format's module. Roots are resolved, names of files are relative to the root with `/` between folders.

        `INDEX_FILE` is the name of the file in a root that lists its memories.
        """

        INDEX_FILE: str

        def listing(self, root: str) -> tuple[set[str], list[Skipped]]:
            """The files that may be memories, and the entries that were skipped. Raises OSError."""

        def places(self, names: Iterable[str], /) -> list[str]:
            """Folders and files whose times change when a memory among *names* comes or goes; "" is the root."""

        def read_file(self, root: str, relative: str) -> Memory:
            """The memory in a file. Raises UnreadableFileError with a reason that follows the file's name."""


FORMATS = {
    "claude_memory": ("index.md", "sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences"),
    "auto_memory": ("*.md",),
}
"""Module name -> names in a root that show the format; `*` stands for any beginning. The first format that fits counts.

A root without any of these names is of the first format.
"""


def store_of(root: str) -> Store:
    """The store for *root*, which is resolved. The other formats are not imported: the hook has no time for them."""
    module: Any = __import__(f"engine.stores.{format_of(root)}", fromlist=["read_file"])
    store: Store = module
    return store


def format_of(root: str) -> str:
    """The name in `FORMATS` of the format of *root*."""
    try:
        names = os.listdir(root)
    except OSError:
        names = []
    fitting = (name for name, signs in FORMATS.items() if any(_is_among(sign, names) for sign in signs))
    return next(fitting, next(iter(FORMATS)))


def _is_among(sign: str, names: list[str]) -> bool:
    return any(name.endswith(sign[1:]) for name in names) if sign.startswith("*") else sign in names
