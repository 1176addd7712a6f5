"""Explanations as lines for people, and as JSON. Says nothing about a terminal or a widget."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from engine.config import AUTO, FTS5_BM25, TITLE_TAGS
from engine.search.accounts import EXACT, PHRASE
from engine.search.explain import INJECTED, POOL, UNMATCHED
from engine.search.nearest import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.search.accounts import Account, Found, Matched
    from engine.search.explain import Bar, Explanation
    from engine.search.nearest import Near

    Line = list[tuple[str, str]]
    """Pieces of a line from left to right, each with its tone: "head", "muted", "good", "bad", "match" or ""."""

WIDE = 90
LABEL_WIDTH = 9
MIN_WORD, MAX_WORD = 12, 24
MOST_FOUND, MOST_MISSING = 6, 20
STRENGTH_NAMES = {FTS5_BM25: "score", TITLE_TAGS: "points"}

COLUMNS: tuple[tuple[str, int, Callable[[Matched], str]], ...] = (
    ("BM25", 6, lambda one: f"{one.score:.2f}"),
    ("share", 7, lambda one: f"{one.share:.0%}"),
    ("memories", 10, lambda one: "" if one.count is None else f"{one.count:,}"),
    ("IDF", 6, lambda one: "" if one.idf is None else f"{one.idf:.2f}"),
)


def outcome_line(one: Explanation) -> Line:
    """What became of the memory, and why."""
    return [(_outcome(one), "good" if one.outcome == INJECTED else "bad")]


def detail_lines(one: Explanation, width: int) -> list[Line]:
    """Sums and words, or what is near, for *width* cells: the words' places stand beside them where there is room."""
    if one.account is None:
        near = _near_lines(one.nearest)
        return [*near, [], [(one.advice, "")]] if near else [[(one.advice, "")]]
    lines = [*_sum_lines(one, one.account), [], *_word_lines(one, one.account.matched, width)]
    missing = one.account.missing
    if missing:
        lines += [[], [("not in it  ", "muted"), (_listed(missing, MOST_MISSING), "")]]
    return [*lines, [], *_near_lines(one.nearest)] if one.nearest else lines


def _outcome(one: Explanation) -> str:
    if one.outcome == INJECTED:
        verb = "injects" if one.mode == AUTO else "returns"
        return f"{one.system} {verb} it: rank {one.rank}, {one.confidence} confidence."
    if one.outcome == UNMATCHED:
        return f"{one.system} does not find it: {one.reason}."
    if one.outcome == POOL:
        return f"{one.system} does not look at it, although it matches: {one.reason}."
    missing = f" It misses {-one.gap:.2f}." if one.gap is not None else ""
    return f"{one.system} drops it by {one.outcome}, at rank {one.rank}: {one.reason.rstrip('.')}.{missing}"


def explanation_row(one: Explanation) -> dict[str, Any]:
    """What `memsift search --explain` prints of a memory. `matched` are the heaviest first."""
    account = one.account
    return {
        "system": one.system,
        "outcome": one.outcome,
        "reason": one.reason,
        "gap": _rounded(one.gap),
        "rank": one.rank,
        "strength": _rounded(account.strength if account else 0.0),
        "bm25": _rounded(account.bm25 if account else 0.0),
        "coordination": _rounded(account.coordination) if account else None,
        "bonus": account.bonus if account else 0.0,
        "floor": _bar_row(one.floor),
        "least": _bar_row(one.least),
        "cutoff": _bar_row(one.cutoff),
        "pool": _bar_row(one.entry),
        "matched": [_matched_row(each) for each in _heaviest_first(account.matched)] if account else [],
        "missing": list(account.missing) if account else [],
        "nearest": [_near_row(near) for near in one.nearest],
        "advice": one.advice,
    }


# Lines


def _sum_lines(one: Explanation, account: Account) -> list[Line]:
    name = STRENGTH_NAMES.get(one.strategy, "strength")
    rows = [(name, account.strength, _sum(one, account))]
    bars = (("floor", one.floor), ("least", one.least), ("pool", one.entry))
    rows += [(label, bar.value, _distance(bar)) for label, bar in bars if bar]
    if one.cutoff:
        probability = one.cutoff.value + one.cutoff.gap
        rows.append(("cutoff", one.cutoff.value, f"P(relevant) {probability:.2f}, {_distance(one.cutoff)}"))
    return [
        [(label.ljust(LABEL_WIDTH), "muted"), (f"{value:6.2f}  ", ""), (text, "muted")] for label, value, text in rows
    ]


def _sum(one: Explanation, account: Account) -> str:
    if one.strategy == TITLE_TAGS:
        return f"{account.bm25:g} for words" + (f" + {account.bonus:g} because it is recent" if account.bonus else "")
    if one.strategy == FTS5_BM25:
        return f"BM25 {account.bm25:.2f} + {account.bonus:g} for words in its body"
    asked, matched = len(account.asked), len(account.matched)
    return f"BM25 {account.bm25:.2f} x {account.coordination:.2f}, {matched:,} of {_count(asked, 'word')}"


def _distance(bar: Bar) -> str:
    return f"{abs(bar.gap):.2f} {'short of it' if bar.gap < 0 else 'above'}"


def _word_lines(one: Explanation, matched: Sequence[Matched], width: int) -> list[Line]:
    columns = [column for column in COLUMNS if any(column[2](each) for each in matched)]
    names = {"BM25": "points"} if one.strategy == TITLE_TAGS else {}
    head = "".join(names.get(name, name).rjust(size) for name, size, _ in columns)
    size = max(MIN_WORD, min(MAX_WORD, max((_width(each.text) for each in matched), default=0)))
    lines: list[Line] = [[(f"{head}  word", "head")]]
    indent = " " * (len(head) + 2)
    for each in _heaviest_first(matched):
        figures = "".join(value(each).rjust(room) for _, room, value in columns)
        places = _places(each)
        if width >= WIDE:
            lines.append([(f"{figures}  ", ""), (_padded(each.text, size), "match"), (f"  {places}", "muted")])
        else:
            lines += [[(f"{figures}  ", ""), (each.text, "match")], [(f"{indent[:4]}{places}", "muted")]]
    return lines


def _places(one: Matched) -> str:
    """Such as `title 1, tags 1` for the word itself, and `cached (stem): title 2, body 1; caches (stem): body 1`."""
    if len(one.found) == 1 and one.found[0].words == one.text.casefold():
        return _counts(one.found[0])
    shown = [f"{found.words}{_how(found)}: {_counts(found)}" for found in one.found[:MOST_FOUND]]
    more = len(one.found) - len(shown)
    return "; ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def _how(found: Found) -> str:
    return "" if found.how in (EXACT, PHRASE) else f" ({found.how})"


def _counts(found: Found) -> str:
    return ", ".join(f"{field} {count}" for field, count in zip(FIELDS, found.occurrences, strict=True) if count)


def _near_lines(nearest: Sequence[Near]) -> list[Line]:
    if not nearest:
        return []
    rows = [(one.prompt, one.memory, f"{one.field}, {one.how}") for one in nearest]
    sizes = [max(MIN_WORD, *(_width(row[i]) for row in rows)) for i in range(2)]
    head: Line = [(f"{_padded('prompt', sizes[0])}  {_padded('memory', sizes[1])}  in its", "head")]
    lines: list[Line] = [
        [(_padded(asked, sizes[0]) + "  ", "match"), (_padded(held, sizes[1]) + "  ", ""), (how, "muted")]
        for asked, held, how in rows
    ]
    return [head, *lines]


def _listed(texts: Sequence[str], most: int) -> str:
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _heaviest_first(matched: Sequence[Matched]) -> list[Matched]:
    return sorted(matched, key=lambda one: -one.score)


def _width(text: str) -> int:
    """Terminal cells, near enough to align words: two for East Asian ones, none for marks."""
    return sum((unicodedata.east_asian_width(c) in "WF") + 1 for c in text if unicodedata.category(c)[0] != "M")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


# JSON


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _bar_row(bar: Bar | None) -> dict[str, float | None] | None:
    return {"value": _rounded(bar.value), "gap": _rounded(bar.gap)} if bar else None


def _matched_row(one: Matched) -> dict[str, Any]:
    return {
        "text": one.text,
        "how": one.how,
        "memories": one.count,
        "idf": _rounded(one.idf),
        "bm25": _rounded(one.score),
        "share": _rounded(one.share),
        "found": [
            {"words": found.words, "how": found.how, **dict(zip(FIELDS, found.occurrences, strict=True))}
            for found in one.found
        ],
    }


def _near_row(one: Near) -> dict[str, str]:
    return {"term": one.term, "prompt": one.prompt, "memory": one.memory, "how": one.how, "field": one.field}
