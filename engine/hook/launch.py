"""The hook's start: `python -I -S launch.py`, as `memsift install` writes it, or the script `memsift-hook`.

It always ends with exit code 0: a broken installation must look like a hook that found nothing. Where this file itself
is gone, the shell command that starts it sees to that. Python compiles a script anew at each start, so this file is
short. Garbage collection is off because the process ends at once.
"""

import gc
import sys


def main() -> None:
    """Answer the prompt on stdin and end the process."""
    try:
        gc.disable()
        sys.modules["yaml"] = None  # type: ignore[assignment] # to import PyYAML would take longer than the search
        # First, because other people's packages and projects have a folder of this name, too.
        sys.path.insert(0, f"{__file__[: -len('launch.py')]}../..")
        from engine.hook import process

        process.main()
    except BaseException:  # noqa: BLE001 - see above
        pass
    raise SystemExit(0)


if __name__ == "__main__":
    main()
