"""What the hook's path needs of `os`, under the same names.

Importing `os` costs a cold process 1.5 ms, an eighth of what an empty interpreter takes: most of it goes into the
abstract classes that its `environ` wants. The C module beneath it is loaded at each start. What is neither here nor in
the C module comes from `os`, as does everything where there is no `posix`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import *  # noqa: F403
    from os import _exit as _exit
else:
    try:
        import posix as calls
    except ImportError:
        import os as calls
    else:
        from engine import lean_path as path  # noqa: F401

        sep = "/"
        _TEXT = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()

        def fsdecode(name):
            return name if isinstance(name, str) else name.decode(*_TEXT)

        def fsencode(name):
            return name if isinstance(name, bytes) else name.encode(*_TEXT)

        environ = {fsdecode(name): fsdecode(value) for name, value in calls.environ.items()}

    def __getattr__(name):
        """Looked for once; from then on it is here."""
        if hasattr(calls, name):
            found = getattr(calls, name)
        else:
            import os

            found = getattr(os, name)
        globals()[name] = found
        return found
