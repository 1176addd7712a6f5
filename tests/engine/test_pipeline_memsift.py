"""The pipeline with the default strategy: floors, least strength, and what a judge is asked about."""

from hypothesis import given
from hypothesis import strategies as st

from engine.config import SEARCH, Config
from engine.lean.record import replace
from engine.memory import Memory
from engine.pipeline import SHARE_BEFORE_CHOICE, OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.retrieval import Retrieval
from engine.search.query import query_terms
from tests.engine.builders import FakeJudge, fillers, memory, open_index, pool_of

DEFAULT = Config()
FAILURES = ["timeout", "http_error", "parse_error", "refused"]

PROMPT = "today server billing exports pipeline nightly"
BEST = memory("billing exports pipeline nightly", memory_id="best")
FAIR = memory("exports of other things", memory_id="fair")
WEAK = memory("words about something else", body="server", memory_id="weak")
FAINT = memory("one two three four", body="today", memory_id="faint")
ALL = (BEST, FAIR, WEAK, FAINT, *fillers(40))


def run(
    prompt: str,
    *memories: Memory,
    config: Config = DEFAULT,
    mode: str = "auto",
    judge: FakeJudge | None = None,
    include_retired: bool = False,
) -> Retrieval:
    with open_index(*memories) as index:
        return retrieve(
            Query(typed_prompt(prompt), mode=mode, include_retired=include_retired),
            index,
            OpenSystem(config, judge=judge),
        )


def injected(retrieval: Retrieval) -> list[str]:
    return [one.memory.id for one in retrieval.injected]


def floored(retrieval: Retrieval) -> list[str]:
    return [one.memory.id for one in retrieval.candidates if one.dropped_by == "floor"]


def shares(prompt: str, *memories: Memory) -> dict[str, float]:
    """Each memory's strength, in units of what the rarest word can weigh."""
    with open_index(*memories) as index:
        pool = pool_of(index, prompt, 15, include_retired=False)
    return {one.memory.id: -one.score / pool.rare for one in pool.memories}


def test_the_score_is_the_strength_and_there_is_no_bonus() -> None:
    retrieval = run(PROMPT, *ALL)
    assert (retrieval.system, retrieval.strategy) == ("memsift", "memsift")
    with open_index(*ALL) as index:
        pool = pool_of(index, PROMPT, 15, include_retired=False)
    assert [one.score for one in retrieval.candidates] == [one.score for one in pool.memories]
    assert [one.bm25 for one in retrieval.candidates] == [one.bm25 for one in pool.memories]
    assert {one.body_bonus for one in retrieval.candidates} == {0}


def test_matched_are_the_words_of_the_prompt() -> None:
    retrieval = run("Exporting user_ids nightly", memory("exports of the user_id"), *fillers(9))
    assert retrieval.candidates[0].matched == ("Exporting", "user_ids")


def test_what_is_weak_at_all_or_beside_the_best_is_dropped_and_says_so() -> None:
    found = shares(PROMPT, *ALL)
    assert found["best"] > found["fair"] > DEFAULT.min_strength > found["weak"] > found["faint"]
    retrieval = run(PROMPT, *ALL)
    assert [one.memory.id for one in retrieval.candidates] == ["best", "fair", "weak", "faint"]
    assert injected(retrieval) == ["best"]
    reasons = {one.memory.id: one.reason for one in retrieval.candidates}
    assert "is under the floor of" in reasons["fair"]
    assert "is too weak at all: the least is" in reasons["weak"]


def test_the_noise_floor_is_a_share_of_the_best() -> None:
    found = shares(PROMPT, *ALL)
    share = found["fair"] / found["best"]
    assert injected(run(PROMPT, *ALL, config=replace(DEFAULT, noise_floor=share - 0.01))) == ["best", "fair"]
    assert injected(run(PROMPT, *ALL, config=replace(DEFAULT, noise_floor=share + 0.01))) == ["best"]


def test_the_least_strength_is_counted_in_rare_words() -> None:
    weak = shares(PROMPT, *ALL)["weak"]
    config = replace(DEFAULT, noise_floor=0.0)
    assert "weak" in injected(run(PROMPT, *ALL, config=replace(config, min_strength=weak - 0.01)))
    assert "weak" not in injected(run(PROMPT, *ALL, config=replace(config, min_strength=weak + 0.01)))


def test_a_single_word_that_is_common_in_general_text_is_silence() -> None:
    regular = memory("Regular backups are nightly", memory_id="regular")
    retrieval = run("please explain the brackets of this regular expression", regular, *fillers(40))
    assert injected(retrieval) == []
    assert floored(retrieval) == ["regular"]


def test_a_single_strong_match_is_injected() -> None:
    assert injected(run("what about nested brackets?", memory("Nested brackets"), *fillers(40))) == ["Nested-brackets"]


def test_a_retired_memory_is_dropped_and_is_no_measure_for_the_others() -> None:
    old = memory(PROMPT, memory_id="old", status="retired")
    retrieval = run(PROMPT, old, FAIR, *fillers(40))
    assert injected(retrieval) == ["fair"]
    assert {one.memory.id: one.dropped_by for one in retrieval.candidates} == {"old": "status", "fair": None}
    assert retrieval.injected[0].confidence == "high"


def test_a_retired_memory_is_found_where_it_is_asked_for() -> None:
    old = memory(PROMPT, memory_id="old", status="retired")
    assert injected(run(PROMPT, old, FAIR, *fillers(40), mode=SEARCH, include_retired=True)) == ["old", "fair"]


def test_a_judge_is_asked_about_what_reaches_half_the_floors() -> None:
    found = shares(PROMPT, *ALL)
    floor = max(DEFAULT.floor * found["best"], DEFAULT.min_strength)
    assert [name for name in found if found[name] >= SHARE_BEFORE_CHOICE * floor] == ["best", "fair"]
    assert found["fair"] < DEFAULT.floor * found["best"]
    judge = FakeJudge(keep=["fair"])
    retrieval = run(PROMPT, *ALL, judge=judge)
    assert judge.asked == [["best", "fair"]]
    assert injected(retrieval) == ["fair"]
    assert retrieval.system == "memsift+judge"


def test_without_anything_at_half_the_floors_no_judge_is_asked() -> None:
    judge = FakeJudge(keep=["faint"])
    retrieval = run(PROMPT, FAINT, *fillers(40), judge=judge)
    assert (judge.asked, injected(retrieval), floored(retrieval)) == ([], [], ["faint"])


def test_the_whole_floors_hold_where_the_judge_does_not_answer() -> None:
    for status in [*FAILURES, "no_key"]:
        judge = FakeJudge(status=status)
        retrieval = run(PROMPT, *ALL, judge=judge)
        assert judge.asked == [["best", "fair"]], status
        assert injected(retrieval) == ["best"], status
        assert {one.memory.id: one.dropped_by for one in retrieval.candidates}["fair"] == "floor", status
        assert retrieval.fallback == status, status


def test_a_judge_of_a_search_is_asked_about_everything() -> None:
    judge = FakeJudge(keep=["faint"])
    assert injected(run(PROMPT, *ALL, mode=SEARCH, judge=judge)) == ["faint"]
    assert judge.asked == [["best", "fair", "weak", "faint"]]


def test_a_small_root_answers_and_stays_silent_as_a_large_one_does() -> None:
    for rows in [1, 2, 3]:
        few = (memory("cache expiry is an hour", memory_id="target"), memory("billing"), memory("avatars"))[:rows]
        assert injected(run("when does the cache expire?", *few)) == ["target"], rows
        assert injected(run("one hour of work", *few)) == [], rows
        assert injected(run("zanzibar", *few)) == [], rows


@given(st.text(max_size=60))
def test_a_memory_whose_title_is_the_prompt_is_found_if_the_prompt_says_anything(prompt: str) -> None:
    anything = replace(DEFAULT, max_risk=1.0, min_strength=0.0)
    retrieval = run(prompt, memory(prompt, memory_id="target"), *fillers(10), config=anything)
    assert ("target" in injected(retrieval)) is bool(query_terms(prompt))
