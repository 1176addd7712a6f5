"""The hook's start: as `memsift-hook`, and fastest as `python -I -S launch.py`, which `memsift install --print` writes.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, so this one is short
and does without `__future__`, and the rest comes compiled, from one file (see `bundle`). Collecting garbage while it
loads would take 0.08 more: the process lives for a hundredth of a second, and leaves none.
"""

import gc
import sys
from marshal import loads


def main() -> None:
    """Answer one prompt. Whatever is broken must not stand in the way of it, so this ends with 0, always."""
    gc.disable()
    try:
        package = __file__.replace("\\", "/").rpartition("/")[0] or "."
        sys.path.append(package.rpartition("/")[0] or f"{package}/..")
        bundle = f"{package}/__pycache__/hook.{sys.implementation.cache_tag}-{sys.hexversion:x}.bundle"
        try:
            with open(bundle, "rb", 0) as stream:
                code, modules = loads(stream.read())
            loader = type(sys)("engine.bundle")
            exec(code, loader.__dict__)
            is_loaded = loader.load(modules)
        except (OSError, ValueError, EOFError, TypeError, AttributeError):
            is_loaded = False
        from engine import hook

        if not is_loaded:
            from engine.bundling import write

            write(bundle)
        hook.main()
    except BaseException:  # noqa: BLE001 - see above
        import os

        os._exit(0)


if __name__ == "__main__":
    main()
