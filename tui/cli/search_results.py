"""The output of `memsift search`: results as JSON, or as text for people."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from engine.config import MEMSIFT
from engine.judge.verdict import FLAGGED, OK
from engine.lean.json_text import printed_json
from engine.roots import JointIndex, home_of
from engine.search.highlight import Marker, snippet
from tui.cli.options import output_of_roots
from tui.workspace.replay.explain_rows import detail_lines, explanation_row, outcome_line
from tui.workspace.stderr import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.explaining.explain import Explanation
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from engine.roots import OpenIndex
    from tui.workspace.replay.explain_rows import Line

    Explained = Mapping[str, Explanation]
    """The explanation of each memory, by id."""

INDENT = " " * 7
STAGE_WIDTH, GAP_WIDTH = 7, 8
NONE_DROPPED = "No other memory came up."


def result_text(
    retrieval: Retrieval, index: OpenIndex, form: str, explained: Explained | None, width: int, *, is_one: bool
) -> str:
    """The output of a search as JSON, or as text of *width* cells. *is_one*: only the memory in *explained*."""
    rows = ResultRows(retrieval, index, explained)
    result = rows.of_memory() if is_one else rows.of_search()
    if form == "json":
        return printed_json(result, indent=2)
    shown = [result["memory"]] if is_one else result["results"]
    lines = [line for row in shown for line in _result_lines(row, explained or {}, width)]
    return "\n".join([*lines, *(_dropped_lines(result["dropped"]) if "dropped" in result else ())])


def joined_results(texts: Mapping[str, str], form: str) -> str:
    """The output over one or several roots. *texts*: root -> its output, made by `result_text`."""
    if len(texts) > 1 and form == "json":
        found = together({root: json.loads(text) for root, text in texts.items()})
        return printed_json(found, indent=2)
    return output_of_roots(texts, form)


def together(found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The results over several roots as one, each with its `root`; with --memory, {query, memories}.

    The roots take turns, best results first. Scores of different roots cannot be compared, because a score depends on
    how common a word is in its root.
    """
    first = next(iter(found.values()))
    if "memory" in first:
        memories = [{"root": root, **output["memory"]} for root, output in found.items()]
        return {"query": first["query"], "memories": memories}
    made: dict[str, Any] = {name: in_turns(found, name) for name in ("results", "dropped") if name in first}
    return {"query": first["query"], "total_results": len(made["results"]), **made}


def in_turns(found: Mapping[str, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    rows = ([{"root": root, **row} for row in output[name]] for root, output in found.items())
    return [row for turn in zip_longest(*rows) for row in turn if row]


class ResultRows:
    """The memories of one retrieval as JSON. *explained*: each row has `explain`, if its memory is in there."""

    def __init__(self, retrieval: Retrieval, index: OpenIndex, explained: Explained | None) -> None:
        self._retrieval = retrieval
        self._index = index
        self._explained = explained
        self._marker = Marker.of(retrieval.prompt, by_stem=retrieval.strategy == MEMSIFT)

    def of_search(self) -> dict[str, Any]:
        """{query, total_results, results}, best first, and `dropped` if explained."""
        results = [self.of_candidate(candidate) for candidate in self._retrieval.injected]
        found = {"query": self._retrieval.prompt.text, "total_results": len(results), "results": results}
        if self._explained is None:
            return found
        dropped = [candidate for candidate in self._retrieval.candidates if not candidate.injected]
        return {**found, "dropped": [self.of_candidate(candidate) for candidate in dropped]}

    def of_memory(self) -> dict[str, Any]:
        """{query, memory}: the explained memory as a result, found or not."""
        (explanation,) = (self._explained or {}).values()
        strength = explanation.breakdown.strength if explanation.breakdown else 0.0
        score = -strength if strength else 0.0
        row = self.of(explanation.memory, score, explanation.confidence, explanation.probability)
        return {"query": self._retrieval.prompt.text, "memory": row}

    def of_candidate(self, candidate: Candidate) -> dict[str, Any]:
        row = self.of(candidate.memory, candidate.score, candidate.confidence, candidate.probability)
        if candidate.verdict is None:
            return row
        from labels.exchange.replay_file import verdict_field

        return {**row, "verdict": verdict_field(candidate.verdict)}

    def of(self, summary: MemorySummary, score: float, confidence: str, probability: float | None) -> dict[str, Any]:
        memory = self._index.memory(summary.id)
        shown = snippet(memory.body if memory else "", self._marker)
        row = {
            **({"root": home_of(self._index, summary)[0]} if isinstance(self._index, JointIndex) else {}),
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
            "probability": None if probability is None else round(probability, 4),
            "matches": [list(place) for place in shown.matches],
        }
        if self._explained is None:
            return row
        explanation = self._explained.get(summary.id)
        return {**row, "explain": explanation_row(explanation) if explanation else None}


def _result_lines(row: dict[str, Any], explained: Explained, width: int) -> list[str]:
    """A line with P(relevant) or confidence, category and title, then the path, the snippet and the explanation.

    Matches in the snippet are bold. `click.echo` removes that unless stdout is a terminal.
    """
    marks = ("" if row["status"] == "active" else f" [{row['status']}]") + _mark(row.get("verdict"))
    sure = f"P {row['probability']:.2f}" if row["probability"] is not None else row["confidence"] or "-"
    lines = [visible(f"{sure:<6} {row['category']:<16} {row['title']}{marks}")]
    lines += [visible(f"{INDENT}{row['path']}"), f"{INDENT}{bold(row['snippet'], row['matches'])}", ""]
    explanation = explained.get(row["id"])
    if explanation is None:
        return lines
    return [*lines, *map(_shown, [outcome_line(explanation), [], *detail_lines(explanation, width - len(INDENT))]), ""]


def _mark(verdict: dict[str, Any] | None) -> str:
    """The mark of a flagged memory: [?], or with the status if the judge gave no answer."""
    if verdict is None or verdict["decision"] != FLAGGED:
        return ""
    return " [?]" if verdict["status"] == OK else f" [? {verdict['status']}]"


def _dropped_lines(dropped: Iterable[dict[str, Any]]) -> list[str]:
    """A line per dropped memory: stage, missing strength, id and title."""
    rows = [(memory, memory["explain"] or {"outcome": "", "gap": None}) for memory in dropped]
    if not rows:
        return [NONE_DROPPED]
    lines = [f"{'stage':<{STAGE_WIDTH}}{'gap':>{GAP_WIDTH}}  dropped memory (--memory ID explains it)"]
    for memory, explanation in rows:
        gap = "" if explanation["gap"] is None else f"{explanation['gap']:.2f}"
        lines.append(f"{explanation['outcome']:<{STAGE_WIDTH}}{gap:>{GAP_WIDTH}}  {memory['id']}: {memory['title']}")
    return [visible(line) for line in lines]


def _shown(line: Line) -> str:
    pieces = [(visible(text), tone) for text, tone in line]
    text = "".join(click.style(text, bold=True) if tone == "match" else text for text, tone in pieces)
    return f"{INDENT}{text}".rstrip()


def bold(text: str, places: Iterable[tuple[int, int]]) -> str:
    """*text*, visible, with the character ranges *places* in bold."""
    shown, position, pieces = visible(text), 0, []
    for start, end in places:
        pieces += [shown[position:start], click.style(shown[start:end], bold=True)]
        position = end
    return "".join([*pieces, shown[position:]])
