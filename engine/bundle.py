"""The hook's compiled modules in one file.

To find, open and check forty compiled modules one by one takes a cold process 0.3 of what an empty interpreter takes
more than to load one file with the code of them all, a look at the time and size of each source included. The file lies
in `__pycache__`, is written by the first start that finds it missing or behind (see `bundling`), and may be deleted.

It holds the code of this module with a call of `start` at its end, which the launcher runs, and the entries of all
modules.
"""

from __future__ import annotations

import sys

try:
    from posix import stat
except ImportError:
    from os import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Entry = tuple[str, str, int, int, CodeType]
    """Name, source, seen from the package's folder, its time and size, code."""

PACKAGE = "__init__.py"
LOADED = "__loaded__"
"""What the code of a module calls `sys.modules`: see `bundling`."""


def start(folder: str, entries: list[Entry]) -> None:
    """Answer the prompt on stdin with these modules of the package in *folder*; it ends in a separator, or is empty.

    Raises ValueError, before any module is loaded, if a source changed since it was compiled; OSError if it went.
    """
    for _, source, changed, size, _ in entries:
        if stamp(folder + source) != (changed, size):
            raise ValueError(source)
    for name, source, _, _, code in entries:
        if name not in sys.modules:
            _load(name, folder + source, code)
    sys.modules["engine.hook"].main()


def stamp(path: str) -> tuple[int, int]:
    """When a source changed (nanoseconds) and its size, by which a change of it shows."""
    found = stat(path)
    return found.st_mtime_ns, found.st_size


def _load(name: str, source: str, code: CodeType) -> None:
    """A module gets what this package's modules ask one for. A spec is not among it: imports do without one, too."""
    sys.modules[name] = module = type(sys)(name)
    module.__file__ = source
    if source.endswith(PACKAGE):
        module.__path__ = [source[: -len(PACKAGE) - 1] or "."]
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)
    module.__dict__[LOADED] = sys.modules
    exec(code, module.__dict__)
