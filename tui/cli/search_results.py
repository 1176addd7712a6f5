"""What `memsift search` prints: results as JSON, and the same for people."""

from __future__ import annotations

import json
import shutil
import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from engine.config import MEMSIFT
from engine.judge.verdict import FLAGGED, OK
from engine.search.marks import Marker, snippet
from tui.cli.options import of_roots
from tui.workspace.stderr import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from engine.search.explain import Explanation
    from engine.search.index import Index
    from tui.workspace.explain_rows import Line

    Explained = Mapping[str, Explanation]
    """The explanation of each memory, by id."""

INDENT = " " * 7
STAGE_WIDTH, GAP_WIDTH = 7, 8
PIPE_WIDTH = 100
NONE_DROPPED = "No other memory came up."


def printed(
    retrieval: Retrieval, index: Index, form: str, explained: Explained | None, width: int, *, is_one: bool
) -> str:
    """The output of a search as JSON, or as text *width* cells wide. *is_one*: only the one memory in *explained*."""
    (one, *_) = explained.values() if explained and is_one else (None,)
    result = memory_result(retrieval, index, one) if one else search_result(retrieval, index, explained)
    if form == "json":
        return json.dumps(result, indent=2, ensure_ascii=False)
    return "\n".join(memory_lines(result, one, width) if one else search_lines(result, explained, width))


def of_search(texts: Mapping[str, str], form: str) -> str:
    """What `printed` made of each root, by root, as one output; of one root as it is."""
    if len(texts) > 1 and form == "json":
        found = together({root: json.loads(text) for root, text in texts.items()})
        return json.dumps(found, indent=2, ensure_ascii=False)
    return of_roots(texts, form)


def together(found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The results over several roots as one, each with its `root`; of one memory, {query, memories}.

    They take turns, the best of every root first: a score is made of how common words are in its root, and says nothing
    beside a score of another.
    """
    first = next(iter(found.values()))
    if "memory" in first:
        memories = [{"root": root, **one["memory"]} for root, one in found.items()]
        return {"query": first["query"], "memories": memories}
    made: dict[str, Any] = {name: in_turns(found, name) for name in ("results", "dropped") if name in first}
    return {"query": first["query"], "total_results": len(made["results"]), **made}


def in_turns(found: Mapping[str, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    rows = ([{"root": root, **row} for row in one[name]] for root, one in found.items())
    return [row for turn in zip_longest(*rows) for row in turn if row]


def search_result(retrieval: Retrieval, index: Index, explained: Explained | None = None) -> dict[str, Any]:
    """{query, total_results, results}, best first; with *explained* also `dropped`, and `explain` in each of both."""
    rows = Rows(retrieval, index, explained)
    results = [rows.of_candidate(one) for one in retrieval.injected]
    found = {"query": retrieval.prompt.text, "total_results": len(results), "results": results}
    if explained is None:
        return found
    dropped = [one for one in retrieval.candidates if not one.injected]
    return {**found, "dropped": [rows.of_candidate(one) for one in dropped]}


def memory_result(retrieval: Retrieval, index: Index, explanation: Explanation) -> dict[str, Any]:
    """{query, memory}: one memory as a result, whatever became of it."""
    rows = Rows(retrieval, index, {explanation.memory.id: explanation})
    strength = explanation.account.strength if explanation.account else 0.0
    return {
        "query": retrieval.prompt.text,
        "memory": rows.of(explanation.memory, -strength if strength else 0.0, explanation.confidence),
    }


class Rows:
    """Memories as results of one retrieval."""

    def __init__(self, retrieval: Retrieval, index: Index, explained: Explained | None) -> None:
        self._marker = Marker.of(retrieval.prompt.text, by_stem=retrieval.strategy == MEMSIFT)
        self._index = index
        self._explained = explained

    def of_candidate(self, one: Candidate) -> dict[str, Any]:
        row = self.of(one.memory, one.score, one.confidence)
        if one.verdict is None:
            return row
        from labels.exchange.run_file import verdict_field

        return {**row, "verdict": verdict_field(one.verdict)}

    def of(self, summary: MemorySummary, score: float, confidence: str) -> dict[str, Any]:
        memory = self._index.memory(summary.id)
        shown = snippet(memory.body if memory else "", self._marker)
        row = {
            "id": summary.id,
            "title": summary.title,
            "category": summary.category,
            "path": summary.path,
            "tags": list(summary.tags),
            "status": summary.status,
            "snippet": shown.text,
            "updated_at": summary.updated_at,
            "score": round(score, 4),
            "confidence": confidence,
            "matches": [list(place) for place in shown.matches],
        }
        return {**row, "explain": self._explanation(summary.id)} if self._explained is not None else row

    def _explanation(self, memory_id: str) -> dict[str, Any] | None:
        from tui.workspace.explain_rows import explanation_row

        explanation = (self._explained or {}).get(memory_id)
        return explanation_row(explanation) if explanation else None


def search_lines(result: dict[str, Any], explained: Explained | None = None, width: int = 0) -> list[str]:
    """The same for people: a line with confidence, category and title, one with the path, one with the snippet.

    The matches in the snippet are bold, for a terminal to show: `click.echo` leaves that out where there is none.
    """
    lines = [line for one in result["results"] for line in _result_lines(one, explained, width)]
    return lines if explained is None else [*lines, *_dropped_lines(result["dropped"])]


def memory_lines(result: dict[str, Any], explanation: Explanation, width: int) -> list[str]:
    """One memory and its explanation, for people."""
    return _result_lines(result["memory"], {explanation.memory.id: explanation}, width)


def _result_lines(one: dict[str, Any], explained: Explained | None, width: int) -> list[str]:
    marks = ("" if one["status"] == "active" else f" [{one['status']}]") + _mark(one.get("verdict"))
    lines = [visible(f"{one['confidence'] or '-':<6} {one['category']:<16} {one['title']}{marks}")]
    lines += [visible(f"{INDENT}{one['path']}"), f"{INDENT}{bold(one['snippet'], one['matches'])}", ""]
    explanation = (explained or {}).get(one["id"])
    if explanation is None:
        return lines
    from tui.workspace.explain_rows import detail_lines, outcome_line

    return [*lines, *map(_shown, [outcome_line(explanation), [], *detail_lines(explanation, width - len(INDENT))]), ""]


def _mark(verdict: dict[str, Any] | None) -> str:
    """What the judge was not sure of, or could not be asked about, is marked."""
    if verdict is None or verdict["decision"] != FLAGGED:
        return ""
    return " [?]" if verdict["status"] == OK else f" [? {verdict['status']}]"


def _dropped_lines(dropped: Iterable[dict[str, Any]]) -> list[str]:
    """A line for each: the stage, the strength that was missing, id and title."""
    rows = [(one, one["explain"] or {"outcome": "", "gap": None}) for one in dropped]
    if not rows:
        return [NONE_DROPPED]
    lines = [f"{'stage':<{STAGE_WIDTH}}{'gap':>{GAP_WIDTH}}  dropped memory (--memory ID explains it)"]
    for one, explanation in rows:
        gap = "" if explanation["gap"] is None else f"{explanation['gap']:.2f}"
        lines.append(f"{explanation['outcome']:<{STAGE_WIDTH}}{gap:>{GAP_WIDTH}}  {one['id']}: {one['title']}")
    return [visible(line) for line in lines]


def _shown(line: Line) -> str:
    pieces = [(visible(text), tone) for text, tone in line]
    text = "".join(click.style(text, bold=True) if tone == "match" else text for text, tone in pieces)
    return f"{INDENT}{text}".rstrip()


def bold(text: str, places: Iterable[tuple[int, int]]) -> str:
    """*text*, visible, with these character ranges of it bold."""
    shown, position, pieces = visible(text), 0, []
    for start, end in places:
        pieces += [shown[position:start], click.style(shown[start:end], bold=True)]
        position = end
    return "".join([*pieces, shown[position:]])


def output_width() -> int:
    """Cells of a line on stdout: the terminal's, or PIPE_WIDTH where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
