"""The compiled modules of the hook in one file: opening thirty files takes longer than the search.

The file lies in the package's `__pycache__`, may be deleted, and is written anew whenever a source changed. It holds
the code of this module, which loads the others, and an entry for each of them. Its last 8 bytes are a hash of the
rest and of Python's version: damaged code would crash the interpreter at every prompt.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Entry = tuple[str, str, tuple[int, int], CodeType]
    """Name, source relative to the package's folder, `stamp` of the source, code."""

NOT_INSIDE = (__name__, "engine.hook.launch")
"""Modules that run before the file is read."""

FUTURE = "from __future__ import annotations\n"


def load(folder: str, entries: list[Entry]) -> None:
    """Load the modules of the package in *folder*, which ends in a separator.

    Raises ValueError or OSError, before any module is loaded, if a source changed or is gone.
    """
    for _, source, seen, _ in entries:
        if stamp(folder + source) != seen:
            raise ValueError(source)
    for name, source, _, code in entries:
        if name not in sys.modules:
            module = sys.modules[name] = type(sys)(name)
            module.__file__ = folder + source
            if source.endswith("__init__.py"):
                module.__path__ = [os.path.dirname(folder + source)]
            parent, _, own = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own, module)
            exec(code, module.__dict__)


def write(folder: str, file: str) -> None:
    """Write the loaded modules of the package in *folder* into *file*. Without write access nothing happens."""
    from _imp import source_hash
    from marshal import dumps

    from engine.stores.files import open_shared, write_whole

    # A module moves to the end of `sys.modules` when it is complete, so it comes after the modules that it imports.
    names = [name for name in sys.modules if name.partition(".")[0] == "engine" and name not in NOT_INSIDE]
    try:
        content = dumps((_code(__file__), [_entry(name, folder) for name in names]))
        write_whole(file, content + source_hash(sys.hexversion, content), open_shared, lasts=False)
    except OSError:
        pass


def stamp(path: str) -> tuple[int, int]:
    """Time of the last change (nanoseconds) and size of a source: a changed source has another stamp."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _entry(name: str, folder: str) -> Entry:
    source = str(sys.modules[name].__file__)
    return name, os.path.relpath(source, folder), stamp(source), _code(source)


def _code(source: str) -> CodeType:
    """The code of a source without docstrings. Its annotations stay texts without an import of `__future__`."""
    with open(source, encoding="utf-8") as stream:
        text = stream.read().replace(FUTURE, "")
    code: CodeType = compile(text, source, "exec", annotations.compiler_flag, dont_inherit=True, optimize=2)
    return code
