"""What the strategies are worth on LoCoMo: measured once, and not to be lost."""

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.config import FTS5_BM25, MEMSIFT, Config
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from labels.exchange.trec import read_qrels
from tests.benchmarks.locomo import collections, rows
from tests.engine.builders import injected, open_index


class Rates(NamedTuple):
    """`false_fires`: the share of the prompts without an answer for which something is injected."""

    precision: float
    recall: float
    false_fires: float


def rates(folder: Path, strategy: str) -> Rates:
    """Of all questions, each about the memories of its collection."""
    system, judgements = OpenSystem(Config(match_strategy=strategy)), read_qrels(folder / "qrels.txt")
    answers = []
    with ExitStack() as opened:
        indexes = {name: opened.enter_context(open_index(*memories)) for name, memories in collections(folder).items()}
        for row in rows(folder / "prompts.jsonl"):
            retrieval = retrieve(Query(typed_prompt(row["prompt"])), indexes[row["collection"]], system)
            relevant = {name for name, is_relevant in judgements.get(row["id"], {}).items() if is_relevant}
            answers.append(({*injected(retrieval)}, relevant))
    hits = sum(len(found & relevant) for found, relevant in answers)
    fires = [bool(found) for found, relevant in answers if not relevant]
    return Rates(
        precision=hits / sum(len(found) for found, _ in answers),
        recall=hits / sum(len(relevant) for _, relevant in answers),
        false_fires=sum(fires) / len(fires),
    )


@pytest.mark.slow
def test_both_strategies_find_what_they_found_and_the_default_is_more_precise(shared_data: Path) -> None:
    ours, theirs = (rates(shared_data / "locomo", strategy) for strategy in (MEMSIFT, FTS5_BM25))
    assert ours.precision >= 0.185
    assert ours.recall >= 0.432
    assert theirs.precision >= 0.158
    assert theirs.recall >= 0.451
    assert ours.precision > theirs.precision
    assert ours.false_fires < 1.0
    assert ours.false_fires <= theirs.false_fires
