"""The pipeline with a tuned cutoff: what it drops, and what is left for a judge."""

from math import exp, log

import pytest

from engine.config import FTS5_BM25, SEARCH, Config
from engine.cutoff import FURTHER, Cutoff, default_cutoff, surer
from engine.explaining.explain import Explainer
from engine.lean.record import replace
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate, Retrieval
from tests.engine.builders import FakeJudge, ask, dropped, fillers, injected, memory, open_index
from tests.engine.models import cutoff
from tests.labels.samples import known

DEFAULT = Config(min_strength=0.0, noise_floor=0.0)
PROMPT = "billing exports pipeline nightly"
ALL = memory("billing exports pipeline nightly", memory_id="all")
THREE = memory("billing exports pipeline", memory_id="three")
TWO = memory("exports pipeline", memory_id="two")
ONE = memory("billing", memory_id="one")
MEMORIES = (ALL, THREE, TWO, ONE, *fillers(40))


def run(
    model: Cutoff | None, *, judge: FakeJudge | None = None, config: Config = DEFAULT, mode: str = "auto"
) -> Retrieval:
    return ask(PROMPT, *MEMORIES, cutoff=model, judge=judge, config=config, mode=mode)


def candidates(retrieval: Retrieval) -> dict[str, Candidate]:
    return {one.memory.id: one for one in retrieval.candidates}


def test_what_is_not_likely_enough_is_dropped_with_its_probability_as_the_reason() -> None:
    found = run(cutoff(DEFAULT))
    assert injected(found) == ["all", "three"]
    two = candidates(found)["two"]
    assert two.dropped_by == "cutoff"
    likely = f"{100 * known(two.probability):.0f} % likely to be relevant"
    assert two.reason == f"{likely}; a second memory needs 60 %"
    assert found.system == "memsift+cutoff"
    assert [candidates(found)[name].needs for name in ("all", "three", "two")] == [0.5, surer(0.5), surer(0.5)]


def test_a_memory_behind_the_first_must_be_surer() -> None:
    """P(relevant) of the second memory is .79."""
    injected_at = {least: injected(run(cutoff(DEFAULT, threshold=least))) for least in (0.7, 0.75)}
    assert injected_at == {0.7: ["all", "three"], 0.75: ["all"]}
    judged = run(cutoff(DEFAULT, threshold=0.99, doubt=0.75), judge=FakeJudge(keep=["three"]))
    assert injected(judged) == ["three"]
    assert surer(0.75) == pytest.approx(1 / (1 + exp(-log(3) - FURTHER)))


def test_without_a_model_or_over_the_floor_no_candidate_has_a_probability_and_a_place() -> None:
    found = run(None)
    assert injected(found) == ["all", "three", "two"]
    assert {one.probability for one in found.candidates} == {None}
    assert (found.system, {one.needs for one in found.candidates}) == ("memsift", {None})
    backwards = cutoff(DEFAULT, intercept=6.2, weights={"strength": -0.8})
    assert injected(run(backwards)) == ["two", "one"]
    config = Config(noise_floor=0.6)
    found = candidates(run(cutoff(config), config=config))
    assert found["one"].dropped_by == "floor"
    assert found["one"].probability is None


def test_confidence_follows_from_the_probability_also_of_a_single_match() -> None:
    found = candidates(run(cutoff(DEFAULT, threshold=0.0, doubt=0.0)))
    for one in found.values():
        assert one.confidence == (HIGH if one.probability >= 0.5 else MEDIUM if one.probability >= 0.3 else LOW)
    assert found["all"].confidence == HIGH
    assert found["one"].confidence == LOW
    (plain,) = ask(PROMPT, ONE, *fillers(40), config=DEFAULT).candidates
    free = cutoff(DEFAULT, threshold=0.0, doubt=0.0)
    (tuned,) = ask(PROMPT, ONE, *fillers(40), config=DEFAULT, cutoff=free).candidates
    assert plain.confidence == HIGH
    assert tuned.confidence == LOW


def test_only_the_uncertain_band_is_put_before_the_judge_and_where_it_fails_the_cutoff_decides() -> None:
    model = cutoff(DEFAULT, threshold=0.8, doubt=0.2)
    probabilities = {one.memory.id: one.probability or 0.0 for one in run(model).candidates}
    assert probabilities["one"] < 0.2 < probabilities["two"] < probabilities["three"]
    assert probabilities["all"] >= 0.8
    judge = FakeJudge(keep=["two"])
    found = run(model, judge=judge)
    assert judge.asked == [[name for name in ("three", "two") if probabilities[name] < 0.8]]
    assert "all" in injected(found)
    assert "two" in injected(found)
    assert dropped(found)["one"] == "cutoff"
    assert candidates(found)["all"].verdict is None
    assert (found.system, candidates(found)["two"].needs) == ("memsift+cutoff+judge", 0.2)
    judge = FakeJudge()
    found = run(cutoff(DEFAULT, threshold=0.5, doubt=0.5), judge=judge)
    assert judge.asked == []
    assert found.judgement is None
    assert injected(found) == ["all", "three"]
    for status in ["timeout", "http_error", "parse_error", "refused"]:
        model = cutoff(DEFAULT, threshold=0.7, doubt=0.1)
        alone = injected(run(model))
        found = run(model, judge=FakeJudge(status=status))
        assert injected(found) == alone[: DEFAULT.judge.fallback_top_k], status
        assert found.fallback == status, status
        assert candidates(found)["all"].needs == 0.7, status


def test_a_cutoff_alone_looks_at_fewer_memories_than_a_judge_and_an_explanation_says_so() -> None:
    alike = [memory(f"billing {number}", memory_id=f"b{number}") for number in range(20)]
    with open_index(*alike, *fillers(100)) as index:
        prompt = typed_prompt("billing")
        alone = retrieve(Query(prompt), index, OpenSystem(DEFAULT, cutoff=cutoff(DEFAULT)))
        judged = retrieve(Query(prompt), index, OpenSystem(DEFAULT, cutoff=cutoff(DEFAULT), judge=FakeJudge()))
        many = replace(DEFAULT, max_inject=5)
        assert [len(one.candidates) for one in (alone, judged)] == [12, 15]
        assert len(retrieve(Query(prompt), index, OpenSystem(many, cutoff=cutoff(many))).candidates) == 15
        last = Explainer(alone, index, DEFAULT).of("b9")
    assert last.reason.startswith("only the 12 strongest are ranked")


def test_there_is_no_cutoff_for_another_strategy_a_search_or_without_fts5() -> None:
    config = Config(match_strategy=FTS5_BM25)
    found = run(cutoff(DEFAULT), config=config)
    assert (found.system, {one.needs for one in found.candidates}) == ("bm25", {None})
    tuned = run(cutoff(config), config=config)
    assert tuned.system == "bm25+cutoff"
    assert all(one.probability is not None for one in tuned.injected)
    found = run(cutoff(DEFAULT, threshold=1.0), mode=SEARCH)
    assert injected(found) == ["all", "three", "two", "one"]
    assert found.system == "memsift"
    found = ask(PROMPT, *MEMORIES, config=DEFAULT, cutoff=cutoff(DEFAULT, threshold=1.0), module="no_such_module")
    assert "all" in injected(found)
    assert {one.needs for one in found.candidates} == {None}


def test_an_explanation_says_how_much_probability_was_missing() -> None:
    with open_index(*MEMORIES) as index:
        found = retrieve(Query(typed_prompt(PROMPT)), index, OpenSystem(DEFAULT, cutoff=cutoff(DEFAULT)))
        explainer = Explainer(found, index, DEFAULT)
        kept, dropped = explainer.of("all"), explainer.of("two")
    probabilities = {name: one.probability or 0.0 for name, one in candidates(found).items()}
    assert (kept.cutoff.value, kept.gap) == (0.5, None)
    assert kept.cutoff.gap == pytest.approx(probabilities["all"] - 0.5)
    assert (dropped.outcome, dropped.cutoff.value) == ("cutoff", surer(0.5))
    assert dropped.gap == pytest.approx(probabilities["two"] - surer(0.5))
    assert dropped.gap < 0


def test_where_the_first_memory_was_dropped_the_next_need_not_be_surer() -> None:
    """The second has the likeliest words in its tag, but the first has the higher strength."""
    found = run(cutoff(DEFAULT, threshold=0.5))
    first, second = found.candidates[:2]
    unlikely, likely = replace(first, probability=0.4), replace(second, probability=0.55)
    cut = cutoff(DEFAULT, threshold=0.5).drop([unlikely, likely], has_judge=False)
    assert [one.dropped_by for one in cut] == ["cutoff", None]
    assert surer(0.5) > 0.55
    behind = cutoff(DEFAULT, threshold=0.5).drop([replace(first, probability=0.9), likely], has_judge=False)
    assert [one.dropped_by for one in behind] == [None, "cutoff"]


LONG_NOTE = "the words of a note that goes on and on about other things " * 30


def test_a_prompt_that_is_one_identifier_of_one_note_passes_and_no_other_with_one() -> None:
    for prompt in ["FNC-029", "what is FNC-029?", "open game-clock.ts", "game-clock.ts", "parse_footer", "parseHeader"]:
        notes = [memory(f"note {number}", body=f"{LONG_NOTE} {number}", memory_id=f"n{number}") for number in range(9)]
        names = f"parse_footer {LONG_NOTE} parseHeader YouTube {LONG_NOTE}"
        named = memory(
            "rules", body=f"{LONG_NOTE} FNC-029 {LONG_NOTE} src/game-clock.ts {LONG_NOTE} {names}", memory_id="named"
        )
        assert injected(ask(prompt, named, *notes, cutoff=default_cutoff(Config()))) == ["named"], prompt
    named = memory("rules", body=f"{LONG_NOTE} FNC-029 {LONG_NOTE}", memory_id="named")
    prompt = "FNC-029 kubernetes rollout of the billing pipeline"
    assert injected(ask(prompt, named, *fillers(20), cutoff=default_cutoff(Config()))) == []
    twice = [memory("rules", body=f"{LONG_NOTE} FNC-029 {LONG_NOTE}", memory_id=name) for name in "ab"]
    assert injected(ask("FNC-029", *twice, *fillers(20), cutoff=default_cutoff(Config()))) == []


def test_a_root_with_one_note_of_one_line_is_not_silent() -> None:
    line = "Deploys go through make deploy"
    note = memory(line, "notes", body=line, category="note", memory_id="notes")
    for prompt, expected in (("how do we deploy?", ["notes"]), ("how are invoices rounded?", [])):
        assert injected(ask(prompt, note, cutoff=default_cutoff(Config()))) == expected
