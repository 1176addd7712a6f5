"""The hook's start: as `memsift-hook`, and fastest as `python -I -S launch.py`, which `memsift install --print` writes.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, at 0.01 of it for ten
lines, and more for f-strings, so this one is short, and the rest comes compiled, from one file (see `bundle`).
Collecting garbage while it loads would take 0.08 more: the process lives for a hundredth of a second, and leaves none.
A megabyte that is given back untouched makes glibc keep what is freed later: fifty pages less have to be made.
"""

import gc
import sys
from marshal import loads


def main() -> None:
    """Answer one prompt. Whatever is broken must not stand in the way of it, so this ends with 0, always."""
    folder = __file__[: -len("launch.py")]
    file = folder + "__pycache__/hook." + sys.implementation.cache_tag + "-" + hex(sys.hexversion) + ".bundle"
    try:
        gc.disable()
        bytes(1 << 20)
        with open(file, "rb", 0) as stream:
            code, entries = loads(stream.read())
        exec(code, {"folder": folder, "entries": entries})
    except Exception:  # noqa: BLE001 - it is missing, damaged, or behind its sources
        sys.path.append(folder + "..")
        from engine.bundling import start

        start(file)
    finally:
        import os

        os._exit(0)


if __name__ == "__main__":
    main()
