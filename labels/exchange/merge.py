"""Two people's label stores into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import LabelStoreError
from labels.exchange.copying import opened_copy
from labels.exchange.loading import read_store
from labels.exchange.storing import add

if TYPE_CHECKING:
    from pathlib import Path

    from labels.database import LabelDatabase
    from labels.exchange.storing import Added


def merge(db: LabelDatabase, other: Path) -> Added:
    """Add to *db* what it does not have of the store at *other*, which is only read and may be of an older schema.

    The union: it loses nothing and repeats nothing, and is the same whichever store is merged into which and however
    often. Raises LabelStoreError for an *other* that is not there or no label store, and ExchangeError for a prompt of
    one id with two texts; nothing is added then.
    """
    if not other.is_file():
        raise LabelStoreError(f"There is no label store {other}. Check the path.")
    with opened_copy(other) as theirs:
        dataset = read_store(theirs)
    with db.writing():
        return add(db, dataset)
