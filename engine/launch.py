"""The hook's start: fastest as `python -I -S launch.py`, which `memsift install --print` writes. To import it runs it.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, at 0.03 of it for
twenty lines in a function, so this is as short as can be, and the rest comes compiled, from one file (see `bundle`).
It ends with 0, always: whatever is broken must not stand in the way of a prompt. Collecting garbage would take 0.08
more: the process lives for a hundredth of a second, and leaves none. A megabyte that is given back untouched makes
glibc keep what is freed later: fifty pages less have to be made.
"""

import gc
import sys
from marshal import loads

try:
    gc.disable()
    bytes(1 << 20)
    file = __file__[:-9] + "__pycache__/hook.bundle-" + hex(sys.hexversion)
    code, entries = loads(open(file, "rb", 0).read())  # noqa: SIM115 - `with` would be a tenth of what is compiled
    exec(code)
except Exception:  # noqa: BLE001 - it is missing, damaged, or behind its sources
    sys.path.append(__file__[:-9] + "..")
    from engine.bundling import start

    start(file)
finally:
    raise SystemExit
