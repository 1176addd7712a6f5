"""TREC's files: qrels, `qid 0 docid rel`, and runs, `qid Q0 docid rank score tag`. Ids are escaped to be one word."""

from __future__ import annotations

import re
from ctypes import c_float
from dataclasses import replace
from math import inf, isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from engine.errors import ExchangeError
from engine.prompt import Prompt
from labels.exchange.files import nfc, read_source
from labels.exchange.pairs import judged_pairs, newest_retrievals, one_text_each
from labels.exchange.records import Dataset, LabelEvent, MemoryText, ResultRow, RetrievalRow, RunRow
from labels.records import MAX_GRADE, NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from labels.exchange.files import FileLine, FileText
    from labels.exchange.pairs import JudgedPair
    from labels.records import Judgements

NOT_JUDGED = -2
"""The grade of a document that was pooled and not judged (trec_eval.h)."""

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
"""A whole number. `int` alone would also take `1_0` and the digits of other scripts."""

LEAST_PLAIN, LEAST_GRADED = 1, 2
"""The lowest relevant grade in qrels of verdicts, and in qrels of grades 0 to 3."""

SMALLEST_BELOW_0 = 1 - 2**31
"""The bits of the largest negative number in single precision."""


# Ids


def escaped(name: str) -> str:
    """*name* as one word: `%`, white space and control characters become `%XX` of their UTF-8 bytes.

    `unescaped` undoes it. Raises ExchangeError for the empty name, which TREC's files cannot hold.
    """
    if not name:
        raise ExchangeError("A prompt or memory has an empty id, which TREC's files cannot hold. Use another format.")
    return "".join(
        quote(character, safe="", errors="surrogatepass") if is_unsafe(character) else character for character in name
    )


def is_unsafe(letter: str) -> bool:
    return letter == "%" or letter.isspace() or not letter.isprintable()


def unescaped(name: str) -> str:
    """The name that `escaped` made *name* of. A name that `escaped` never makes, such as `50%` or `%41`, stays."""
    if "%" not in name:
        return name
    try:
        before = unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        return name
    return before if before and escaped(before) == name else name


# Qrels


def write_qrels(dataset: Dataset) -> str:
    """The gold verdict of each pair as 1 or 0.

    A pair without one has no row: programs may crash on the negative grade that TREC has for it, as pytrec_eval does.
    """
    return qrels_of(dataset, verdict_grade)


def write_graded_qrels(dataset: Dataset) -> str:
    """The grade of each gold verdict; without a grade it is LEAST_GRADED or 0. trec_eval needs `-l 2` for this file."""
    return qrels_of(dataset, given_grade)


def qrels_of(dataset: Dataset, grade: Callable[[JudgedPair], int]) -> str:
    pairs = one_text_each([pair for pair in judged_pairs(dataset) if pair.gold or pair.is_pooled])
    rows = ((pair, grade(pair)) for pair in pairs)
    return "".join(
        f"{escaped(pair.prompt.id)} 0 {escaped(pair.memory.id)} {given}\n"
        for pair, given in rows
        if given != NOT_JUDGED
    )


def verdict_grade(pair: JudgedPair) -> int:
    verdict = pair.gold.verdict if pair.gold else ""
    return {RELEVANT: LEAST_PLAIN, NOT_RELEVANT: 0}.get(verdict, NOT_JUDGED)


def given_grade(pair: JudgedPair) -> int:
    grade = verdict_grade(pair)
    if grade == NOT_JUDGED or pair.gold is None:
        return NOT_JUDGED
    return pair.gold.grade if pair.gold.grade is not None else LEAST_GRADED * grade


def read_qrels(path: Path) -> Judgements:
    """The judgements of a qrels file: relevant from grade 1 on, not relevant at 0.

    A negative grade says that a document was not judged (trec_eval: -1 not pooled, -2 pooled), so its row is left out.
    Raises ExchangeError with the line of the first fault.
    """
    judgements: dict[str, dict[str, bool]] = {}
    for (prompt_id, memory_id), grade in read_grades(read_source(path)).items():
        judged = judgements.setdefault(nfc(prompt_id), {})
        if grade >= 0:
            judged[nfc(memory_id)] = grade >= LEAST_PLAIN
    return judgements


def read_grades(source: FileText, highest: int | None = None) -> dict[tuple[str, str], int]:
    """(prompt id, memory id) -> grade. The second column is ignored, as trec_eval does."""
    grades: dict[tuple[str, str], int] = {}
    for line in source.lines():
        prompt_id, _, memory_id, text = columns(line, "qid 0 docid rel")
        if not WHOLE.fullmatch(text):
            raise line.wrong("rel", f"a whole number, found {text[:40]!r}")
        grade = int(text)
        if highest is not None and grade > highest:
            raise line.wrong("rel", f"a grade up to {highest}, found {grade}")
        pair = unescaped(prompt_id), unescaped(memory_id)
        if grades.setdefault(pair, grade) != grade:
            raise line.wrong("rel", f"one grade for {pair[0]} and {pair[1]}, but an earlier line gives another")
    return grades


def columns(line: FileLine, names: str) -> list[str]:
    fields, expected = line.text.split(), len(names.split())
    if len(fields) != expected:
        raise line.wrong("row", f"{expected} fields ({names}), found {len(fields)}")
    return fields


def read_plain_labels(source: FileText) -> Dataset:
    """Labels from qrels of verdicts: relevant from 1 on. Rows with a negative grade are left out."""
    grades = read_grades(source).items()
    return labelled(LabelEvent("", *pair, verdict=verdict(grade, LEAST_PLAIN)) for pair, grade in grades if grade >= 0)


def read_graded_labels(source: FileText) -> Dataset:
    """Labels with grades 0 to 3: relevant from 2 on. Rows with a negative grade are left out."""
    grades = ((pair, grade) for pair, grade in read_grades(source, MAX_GRADE).items() if grade >= 0)
    return labelled(LabelEvent("", *pair, verdict=verdict(grade, LEAST_GRADED), grade=grade) for pair, grade in grades)


def verdict(grade: int, least: int) -> str:
    return RELEVANT if grade >= least else NOT_RELEVANT


def labelled(events: Iterable[LabelEvent]) -> Dataset:
    events = tuple(events)
    return Dataset(
        prompts=bare_prompts(event.prompt_id for event in events),
        memories=bare_memories(event.memory_id for event in events),
        events=events,
        by_text=True,
    )


def bare_prompts(ids: Iterable[str]) -> tuple[Prompt, ...]:
    return tuple(Prompt(prompt_id, "") for prompt_id in dict.fromkeys(ids))


def bare_memories(ids: Iterable[str]) -> tuple[MemoryText, ...]:
    return tuple(MemoryText(memory_id) for memory_id in dict.fromkeys(ids))


def is_qrels(source: FileText) -> bool:
    words = source.first_line.split()
    return len(words) == 4 and words[3].removeprefix("-").isdigit()


# Runs


def write_run(dataset: Dataset) -> str:
    """The injected set of each system, from its newest retrieval of each prompt."""
    return "".join(run_rows(dataset, only_injected=True))


def write_candidates(dataset: Dataset) -> str:
    """All candidates of each system, from its newest retrieval of each prompt."""
    return "".join(run_rows(dataset, only_injected=False))


def run_rows(dataset: Dataset, *, only_injected: bool) -> Iterator[str]:
    """Rows in rank order. The sign of the score changes: trec_eval sorts by it, and higher is better there."""
    for system, retrieved in newest_retrievals(dataset):
        results = [result for result in retrieved.results if result.injected or not only_injected]
        start, end = f"{escaped(retrieved.prompt_id)} Q0", escaped(system)
        results.sort(key=lambda result: result.rank)
        scores = falling([0.0 - result.score for result in results])
        for rank, (result, score) in enumerate(zip(results, scores, strict=True), start=1):
            yield f"{start} {escaped(result.memory_id)} {rank} {score!r} {end}\n"


def falling(scores: Sequence[float]) -> Iterator[float]:
    """*scores*, with each that is not under the score before it lowered to the next smaller number.

    trec_eval does not read ranks. It sorts equal scores by document id, and it holds scores in single precision.
    """
    before = inf
    for score in scores:
        single = c_float(score).value
        if single < before:
            yield score
        else:
            single = next_below(before)
            yield single
        before = single


def next_below(single: float) -> float:
    """The next smaller number in single precision. The bits of such numbers have their order, away from 0."""
    (bits,) = unpack("<i", pack("<f", single))
    step = 1 if bits < 0 else -1
    return float(unpack("<f", pack("<i", bits + step if single else SMALLEST_BELOW_0))[0])


def read_run(source: FileText) -> Dataset:
    """Injected sets: each tag is a system, and its documents are injected in the order of their scores."""
    found: dict[tuple[str, str], list[ResultRow]] = {}
    for line in source.lines():
        prompt_id, _, memory_id, rank, score, tag = columns(line, "qid Q0 docid rank score tag")
        value = 0.0 - numeric(line, "score", score)
        place = int(numeric(line, "rank", rank))
        result = ResultRow(unescaped(memory_id), "", place, value, bm25=value, injected=True)
        system, prompt_id = unescaped(tag), unescaped(prompt_id)
        results = found.setdefault((system, prompt_id), [])
        if any(other.memory_id == result.memory_id for other in results):
            raise line.wrong("docid", f"each document once for {prompt_id} and {system}")
        results.append(result)
    return Dataset(
        prompts=bare_prompts(prompt_id for _, prompt_id in found),
        memories=bare_memories(result.memory_id for results in found.values() for result in results),
        runs=tuple(RunRow(system, system) for system in dict.fromkeys(system for system, _ in found)),
        retrievals=tuple(RetrievalRow(*at, results=best_first(results)) for at, results in found.items()),
        by_text=True,
    )


def best_first(results: list[ResultRow]) -> tuple[ResultRow, ...]:
    """*results* by score, as trec_eval sorts them, then by the given rank; ranks are counted anew."""
    ordered = sorted(results, key=lambda result: (result.score, result.rank))
    return tuple(replace(result, rank=rank) for rank, result in enumerate(ordered, start=1))


def numeric(line: FileLine, field: str, text: str) -> float:
    try:
        number = float("nan" if "_" in text else text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise line.wrong(field, f"a number, found {text[:40]!r}")
    return number


def is_run(source: FileText) -> bool:
    words = source.first_line.split()
    return len(words) == 6 and words[1].upper() == "Q0"
