"""The hook's start: fastest as `python -I -S launch.py`, which `memsift install --print` writes. To import it runs it.

Without `site` the interpreter starts in 0.8 of its time. A script is compiled anew at each call, so this is short.
It ends with 0, always: whatever is broken must not stand in the way of a prompt. Collecting garbage is off, because
the process lives for a hundredth of a second.
"""

import gc
import sys

try:
    gc.disable()
    sys.path.append(__file__[:-9] + "../..")
    from engine.hook.process import main

    main()
except Exception:  # noqa: BLE001 - a broken installation must look like a hook that found nothing
    pass
finally:
    raise SystemExit
