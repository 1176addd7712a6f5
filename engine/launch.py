"""The hook's start: as `memsift-hook`, and fastest as `python -I -S launch.py`, which `memsift install --print` writes.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, at 0.01 of it for ten
lines, so this one is short, and the rest comes compiled, from one file (see `bundle`). Collecting garbage while it
loads would take 0.08 more: the process lives for a hundredth of a second, and leaves none.
"""

import gc
import sys
from marshal import loads


def main() -> None:
    """Answer one prompt. Whatever is broken must not stand in the way of it, so this ends with 0, always."""
    try:
        gc.disable()
        folder = __file__[: -len("launch.py")]
        file = f"{folder}__pycache__/hook.{sys.implementation.cache_tag}-{sys.hexversion:x}.bundle"
        try:
            with open(file, "rb", 0) as stream:
                code, entries = loads(stream.read())
            bundle = type(sys)("bundle")
            exec(code, bundle.__dict__)
            bundle.start(folder, entries)
        except Exception:  # noqa: BLE001 - it is missing, damaged, or behind its sources
            sys.path.append(f"{folder}..")
            from engine.bundling import start

            start(file)
    except BaseException:  # noqa: BLE001 - see above
        import os

        os._exit(0)


if __name__ == "__main__":
    main()
