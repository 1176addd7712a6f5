"""`memsift search`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.config import AUTO, SEARCH
from engine.errors import UnknownMemoryError
from engine.judge.verdict import FLAGGED, OK
from engine.lean.json_text import printed_json
from engine.lean.record import replace
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.roots import JointIndex
from engine.search.highlight import Marker, snippet
from tui.cli.declaring import argument, bundle, command, option
from tui.cli.options import (
    AskedJudge,
    EachRoot,
    ListForm,
    told_cutoff,
)
from tui.cli.output import output_width, picked, report_fallback, report_notices, report_skipped
from tui.workspace import opening
from tui.workspace.judging import opened_judge
from tui.workspace.replay.explain_rows import detail_lines, explanation_row, outcome_line, rounded
from tui.workspace.stderr import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.config import Config
    from engine.explaining.explain import Explanation
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from engine.roots import OpenIndex
    from tui.cli.output import Output
    from tui.workspace.replay.explain_rows import Line

    Explained = Mapping[str, Explanation]
    """The explanation of each memory, by id."""


PIPE_WIDTH = 100


@dataclass(frozen=True)
class Search:
    """The query and the options of a search, as on the command line.

    --mode: search: every match, for a person who searches. auto: as the hook, without weak matches.
    --include-retired: Also find retired and archived memories.
    --max-results: Limit of results. Default: max_results (10), or with --mode auto max_inject (3).
    --explain: Add `explain` to each result, and list the `dropped` memories.
    --memory: Explain only this memory, whether the query finds it or not.
    --root: several roots are searched together, as in the hook. Each result has its `root`.
    """

    query: Annotated[str, argument()]
    roots: EachRoot
    mode: Annotated[str, option("--mode", type=click.Choice([AUTO, SEARCH]), default=SEARCH)]
    include_retired: Annotated[bool, option("--include-retired")]
    max_results: Annotated[int | None, option("--max-results", type=click.IntRange(1, 1000), metavar="N")]
    judge: AskedJudge
    form: ListForm
    explain: Annotated[bool, option("--explain")]
    memory_id: Annotated[str | None, option("--memory", metavar="ID")]

    def output(self) -> Output:
        """The results as JSON and as text. Raises UnknownMemoryError."""
        joint = opening.open_roots(self.roots, os.environ, self.judge)
        limit = {"max_results": self.max_results, "max_inject": self.max_results} if self.max_results else {}
        config = replace(joint.config, **limit)
        cutoff = told_cutoff(joint) if self.mode == AUTO else None
        with opened_judge(self.judge, config) as asked, opening.opened_roots(joint.paths, joint.others) as index:
            if asked:
                asked.prepare()
            report_skipped(index.skipped)
            report_notices(index.notices)
            question = Query(typed_prompt(self.query), mode=self.mode, include_retired=self.include_retired)
            retrieval = retrieve(question, index, OpenSystem(config, cutoff, asked))
            self.judge.refuse_a_miss(retrieval)
            is_one = self.memory_id is not None
            explained = self.explanations(retrieval, index, config) if self.explain or is_one else None
            found = result_of(retrieval, index, explained, output_width(PIPE_WIDTH), is_one=is_one)
        report_fallback(retrieval)
        return found

    def explanations(self, retrieval: Retrieval, index: OpenIndex, config: Config) -> dict[str, Explanation]:
        """Memory id -> explanation, of every candidate or of the memory of --memory. Raises UnknownMemoryError."""
        from engine.explaining.explain import Explainer, near_ids

        explained = Explainer(retrieval, index, config).of
        if self.memory_id is None:
            asked = [candidate.memory.id for candidate in retrieval.candidates]
            return {memory_id: found for memory_id in asked if (found := explained(memory_id))}
        if explanation := explained(self.memory_id):
            return {self.memory_id: explanation}
        near = near_ids(self.memory_id, [summary.id for summary in index.summaries()])
        instead = f"There is {', '.join(map(repr, near))}." if near else "`memsift search` prints the ids of memories."
        raise UnknownMemoryError(f"There is no memory {self.memory_id!r} here. {instead}")


@command()
def search(wanted: Annotated[Search, bundle(Search)]) -> None:
    """Find memories by the words of QUERY, best first.

    If a judge is named, it leaves out unrelated memories.

    Output: {query, total_results, results: [{id, title, category, path, tags, status, snippet, updated_at, score,
    confidence, probability, matches}]}. `score` is negative, the best score is the lowest. `probability` is P(relevant)
    with --mode auto, from the cutoff; else null. `matches` are the character ranges of the words in `snippet`. With a
    judge, a result has its `verdict`.

    \b
    Fields of `explain`:
      outcome       injected, or the stage that dropped it: status, floor, cutoff,
                    judge, cap, pool (others were stronger), unmatched
      reason        the same as a sentence
      rank, gap     rank, and the strength by which it missed the stage's limit
      strength      the sum of the words' scores + bonus (for the number of words)
                    + gain (for the phrase that fits best)
      floor, least, cutoff, pool
                    the limits, each with its value and the gap to it
      matched       words of the query in the memory: how (exact, phrase, stem,
                    beginning), memories with the word, idf, score, share,
                    is_earlier (only in the turns before), found
      missing       words of the query that are not in it
      nearest       similar words, such as another spelling
      advice        what would make it match

    \b
    Examples:
      memsift search "retry of payments"
      memsift search "how do we deploy?" --mode auto --explain
    """
    row, text = wanted.output()
    click.echo(printed_json(row, indent=2) if wanted.form == "json" else text)


INDENT = " " * 7
STAGE_WIDTH, GAP_WIDTH = 7, 8


def result_of(
    retrieval: Retrieval, index: OpenIndex, explained: Explained | None, width: int, *, is_one: bool
) -> Output:
    """The output of a search, with text of *width* cells. *is_one*: only the memory in *explained*.

    As JSON {query, total_results, results}, best first, and `dropped` if explained; or {query, memory}: the explained
    memory as a result, found or not.
    """
    rows = ResultRows(index, Marker.of(retrieval.prompt, retrieval.mode), explained)
    query = {"query": retrieval.prompt.text}
    if is_one:
        (explanation,) = (explained or {}).values()
        strength = explanation.breakdown.strength if explanation.breakdown else 0.0
        row = rows.of(explanation.memory, -strength or 0.0, explanation.confidence, explanation.probability)
        return {**query, "memory": row}, "\n".join(_result_lines(row, explained or {}, width))
    results = [rows.of_candidate(candidate) for candidate in retrieval.injected]
    lines = [line for row in results for line in _result_lines(row, explained or {}, width)]
    found = {**query, "total_results": len(results), "results": results}
    if explained is None:
        return found, "\n".join(lines)
    dropped = [rows.of_candidate(candidate) for candidate in retrieval.candidates if not candidate.injected]
    return {**found, "dropped": dropped}, "\n".join([*lines, *_dropped_lines(dropped)])


@dataclass(frozen=True)
class ResultRows:
    """The memories of one retrieval as JSON. `explained`: each row has `explain`, if its memory is in there."""

    index: OpenIndex
    marker: Marker
    explained: Explained | None

    def of_candidate(self, candidate: Candidate) -> dict[str, Any]:
        row = self.of(candidate.memory, candidate.score, candidate.confidence, candidate.probability)
        if candidate.verdict is None:
            return row
        from labels.exchange.replay_file import fields_without

        return {**row, "verdict": fields_without("memory_id", candidate.verdict)}

    def of(self, summary: MemorySummary, score: float, confidence: str, probability: float | None) -> dict[str, Any]:
        memory = self.index.memory(summary.id)
        shown = snippet(memory.body if memory else "", self.marker)
        place = {"root": summary.root} if isinstance(self.index, JointIndex) else {}
        row = {**place, **picked(summary, "id", "title", "category", "path", "tags", "status"), "snippet": shown.text}
        row |= {"updated_at": summary.updated_at, "score": score, "confidence": confidence, "probability": probability}
        row = {name: rounded(value) for name, value in row.items()} | {"matches": shown.matches}
        if self.explained is None:
            return row
        explanation = self.explained.get(summary.id)
        return {**row, "explain": explanation_row(explanation) if explanation else None}


def _result_lines(row: dict[str, Any], explained: Explained, width: int) -> list[str]:
    """A line with P(relevant) or confidence, category and title, then the path, the snippet and the explanation.

    The mark of a flagged memory is [?], or has the status if the judge gave no answer. Matches in the snippet are bold.
    `click.echo` removes that unless stdout is a terminal.
    """
    marks = "" if row["status"] == "active" else f" [{row['status']}]"
    if (verdict := row.get("verdict")) and verdict["decision"] == FLAGGED:
        marks += " [?]" if verdict["status"] == OK else f" [? {verdict['status']}]"
    sure = f"{100 * row['probability']:.0f} %" if row["probability"] is not None else row["confidence"] or "-"
    lines = [visible(f"{sure:<6} {row['category']:<16} {row['title']}{marks}")]
    place = f"{row['path']} in {row['root']}" if "root" in row else row["path"]
    lines += [visible(f"{INDENT}{place}"), f"{INDENT}{bold(row['snippet'], row['matches'])}", ""]
    explanation = explained.get(row["id"])
    if explanation is None:
        return lines
    return [*lines, *map(_shown, [outcome_line(explanation), [], *detail_lines(explanation, width - len(INDENT))]), ""]


def _dropped_lines(dropped: Iterable[dict[str, Any]]) -> list[str]:
    """A line per dropped memory: stage, missing strength, id and title."""
    rows = [(memory, memory["explain"] or {"outcome": "", "gap": None}) for memory in dropped]
    if not rows:
        return ["No other memory came up."]
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
