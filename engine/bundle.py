"""The hook's compiled modules in one file.

To find, open and check forty compiled modules one by one takes a cold process 0.3 of what an empty interpreter takes
more than to load one file with the code of them all, a look at the time and size of each source included. The file lies
in `__pycache__`, is written by the first start that finds it missing or behind, and may be deleted.

It holds the code of this module, which the launcher runs to have `load`, and the entries of all modules.
"""

from __future__ import annotations

import sys
from marshal import dumps

try:
    from posix import stat
except ImportError:
    from os import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType

    Entry = tuple[str, str, list[str], int, int, CodeType]
    """Name, source, the folders of a package, the source's time and size, code."""


def load(entries: list[Entry]) -> bool:
    """Load the modules, in their order; False, and none of them, if a source changed since they were compiled.

    A module gets what the import system would give it: each import of it looks whether its spec is `_initializing`,
    and where there is no spec to look at, that costs an exception (0.2 ms in all).
    """
    if not all(_stamp(source) == (changed, size) for _, source, _, changed, size, _ in entries):
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


def write(file: str) -> None:
    """Write every module of this package that is loaded now. OSError is swallowed: modules load without it, too."""
    import os

    temporary = f"{file}.{os.getpid()}"
    try:
        with open(temporary, "wb") as stream:
            stream.write(dumps(_content()))
        os.replace(temporary, file)
    except OSError:
        pass


def _content() -> tuple[CodeType, list[Entry]]:
    # A module moves to the end of `sys.modules` when it is complete, so each comes after those that it imports.
    entries = [_entry(module) for name, module in [*sys.modules.items()] if name.partition(".")[0] == "engine"]
    return next(code for name, *_, code in entries if name == __name__), entries


def _entry(module: ModuleType) -> Entry:
    source = str(module.__file__)
    stamp = _stamp(source)
    with open(source, "rb") as stream:
        # Without docstrings, which nobody asks for here, it is an eighth smaller.
        code = compile(stream.read(), source, "exec", dont_inherit=True, optimize=2)
    return (module.__name__, source, [*getattr(module, "__path__", ())], *stamp, code)


def _stamp(path: str) -> tuple[int, int]:
    found = stat(path)
    return found.st_mtime_ns, found.st_size
