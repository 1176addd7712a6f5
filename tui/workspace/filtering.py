"""The rows that a list shows, their order, and the sentences for a screen without any row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine.lean.sections import read_sections
from engine.stores.registry import HOLDS_NO_MEMORIES

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


class RowKind(NamedTuple):
    """Some of the rows of a list: their name for people, and whether a row is one of them."""

    text: str
    fits: Callable[..., bool] = lambda *_: True


class RowOrder(NamedTuple):
    """An order of rows: its name for people, and the key that it sorts by; without a key rows stay as they are.

    The largest keys come first, unless it *is_rising*.
    """

    text: str
    key: Callable[..., Any] | None = None
    is_rising: bool = False

    def of(self, rows: Sequence[T], *known: object, is_turned: bool = False) -> Sequence[T]:
        """*rows* in this order. The key gets a row, and what is *known* of all. *is_turned*: the other way round."""
        key = self.key
        if key:
            return sorted(rows, key=lambda row: key(row, *known), reverse=self.is_rising == is_turned)
        return rows[::-1] if is_turned else rows


@dataclass(frozen=True)
class RowChoice:
    """The rows that a person wants to see: those with all `words` and of a `kind`, in an `order`."""

    words: WordFilter = field(default_factory=WordFilter)
    kind: Any = ""
    order: str = ""
    is_turned: bool = False


@dataclass(frozen=True)
class RowRules:
    """The kinds and the orders of the rows of a list. `words` of a row are all its texts, as `folded` gives them."""

    orders: Mapping[str, RowOrder]
    kinds: Mapping[str, RowKind] = field(default_factory=dict)

    def counts(self, rows: Sequence[Any]) -> dict[str, int]:
        """The number of rows of each kind."""
        return {kind: sum(map(rule.fits, rows)) for kind, rule in self.kinds.items()}

    def listed(self, rows: Sequence[Any], choice: RowChoice) -> Sequence[Any]:
        """The rows of a choice, in its order."""
        rows = list(filter(self.kinds[choice.kind].fits, rows))
        if choice.words.words:
            rows = [row for row in rows if choice.words.fits(row.words)]
        return self.orders[choice.order].of(rows, is_turned=choice.is_turned)


NO_ROWS = {name: "\n\n".join(lines) for name, lines in read_sections(__file__, "no_rows.txt")}
ALL_LABELLED, NO_PROMPTS_TO_REPLAY = NO_ROWS["all labelled"], NO_ROWS["no prompts to replay"]


def no_memories(index: OpenIndex) -> str:
    """The sentences about a folder without memories; empty if it has memories."""
    if len(index):
        return ""
    unread = [file for file in index.skipped if not file.reason.startswith(HOLDS_NO_MEMORIES)]
    seen = [f"\n\nThis folder {file.reason}." for file in index.skipped if file not in unread]
    return NO_ROWS["unreadable"] if unread else "".join((NO_ROWS["no memories"], *seen))


def nothing_found(index: OpenIndex) -> str:
    """The reason why a prompt finds no memory, on one line of 60 cells."""
    return NO_ROWS["nothing found" if len(index) else "no memories to find"]


def nothing_to_label(index: OpenIndex, prompts: Collection[Prompt], labelled: Collection[str]) -> str:
    """The reason why Label has no card left. *labelled*: the ids of prompts with labels."""
    if lack := no_memories(index):
        return lack
    if not prompts:
        return NO_ROWS["no prompts to label"]
    return ALL_LABELLED if labelled else NO_ROWS["nothing injected"]


def nothing_to_count(index: OpenIndex, prompts: Collection[Prompt]) -> str:
    """The reason why a report without labels has nothing to show; empty if a replay or a label would help.

    *prompts*: the sample without the prompts that a person chose.
    """
    return no_memories(index) or ("" if prompts else NO_ROWS["no prompts to count"])
