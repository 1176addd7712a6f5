"""The hook's compiled modules in one file.

To find, open and check forty compiled modules one by one takes a cold process 0.3 of what an empty interpreter takes
more than to load one file with the code of them all, a look at the time and size of each source included. The file lies
in `__pycache__`, is written by the first start that finds it missing or behind, and may be deleted.

It holds the code of this module, which the launcher runs to have `load`, and the entries of all modules. `bundling`
writes it.
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

    Entry = tuple[str, str, list[str], int, int, CodeType]
    """Name, source, the folders of a package, the source's time and size, code."""


def load(entries: list[Entry]) -> bool:
    """Load the modules, in their order; False, and none of them, if a source changed since they were compiled.

    A module gets what the import system would give it: each import of it looks whether its spec is `_initializing`,
    and where there is no spec to look at, that costs an exception (0.2 ms in all).
    """
    if not all(stamp(source) == (changed, size) for _, source, _, changed, size, _ in entries):
        return False
    for name, source, folders, _, _, code in entries:
        if name in sys.modules:
            continue
        sys.modules[name] = module = type(sys)(name)
        module.__file__ = source
        module.__spec__ = spec = type(sys.__spec__)(name, None, origin=source, is_package=bool(folders))
        spec._initializing = False  # type: ignore[attr-defined]
        if folders:
            module.__path__ = spec.submodule_search_locations = folders
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)
        exec(code, module.__dict__)
    return True


def stamp(path: str) -> tuple[int, int]:
    """When a source changed (nanoseconds) and its size, by which a change of it shows."""
    found = stat(path)
    return found.st_mtime_ns, found.st_size
