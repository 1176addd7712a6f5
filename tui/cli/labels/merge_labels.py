"""`memsift merge-labels`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.options import DB, opened_labels
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from labels.exchange.merge import MergedRows


@click.command("merge-labels")
@click.argument("other", type=click.Path(path_type=Path))
@DB
def merge_labels(other: Path, db: str | None) -> None:
    """Add the content of the label store OTHER to yours. OTHER is only read.

    Two people may merge in any order and as often as they like: nothing is added twice.
    """
    from labels.exchange.merge import merge

    with opened_labels(db, writes=True) as labels:
        added = merge(labels, other)
    report_added(f"Merged {other.name}", added, added.known)


def report_added(what: str, added: MergedRows, known: int) -> None:
    """Tell what a label store received, after the words *what*, and how many key presses (*known*) it had already."""
    labels = [event for event in added.events if event.verdict]
    people = sorted({event.annotator for event in labels})
    parts = [
        f"{len(labels):,} labels" + (f" by {', '.join(people)}" if people else ""),
        f"{len(added.events) - len(labels):,} skips and retractions",
        f"{added.prompts:,} prompts",
        f"{added.memories:,} memory texts",
        f"{added.retrievals:,} retrievals",
    ]
    there = f"; {known:,} key presses were there already" if known else ""
    tell(f"{what}: {', '.join(part for part in parts if not part.startswith('0 ')) or 'nothing new'}{there}.")
