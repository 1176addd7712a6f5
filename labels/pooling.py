"""The prompts in labelling order; the pool of a prompt: the memories to label; the next card to show.

A hidden repeat is a labelled card that is shown a second time without a hint. It measures how far a person agrees
with themselves, the ceiling of every other agreement. A repeat comes after enough other cards to be out of mind. The
prompt's ranks have been revealed by then, so the measured agreement is an upper limit.
"""

from __future__ import annotations

import hashlib
from itertools import chain
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING

from labels.records import LABEL, Card, Pool

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.retrieval import Retrieval
    from labels.records import Event, Pair

LIST_LENGTH = 10
"""The largest number of titles on a list card."""

SURELY_LISTED, LISTED_SHARE = 45, 0.5
"""The first prompts all have a list card. Of the later prompts this share has one."""

MAX_SKIPS = 2
"""A card with this many skips is not shown again."""

REPEAT_SHARE = 0.1
"""The share of cards that are repeated."""

MIN_REPEAT_GAP, REPEAT_GAP_SPREAD = 10, 20
"""A repeat waits for MIN_REPEAT_GAP to MIN_REPEAT_GAP + REPEAT_GAP_SPREAD - 1 other cards, then for the next prompt."""

REPEAT_REACH = 200
"""A card is not repeated after more than this many others."""


def labelling_order(prompt_ids: Iterable[str], seed: int) -> list[str]:
    """The prompts in random order by *seed*, whatever order they came in.

    The labelled prompts are a simple random sample at any moment. A late prompt takes its place in the same order.
    """
    return sorted(prompt_ids, key=lambda prompt_id: random_key(str(seed), prompt_id))


def draw(prompt_id: str, seed: int, drawn: Mapping[str, float]) -> float:
    """The probability with which a prompt is drawn for a list card; 0 if it is not drawn.

    *drawn* are the prompts that were drawn so far, with theirs. Nothing of the prompt decides but its id and *seed*, so
    the drawn prompts are a random sample.
    """
    if prompt_id in drawn or len(drawn) < SURELY_LISTED:
        return drawn.get(prompt_id, 1.0)
    return LISTED_SHARE if fraction(str(seed), "list", prompt_id) < LISTED_SHARE else 0.0


def pool(retrievals: Sequence[Retrieval], seed: int, drawn: float = 0.0) -> Pool:
    """The pool of one prompt: all memories that *retrievals* inject, one card for a memory of several systems.

    A *drawn* prompt has a list card, too: the best other candidates, by their ranks in all *retrievals*. Memories that
    no system may inject are left out. The order depends only on prompt id and seed, so the position of a card or a
    title tells nothing about its rank.
    Raises ValueError for no retrieval, and for retrievals of different prompts.
    """
    prompts = {retrieval.prompt.id for retrieval in retrievals}
    if len(prompts) != 1:
        raise ValueError(f"a pool is of one prompt, not of {len(prompts)}")
    prompt = retrievals[0].prompt
    candidates = sorted(chain(*(found.candidates for found in retrievals)), key=attrgetter("rank"))
    known = [((found.memory.id, found.memory.digest), found) for found in candidates if found.dropped_by != "status"]
    memories = {pair: found.memory for pair, found in known}
    injected = {pair for pair, found in known if found.injected}
    others = [pair for pair in memories if pair not in injected][: LIST_LENGTH if drawn else 0]

    def cards(pairs: Iterable[Pair], start: int) -> tuple[Card, ...]:
        order = sorted(pairs, key=lambda pair: random_key(f"{seed}\0{prompt.id}\0order", *pair))
        return tuple(Card(memories[pair], place) for place, pair in enumerate(order, start))

    return Pool(prompt, cards(injected, 1), seed, cards(others, len(injected) + 1), drawn)


def fraction(*parts: str) -> float:
    """A number in [0, 1) that looks random and is always the same for the same *parts*."""
    return int.from_bytes(random_key(*parts)[:6]) / 2**48


def random_key(*parts: str) -> bytes:
    """A sort key that looks random and is always the same for the same *parts*.

    Sorting by a keyed hash is a uniformly random permutation, as far as SHA-256 is a random function.
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


# The next card


def open_cards(cards: Iterable[Card], labelled: Collection[Pair], skips: Mapping[Pair, int]) -> tuple[Card, ...]:
    """Those of *cards* that are to be shown, in the same order; skipped cards come last."""
    unlabelled = [card for card in cards if card.pair not in labelled]
    return tuple(card for times in range(MAX_SKIPS) for card in unlabelled if skips.get(card.pair, 0) == times)


def answered(labels: Iterable[Event]) -> int:
    """The number of cards of a prompt that its *labels* answer; a list card is one."""
    return len({None if label.titles else label.pair for label in labels})


def pace(events: Iterable[Event]) -> float | None:
    """The median time per label in seconds, without list cards; None before the first label."""
    times = [event.elapsed_ms for event in events if event.action == LABEL and not event.titles]
    return median(times) / 1000 if times else None


def due_repeats(recent: Sequence[Event], seed: int) -> tuple[Event, ...]:
    """The labels whose cards are due for a repeat, the longest waiting first; *recent* are newest first.

    Only blind key presses are repeated: nothing else can be asked again under the same conditions.
    """

    def drawn(label: Event, salt: str) -> float:
        return fraction(str(seed), salt, label.annotator, label.prompt_id, *label.pair)

    return tuple(
        label
        for later, label in reversed(list(enumerate(recent)))
        if label.blind
        and not label.source
        and drawn(label, "repeat") < REPEAT_SHARE
        and later >= MIN_REPEAT_GAP + int(REPEAT_GAP_SPREAD * drawn(label, "gap"))
    )
