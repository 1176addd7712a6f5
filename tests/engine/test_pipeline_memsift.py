"""The pipeline with the default strategy: floors, least strength, and what a judge is asked about."""

from hypothesis import given
from hypothesis import strategies as st

from engine.config import SEARCH, Config
from engine.lean.record import replace
from engine.memory import Memory
from engine.pipeline import SHARE_BEFORE_CHOICE
from engine.search.query import query_terms
from tests.engine.builders import FakeJudge, ask, dropped, fillers, injected, memory, open_index, pool_of

DEFAULT = Config()
FAILURES = ["timeout", "http_error", "parse_error", "refused"]

PROMPT = "today server billing exports pipeline nightly"
BEST = memory("billing exports pipeline nightly", memory_id="best")
FAIR = memory("exports of other things", memory_id="fair")
WEAK = memory("words about something else", body="server", memory_id="weak")
FAINT = memory("one two three four", body="today", memory_id="faint")
ALL = (BEST, FAIR, WEAK, FAINT, *fillers(40))


def shares(prompt: str, *memories: Memory) -> dict[str, float]:
    """Each memory's strength, in units of what the rarest word can weigh."""
    with open_index(*memories) as index:
        pool = pool_of(index, prompt, 15, include_retired=False)
    return {one.memory.id: -one.score / pool.rare for one in pool.memories}


def test_the_score_is_the_strength_and_matched_are_the_words_of_the_prompt() -> None:
    retrieval = ask(PROMPT, *ALL)
    assert (retrieval.system, retrieval.strategy) == ("memsift", "memsift")
    with open_index(*ALL) as index:
        pool = pool_of(index, PROMPT, 15, include_retired=False)
    assert [one.score for one in retrieval.candidates] == [one.score for one in pool.memories]
    assert [one.bm25 for one in retrieval.candidates] == [one.bm25 for one in pool.memories]
    assert {one.body_bonus for one in retrieval.candidates} == {0}
    retrieval = ask("Exporting user_ids nightly", memory("exports of the user_id"), *fillers(9))
    assert retrieval.candidates[0].matched == ("Exporting", "user_ids")


def test_what_is_weak_at_all_or_beside_the_best_is_dropped_and_says_so() -> None:
    found = shares(PROMPT, *ALL)
    assert found["best"] > found["fair"] > DEFAULT.min_strength > found["weak"] > found["faint"]
    retrieval = ask(PROMPT, *ALL)
    assert [one.memory.id for one in retrieval.candidates] == ["best", "fair", "weak", "faint"]
    assert injected(retrieval) == ["best"]
    reasons = {one.memory.id: one.reason for one in retrieval.candidates}
    assert "is under the floor of" in reasons["fair"]
    assert "is too weak at all: the least is" in reasons["weak"]


def test_the_noise_floor_is_a_share_of_the_best_and_the_least_strength_counts_rare_words() -> None:
    found = shares(PROMPT, *ALL)
    share = found["fair"] / found["best"]
    assert injected(ask(PROMPT, *ALL, config=replace(DEFAULT, noise_floor=share - 0.01))) == ["best", "fair"]
    assert injected(ask(PROMPT, *ALL, config=replace(DEFAULT, noise_floor=share + 0.01))) == ["best"]
    weak = shares(PROMPT, *ALL)["weak"]
    config = replace(DEFAULT, noise_floor=0.0)
    assert "weak" in injected(ask(PROMPT, *ALL, config=replace(config, min_strength=weak - 0.01)))
    assert "weak" not in injected(ask(PROMPT, *ALL, config=replace(config, min_strength=weak + 0.01)))


def test_a_retired_memory_is_dropped_and_is_no_measure_but_is_found_where_it_is_asked_for() -> None:
    old = memory(PROMPT, memory_id="old", status="retired")
    retrieval = ask(PROMPT, old, FAIR, *fillers(40))
    assert injected(retrieval) == ["fair"]
    assert dropped(retrieval) == {"old": "status"}
    assert retrieval.injected[0].confidence == "high"
    old = memory(PROMPT, memory_id="old", status="retired")
    assert injected(ask(PROMPT, old, FAIR, *fillers(40), mode=SEARCH, include_retired=True)) == ["old", "fair"]


def test_a_judge_is_asked_about_what_reaches_half_the_floors_and_of_a_search_about_everything() -> None:
    found = shares(PROMPT, *ALL)
    floor = max(DEFAULT.floor * found["best"], DEFAULT.min_strength)
    assert [name for name in found if found[name] >= SHARE_BEFORE_CHOICE * floor] == ["best", "fair"]
    assert found["fair"] < DEFAULT.floor * found["best"]
    judge = FakeJudge(keep=["fair"])
    retrieval = ask(PROMPT, *ALL, judge=judge)
    assert judge.asked == [["best", "fair"]]
    assert injected(retrieval) == ["fair"]
    assert retrieval.system == "memsift+judge"
    judge = FakeJudge(keep=["faint"])
    retrieval = ask(PROMPT, FAINT, *fillers(40), judge=judge)
    assert (judge.asked, injected(retrieval), dropped(retrieval)) == ([], [], {"faint": "floor"})
    for status in [*FAILURES, "no_key"]:
        judge = FakeJudge(status=status)
        retrieval = ask(PROMPT, *ALL, judge=judge)
        assert judge.asked == [["best", "fair"]], status
        assert injected(retrieval) == ["best"], status
        assert dropped(retrieval)["fair"] == "floor", status
        assert retrieval.fallback == status, status
    judge = FakeJudge(keep=["faint"])
    assert injected(ask(PROMPT, *ALL, mode=SEARCH, judge=judge)) == ["faint"]
    assert judge.asked == [["best", "fair", "weak", "faint"]]


def test_a_small_root_answers_and_stays_silent_as_a_large_one_does() -> None:
    for rows in [1, 2, 3]:
        few = (memory("cache expiry is an hour", memory_id="target"), memory("billing"), memory("avatars"))[:rows]
        assert injected(ask("when does the cache expire?", *few)) == ["target"], rows
        assert injected(ask("one hour of work", *few)) == [], rows
        assert injected(ask("zanzibar", *few)) == [], rows


@given(st.text(max_size=60))
def test_a_memory_whose_title_is_the_prompt_is_found_if_the_prompt_says_anything(prompt: str) -> None:
    anything = replace(DEFAULT, max_risk=1.0, min_strength=0.0)
    retrieval = ask(prompt, memory(prompt, memory_id="target"), *fillers(10), config=anything)
    assert ("target" in injected(retrieval)) is bool(query_terms(prompt))
