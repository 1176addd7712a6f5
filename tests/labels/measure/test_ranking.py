"""The measures against trec_eval itself (through pytrec_eval), on LoCoMo and on a small collection shaped as its own.

There are topics with several grades, one that retrieves nothing, one with nothing relevant, and unjudged documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytrec_eval

from labels.exchange.trec import read_qrels
from labels.measure.evidence import AS_NOT, Evidence, evidence_from_qrels
from labels.measure.metrics import RankingMeasures, precision, rank_measures, tally
from labels.measure.report import ReportOptions, build_report
from labels.report.sections import sections
from tests.benchmarks.locomo import rows
from tests.labels.samples import known, outcome, write

if TYPE_CHECKING:
    from pathlib import Path

    from labels.records import Judgements, Outcome

    Collection = tuple[list[Outcome], Judgements]

QRELS = """
301 0 d01 1
301 0 d02 0
301 0 d03 2
301 0 d04 1
301 0 d05 0
302 0 d01 0
302 0 d06 1
302 0 d07 1
303 0 d02 1
304 0 d03 0
304 0 d04 0
305 0 d05 1
305 0 d06 1
305 0 d07 1
305 0 d08 1
305 0 d10 -2
"""
RUN = {
    "301": ["d01", "d02", "d03"],
    "302": ["d01", "unjudged", "d07"],
    "303": [],
    "304": ["d03"],
    "305": ["d08", "d10", "d05"],
}
TREC = {"P@1": "P_1", "P@3": "P_3", "AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "Bpref": "bpref"}


@pytest.fixture
def small(tmp_path: Path) -> Collection:
    judgements = read_qrels(write(tmp_path / "qrels.txt", *QRELS.split("\n")))
    return [outcome(found, prompt_id=prompt_id) for prompt_id, found in RUN.items()], judgements


@pytest.fixture
def locomo(shared_data: Path) -> Collection:
    """For each question the three facts of its collection that share most words with it."""
    folder = shared_data / "locomo"
    facts: dict[str, list[tuple[str, set[str]]]] = {}
    for row in rows(folder / "memories.jsonl"):
        facts.setdefault(row["collection"], []).append((row["id"], set(row["fact"].lower().split())))
    found = []
    for row in rows(folder / "prompts.jsonl"):
        words = set(row["prompt"].lower().split())
        best = sorted(facts[row["collection"]], key=lambda fact: (-len(words & fact[1]), fact[0]))[:3]
        found.append(outcome([memory_id for memory_id, _ in best], prompt_id=row["id"]))
    return found, read_qrels(folder / "qrels.txt")


@pytest.fixture(params=["small", "locomo"])
def collection(request: pytest.FixtureRequest) -> Collection:
    found: Collection = request.getfixturevalue(request.param)
    return found


def trec_eval(found: list[Outcome], judgements: Judgements) -> dict[str, dict[str, float]]:
    """trec_eval's measures of each prompt with a relevant memory; 0 for a prompt without results, as with -c."""
    wanted = {name: judged for name, judged in judgements.items() if any(judged.values())}
    grades = {name: {one: int(good) for one, good in judged.items()} for name, judged in wanted.items()}
    run = {row.prompt_id: {one: -float(rank) for rank, one in enumerate(row.injected)} for row in found}
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {"P.1,3", "map", "ndcg_cut.10", "recip_rank", "bpref", "set_P"})
    results = evaluator.evaluate({name: run[name] for name in grades if run.get(name)})
    nothing = dict.fromkeys([*TREC.values(), "set_P"], 0.0)
    return {name: results.get(name, nothing) for name in grades}


def test_every_mean_equals_that_of_trec_eval(collection: Collection) -> None:
    found, judgements = collection
    made, oracle = rank_measures(found, judgements), trec_eval(found, judgements)
    assert made.prompts == len(oracle) > 3
    assert set(made.means) == set(TREC)
    for name, theirs in TREC.items():
        mean = sum(each[theirs] for each in oracle.values()) / len(oracle)
        assert made.means[name] == pytest.approx(mean, abs=1e-6), name
        assert 0 < mean < 1


def test_set_precision_of_a_prompt_equals_that_of_trec_eval(collection: Collection) -> None:
    """The precision over all prompts is their mean, each weighed by its number of injected memories."""
    found, judgements = collection
    oracle = trec_eval(found, judgements)
    counted = evidence_from_qrels(found, judgements, AS_NOT).judgements
    tallies = [tally(row.prompt_id, row.injected, counted) for row in found if row.prompt_id in oracle]
    for each in tallies:
        assert (each.relevant / each.judged if each.judged else 0.0) == pytest.approx(
            oracle[each.prompt_id]["set_P"], abs=1e-6
        )
    weighed = sum(oracle[each.prompt_id]["set_P"] * each.injected for each in tallies)
    assert precision(tallies).value == pytest.approx(weighed / sum(each.injected for each in tallies), abs=1e-6)


def test_without_a_relevant_memory_there_is_no_ranking_but_a_dash_beside_other_systems() -> None:
    assert rank_measures([outcome(["a"])], {"p1": {"a": False}}) == RankingMeasures(0, {})
    rows = [outcome(["a"]), outcome(["a"], prompt_id="p2", system="bm25+judge")]
    report = build_report(Evidence(rows, {"p1": {"a": True}}), options=ReportOptions(ranking=True))
    (section,) = (section for section in sections(report) if section.name == "ranking")
    assert [row[:2] for row in known(section.table).texts] == [("bm25", "1.00"), ("bm25+judge", "-")]


def test_ids_that_are_no_valid_text_do_not_crash_the_measures() -> None:
    """trec_eval's C code ends the process at an id that is no UTF-8."""
    odd = "\ud800 \x00\n"
    found = rank_measures([outcome([odd, "b"], prompt_id=odd)], {odd: {odd: True, "b": False}})
    assert found.means["RR"] == 1.0
