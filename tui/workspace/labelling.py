"""The labelling queue: the current prompt and card, repeated cards, progress, the guideline, actions on reasons."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import MemsiftError
from engine.lean.sections import text_beside
from engine.paths import config_file
from engine.stores.files import UnreadableFileError, text_of
from engine.stores.writing import ACTIVE
from engine.wording import counted, listed
from labels.measure.agreement import LabellingProgress, people
from labels.pooling import MAX_SKIPS, REPEAT_REACH, answered, due_repeats, open_cards, pace
from labels.records import Card, Pool, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from labels.records import Event, Pair
    from tui.workspace.workspace import Workspace

LATEST = 10
"""Number of latest labels that Label lists."""

FEWEST_TIMED, FEWEST_ROUNDED = 10, 10
"""The labels from which the time left is told, and the minutes from which it is rounded to five: it must not jump."""

PACE_EVENTS = 100
"""Number of latest events that the pace is computed from."""

ACTIONS = {"stale": "retire", "duplicate": "merge", "too generic": "edit"}
"""Reason of a label -> the action of the screens that change memories."""

GUIDELINE_FILE = "guideline.md"

GUIDELINE = text_beside(__file__, GUIDELINE_FILE).removesuffix("\n")
"""The usual guideline: it says when a memory counts as relevant."""


@dataclass(frozen=True)
class Position:
    """A prompt of the queue, its pool, and the cards that are still open. A repeat's pool holds the repeated cards.

    `listed` are the open titles of the list card, which comes after the other cards.
    """

    prompt: Prompt
    pool: Pool
    open: tuple[Card, ...]
    is_repeat: bool = False
    listed: tuple[Card, ...] = ()

    @property
    def card(self) -> Card | None:
        return self.open[0] if self.open else None

    @property
    def asked(self) -> tuple[Card, ...]:
        """What the screen asks about: a card, or else the titles of the list card; empty if the prompt is done."""
        return self.open[:1] or self.listed

    @property
    def card_number(self) -> int:
        """The number of the shown card within the pool, from 1."""
        return len(self.pool.cards) - len(self.open) + 1


class LabelQueue:
    """The prompts in labelling order, with the finished ones.

    A prompt is finished when every memory of its pool has a label for its current text, or was skipped MAX_SKIPS times.
    For a pool of an earlier start, this is known without running the systems again.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.order = workspace.labelling_order()
        self._by_id = {prompt.id: prompt for prompt in self.order}
        given = workspace.store.labels(workspace.annotator, root=workspace.index.root)
        labels = grouped((label.prompt_id, label) for label in given)
        self._labelled = {name: {label.pair for label in own} for name, own in labels.items()}
        self._answered = Counter({name: answered(own) for name, own in labels.items()})
        every = workspace.store.labels(root=workspace.index.root)
        people = Counter(label.annotator for label in every if not label.titles)
        del people[workspace.annotator]
        self._others = f" of yours, {people.total():,} of {listed(sorted(people))}" if people else ""
        self._finished = self._finished_before()
        disputes = (dispute.prompt_id for dispute in workspace.disputes())
        begun = self._labelled.keys() - self._finished
        self._disputed = Counter(name for name in disputes if name not in begun)

    def position(self, prompt: Prompt) -> Position | None:
        """The position in *prompt*, or None until every system has run it."""
        workspace = self._workspace
        pool = workspace.pool(prompt.id)
        if pool is None:
            return None
        labels = workspace.labels(prompt.id)
        skips = workspace.store.skips(workspace.annotator, prompt.id).get(prompt.id, {})
        self._labelled[prompt.id] = set(labels)
        self._answered[prompt.id] = answered(labels.values())
        still_open = (open_cards(cards, labels, skips) for cards in (pool.cards, pool.listed))
        at = Position(prompt, pool, next(still_open), listed=next(still_open))
        if at.asked:
            self._finished.discard(prompt.id)
        else:
            self._finished.add(prompt.id)
            self._disputed[prompt.id] = len(workspace.disputes(prompt.id))
        return at

    def is_finished(self, prompt: Prompt) -> bool:
        return prompt.id in self._finished

    def after(self, prompt: Prompt | None) -> Prompt | None:
        """The first unfinished prompt other than *prompt*; None if there is none.

        It may stand before *prompt*: a late or reopened prompt comes first, so that the labelled prompts stay a
        beginning of the order, which is a random sample.
        """
        here = prompt.id if prompt else None
        return next((other for other in self.order if other.id != here and other.id not in self._finished), None)

    def unfinished(self) -> tuple[Prompt, ...]:
        return tuple(prompt for prompt in self.order if prompt.id not in self._finished)

    # Repeats

    def due(self, finished: Prompt | None) -> Position | None:
        """A card of an earlier prompt that is due to be shown again, unannounced; never a card of *finished*."""
        workspace = self._workspace
        for label in due_repeats(workspace.store.recent(workspace.annotator, REPEAT_REACH), workspace.seed):
            prompt = self._by_id.get(label.prompt_id)
            if prompt and prompt is not finished and (at := self.repeat(prompt, [label.pair])).open:
                return at
        return None

    def repeat(self, prompt: Prompt, pairs: Sequence[Pair]) -> Position:
        """The cards of *pairs* whose memory did not change, to be shown again. Open: without an answer as a repeat."""
        workspace = self._workspace
        memories = [memory.summary for memory_id, _ in pairs if (memory := workspace.memory(memory_id))]
        cards = [Card(memory, position) for position, memory in enumerate(memories, start=1)]
        fresh = tuple(card for card in cards if card.pair in pairs)
        answered = workspace.store.repeated(workspace.annotator, prompt.id)
        left = tuple(card for card in fresh if card.pair not in answered)
        return Position(prompt, Pool(prompt, fresh, workspace.seed), left, is_repeat=True)

    # Progress

    def parts(self, at: Position | None) -> list[str]:
        """Prompts done, labels so far, disputes, and the time left.

        Disputes are counted when a prompt is finished. If the number rose with a single label, it would reveal how
        other people labelled that card.
        """
        workspace = self._workspace
        given, done = self._answered.total(), len(self._finished)
        parts = [f"{done:,} of {len(self.order):,} prompts done", counted(given, "label") + self._others]
        if disputed := self._disputed.total():
            parts.append(f"{{label.settle}} settles {counted(disputed, 'dispute')}")
        seconds = workspace_pace(workspace)
        if seconds is not None and given >= FEWEST_TIMED and done < len(self.order):
            minutes = round(seconds * self._cards_left(at) / 60)
            steady = 5 * round(minutes / 5) if minutes >= FEWEST_ROUNDED else minutes
            parts.append(f"about {steady:,} min left" if minutes else "under 1 min left")
        return parts

    def _finished_before(self) -> set[str]:
        """The ids of prompts that were finished at an earlier start."""
        workspace = self._workspace
        pools, skips = workspace.earlier_pools(), workspace.store.skips(workspace.annotator)

        def is_finished(prompt_id: str, pool: Set[Pair]) -> bool:
            left, skipped = pool - self._labelled.get(prompt_id, set()), skips.get(prompt_id, {})
            return bool(pool) and all(skipped.get(pair, 0) >= MAX_SKIPS for pair in left)

        done = {prompt.id for prompt in self.order if is_finished(prompt.id, pools.get(prompt.id, frozenset()))}
        return done | (workspace.empty_prompts() & self._by_id.keys())

    def _cards_left(self, at: Position | None) -> int:
        """Open cards of this prompt, plus the mean number of cards for each other unfinished prompt."""
        here = at if at and at.open and not at.is_repeat else None
        begun = len(here.pool.cards) - len(here.open) if here else 0
        done = len(self._finished)
        size = (self._answered.total() - begun) / done if done else len(at.pool.cards) if at else 1
        return round((len(at.open) if at else 0) + (len(self.order) - done - bool(here)) * size)


# The latest labels


def latest_labels(workspace: Workspace) -> list[Event]:
    """The annotator's ten latest labels and repeats, newest first. A label that was changed since is left out."""
    recent = workspace.store.recent(workspace.annotator, 2 * LATEST, repeats=True)
    newest: dict[tuple[object, ...], Event] = {}
    for label in recent:
        newest.setdefault((label.prompt_id, label.pair, label.repeat), label)
    return list(newest.values())[:LATEST]


def change_label(workspace: Workspace, label: Event, verdict: str, grade: int | None = None) -> None:
    """Append another verdict on the memory of an earlier *label*, with the same reason and note.

    Raises MemsiftError for a repeat and for a memory that changed since.
    """
    memory = workspace.memory(label.memory_id)
    if label.repeat:
        raise MemsiftError("This answer was given when the card was shown again. It stays, to measure your agreement.")
    if memory is None or memory.summary.digest != label.digest:
        raise MemsiftError("This memory has changed since. Its card comes again, with the new text.")
    events = workspace.store.events(workspace.annotator, PACE_EVENTS)
    event = next((kept for kept in events if kept.event_id == label.event_id), None)
    workspace.store.label(
        workspace.annotator,
        label.prompt_id,
        Card(memory.summary, event.position if event else 1),
        verdict,
        seed=workspace.seed,
        blind=workspace.is_blind(label.prompt_id),
        elapsed_ms=event.elapsed_ms if event else 0,
        grade=grade,
        reason=label.reason,
        note=label.note,
    )


def workspace_pace(workspace: Workspace) -> float | None:
    """The annotator's latest pace in seconds per card; None before the first label."""
    latest = workspace.store.events(workspace.annotator, limit=PACE_EVENTS)
    # a label that is given beside a ranking has no time
    return pace(event for event in latest if event.blind or event.elapsed_ms)


def progress_of(workspace: Workspace, queue: LabelQueue) -> LabellingProgress:
    """The progress of every person with the prompts of a workspace."""
    store, root = workspace.store, workspace.index.root
    labels, digests = store.labels(root=root), workspace.digests()
    return LabellingProgress(
        annotator=workspace.annotator,
        prompts=len(queue.order),
        done=len(queue.order) - len(queue.unfinished()),
        seconds_per_card=workspace_pace(workspace),
        people=people(labels, store.repeats(root)),
        disputed=len(workspace.disputes()),
        settled=len(store.adjudications(root)),
        stale=sum(digests.get(label.memory_id) != label.digest for label in labels),
    )


# What the reason of a label asks for: a stale memory is retired, a copy merged, a vague memory edited


@dataclass(frozen=True)
class FollowUp:
    """An *action* of ACTIONS on a memory, for the *reason* that a person gave with a label."""

    memory: MemorySummary
    reason: str
    action: str


def follow_ups(workspace: Workspace, prompt_id: str) -> list[FollowUp]:
    """The actions that the annotator's labels of a prompt ask for, in the order of the labels.

    A memory that was changed or retired since asks for nothing any more.
    """
    found = []
    for label in workspace.labels(prompt_id).values():
        memory = workspace.memory(label.memory_id) if label.reason in ACTIONS else None
        if memory and memory.summary.digest == label.digest and memory.summary.status == ACTIVE:
            found.append(FollowUp(memory.summary, label.reason, ACTIONS[label.reason]))
    return found


def follow_words(found: list[FollowUp], key: str) -> str:
    """The sentence that names the *key* and the first action; empty without any."""
    if not found:
        return ""
    first, more = found[0], len(found) - 1
    rest = f", and {more:,} more after it" if more else ""
    return f"{key} {first.action}s “{first.memory.name}” ({first.reason}){rest}."


# The guideline


def guideline(environ: Mapping[str, str]) -> str:
    """guideline.md beside config.toml; the usual guideline without such a file, or if it cannot be read."""
    with suppress(UnreadableFileError):
        return text_of(str(Path(config_file(environ)).with_name(GUIDELINE_FILE))).strip() or GUIDELINE
    return GUIDELINE


def guideline_hash(environ: Mapping[str, str]) -> str:
    """The beginning of the guideline's SHA-256, in hex digits."""
    return sha256(guideline(environ).encode("utf-8", "replace")).hexdigest()[:16]
