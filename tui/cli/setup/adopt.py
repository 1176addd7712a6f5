"""`memsift adopt`."""

from __future__ import annotations

import os
from typing import Annotated

from tui.cli.declaring import argument, command
from tui.cli.options import OneRoot
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted


@command()
def adopt(old: Annotated[str, argument(metavar="OLD")], root: OneRoot) -> None:
    """Take over the tuned cutoff and the changes of a folder of memories that was at the path OLD.

    For a folder that was moved or renamed: OLD must be gone. memsift undo and memsift history then work at the new
    path. Labels need no adoption, because they follow the texts of prompts and memories. Trust and mute do not move:
    run memsift trust again.

    \b
    Examples:
      memsift adopt ~/old-name/.claude/memory
    """
    from engine.moved import adopt as take_over

    place = opening.resolve_root(root, os.environ)
    with uninterrupted():
        tell(f"Taken over from {old}: {take_over(old, place, os.environ)}. Now at {place}.")
