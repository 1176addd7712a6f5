"""Options that several commands take, and what they open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from engine.paths import labels_file
from tui.cli.telling import tell
from tui.workspace import opening

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import closing

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.database import LabelDatabase
    from labels.store import LabelStore

    F = TypeVar("F", bound=Callable[..., Any])


def known_order(_context: click.Context, _option: click.Parameter, order: str | None) -> str | None:
    """*order* if there is such a one. Only then is anything of `labels` imported."""
    if order is not None:
        from labels.orders import ORDERS

        if order not in ORDERS:
            raise click.BadParameter(f"{order!r} is none of {', '.join(ORDERS)}.")
    return order


def only_one(_context: click.Context, _option: click.Parameter, roots: tuple[str, ...]) -> str | None:
    """The one root of a command that has a screen; click would take the last of several, and say nothing."""
    if len(set(roots)) > 1:
        raise click.BadParameter(f"the app is open on one folder of memories at a time, not on {len(set(roots))}.")
    return roots[0] if roots else None


def roots_option(of_several: str) -> Callable[[F], F]:
    """`--root`, repeatable; *of_several* says what a command does with more than one."""
    text = f"Folder of memories. Default: this project's. Of several, {of_several}"
    return click.option("--root", "roots", metavar="PATH", multiple=True, help=text)


ROOT = click.option(
    "--root", metavar="PATH", multiple=True, callback=only_one, help="Folder of memories. Default: this project's."
)
DB = click.option("--db", metavar="FILE", envvar="MEMSIFT_DB", help="Label store. Default: one per user.")
STRICT = click.option("--strict", is_flag=True, help="Exit with 1 if the samples of any verdict disagree.")
ORDER = click.option(
    "--order",
    metavar="NAME",
    callback=known_order,
    help="Prompts to label first: random, stratified, disagreement-first or uncertain-first. Default: as last time.",
)
PROMPTS = click.option(
    "--prompts",
    metavar="FILE",
    multiple=True,
    help="Prompts: transcripts, history.jsonl, JSON lines, text or a folder.",
)


def opened_cutoff(root: str, config: Config) -> Cutoff | None:
    """The cutoff that the hook uses; stderr says where it ignores one."""
    from engine.cutoff import UnusableModelError

    try:
        return opening.tuned_cutoff(root, config, os.environ)
    except UnusableModelError as error:
        tell(f"The tuned cutoff is ignored: it {error}.")
        return None


def opened_store(db: str | None) -> LabelStore:
    from labels.store import LabelStore

    return LabelStore.open(Path(db or labels_file(os.environ)))


def opened_labels(db: str | None) -> closing[LabelDatabase]:
    """The file of the label store itself, for what goes in or out as a whole."""
    from contextlib import closing

    from labels.database import LabelDatabase

    return closing(LabelDatabase(Path(db or labels_file(os.environ))))
