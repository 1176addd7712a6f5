"""TREC qrels: `qid 0 docid rel`, one judgement on each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.exchange.lines import read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from labels.exchange.lines import Line
    from labels.measure.outcomes import Judgements


def read_qrels(path: Path) -> Judgements:
    """The judgements of a qrels file: relevant from grade 1 on, not relevant at 0.

    Negative grades say that a document was not judged (trec_eval: -1 not pooled, -2 pooled), so they are left out. The
    second column is ignored, as trec_eval does. Raises ExchangeError with the line of the first fault.
    """
    grades: dict[str, dict[str, int]] = {}
    for line in read_lines(path):
        prompt_id, memory_id, grade = parse(line)
        if grades.setdefault(prompt_id, {}).setdefault(memory_id, grade) != grade:
            raise line.wrong("rel", f"one grade for {prompt_id} and {memory_id}, but an earlier line gives another")
    return {
        prompt_id: {memory_id: grade > 0 for memory_id, grade in graded.items() if grade >= 0}
        for prompt_id, graded in grades.items()
    }


def parse(line: Line) -> tuple[str, str, int]:
    fields = line.text.split()
    if len(fields) != 4:
        raise line.wrong("row", f"4 fields (qid 0 docid rel), found {len(fields)}")
    prompt_id, _, memory_id, grade = fields
    try:
        return prompt_id, memory_id, int(grade)
    except ValueError:
        raise line.wrong("rel", f"a whole number, found {grade[:40]!r}") from None
