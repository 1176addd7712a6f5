"""TREC's files: qrels, `qid 0 docid rel`, and runs, `qid Q0 docid rank score tag`. Ids are escaped to be one word."""

from __future__ import annotations

import re
from ctypes import c_float
from itertools import groupby
from math import inf, isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from engine.errors import ExchangeError
from engine.prompt import Prompt
from labels.exchange.exporting import judged_pairs, one_text_each, system_results
from labels.exchange.files import RESULT, RETRIEVAL, RUN, Dataset, nfc, read_source, row_of
from labels.records import MAX_GRADE, NEEDED, NOT_RELEVANT, RELEVANT, Event, MemoryText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from labels.exchange.exporting import Extract
    from labels.exchange.files import FileLine, FileText, Row
    from labels.records import Judgements

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
"""A whole number. `int` alone would also take `1_0` and the digits of other scripts."""

LEAST_PLAIN, LEAST_GRADED = 1, 2
"""The lowest relevant grade in qrels of verdicts, and in qrels of grades 0 to 3."""

GRADES: dict[str | None, int] = {RELEVANT: LEAST_PLAIN, NOT_RELEVANT: 0}
"""The grade of a gold verdict. A pair with another verdict has no row."""

SPACING, SMALLEST = 2**-23, 2**-126
"""In single precision: the largest distance of a number to the next, as its share, and the smallest normal number."""


# Ids


def escaped(name: str) -> str:
    """*name* as one word: `%`, white space and control characters become `%XX` of their UTF-8 bytes.

    `unescaped` undoes it. Raises ExchangeError for the empty name, which TREC's files cannot hold.
    """
    if not name:
        raise ExchangeError("A prompt or memory has an empty id, which TREC's files cannot hold. Use another format.")
    return "".join(
        quote(letter, safe="", errors="surrogatepass")
        if letter == "%" or letter.isspace() or not letter.isprintable()
        else letter
        for letter in name
    )


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


def write_qrels(extract: Extract, *, is_graded: bool = False) -> str:
    """The gold verdict of each pair as 1 or 0, or its grade; without a grade that is LEAST_GRADED or 0.

    A pair without a verdict has no row: programs may crash on the negative grade that TREC has for it, as pytrec_eval
    does. trec_eval needs `-l 2` for grades.
    """
    rows = []
    for pair in one_text_each(judged_pairs(extract)):
        if pair.verdict in GRADES:
            grade = GRADES[pair.verdict]
            if is_graded:
                grade = LEAST_GRADED * grade if pair.grade is None else pair.grade
            rows.append(f"{escaped(pair.prompt.id)} 0 {escaped(pair.memory.id)} {grade}\n")
    return "".join(rows)


def read_qrels(path: Path) -> Judgements:
    """The judgements of a qrels file: relevant from grade 1 on, not relevant at 0.

    A negative grade says that a document was not judged (trec_eval: -1 not pooled, -2 pooled), so its row is left out.
    Raises ExchangeError with the line of the first fault.
    """
    return read_graded_qrels(path)[0]


def read_graded_qrels(path: Path) -> tuple[Judgements, frozenset[tuple[str, str]]]:
    """The judgements, and the (prompt id, memory id) that are relevant but not needed.

    In a file with a grade of NEEDED or more these are the pairs of lower grades; in a file of 0 and 1 there are none.
    """
    judgements: dict[str, dict[str, bool]] = {}
    grades = {(nfc(prompt), nfc(memory)): grade for (prompt, memory), grade in read_grades(read_source(path)).items()}
    for (prompt_id, memory_id), grade in grades.items():
        judged = judgements.setdefault(prompt_id, {})
        if grade >= 0:
            judged[memory_id] = grade >= LEAST_PLAIN
    has_grades = max(grades.values(), default=0) >= NEEDED
    slight = [pair for pair, grade in grades.items() if has_grades and LEAST_PLAIN <= grade < NEEDED]
    return judgements, frozenset(slight)


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


def read_labels(source: FileText, *, is_graded: bool = False) -> Dataset:
    """Labels from qrels: relevant from 1 on, or with grades 0 to 3 from 2 on.

    Rows with a negative grade are left out.
    """
    grades = read_grades(source, MAX_GRADE if is_graded else None)
    judged = {pair: grade for pair, grade in grades.items() if grade >= 0}
    least = LEAST_GRADED if is_graded else LEAST_PLAIN
    events = []
    for pair, grade in judged.items():
        verdict = RELEVANT if grade >= least else NOT_RELEVANT
        events.append(Event("", *pair, verdict=verdict, grade=grade if is_graded else None))
    return named(list(judged), events=tuple(events))


def named(pairs: Sequence[tuple[str, str]], **rows: Any) -> Dataset:
    """A dataset with *rows* about (prompt id, memory id) *pairs*, of which the file gives no texts."""
    prompts = tuple(Prompt(name, "") for name in dict.fromkeys(prompt_id for prompt_id, _ in pairs))
    memories = tuple(map(MemoryText, dict.fromkeys(memory_id for _, memory_id in pairs)))
    return Dataset(prompts, memories, **rows, by_text=True)


def is_qrels(source: FileText) -> bool:
    words = source.first_line.split()
    return len(words) == 4 and words[3].removeprefix("-").isdigit()


# Runs


def write_run(extract: Extract, *, candidates: bool = False) -> str:
    """The injected set of each system, or all its *candidates*, from its newest retrieval of each prompt.

    Rows are in rank order. The sign of the score changes: trec_eval sorts by it, and higher is better there.
    """
    rows = []
    results = (result for result in system_results(extract) if candidates or result["injected"])
    for (system, prompt_id), found in groupby(results, itemgetter("system", "prompt_id")):
        names, scores = zip(*((result["memory_id"], 0.0 - result["score"]) for result in found), strict=True)
        for rank, (name, score) in enumerate(zip(names, falling(scores), strict=True), start=1):
            rows.append(f"{escaped(prompt_id)} Q0 {escaped(name)} {rank} {score!r} {escaped(system)}\n")
    return "".join(rows)


def falling(scores: Sequence[float]) -> Iterator[float]:
    """The *scores*, made to fall strictly: a score that is not lower than the last becomes a little lower.

    trec_eval does not read ranks. It sorts equal scores by document id, and it holds scores in single precision.
    """
    before = inf
    for given in scores:
        score = given
        if c_float(score).value >= before:
            score = c_float(before - max(SMALLEST, SPACING * abs(before))).value
        yield score
        before = c_float(score).value


def read_run(source: FileText) -> Dataset:
    """Injected sets: each tag is a system, and its documents are injected in the order of their scores."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for line in source.lines():
        prompt_id, _, memory_id, rank, score, tag = columns(line, "qid Q0 docid rank score tag")
        value, place = 0.0 - numeric(line, "score", score), int(numeric(line, "rank", rank))
        system, prompt_id, memory_id = map(unescaped, (tag, prompt_id, memory_id))
        results = found.setdefault((system, prompt_id), {})
        if memory_id in results:
            raise line.wrong("docid", f"each document once for {prompt_id} and {system}")
        about = {"memory_id": memory_id, "digest": "", "rank": place, "score": value, "bm25": value}
        results[memory_id] = {**row_of(RESULT, **about, injected=True), "verdict": None}
    retrievals = []
    for (system, prompt_id), results in found.items():
        # by score, as trec_eval sorts them, then by the given rank; ranks are counted anew
        ordered = sorted(results.values(), key=itemgetter("score", "rank"))
        ranked = [{**result, "rank": place} for place, result in enumerate(ordered, start=1)]
        retrieval = row_of(RETRIEVAL, run_id=system, prompt_id=prompt_id)
        retrievals.append({**retrieval, "results": ranked, "call": None})
    pairs = [(prompt_id, memory_id) for (_, prompt_id), results in found.items() for memory_id in results]
    runs = tuple(row_of(RUN, run_id=name, system=name) for name in dict.fromkeys(system for system, _ in found))
    return named(pairs, runs=runs, retrievals=tuple(retrievals))


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
