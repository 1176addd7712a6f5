"""`memsift merge`."""

from __future__ import annotations

from pathlib import Path

import click

from tui.cli.options import DB, opened_labels
from tui.cli.telling import report_added


@click.command()
@click.argument("other", type=click.Path(path_type=Path))
@DB
def merge(other: Path, db: str | None) -> None:
    """Add everything that is in the label store OTHER, and not in yours, to yours. OTHER is only read."""
    from labels.exchange.merge import merge as merge_stores

    with opened_labels(db) as labels:
        added = merge_stores(labels, other)
    report_added(f"Merged {other.name}", added, added.known)
