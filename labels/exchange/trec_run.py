"""TREC runs: `qid Q0 docid rank score tag`, one injected memory, or one candidate, on each line."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from engine.prompt import Prompt
from labels.exchange import losses
from labels.exchange.escaping import plain, word
from labels.exchange.format import Format
from labels.exchange.pairs import newest_retrievals
from labels.exchange.records import Dataset, MemoryText, Result, Retrieved, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from labels.exchange.format import Opening
    from labels.exchange.lines import Line
    from labels.exchange.source import Source


def write(dataset: Dataset) -> str:
    """What each system injects, by its newest retrieval of each prompt."""
    return "".join(lines(dataset, only_injected=True))


def write_candidates(dataset: Dataset) -> str:
    """All that each system looked at."""
    return "".join(lines(dataset, only_injected=False))


def lines(dataset: Dataset, *, only_injected: bool) -> Iterator[str]:
    """Rows in rank order. The score is turned round: in these files higher is better, and trec_eval sorts by it."""
    for system, retrieved in newest_retrievals(dataset):
        results = [result for result in retrieved.results if result.injected or not only_injected]
        for rank, result in enumerate(sorted(results, key=lambda result: result.rank), start=1):
            score = 0.0 - result.score
            yield f"{word(retrieved.prompt_id)} Q0 {word(result.memory_id)} {rank} {score!r} {word(system)}\n"


def read(source: Source) -> Dataset:
    """A run of injected sets: each tag is a system, and each of its documents is injected, in the order of scores."""
    found: dict[tuple[str, str], list[Result]] = {}
    for line in source.lines():
        tag, prompt_id, result = parse(line)
        results = found.setdefault((tag, prompt_id), [])
        if any(other.memory_id == result.memory_id for other in results):
            raise line.wrong("docid", f"each document once for {prompt_id} and {tag}")
        results.append(result)
    return Dataset(
        prompts=tuple(Prompt(prompt_id, "") for prompt_id in dict.fromkeys(prompt_id for _, prompt_id in found)),
        memories=tuple(MemoryText(each) for each in dict.fromkeys(memory_ids(found.values()))),
        runs=tuple(Run(tag, tag) for tag in dict.fromkeys(tag for tag, _ in found)),
        retrievals=tuple(
            Retrieved(tag, prompt_id, results=ranked(results)) for (tag, prompt_id), results in found.items()
        ),
        by_text=True,
    )


def memory_ids(found: Iterable[list[Result]]) -> Iterator[str]:
    return (result.memory_id for results in found for result in results)


def ranked(results: list[Result]) -> tuple[Result, ...]:
    """Best first: by score, as trec_eval does, then by the rank given."""
    ordered = sorted(results, key=lambda result: (result.score, result.rank))
    return tuple(replace(result, rank=rank) for rank, result in enumerate(ordered, start=1))


def parse(line: Line) -> tuple[str, str, Result]:
    fields = line.text.split()
    if len(fields) != 6:
        raise line.wrong("row", f"6 fields (qid Q0 docid rank score tag), found {len(fields)}")
    prompt_id, _, memory_id, rank, score, tag = fields
    number = 0.0 - numeric(line, "score", score)
    result = Result(plain(memory_id), "", int(numeric(line, "rank", rank)), number, bm25=number, injected=True)
    return plain(tag), plain(prompt_id), result


def numeric(line: Line, field: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise line.wrong(field, f"a number, found {text[:40]!r}")
    return number


def recognises(opening: Opening) -> bool:
    return len(opening.words) == 6 and opening.words[1].upper() == "Q0"


KEEPS = frozenset(losses.COUNTS) - {losses.PRESSES, losses.JUDGES, losses.PROMPT_TEXTS, losses.MEMORY_TEXTS}
RUN = Format("run", "TREC run: what each system injects", write, read, recognises, KEEPS)
CANDIDATES = Format(
    "run-candidates",
    "TREC run: all that each system looked at",
    write_candidates,
    None,
    lambda _: False,
    KEEPS,
)
