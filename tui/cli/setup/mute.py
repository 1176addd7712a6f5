"""`memsift mute`."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta

import click

from engine.doctor.memories import MUTE_OFF
from engine.errors import MemsiftError
from engine.hook import session
from engine.hook.activity_log import read_log
from engine.paths import state_dir
from engine.stores.roots import readable_root
from tui.cli.options import ROOT
from tui.workspace import opening
from tui.workspace.stderr import tell


@click.command()
@click.option("--session", "is_session", is_flag=True, help="Mute only the newest session that the hook saw here.")
@click.option("--off", "is_off", is_flag=True, help="Let the hook inject memories again.")
@ROOT
def mute(is_session: bool, is_off: bool, root: str | None) -> None:
    """Let the hook inject nothing in this project until the end of today, or in one session.

    The hook still logs each prompt, with the reason "muted"; memsift doctor and memsift activity say so too. A later
    mute takes the place of an earlier one. If the hook uses several roots here, the first of them counts.
    """
    if is_off and is_session:
        raise click.UsageError("--off ends every mute: it takes no --session.")
    place = readable_root(opening.resolve_root(root, os.environ))
    folder = state_dir(place, os.environ)
    if is_off:
        session.unmute(folder)
        tell(f"Not muted any more: {place}.")
    elif is_session:
        newest = _newest_session(folder)
        session.mute(folder, time.time() + session.MAX_AGE_S, newest)
        tell(f"Muted in the session {newest}: {place}. To end it: {MUTE_OFF}")
    else:
        session.mute(folder, _end_of_today().timestamp())
        tell(f"Muted until the end of today: {place}. To end it: {MUTE_OFF}")


def _end_of_today() -> datetime:
    """The next midnight of this machine's clock."""
    return datetime.combine(datetime.now().astimezone().date() + timedelta(days=1), datetime.min.time()).astimezone()


def _newest_session(folder: str) -> str:
    found = [decision.session_id for decision in read_log(folder).decisions if decision.session_id]
    if not found:
        raise MemsiftError("The hook has logged no session here. memsift mute without --session mutes all of them.")
    return found[-1]
