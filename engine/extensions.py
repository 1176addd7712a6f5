"""The standard library's C modules, loaded from where they lie.

`import` looks for a module in each folder of `sys.path`, reads the folders' lists the first time, and describes what it
found in three objects: more than half of what loading a small one takes (0.1 of 0.2 ms). They all lie in one folder, so
the hook's path has them loaded from there first. What is built in or lies elsewhere is left to `import`.
"""

from __future__ import annotations

import _imp
import sys

_FOLDER = next((folder for folder in sys.path if folder.endswith("/lib-dynload")), "")


def load(name: str) -> None:
    """Load the C module *name*, so that `import` has it already; where that fails, `import` says what is wrong."""
    if name in sys.modules or name in sys.builtin_module_names or not _FOLDER:
        return
    spec = type(sys.__spec__)(name, None, origin=f"{_FOLDER}/{name}{_imp.extension_suffixes()[0]}")
    spec._initializing = False  # type: ignore[attr-defined]  # each import of it asks
    try:
        module = _imp.create_dynamic(spec)
        module.__spec__, module.__file__ = spec, spec.origin
        _imp.exec_dynamic(module)
    except Exception:  # noqa: BLE001 - see above
        return
    sys.modules[name] = module
