"""`memsift trust` and `memsift adopt`: what belongs to the path of a root."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Annotated

import click

from engine.config import CONFIG_FILE
from engine.doctor.memories import signs
from engine.errors import MemsiftError, RootError
from engine.judge.providers.registry import SDK
from engine.lean.json_text import printed_json
from engine.opening import open_index
from engine.settings import trust as trusting
from engine.settings.sources import read_config, trust_command
from engine.stores.roots import readable_root
from tui.cli.declaring import argument, command, option
from tui.cli.options import ListForm, OneRoot
from tui.cli.output import output
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.settings.trust import TrustedRoot

A_JUDGE = {"--judge": SDK}
"""A flag that names a judge: with it, the settings of a root's judge are listed even if no judge is asked today."""


@command()
def trust(
    root: Annotated[str | None, argument(required=False)],
    is_list: Annotated[bool, option("--list")],
    is_revoked: Annotated[bool, option("--revoke")],
    form: ListForm,
) -> None:
    """Let all settings of ROOT count.

    ROOT is a folder of memories. Default: the first that the hook uses here: the nearest .claude/memory upwards, else
    this project's auto memory, else the first of `roots` in config.toml.

    The memory-config.json of a root may come from a stranger. Without your trust it may only make the hook stricter or
    quieter. The judge, the hook's deadline and its log are then up to you: config.toml, MEMSIFT_ variables, flags.

    The command prints the settings that count from now on, their mistakes, and the number of memories that look like
    a prompt injection: read these, because they are injected from now on. Trust belongs to the path, the owner of the
    folder and these settings. If git pull changes them, the root is not trusted until you run this command again. The
    list is ~/.config/memsift/trusted.json. --format is for --list.

    \b
    Examples:
      memsift trust
      memsift trust --list

    --list: Print the trusted roots.
    --revoke: Trust ROOT no longer.
    """
    if is_list and (root or is_revoked):
        raise click.UsageError("--list goes with neither ROOT nor --revoke.")
    roots = trusting.trusted_roots(os.environ)
    if is_list:
        click.echo(listed(roots, form), nl=False)
    elif is_revoked:
        revoke(opening.resolve_root(root, os.environ))
    else:
        record(readable_root(opening.resolve_root(root, os.environ)))


def record(root: str) -> None:
    """Show the settings that need trust, trust *root*, and tell its mistakes. Raises ConfigError if it cannot."""
    file = visible(os.path.join(root, CONFIG_FILE))  # noqa: PTH118
    lines = [
        f"  {key} = {printed_json(value)}" for key, value in read_config(root, {**os.environ, **A_JUDGE}).untrusted
    ]
    if lines:
        click.echo("\n".join([f"{file} decides from now on:", *lines]))
    none = "" if lines else "; it has no settings that wait for trust"
    with uninterrupted():
        trusting.trust(root, os.environ)
        tell(f"Trusted: {root}{none}. To take it back: {trust_command(root).replace('trust', 'trust --revoke', 1)}")
    for mistake in read_config(root, os.environ).lines:
        tell(mistake)
    with suppress(RootError), closing(open_index(root, os.environ)) as index:
        for finding in signs(index, os.environ):
            tell(f"{finding.text}. Read them: {finding.fix}")


def revoke(root: str) -> None:
    """Take *root* off the list. Raises MemsiftError if it is not there."""
    with uninterrupted():
        if not trusting.revoke(root, os.environ):
            raise MemsiftError(f"{root} is not trusted. To list the trusted roots: memsift trust --list")
        tell(f"No longer trusted: {root}.")


def listed(roots: Sequence[TrustedRoot], form: str) -> str:
    """The trusted roots, as text or JSON, with the reason why one is not trusted any more."""
    rows = [
        {"root": root.path, "owner": root.owner, "since": root.since, "reason": trusting.change_of(root)}
        for root in roots
    ]
    lines = [f"{row['root']}  (not trusted: {row['reason']})" if row["reason"] else f"{row['root']}" for row in rows]
    return output(form, rows, lines)


@command()
def adopt(old: Annotated[str, argument(metavar="OLD")], root: OneRoot) -> None:
    """Take over the tuned cutoff and the changes of a folder of memories that was moved away from OLD.

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
