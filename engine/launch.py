"""The hook's fastest start: `python -I -S launch.py`, which `memsift install --print` writes out.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, so this one is short,
and the rest comes from compiled modules. Collecting garbage while they load would take 0.08 more: the process lives for
a hundredth of a second, and leaves none.
"""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()
    try:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from engine import bundle

        if found := bundle.read_bundle(bundle.FILE):
            sys.meta_path.insert(0, found)
        from engine.hook import main

        if not found:
            bundle.write_bundle(bundle.FILE)
        main()
    except BaseException:  # noqa: BLE001 - whatever is broken must not stand in the way of a prompt
        os._exit(0)
