"""The question where labels go, after another program moved, replaced or deleted the open label store."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from engine.wording import counted
from labels.records import LABEL
from tui.dialogs.choices import ChooseOne

if TYPE_CHECKING:
    from pathlib import Path

    from labels.store import LabelStore


class NewPlace(NamedTuple):
    """A file for labels, and the *session* whose key presses it gets; the empty text stands for all that were open."""

    path: Path
    session: str
    text: str


class MovedStore(ChooseOne):
    """The places to which the labels of *store* can go. No digit chooses: a person at work may be typing labels."""

    def __init__(self, store: LabelStore) -> None:
        self.places = {place.text: place for place in new_places(store, datetime.now())}  # noqa: DTZ005 - local time
        happened = "was replaced" if store.path.exists() else "is gone"
        super().__init__(f"{store.path.name} {happened}. Where do labels go?", {text: text for text in self.places})


def new_places(store: LabelStore, now: datetime) -> list[NewPlace]:
    """The file that is there now, or a new file with another name; where no file is, a new file with that name."""
    labels = [event.session for event in store.events() if event.action == LABEL]
    everything = f"\n  It gets all that memsift still has: {counted(len(labels), 'label')}."
    own = f"\n  It gets the labels of this start: {labels.count(store.session):,}."
    path, other = store.path, store.path.with_stem(f"{store.path.stem}-{now:%Y-%m-%d-%H%M%S}")
    if path.exists():
        return [
            NewPlace(path, store.session, f"Into the file that is there now, {path}{own}"),
            NewPlace(other, "", f"Into the new file {other}{everything}"),
        ]
    return [
        NewPlace(path, "", f"Into the new file {path}{everything}"),
        NewPlace(path, store.session, f"Into the new file {path}{own}"),
    ]
