"""The hook's fastest start: `python -I -S launch.py`, which `memsift install --print` writes out.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, so this one is short,
and the rest comes compiled, from one file (see `bundle`). Collecting garbage while it loads would take 0.08 more: the
process lives for a hundredth of a second, and leaves none.
"""

import gc
import sys
from marshal import loads

if __name__ == "__main__":
    gc.disable()
    try:
        package = __file__.replace("\\", "/").rpartition("/")[0] or "."
        sys.path.append(package.rpartition("/")[0] or package + "/..")
        bundle = f"{package}/__pycache__/hook.{sys.implementation.cache_tag}-{sys.hexversion:x}.bundle"
        try:
            with open(bundle, "rb") as stream:
                code, modules = loads(stream.read())
            loader = type(sys)("engine.bundle")
            exec(code, loader.__dict__)
            is_loaded = loader.load(modules)
        except (OSError, ValueError, EOFError, TypeError, AttributeError):
            is_loaded = False
        from engine.hook import main

        if not is_loaded:
            from engine.bundle import write

            write(bundle)
        main()
    except BaseException:  # noqa: BLE001 - whatever is broken must not stand in the way of a prompt
        import os

        os._exit(0)
