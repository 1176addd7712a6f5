"""`memsift mute`."""

from __future__ import annotations

import os
from typing import Annotated

import click

from engine.doctor.memories import MUTE_OFF
from engine.stores.roots import readable_root
from tui.cli.declaring import command, option
from tui.cli.options import OneRoot
from tui.workspace import activity_rows, opening
from tui.workspace.activity_rows import EVERYWHERE, NEWEST_SESSION, NOWHERE
from tui.workspace.stderr import tell


@command()
def mute(
    is_session: Annotated[bool, option("--session")], is_off: Annotated[bool, option("--off")], root: OneRoot
) -> None:
    """Let the hook inject nothing in this project until the end of today, or in one session.

    The hook still logs each prompt, with the reason "muted"; memsift doctor and memsift activity say so too. A later
    mute takes the place of an earlier one. Where the hook uses several roots, the mute is for all of them.

    --session: Mute only the newest session that the hook saw here.
    --off: Let the hook inject memories again.
    """
    if is_off and is_session:
        raise click.UsageError("--off ends every mute: it takes no --session.")
    place = readable_root(opening.resolve_root(root, os.environ))
    how = NOWHERE if is_off else NEWEST_SESSION if is_session else EVERYWHERE
    said = activity_rows.mute(place, how, os.environ)
    tell(said if is_off else f"{said} To end it: {MUTE_OFF}")
