"""Retrievals of one prompt as the rows and sentences of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.judge.verdict import APPROVED, CACHE, NO_KEY, OK
from engine.pipeline import BY_KEYWORDS, NO_FTS5
from tui.widgets.ranking_table import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.verdict import Verdict
    from engine.retrieval import Candidate, Retrieval
    from labels.records import Label


def ranking_rows(first: Retrieval, second: Retrieval | None, labels: Mapping[tuple[str, str], Label]) -> list[Row]:
    """A row for each candidate with this person's label: in the first system's order, then the second's others."""
    of_first = {one.memory.id: one for one in first.candidates}
    of_second = {one.memory.id: one for one in second.candidates} if second else {}
    memories = {one.memory.id: one.memory for one in (*of_first.values(), *of_second.values())}
    return [
        Row(memory, of_first.get(key), of_second.get(key), second is not None, _label(memory.id, memory.digest, labels))
        for key, memory in memories.items()
    ]


def judge_sentence(judged: Retrieval | None) -> str:
    """How the judge answered, and what follows if it did not."""
    if judged is None:
        return ""
    judgement = judged.judgement
    if judged.fallback == NO_FTS5:
        return f"{BY_KEYWORDS}."
    if judgement is None:
        return "The judge was not asked: nothing was left to judge."
    cost = (
        f", {judgement.input_tokens:,} tokens in and {judgement.output_tokens:,} out" if judgement.input_tokens else ""
    )
    is_known = bool(judgement.verdicts) and all(one.source == CACHE for one in judgement.verdicts)
    where = "from the cache" if is_known else f"{judgement.elapsed_ms:,.0f} ms{cost}"
    answered = f"Judge {judgement.provider} ({judgement.model}): {judgement.status}, {where}."
    if judgement.status == OK:
        return answered
    best = len(judged.injected)
    instead = f"The best {best} are" if best != 1 else "The best one is"
    if judgement.status == NO_KEY:
        instead = "What would be without a judge is"
    return f"{answered} {judgement.detail.rstrip('.')}. {instead} injected instead."


def candidate_sentence(row: Row, names: tuple[str, str]) -> str:
    """Why the memory of a row is where it is, in each system. A judge's system found it as the first one did."""
    sentences = [_found(names[0], row.first)]
    if row.has_second:
        is_same = row.first and row.second and row.first.score == row.second.score
        sentences.append("" if is_same else _found(names[1], row.second))
    dropped = [_dropped(name, one) for name, one in zip(names, (row.first, row.second), strict=True) if one]
    verdict = row.second.verdict if row.second else None
    return " ".join(filter(None, (*sentences, *dropped, _said(verdict) if verdict else "")))


def _said(verdict: Verdict) -> str:
    """What the judge said beyond yes or no: how sure it is, why, and whether its answers differ."""
    said = []
    if verdict.confidence is not None:
        said.append(f"{verdict.decision}, {verdict.confidence:.0%} sure")
    if verdict.is_disputed:
        most = round(verdict.agreement * verdict.samples)
        said.append(f"{verdict.decision}, {most} of {verdict.samples} answers alike")
    if verdict.reasoning and verdict.decision == APPROVED:  # else it is the reason for which the memory was dropped
        said.append(verdict.reasoning.rstrip("."))
    return f"The judge: {'; '.join(said)}." if said else ""


def _found(name: str, one: Candidate | None) -> str:
    if one is None:
        return f"{name} did not find it."
    weight = f"BM25 {-one.bm25:.2f}"
    if one.body_bonus:
        weight += f" + {one.body_bonus} for words in its body"
    elif one.score != one.bm25:
        weight = f"strength {-one.score:.2f} ({weight})"
    return f"{name}: {weight}, {one.ratio:.0%} of the best. Matched: {', '.join(one.matched)}."


def _dropped(name: str, one: Candidate) -> str:
    return "" if one.injected else f"{name} drops it by {one.dropped_by}: {one.reason}."


def _label(memory_id: str, digest: str, labels: Mapping[tuple[str, str], Label]) -> str:
    label = labels.get((memory_id, digest))
    return label.verdict if label else ""
