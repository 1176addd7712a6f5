"""Retrievals of one prompt as the rows and sentences of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.judge.verdict import NO_KEY, OK
from tui.widgets.ranking_table import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.retrieval import Candidate, Retrieval
    from labels.records import Label


def ranking_rows(bm25: Retrieval, judged: Retrieval | None, labels: Mapping[tuple[str, str], Label]) -> list[Row]:
    """A row for each candidate, in BM25 order, with this person's label."""
    by_id = {one.memory.id: one for one in judged.candidates} if judged else {}
    return [Row(one.memory, one, by_id.get(one.memory.id), _verdict(one, labels)) for one in bm25.candidates]


def judge_sentence(judged: Retrieval | None) -> str:
    """How the judge answered, and what follows if it did not."""
    if judged is None:
        return ""
    judgement = judged.judgement
    if judgement is None:
        return "The judge was not asked: nothing was left to judge."
    cost = (
        f", {judgement.input_tokens:,} tokens in and {judgement.output_tokens:,} out" if judgement.input_tokens else ""
    )
    answered = (
        f"Judge {judgement.provider} ({judgement.model}): {judgement.status}, {judgement.elapsed_ms:,.0f} ms{cost}."
    )
    if judgement.status == OK:
        return answered
    instead = (
        "BM25's choice is injected" if judgement.status == NO_KEY else f"BM25's top {len(judged.injected)} is injected"
    )
    return f"{answered} {judgement.detail.rstrip('.')}. {instead} instead."


def candidate_sentence(row: Row) -> str:
    """Why the memory of a row is where it is, in each system."""
    one = row.bm25
    parts = [f"BM25 {-one.bm25:.2f}"]
    if one.body_bonus:
        parts.append(f"+ {one.body_bonus} for words in its body")
    text = f"{' '.join(parts)}, {one.ratio:.0%} of the best. Matched: {', '.join(one.matched)}."
    text += _dropped("BM25", one)
    return text + (_dropped("Judge", row.judged) if row.judged else "")


def _dropped(system: str, one: Candidate) -> str:
    return "" if one.injected else f" {system}: dropped by {one.dropped_by}, {one.reason}."


def _verdict(one: Candidate, labels: Mapping[tuple[str, str], Label]) -> str:
    label = labels.get((one.memory.id, one.memory.digest))
    return label.verdict if label else ""
