"""What the strategies are worth on LoCoMo: measured once, and not to be lost."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.config import FTS5_BM25, MEMSIFT, Config
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.search.index import Index
from tests.benchmarks.locomo import collections, rows
from tests.engine.builders import open_index


class Asked(NamedTuple):
    """A prompt, the memories that it may be about, and the ids of those that answer it."""

    prompt: str
    index: Index
    relevant: frozenset[str]


class Rates(NamedTuple):
    """`false_fires`: the share of the prompts without an answer for which something is injected."""

    precision: float
    recall: float
    false_fires: float


@pytest.fixture(scope="module")
def questions(shared_data: Path) -> Iterator[list[Asked]]:
    folder = shared_data / "locomo"
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines():
        prompt_id, _, memory_id, grade = line.split()
        if int(grade) > 0:
            relevant.setdefault(prompt_id, set()).add(memory_id)
    with ExitStack() as opened:
        indexes = {name: opened.enter_context(open_index(*memories)) for name, memories in collections(folder).items()}
        yield [
            Asked(row["prompt"], indexes[row["collection"]], frozenset(relevant.get(row["id"], ())))
            for row in rows(folder / "prompts.jsonl")
        ]


def rates(questions: list[Asked], strategy: str) -> Rates:
    config = Config(match_strategy=strategy)
    found = [injected(question, config) for question in questions]
    hits = sum(len(one & question.relevant) for one, question in zip(found, questions, strict=True))
    fires = [bool(one) for one, question in zip(found, questions, strict=True) if not question.relevant]
    return Rates(
        precision=hits / sum(map(len, found)),
        recall=hits / sum(len(question.relevant) for question in questions),
        false_fires=sum(fires) / len(fires),
    )


def injected(question: Asked, config: Config) -> set[str]:
    return {
        one.memory.id
        for one in retrieve(Query(typed_prompt(question.prompt)), question.index, OpenSystem(config)).injected
    }


@pytest.mark.slow
def test_both_strategies_find_what_they_found_and_the_default_is_more_precise(questions: list[Asked]) -> None:
    ours, theirs = rates(questions, MEMSIFT), rates(questions, FTS5_BM25)
    assert ours.precision >= 0.185
    assert ours.recall >= 0.432
    assert theirs.precision >= 0.158
    assert theirs.recall >= 0.451
    assert ours.precision > theirs.precision
    assert ours.false_fires < 1.0
    assert ours.false_fires <= theirs.false_fires
