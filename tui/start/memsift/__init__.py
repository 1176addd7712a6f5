"""The start of every program of memsift, and the only name that the wheel gives to Python.

In the wheel, `engine`, `labels` and `tui` lie in this folder, in a checkout at its top. They come first on `sys.path`,
because other people's packages and projects have these names, too.
"""

import os
import sys

IN_CHECKOUT = os.path.join(os.sep, "tui", "start", "memsift")
FOLDER = os.path.dirname(os.path.abspath(__file__)).removesuffix(IN_CHECKOUT)
"""The folder with the packages."""

sys.path.insert(0, FOLDER)


def main() -> None:
    """The command `memsift`. Ctrl-C ends it with 130, as it does later."""
    try:
        from tui.cli import main as command
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    command()


def hook() -> None:
    """The script `memsift-hook`. It ends with exit code 0, even where memsift is broken."""
    try:
        from engine.hook.launch import main as answer
    except BaseException:  # noqa: BLE001 - an agent would show it at each prompt
        raise SystemExit(0) from None
    answer()


def do_on_cluster(wanted: str, pickled: bytes) -> object:
    """The function of that name in `tui`. A Dask worker imports this module for it, and so finds `tui`."""
    from tui.workspace.replay.jobs import do_on_cluster as do

    return do(wanted, pickled)
