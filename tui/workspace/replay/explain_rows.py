"""An explanation as lines of toned text, for screens and commands, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.config import AUTO, FTS5_BM25, SYSTEMS, TITLE_TAGS
from engine.explaining.contributions import EXACT, FIELDS, PHRASE
from engine.explaining.explain import INJECTED, POOL, UNMATCHED, Explainer
from engine.lean.record import fields, replace
from engine.wording import cells, counted, padded
from tui.workspace.systems import DROPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.explaining.contributions import Breakdown, Contribution, FoundWords, Near
    from engine.explaining.explain import Explanation
    from engine.retrieval import Retrieval
    from tui.workspace.workspace import Workspace

    Line = list[tuple[str, str]]
    """Pieces of a line from left to right: (text, tone). Tones: "head", "muted", "good", "bad", "match" or ""."""

WIDE = 90
LABEL_WIDTH = 11
MIN_WORD, MAX_WORD, MOST_CHARACTERS = 12, 24, 60
MOST_FOUND, MOST_MISSING = 6, 20
STRENGTH_NAMES = {FTS5_BM25: "score", TITLE_TAGS: "points"}
SCORE_NAMES = {FTS5_BM25: "BM25", TITLE_TAGS: "points"}

COLUMNS: tuple[tuple[str, int, Callable[[Contribution], str]], ...] = (
    ("score", 7, lambda match: f"{match.score:.2f}"),
    ("share", 7, lambda match: f"{match.share:.0%}"),
    ("memories", 10, lambda match: "" if match.count is None else f"{match.count:,}"),
    ("weight", 8, lambda match: "" if match.idf is None else f"{match.idf:.2f}"),
)


def explanations(workspace: Workspace, answers: Sequence[Retrieval], memory_id: str) -> list[Explanation]:
    """The outcome of a memory in each of *answers*, with the names of systems for people.

    Behind a judge no cutoff is named: the judge decides about all that it is asked about.
    """
    kept = [answer for answer in answers if answer.system in SYSTEMS]
    explainers = (Explainer(answer, workspace.index, SYSTEMS[answer.system].of(workspace.config)) for answer in kept)
    return [
        replace(found, system=workspace.called(name), cutoff=None if SYSTEMS[name].has_judge else found.cutoff)
        for explainer in explainers
        if (found := explainer.of(memory_id)) and (name := found.system)
    ]


def outcome_line(explanation: Explanation) -> Line:
    """The outcome of a memory, with its reason."""
    return [(_outcome(explanation), "good" if explanation.outcome == INJECTED else "bad")]


def detail_lines(explanation: Explanation, width: int) -> list[Line]:
    """Scores and matched words, or similar words, in *width* terminal cells.

    From WIDE cells on, the places of a word stand beside it, otherwise below.
    """
    if explanation.breakdown is None:
        near = _near_lines(explanation.nearest)
        return [*near, [], [(explanation.advice, "")]] if near else [[(explanation.advice, "")]]
    lines = [
        *_sum_lines(explanation, explanation.breakdown),
        [],
        *_word_lines(explanation, explanation.breakdown.contributions, width),
    ]
    missing = explanation.breakdown.missing
    if missing:
        lines += [[], [("not in it  ", "muted"), (_listed(missing, MOST_MISSING), "")]]
    return [*lines, [], *_near_lines(explanation.nearest)] if explanation.nearest else lines


def _outcome(explanation: Explanation) -> str:
    if explanation.outcome == INJECTED:
        verb, sure = "injects" if explanation.mode == AUTO else "returns", f"{explanation.confidence} confidence"
        if explanation.probability is not None:
            sure = f"{100 * explanation.probability:.0f} % likely to be relevant"
            sure += f"; {100 * explanation.cutoff.value:.0f} % is enough" if explanation.cutoff else ""
        return f"{explanation.system} {verb} it: rank {explanation.rank} in its order, {sure}."
    if explanation.outcome == UNMATCHED:
        return f"{explanation.system} does not find it: {explanation.reason}."
    if explanation.outcome == POOL:
        return f"{explanation.system} passes over it, although it matches: {explanation.reason}."
    has_gap = explanation.gap is not None and explanation.outcome != "cutoff"  # whose reason has both numbers
    missing = f" It is {-(explanation.gap or 0):.2f} short." if has_gap else ""
    stage = "" if explanation.outcome == "cutoff" else f", {DROPPED[explanation.outcome]}"
    dropped = f"{explanation.system} leaves it out, rank {explanation.rank} in its order{stage}"
    return f"{dropped}: {explanation.reason.rstrip('.')}.{missing}"


def explanation_row(explanation: Explanation) -> dict[str, Any]:
    """The field `explain` of `memsift search --explain`. `matched` has the highest score first."""
    breakdown, own = explanation.breakdown, fields(explanation)
    matched = _heaviest_first(breakdown.contributions) if breakdown else []
    bars = {"floor": explanation.floor, "least": explanation.least}
    bars |= {"cutoff": explanation.cutoff, "pool": explanation.entry}
    row: dict[str, Any] = {
        **{name: own[name] for name in ("system", "outcome", "reason", "gap", "rank")},
        **{name: getattr(breakdown, name, 0.0) for name in ("strength", "bm25", "bonus", "gain")},
        "phrase": breakdown.phrase if breakdown else "",
        **{name: bar and fields(bar) for name, bar in bars.items()},
        "matched": [_matched_row(match) for match in matched],
        "missing": list(breakdown.missing) if breakdown else [],
        "nearest": [fields(near) for near in explanation.nearest],
        "advice": explanation.advice,
    }
    return {name: rounded(value) for name, value in row.items()}


# Lines


def _sum_lines(explanation: Explanation, breakdown: Breakdown) -> list[Line]:
    name = STRENGTH_NAMES.get(explanation.strategy, "strength")
    rows = [(name, f"{breakdown.strength:6.2f}", _sum(explanation, breakdown))]
    if breakdown.gain:
        rows.append(("asked as", f"{breakdown.gain:6.2f}", f"“{breakdown.phrase}”"))
    bars = (("floor", explanation.floor), ("at least", explanation.least), ("to rank", explanation.entry))
    alone = " (BM25 alone)" if explanation.strategy == FTS5_BM25 else ""
    rows += [
        (label, f"{bar.value:6.2f}", f"{abs(bar.gap):.2f} {'short of it' if bar.gap < 0 else 'above'}{alone}")
        for label, bar in bars
        if bar
    ]
    return [[(label.ljust(LABEL_WIDTH), "muted"), (f"{value}  ", ""), (text, "muted")] for label, value, text in rows]


def _sum(explanation: Explanation, breakdown: Breakdown) -> str:
    if explanation.strategy == TITLE_TAGS:
        return f"{breakdown.bm25:g} for words" + (
            f" + {breakdown.bonus:g} because it is recent" if breakdown.bonus else ""
        )
    if explanation.strategy == FTS5_BM25:
        return f"BM25 {breakdown.bm25:.2f} + {breakdown.bonus:g} for words in its body"
    asked, matched = len(breakdown.asked), len(breakdown.contributions)
    words = breakdown.strength - breakdown.bonus - breakdown.gain
    phrase = f" + {breakdown.gain:.2f} for a phrase" if breakdown.gain else ""
    return f"{words:.2f} for words + {breakdown.bonus:.2f} for {matched:,} of {counted(asked, 'word')}{phrase}"


def _word_lines(explanation: Explanation, matched: Sequence[Contribution], width: int) -> list[Line]:
    columns = [column for column in COLUMNS if any(column[2](match) for match in matched)]
    names = {"score": SCORE_NAMES.get(explanation.strategy, "score")}
    head = "".join(names.get(name, name).rjust(size) for name, size, _ in columns)
    size = max(MIN_WORD, min(MAX_WORD, max((cells(match.text) for match in matched), default=0)))
    lines: list[Line] = [[(f"{head}  word", "head")]]
    indent = " " * (len(head) + 2)
    for match in _heaviest_first(matched):
        figures = "".join(value(match).rjust(room) for _, room, value in columns)
        places = _places(match)
        if width >= WIDE:
            lines.append([(f"{figures}  ", ""), (padded(_cut(match.text), size), "match"), (f"  {places}", "muted")])
        else:
            lines += [[(f"{figures}  ", ""), (_cut(match.text), "match")], [(f"{indent[:4]}{places}", "muted")]]
    return lines


def _places(match: Contribution) -> str:
    """`title 1, tags 1` for the word itself, `cached (stem): title 2; caches (stem): body 1` for other forms.

    A word that stands only in the turns before the prompt says so.
    """
    earlier = ["from an earlier turn"] if match.is_earlier else []
    if len(match.found) == 1 and match.found[0].words == match.text.casefold():
        return "; ".join([_counts(match.found[0]), *earlier])
    shown = [f"{_cut(found.words)}{_how(found)}: {_counts(found)}" for found in match.found[:MOST_FOUND]]
    more = len(match.found) - len(shown)
    return "; ".join([*shown, *([f"{more:,} more"] if more > 0 else []), *earlier])


def _how(found: FoundWords) -> str:
    return "" if found.how in (EXACT, PHRASE) else f" ({found.how})"


def _counts(found: FoundWords) -> str:
    return ", ".join(f"{field} {count}" for field, count in zip(FIELDS, found.occurrences, strict=True) if count)


def _near_lines(nearest: Sequence[Near]) -> list[Line]:
    if not nearest:
        return []
    rows = [(_cut(near.prompt), _cut(near.memory), f"{near.field}, {near.how}") for near in nearest]
    sizes = [max(MIN_WORD, *(cells(row[i]) for row in rows)) for i in range(2)]
    head: Line = [(f"{padded('prompt', sizes[0])}  {padded('memory', sizes[1])}  in its", "head")]
    lines: list[Line] = [
        [(padded(asked, sizes[0]) + "  ", "match"), (padded(held, sizes[1]) + "  ", ""), (how, "muted")]
        for asked, held, how in rows
    ]
    return [head, *lines]


def _listed(texts: Sequence[str], most: int) -> str:
    more = len(texts) - most
    return ", ".join(map(_cut, texts[:most])) + (f" and {more:,} more" if more > 0 else "")


def _cut(word: str) -> str:
    """A *word*, or the beginning of one that nobody would read."""
    return word if len(word) <= MOST_CHARACTERS else word[: MOST_CHARACTERS - 1] + "…"


def _heaviest_first(matched: Sequence[Contribution]) -> list[Contribution]:
    return sorted(matched, key=lambda match: -match.score)


# JSON


def rounded(value: Any) -> Any:
    """*value* with each number in it rounded to four places."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def _matched_row(match: Contribution) -> dict[str, Any]:
    places = [dict(zip(FIELDS, found.occurrences, strict=True)) for found in match.found]
    shown = [
        {"words": found.words, "how": found.how, **counts} for found, counts in zip(match.found, places, strict=True)
    ]
    row = {"text": match.text, "how": match.how, "memories": match.count, "idf": match.idf, "score": match.score}
    return {**row, "is_earlier": match.is_earlier, "share": match.share, "found": shown}
