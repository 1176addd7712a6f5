"""Why a memory was injected, and why not: the breakdown adds up to what was retrieved, the reasons name what to do."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import AUTO, FTS5_BM25, SEARCH, TITLE_TAGS, Config, JudgeConfig
from engine.explaining.contributions import BEGINNING, EXACT, PHRASE, STEM, FoundWords
from engine.explaining.explain import INJECTED, POOL, UNMATCHED, Explainer, Explanation
from engine.lean.record import replace
from engine.memory import Memory
from engine.opening import hook_index
from engine.opening import open_index as open_on_disk
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.search.index import Index
from engine.search.strategies import fts5_bm25
from engine.search.strategies.memsift import idf
from tests.engine.builders import FakeJudge, fillers, memory, open_index, write_memory, write_root
from tests.labels.samples import known

WORDS = ("cache", "caching", "cached", "auth", "authentication", "id", "user_id", "userId", "users", "v2.0", "2.0")
OTHERS = tuple("迁移 数据库迁移 토큰을 토큰은 שלום cafés Café 🦆 go Go cahce dbase db the".split())
TEXTS = st.lists(st.sampled_from(WORDS + OTHERS), max_size=7).map(" ".join)
STATUS = st.sampled_from(["active", "active", "active", "retired"])
MEMORIES = st.lists(st.tuples(TEXTS, TEXTS, TEXTS, STATUS), min_size=1, max_size=12)
NOW = 1_700_000_000.0
CONFIG = Config()
BM25, KEYWORDS = replace(CONFIG, match_strategy=FTS5_BM25), replace(CONFIG, match_strategy=TITLE_TAGS)


def now() -> float:
    return NOW


def explained(
    prompt: str, index: Index, config: Config = CONFIG, *, mode: str = AUTO, judge: FakeJudge | None = None
) -> dict[str, Explanation]:
    """The explanation of every memory, by id."""
    retrieval = retrieve(Query(typed_prompt(prompt), mode=mode), index, OpenSystem(config, judge=judge, now=now))
    explainer = Explainer(retrieval, index, config, now=now)
    found = {one.id: explainer.of(one.id) for one in index.summaries()}
    return {memory_id: one for memory_id, one in found.items() if one}


def explain(prompt: str, memory_id: str, *memories: Memory, config: Config = CONFIG, mode: str = AUTO) -> Explanation:
    with open_index(*memories, *fillers(20)) as index:
        return explained(prompt, index, config, mode=mode)[memory_id]


def built(rows: list[tuple[str, str, str, str]]) -> list[Memory]:
    return [
        memory(title, *tags.split(), body=body, status=status, memory_id=f"m{number}")
        for number, (title, tags, body, status) in enumerate(rows)
    ]


# It adds up


@given(
    MEMORIES,
    TEXTS,
    st.sampled_from([CONFIG, BM25, KEYWORDS]),
    st.sampled_from([AUTO, SEARCH]),
    st.booleans(),
    st.sampled_from([2, 15]),
)
def test_every_memory_is_explained_and_the_account_of_a_candidate_adds_up_to_what_was_retrieved(
    rows: list[tuple[str, str, str, str]], prompt: str, config: Config, mode: str, include_retired: bool, size: int
) -> None:
    asked = Query(typed_prompt(prompt), mode=mode, include_retired=include_retired)
    config = replace(config, judge=JudgeConfig(candidate_pool_size=size))
    with open_index(*built(rows)) as index:
        retrieval = retrieve(asked, index, OpenSystem(config, now=now))
        explainer = Explainer(retrieval, index, config, now=now)
        for one in retrieval.candidates:
            explanation = known(explainer.of(one.memory.id))
            breakdown = known(explanation.breakdown)
            assert breakdown.strength == pytest.approx(-one.score, abs=1e-9)
            scores = [part.score for part in breakdown.contributions]
            assert breakdown.strength == pytest.approx(sum(scores) + breakdown.bonus, abs=1e-9)
            assert sum(part.share for part in breakdown.contributions) == pytest.approx(1.0)
            if config.match_strategy != TITLE_TAGS:
                assert breakdown.bm25 == pytest.approx(-one.bm25, abs=1e-9)
            assert tuple(part.text for part in breakdown.contributions) == one.matched
            assert all(any(place.occurrences) for part in breakdown.contributions for place in part.found)
            assert explanation.outcome == (one.dropped_by or INJECTED)
            assert (explanation.rank, explanation.reason) == (one.rank, one.reason)
            if one.dropped_by == "floor":
                assert explanation.gap < 0
            elif one.injected and explanation.floor:
                assert explanation.floor.gap >= -1e-9
                assert explanation.least is None or explanation.least.gap >= -1e-9
        for summary in index.summaries():
            explanation = known(explainer.of(summary.id))
            assert (explanation.breakdown is None) == (explanation.outcome == UNMATCHED)
            assert (explanation.rank is None) == (explanation.outcome in (POOL, UNMATCHED))
            assert bool(explanation.advice) == (explanation.outcome == UNMATCHED)


@given(MEMORIES, TEXTS)
def test_the_tag_that_is_advised_makes_it_match(rows: list[tuple[str, str, str, str]], prompt: str) -> None:
    memories = built(rows)
    with open_index(*memories) as index:
        found = explained(prompt, index)
    for place, one in enumerate(memories):
        advice = found[one.summary.id].advice
        if " tag '" in advice:
            tag = advice.split(" tag '")[1].split("'")[0]
            title, tags, body, status = rows[place]
            edited = built([*rows[:place], (title, f"{tags} {tag}", body, status), *rows[place + 1 :]])
            with open_index(*edited) as index:
                assert explained(prompt, index)[one.summary.id].outcome != UNMATCHED


# What was matched


def test_a_word_says_how_it_was_found_where_and_how_often_also_a_compound_and_a_beginning() -> None:
    one = memory("Authentication", body="the user_id of a user_id", memory_id="one")
    user_id, auth = explain("userId auth", "one", one, mode=SEARCH).breakdown.contributions
    assert (user_id.how, user_id.found[0]) == (EXACT, FoundWords("user id", PHRASE, (0, 0, 2)))
    assert (auth.how, auth.found) == (BEGINNING, (FoundWords("authentication", BEGINNING, (1, 0, 0)),))


def test_a_rare_word_weighs_more_and_both_say_in_how_many_memories_they_stand() -> None:
    others = [memory(f"shared {number}", memory_id=f"o{number}") for number in range(4)]
    breakdown = explain("shared quokka", "one", memory("shared quokka", memory_id="one"), *others).breakdown
    shared, quokka = breakdown.contributions
    assert (shared.count, quokka.count) == (5, 1)
    assert (shared.idf, quokka.idf) == (0.5 * idf(5, 25), idf(1, 25))
    assert shared.share < quokka.share


def test_the_original_rules_say_their_terms_bm25_and_bonus_and_keywords_their_points() -> None:
    one = memory("Authentication", "user_id", body="authenticate login session cookie", memory_id="one")
    found = explain("authenticating userId login session cookie", "one", one, config=BM25)
    assert found.outcome == INJECTED
    assert found.breakdown.bonus == 3
    words = ["authenticating", "userId", "login", "session", "cookie"]
    assert [part.text for part in found.breakdown.contributions] == words
    assert found.breakdown.contributions[0].found == (
        FoundWords("authentication", STEM, (1, 0, 0)),
        FoundWords("authenticate", STEM, (0, 0, 1)),
    )
    scores = [part.score for part in found.breakdown.contributions]
    assert scores[0] > 0
    assert scores[2:] == [0.0, 0.0, 0.0]
    one = memory("Cache rules", "redis", memory_id="one", updated_at="2023-11-10T00:00:00Z")
    found = explain("cache redis rule", "one", one, config=KEYWORDS)
    assert {part.text: part.score for part in found.breakdown.contributions} == {"cache": 2, "redis": 3, "rule": 1}
    assert (found.breakdown.bonus, found.breakdown.strength) == (1, 7)
    assert found.floor is None


# Where it fell


def test_a_memory_under_the_floor_says_how_far() -> None:
    strong = memory("rotate signing keys", "rotate", "signing", "keys", memory_id="strong")
    weak = memory("bicycle", body=f"keys {'word ' * 80}", memory_id="weak")
    found = explain("rotate signing keys", "weak", strong, weak)
    assert found.outcome == "floor"
    assert found.floor.gap == pytest.approx(found.breakdown.strength - found.floor.value)
    assert found.gap == min(found.floor.gap, found.least.gap) < 0
    assert found.rank == 2


def test_a_memory_over_the_cap_a_retired_one_and_one_that_the_judge_rejects_say_so() -> None:
    memories = [memory("rotate keys", body="word " * number, memory_id=f"m{number}") for number in range(4)]
    found = explain("rotate keys", "m3", *memories)
    assert found.outcome == "cap"
    assert found.gap < 0
    assert explain("rotate keys", "m0", *memories).gap is None
    assert explain("rotate keys", "old", memory("rotate keys", memory_id="old", status="retired")).outcome == "status"
    with open_index(memory("rotate keys", memory_id="one"), *fillers(20)) as index:
        found = explained("rotate keys", index, judge=FakeJudge())["one"]
    assert (found.outcome, found.system) == ("judge", "memsift+judge")
    with open_index(memory("rotate keys", memory_id="one")) as index:
        retrieval = retrieve(Query(typed_prompt("rotate")), index, OpenSystem(CONFIG))
        assert Explainer(retrieval, index, CONFIG).of("two") is None


def test_before_a_judge_half_of_the_floors_is_asked_for_and_the_whole_where_it_fails() -> None:
    with open_index(memory("rotate keys", memory_id="one"), *fillers(20)) as index:
        whole, half, failed = (
            explained("rotate keys", index, judge=judge)["one"].least
            for judge in (None, FakeJudge(["one"]), FakeJudge(["one"], status="timeout"))
        )
    assert half.value == pytest.approx(whole.value / 2)
    assert failed.value == whole.value


def test_a_match_outside_the_pool_says_what_it_takes_to_be_in_it_also_behind_retired_ones_of_keywords() -> None:
    memories = [memory("rotate keys", memory_id=f"m{number}") for number in range(3)]
    outside = memory("bicycle", body=f"keys {'word ' * 80}", memory_id="outside")
    config = replace(CONFIG, judge=JudgeConfig(candidate_pool_size=3))
    found = explain("rotate keys", "outside", *memories, outside, config=config)
    assert found.outcome == POOL
    assert found.gap == found.entry.gap == pytest.approx(found.breakdown.strength - found.entry.value) != 0
    assert f"{found.entry.value:.2f}" in found.reason
    retired = [memory("rotate keys", memory_id=f"m{number}", status="retired") for number in range(3)]
    small = replace(KEYWORDS, judge=JudgeConfig(candidate_pool_size=3))
    found = explain("rotate keys", "outside", *retired, memory("bicycle keys", memory_id="outside"), config=small)
    assert (found.outcome, bool(found.entry)) == (POOL, True)
    assert found.reason.startswith("only the 3 strongest are ranked")


def test_a_memory_that_matches_nothing_says_what_is_near() -> None:
    for config in [CONFIG, BM25, KEYWORDS]:
        one = memory("Reply cache", memory_id="one")
        found = explain("how is the cahce warmed?", "one", one, config=config)
        assert found.outcome == UNMATCHED, config
        assert found.breakdown is None, config
        assert [(near.prompt, near.memory) for near in found.nearest] == [("cahce", "cache")], config
        assert found.advice == "The prompt says 'cahce', the memory 'cache'.", config


def test_a_memory_that_the_rarer_words_did_not_lead_to_is_a_match_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many words, only the rarest are looked up."""
    monkeypatch.setattr(fts5_bm25, "BUDGET", 10)
    common = [memory(f"rule {number}", memory_id=f"m{number}") for number in range(30)]
    rare = [memory(f"rule cache token{number}", memory_id=f"r{number}") for number in range(3)]
    with open_index(*common, *rare) as index:
        found = explained("rule cache", index, BM25)["m7"]
        assert "m7" not in [
            one.memory.id for one in retrieve(Query(typed_prompt("rule cache")), index, OpenSystem(BM25)).candidates
        ]
    assert (found.outcome, found.entry) == (POOL, None)
    assert found.reason.startswith("the rarer words of the prompt")


def test_a_word_in_a_body_that_is_not_searched_is_neither_near_nor_held() -> None:
    one = memory("Replies", body="cache", memory_id="one")
    assert explain("cahce", "one", one, config=BM25).nearest == ()
    assert explain("cahce", "one", one, config=BM25, mode=SEARCH).nearest != ()
    one = memory("Replies", body="the frobnicator", memory_id="one")
    found = explain("where is the frobnicator used", "one", one, config=BM25)
    assert (found.outcome, found.breakdown) == (UNMATCHED, None)
    assert found.reason == "its title and tags hold no word of the prompt"
    assert explain("where is the frobnicator used", "one", one, config=BM25, mode=SEARCH).outcome == INJECTED


def test_what_changed_on_disk_is_explained_as_it_is_now(tmp_path: Path) -> None:
    """As the retrieval ranked it."""
    root = write_root(tmp_path / "root", [memory("rotate keys", memory_id="one"), *fillers(20)])
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    open_on_disk(str(root), environ).close()
    file = write_memory(root, memory("rotate keys and certificates", "keys", memory_id="one"))
    os.utime(file, ns=(1, 1))
    index = hook_index(str(root), environ, 1.0)
    try:
        retrieval = retrieve(Query(typed_prompt("rotate keys")), index, OpenSystem(CONFIG))
        found = known(Explainer(retrieval, index, CONFIG).of("one"))
    finally:
        index.close()
    assert found.breakdown.strength == pytest.approx(-retrieval.candidates[0].score, abs=1e-9)
    assert found.memory.title == "rotate keys and certificates"
