"""Where a person is in labelling: which prompt, which card, how far. No widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.queue import MAX_SKIPS, open_cards, pace

if TYPE_CHECKING:
    from engine.prompt import Prompt
    from labels.records import Card, Pair, Pool
    from tui.workspace import Workspace


PACE_EVENTS = 100
"""How many of the latest events the pace is taken from."""


@dataclass(frozen=True)
class Position:
    """One prompt of the queue: its pool, and the cards still open."""

    prompt: Prompt
    pool: Pool
    open: tuple[Card, ...]

    @property
    def card(self) -> Card | None:
        return self.open[0] if self.open else None

    @property
    def card_number(self) -> int:
        """Which of the pool's cards is being shown, 1-based."""
        return len(self.pool.cards) - len(self.open) + 1


class LabelQueue:
    """The prompts in labelling order, and which of them are finished.

    A prompt that was pooled in an earlier sitting is finished when every memory of that pool, as it reads now, has a
    label or was skipped for good; its systems need not be run again to know that.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.order = workspace.labelling_order()
        self._labelled: dict[str, set[Pair]] = {}
        for label in workspace.store.labels(workspace.annotator, root=workspace.index.root):
            self._labelled.setdefault(label.prompt_id, set()).add(label.pair)
        self._finished = {prompt.id for prompt in self.order if self._was_finished(prompt)}

    def position(self, prompt: Prompt) -> Position | None:
        """Where a person is in *prompt*; None until every system has run it."""
        pool = self._workspace.pool(prompt.id)
        if pool is None:
            return None
        labelled, skips = set(self._workspace.labels(prompt.id)), self._workspace.skips(prompt.id)
        self._labelled[prompt.id] = labelled
        at = Position(prompt, pool, open_cards(pool, labelled, skips))
        self._finished.discard(prompt.id) if at.open else self._finished.add(prompt.id)
        return at

    def is_finished(self, prompt: Prompt) -> bool:
        return prompt.id in self._finished

    def after(self, prompt: Prompt | None) -> Prompt | None:
        """The next unfinished prompt after this one, going round at the end; None when all are finished."""
        start = self.order.index(prompt) + 1 if prompt in self.order else 0
        around = (*self.order[start:], *self.order[:start])
        return next((one for one in around if one is not prompt and one.id not in self._finished), None)

    def progress(self, at: Position | None) -> str:
        """Prompts done, labels so far, pace, and about how long the rest takes."""
        workspace = self._workspace
        given = sum(map(len, self._labelled.values()))
        done = len(self._finished)
        parts = [f"{done:,} of {len(self.order):,} prompts done", f"{given:,} label{'' if given == 1 else 's'}"]
        # a label that was given beside a ranking is not timed
        latest = workspace.store.events(workspace.annotator, limit=PACE_EVENTS)
        seconds = pace(event for event in latest if event.blind or event.elapsed_ms)
        if seconds is not None and done < len(self.order):
            parts += [f"{max(1, round(seconds))} s a card", _time_left(seconds * self._cards_left(at))]
        return " · ".join(parts)

    def _was_finished(self, prompt: Prompt) -> bool:
        pooled = self._workspace.pooled(prompt.id)
        left = pooled - self._labelled.get(prompt.id, set())
        skips = self._workspace.skips(prompt.id) if left else {}
        return bool(pooled) and all(skips.get(pair, 0) >= MAX_SKIPS for pair in left)

    def _cards_left(self, at: Position | None) -> int:
        """Open cards of this prompt, and for each other unfinished one as many as this one's pool has."""
        size = max(1, len(at.pool.cards)) if at else 1
        others = len(self.order) - len(self._finished) - (1 if at and at.open else 0)
        return (len(at.open) if at else 0) + others * size


def _time_left(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"about {minutes:,} min left" if minutes else "under 1 min left"
