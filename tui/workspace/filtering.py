"""The rows that a list shows, their order, and the sentences for a screen without any row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.prompt import Prompt
    from engine.roots import OpenIndex

T = TypeVar("T")

MOST_CHARACTERS = 200


class WordFilter:
    """The words of *text*, each a part of any word in a row, in upper or lower case. An empty text fits all rows."""

    def __init__(self, text: str = "") -> None:
        self.words = tuple(dict.fromkeys(text[:MOST_CHARACTERS].casefold().split()))
        self._pattern = re.compile("|".join(map(re.escape, self.words)), re.IGNORECASE)

    def fits(self, folded: str) -> bool:
        """Whether a text of `folded` has all words."""
        return all(word in folded for word in self.words)

    def places(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each word in *text*: sorted, not overlapping."""
        return [match.span() for match in self._pattern.finditer(text)] if self.words else []


def folded(parts: Iterable[str]) -> str:
    """The texts of a row as one text for `WordFilter.fits`."""
    return "\n".join(parts).casefold()


class WordedRow(Protocol):
    """A row with all its texts as `folded` gives them."""

    @property
    def words(self) -> str: ...


Row = TypeVar("Row", bound=WordedRow)


@dataclass(frozen=True)
class RowRules(Generic[Row]):
    """The kinds of the rows of a list, and the keys that its orders sort by: see `in_order`."""

    kinds: Mapping[str, Callable[[Row], bool]]
    keys: Mapping[str, Callable[[Row], Any]]
    rising: Collection[str]

    def counts(self, rows: Sequence[Row]) -> dict[str, int]:
        """The number of rows of each kind."""
        return {kind: sum(map(fits, rows)) for kind, fits in self.kinds.items()}

    def listed(
        self, rows: Sequence[Row], words: WordFilter, kind: str, order: str, *, is_turned: bool = False
    ) -> Sequence[Row]:
        """The rows that fit the words and are of a kind, in an order. A kind without a rule allows all rows."""
        if kind in self.kinds:
            rows = list(filter(self.kinds[kind], rows))
        if words.words:
            rows = [row for row in rows if words.fits(row.words)]
        return in_order(rows, order, self.keys, self.rising, is_turned=is_turned)


def in_order(
    rows: Sequence[T],
    order: str,
    keys: Mapping[str, Callable[[T], Any]],
    rising: Collection[str] = (),
    *,
    is_turned: bool = False,
) -> Sequence[T]:
    """*rows* sorted by the key of *order*; as they are for an order without a key. *is_turned*: the other way round.

    The largest come first, but for *rising* orders.
    """
    if order in keys:
        return sorted(rows, key=keys[order], reverse=(order not in rising) != is_turned)
    return rows[::-1] if is_turned else rows


NO_MEMORIES = (
    "There are no memories here yet.\n\n`memsift create` makes one, and {app.reload} reads the folder again. "
    "To open another folder, start memsift with --root."
)
UNREADABLE = (
    "No memory of this folder can be read.\n\nPress {app.skipped} to see the reasons. {app.reload} reads the folder "
    "again."
)
NO_PROMPTS_TO_REPLAY = "No prompts. {replay.type} types one, or start with --prompts FILE."
NO_MEMORIES_TO_FIND = "There are no memories here. Press {go.browse}."
NOTHING_FOUND = "No memory fits this prompt. {replay.next} goes on, {replay.type} types another."
NO_PROMPTS_TO_LABEL = (
    "There are no prompts to label.\n\nIn Replay ({go.replay}), {replay.type} types a prompt and {replay.choose} adds "
    "it to the sample. Or start memsift with --prompts FILE."
)
NO_PROMPTS_TO_COUNT = (
    "There are no prompts, so there is nothing to measure.\n\nIn Replay ({go.replay}), {replay.type} types a prompt "
    "and {replay.choose} adds it to the sample. Or start memsift with --prompts FILE."
)
NOTHING_INJECTED = (
    "No memory fits any of the prompts, so there is nothing to label.\n\nPress {go.replay} to see what each prompt "
    "finds, or {go.browse} to read the memories."
)
ALL_LABELLED = (
    "Every card of every prompt is labelled.\n\nPress {go.report} for the report, or {mark.undo} to take the last "
    "label back."
)


def no_memories(index: OpenIndex) -> str:
    """The sentences about a folder without memories; empty if it has memories."""
    if len(index):
        return ""
    return UNREADABLE if index.skipped else NO_MEMORIES


def nothing_found(index: OpenIndex) -> str:
    """The reason why a prompt finds no memory, on one line of 60 cells."""
    return NOTHING_FOUND if len(index) else NO_MEMORIES_TO_FIND


def nothing_to_label(index: OpenIndex, prompts: Collection[Prompt], labelled: Collection[str]) -> str:
    """The reason why Label has no card left. *labelled*: the ids of prompts with labels."""
    if lack := no_memories(index):
        return lack
    if not prompts:
        return NO_PROMPTS_TO_LABEL
    return ALL_LABELLED if labelled else NOTHING_INJECTED


def nothing_to_count(index: OpenIndex, prompts: Collection[Prompt]) -> str:
    """The reason why a report without labels has nothing to show; empty if a replay or a label would help."""
    return no_memories(index) or ("" if prompts else NO_PROMPTS_TO_COUNT)
