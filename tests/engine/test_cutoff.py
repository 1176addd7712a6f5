"""The cutoff: what its features are, which way they go, and which models are ignored."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import default_model
from engine.config import DEFAULT, FTS5_BM25, OFF, THRESHOLDS, TITLE_TAGS, TUNED, Config
from engine.cutoff import (
    DIRECTIONS,
    FALLING,
    LONG,
    MAX_ASKED,
    MAX_LEAD,
    RISING,
    SHORT,
    VERSION,
    UnusableModelError,
    chosen_cutoff,
    features,
    fit_of,
    load_cutoff,
    model_of,
)
from engine.lean.record import replace
from engine.retrieval import Candidate
from engine.search.postings import Unit
from engine.search.ranking import CandidatePool, rank
from engine.search.stems import stem
from tests.engine.builders import memory
from tests.engine.models import content, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from engine.cutoff import Features
    from engine.memory import Memory

WORDS = ("cache", "redis", "key", "expiry", "Anna")
RARE = 4.0
PROMPT = "what did we tell Anna of cache redis key expiry"


def found(
    strength: float, *matched: str, of: Memory | None = None, name: str = "one", length: int = int(SHORT)
) -> Candidate:
    summary = (of or memory("a title", memory_id=name)).summary
    return Candidate(summary, -strength, 0, -strength, matched, length=length)


def features_of(*scored: Candidate, unknown: float = 0.0) -> dict[str, Features]:
    asked = [Unit(word, ((stem(word.lower()),),), 2, 2) for word in WORDS]
    earlier = [Unit(f"Turn{number}", ((f"turn{number}",),), 1, 1, 0.3) for number in range(MAX_ASKED)]
    pool = CandidatePool(list(scored), [*asked, *earlier], RARE, unknown, PROMPT)
    return features(rank(pool.memories, Config()), pool)


def test_the_features_of_a_candidate() -> None:
    best = memory("redis rules", "cache", "x", memory_id="best")
    second = memory("redis", "nothing", memory_id="second")
    near = memory("Anna", memory_id="near")
    scored = found(9.0, "cache", "redis", of=best), found(8.0, "redis", of=second), found(4.0, "Anna", of=near)
    made = features_of(*scored, unknown=0.25)
    assert made["best"] == pytest.approx(
        {
            "strength": 9 / RARE,
            "lead": log(9 / 8),
            "short": 1.0,
            "short_rivals": log(2),
            "short_tag": 1.0,
            "names": 1.0,
            "asked": log(5),
            "unknown": 0.25,
        }
    )
    assert made["second"]["lead"] == pytest.approx(log(8 / 9))
    assert made["second"]["short_tag"] == 0.0
    assert made["near"]["names"] == 0.0
    assert made["near"]["lead"] == pytest.approx(log(4 / 9))
    assert made["near"]["short_rivals"] == pytest.approx(log(3))


def test_tags_and_rivals_count_in_a_short_memory_where_they_are_there_and_not_retired() -> None:
    one = memory("cache", memory_id="one")
    rival, lengths = found(2.0, name="other"), (1, SHORT, (SHORT * LONG) ** 0.5, LONG, 2000)
    made = [features_of(found(2.0, "cache", of=one, length=round(length)), rival)["one"] for length in lengths]
    assert [row["short"] for row in made] == pytest.approx([1, 1, 0.5, 0, 0], abs=0.01)
    for row in made:
        assert (row["short_tag"], row["short_rivals"]) == pytest.approx((row["short"], row["short"] * log(2)))
    titled, tagged = memory("redis rules", memory_id="titled"), memory("redis rules", "other", memory_id="tagged")
    made = features_of(found(2.0, "redis", of=titled), found(2.0, "redis", of=tagged))
    assert (made["titled"]["short_tag"], made["tagged"]["short_tag"]) == (1.0, 0.0)
    assert features_of(found(1.0, "cache"))["one"]["lead"] == MAX_LEAD
    retired = memory("a title", memory_id="retired", status="retired")
    pool = CandidatePool([found(9.0, of=retired), found(5.0)])
    candidates = rank(pool.memories, Config())
    candidates[0] = replace(candidates[0], dropped_by="status")
    assert features(candidates, pool) == {"one": features(candidates[1:], pool)["one"]}


@given(
    held=st.sets(st.sampled_from(WORDS), max_size=4),
    more=st.sampled_from(WORDS),
    strength=st.floats(0.01, 20),
    others=st.lists(st.floats(0.01, 20), max_size=5),
    gain=st.floats(0, 5),
    in_tags=st.booleans(),
)
def test_more_of_the_prompt_in_a_memory_never_moves_a_feature_the_wrong_way(
    held: set[str], more: str, strength: float, others: list[float], gain: float, in_tags: bool
) -> None:
    rivals = [found(score, name=f"other-{number}") for number, score in enumerate(others)]
    one = memory("redis key", *(["cache"] if in_tags else []), memory_id="one")

    def of(words: set[str], score: float) -> Features:
        return features_of(found(score, *sorted(words), of=one), *rivals)["one"]

    before, after = of(held, strength), of(held | {more}, strength + gain)
    moved = {name: after[name] - before[name] for name in DIRECTIONS}
    assert {name for name, by in moved.items() if by < -1e-9 and DIRECTIONS[name] == RISING} == set()
    assert {name for name, by in moved.items() if by > 1e-9 and DIRECTIONS[name] == FALLING} == set()
    assert moved["asked"] == moved["unknown"] == 0.0


# P(relevant)


def test_the_probability_is_logistic_in_the_weighted_features() -> None:
    model = model_of(content(intercept=-1.0, weights={"lead": 2.0, "short_tag": 0.5}))
    assert model.probability({"lead": 0.25, "short_tag": 1.0, "names": 3.0}) == pytest.approx(1 / (1 + exp(0.0)))
    assert model.probability({}) == pytest.approx(1 / (1 + exp(1.0)))


@given(st.floats(-1e8, 1e8), st.dictionaries(st.sampled_from(list(DIRECTIONS)), st.floats(-1e8, 1e8)))
def test_a_probability_lies_between_0_and_1_whatever_the_weights(intercept: float, weights: dict[str, float]) -> None:
    model = model_of(content(intercept=intercept, weights=weights))
    assert 0.0 <= model.probability(dict.fromkeys(DIRECTIONS, 1.0)) <= 1.0


# Files


BROKEN: dict[str, Any] = {
    "empty": "",
    "cut": '{"features": 1, "fi',
    "deep": "[" * 100_000,
    "list": [],
    "null": "null",
    "no fit": {name: value for name, value in content().items() if name != "fit"},
    "another fit": content(fit={"match_strategy": "memsift"}),
    "more in the fit": content(fit={**content()["fit"], "more": 1}),
    "unknown strategy": content(fit={**content()["fit"], "match_strategy": TITLE_TAGS}),
    "weights are a list": content(weights=[1.0]),
    "unknown feature": content(weights={"luck": 1.0}),
    "not a number": content(weights={"lead": "1.0"}),
    "nan": content(intercept=float("nan")),
    "infinite": content(threshold=float("inf")),
    "too large": content(weights={"lead": 1e300}),
    "true": content(intercept=True),
    "no threshold": content(threshold=None),
    "threshold over 1": content(threshold=1.5),
    "doubt over the threshold": content(threshold=0.4, doubt=0.5),
    "a threshold of another name": content(thresholds={"loose": 0.1}),
    "a named threshold over 1": content(thresholds={"strict": 1.1}),
    "later features": content(features=VERSION + 1),
    "too long": " " * 200_000 + "{}",
}


CHANGES: list[Mapping[str, Any]] = [
    {"match_strategy": FTS5_BM25},
    {"max_inject": 5},
    {"noise_floor": 0.1},
    {"min_strength": 0.1},
    {"judge": replace(Config().judge, candidate_pool_size=20)},
]


def test_a_model_that_makes_no_sense_or_is_for_another_configuration_is_unusable(tmp_path: Path) -> None:
    for changes in CHANGES:
        write_model(tmp_path, content())
        with pytest.raises(UnusableModelError, match="another configuration"):
            load_cutoff(str(tmp_path), replace(Config(), **changes), "", bool)
    for made in BROKEN.values():
        write_model(tmp_path, made)
        with pytest.raises(UnusableModelError):
            load_cutoff(str(tmp_path), Config(), "", bool)
    (tmp_path / "cutoff.json").unlink()
    (tmp_path / "cutoff.json").mkdir()
    with pytest.raises(UnusableModelError, match="cannot be read"):
        load_cutoff(str(tmp_path), Config(), "", bool)


# The choice of a model


def kind_of(folder: Path, **settings: Any) -> tuple[str, str]:
    """The kind of the chosen cutoff, or OFF, and why a tuned one is ignored."""
    cutoff, problem = chosen_cutoff([(str(folder), "")], Config(**settings), bool)
    return cutoff.kind if cutoff else OFF, problem


def test_a_usable_tuned_model_decides_unless_the_configuration_chooses_another(tmp_path: Path) -> None:
    assert kind_of(tmp_path) == (DEFAULT, "")
    write_model(tmp_path, content())
    assert kind_of(tmp_path) == (TUNED, "")
    write_model(tmp_path, content())
    assert kind_of(tmp_path, cutoff=DEFAULT) == (DEFAULT, "")
    assert kind_of(tmp_path, cutoff=OFF) == (OFF, "")


@pytest.mark.parametrize("strategy", [FTS5_BM25, TITLE_TAGS])
def test_for_another_strategy_there_is_no_default_model(tmp_path: Path, strategy: str) -> None:
    assert kind_of(tmp_path, match_strategy=strategy) == (OFF, "")


@pytest.mark.parametrize("made", [None, content(threshold=0.5, doubt=0.2)])
def test_a_configured_threshold_replaces_that_of_the_model(tmp_path: Path, made: object) -> None:
    if made:
        write_model(tmp_path, made)
    least = []
    for threshold in (None, 0.3, 0.01):
        cutoff, _ = chosen_cutoff([(str(tmp_path), "")], Config(cutoff_threshold=threshold), bool)
        least.append((cutoff.least(has_judge=False), cutoff.least(has_judge=True)))
    own = (0.5, 0.2) if made else (default_model.THRESHOLD, default_model.DOUBT)
    assert least == [own, (0.3, own[1]), (0.01, 0.01)]


def test_a_threshold_by_name_is_that_of_the_model_or_its_own_where_labels_were_too_few(tmp_path: Path) -> None:
    def least(name: str) -> float:
        cutoff, _ = chosen_cutoff([(str(tmp_path), "")], Config(cutoff_threshold=name), bool)
        return cutoff.threshold

    assert {name: least(name) for name in THRESHOLDS} == default_model.THRESHOLDS
    assert least("strict") > least("balanced") == default_model.THRESHOLD > least("generous")
    write_model(tmp_path, content(threshold=0.5, thresholds={"strict": 0.9}))
    assert (least("strict"), least("generous")) == (0.9, 0.5)


def test_what_does_not_reach_the_cutoff_does_not_make_another_configuration() -> None:
    other = replace(Config(), max_characters=500, hints=True, confidence_abs_floor=3.0)
    assert fit_of(other) == fit_of(Config())
    bm25 = Config(match_strategy=FTS5_BM25)
    assert fit_of(replace(bm25, min_strength=0.1)) == fit_of(bm25)
