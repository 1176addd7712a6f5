"""TREC qrels: `qid 0 docid rel`, one judgement on each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.prompt import Prompt
from labels.exchange import losses
from labels.exchange.escaping import plain, word
from labels.exchange.format import Format
from labels.exchange.lines import read_lines
from labels.exchange.pairs import judged_pairs, one_text_each
from labels.exchange.records import Dataset, LabelEvent, MemoryText
from labels.records import MAX_GRADE, NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from labels.exchange.format import Opening
    from labels.exchange.lines import Line
    from labels.exchange.pairs import JudgedPair
    from labels.exchange.source import Source
    from labels.records import Judgements

NOT_JUDGED = -2
"""A document that was pooled and has no judgement (trec_eval.h); measures such as infAP and bpref want to know."""

PLAIN_RELEVANT = 1
GRADED_RELEVANT = 2
"""The lowest relevant grade of a file of verdicts, and of one of grades: the app counts 2 and 3 as relevant."""


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
        return plain(prompt_id), plain(memory_id), int(grade)
    except ValueError:
        raise line.wrong("rel", f"a whole number, found {grade[:40]!r}") from None


def write(dataset: Dataset) -> str:
    """The gold verdict of each pair as 1 or 0, and NOT_JUDGED where it was pooled and has none."""
    return written(dataset, plain_grade)


def write_graded(dataset: Dataset) -> str:
    """The grade of each gold verdict; one without a grade counts as GRADED_RELEVANT or 0. trec_eval wants `-l 2`."""
    return written(dataset, graded)


def written(dataset: Dataset, grade: Callable[[JudgedPair], int]) -> str:
    pairs = one_text_each([pair for pair in judged_pairs(dataset) if pair.gold or pair.is_pooled])
    return "".join(f"{word(pair.prompt.id)} 0 {word(pair.memory.id)} {grade(pair)}\n" for pair in pairs)


def plain_grade(pair: JudgedPair) -> int:
    verdict = pair.gold.verdict if pair.gold else None
    return {RELEVANT: PLAIN_RELEVANT, NOT_RELEVANT: 0}.get(str(verdict), NOT_JUDGED)


def graded(pair: JudgedPair) -> int:
    found = plain_grade(pair)
    if found == NOT_JUDGED or pair.gold is None:
        return NOT_JUDGED
    return pair.gold.grade if pair.gold.grade is not None else GRADED_RELEVANT * found


def read(source: Source) -> Dataset:
    """Labels from a file of verdicts: relevant from 1 on. What was not judged (negative) is left out."""
    return dataset_of(source, PLAIN_RELEVANT)


def read_graded(source: Source) -> Dataset:
    """Labels with grades: relevant from GRADED_RELEVANT on; ExchangeError for a grade over 3."""
    return dataset_of(source, GRADED_RELEVANT)


def dataset_of(source: Source, least: int) -> Dataset:
    labels: dict[tuple[str, str], LabelEvent] = {}
    for line in source.lines():
        prompt_id, memory_id, rel = parse(line)
        if least == GRADED_RELEVANT and rel > MAX_GRADE:
            raise line.wrong("rel", f"a grade up to {MAX_GRADE}, found {rel}")
        verdict = RELEVANT if rel >= least else NOT_RELEVANT
        grade = rel if least == GRADED_RELEVANT else None
        label = LabelEvent("", prompt_id, memory_id, verdict=verdict, grade=grade)
        if rel >= 0 and labels.setdefault((prompt_id, memory_id), label) != label:
            raise line.wrong("rel", f"one grade for {prompt_id} and {memory_id}, but an earlier line gives another")
    prompts = dict.fromkeys(prompt_id for prompt_id, _ in labels)
    memories = dict.fromkeys(memory_id for _, memory_id in labels)
    return Dataset(
        prompts=tuple(Prompt(prompt_id, "") for prompt_id in prompts),
        memories=tuple(MemoryText(memory_id) for memory_id in memories),
        events=tuple(labels.values()),
        by_text=True,
    )


def recognises(opening: Opening) -> bool:
    return len(opening.words) == 4 and opening.words[3].removeprefix("-").isdigit()


QRELS = Format("qrels", "TREC qrels, 1 or 0", write, read, recognises, losses.BY_VERDICT | {losses.TURNS})
GRADED_QRELS = Format(
    "qrels-graded",
    "TREC qrels, grades 0 to 3",
    write_graded,
    read_graded,
    lambda _: False,
    losses.BY_VERDICT | {losses.GRADES, losses.TURNS},
)
