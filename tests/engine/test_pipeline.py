"""Every stage of the pipeline, with the original rules, and the fallback table of the judge."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from engine import inject
from engine.config import AUTO, FTS5_BM25, MEMSIFT, SEARCH, TITLE_TAGS, Config, JudgeConfig, ModeConfig, ModesConfig
from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, Judgement
from engine.lean.record import replace
from engine.pipeline import NO_FTS5, OpenSystem, Query, cap, retrieve
from engine.prompt import typed_prompt
from engine.retrieval import DROP_STAGES, HIGH, LOW, Candidate, Retrieval, Session
from tests.engine.builders import FakeJudge, ask, dropped, fillers, injected, memory, open_index
from tests.labels.samples import known

ORIGINAL = Config(match_strategy=FTS5_BM25)
CACHE = [memory(f"cache rule {number:02}") for number in range(20)]
CACHE_IDS = sorted(one.summary.id for one in CACHE)
run = partial(ask, config=ORIGINAL)
FAILURES = ["timeout", "http_error", "parse_error", "refused"]


def by_id(retrieval: Retrieval, memory_id: str) -> Candidate:
    return next(one for one in retrieval.candidates if one.memory.id == memory_id)


def with_judge(**changes: object) -> Config:
    return replace(ORIGINAL, judge=replace(JudgeConfig(), **changes))


def test_three_are_injected_of_a_pool_of_fifteen_unless_the_configuration_says_otherwise() -> None:
    retrieval = run("how does the cache rule work", *CACHE)
    assert injected(retrieval) == CACHE_IDS[:3]
    assert [one.memory.id for one in retrieval.candidates] == CACHE_IDS[:15]
    assert [one.rank for one in retrieval.candidates] == list(range(1, 16))
    assert {one.dropped_by for one in retrieval.candidates[3:]} == {"cap"}
    assert retrieval.candidates[3].reason == "only 3 are injected"
    made = (retrieval.system, retrieval.strategy, retrieval.mode, retrieval.fallback)
    assert made == ("bm25", "fts5_bm25", "auto", "")
    config = replace(with_judge(candidate_pool_size=5), max_inject=1)
    retrieval = run("cache rule", *CACHE, config=config)
    assert (len(retrieval.candidates), injected(retrieval)) == (5, CACHE_IDS[:1])
    assert injected(run("cache rule", *CACHE, config=replace(ORIGINAL, max_inject=0))) == []


def test_the_strongest_alone_are_looked_at_where_no_judge_chooses() -> None:
    for wanted in [(FTS5_BM25, False, 15), (MEMSIFT, False, 12), (MEMSIFT, True, 15)]:
        strategy, has_judge, count = wanted
        config = replace(Config(), match_strategy=strategy)
        retrieval = run("cache rule", *CACHE, config=config, judge=FakeJudge() if has_judge else None)
        assert [one.memory.id for one in retrieval.candidates] == CACHE_IDS[:count], wanted


def test_a_prompt_that_matches_nothing_brings_up_nothing() -> None:
    for prompt in ("zanzibar", "the of and", "", "?!"):
        assert run(prompt, *CACHE).candidates == ()
    assert run("cache rule").candidates == ()


def test_the_floor_is_taken_on_raw_bm25_and_a_weak_match_falls_under_it() -> None:
    best = memory("billing exports pipeline", body="billing exports pipeline")
    honest = memory("billing glossary of all words")
    retrieval = run("billing exports pipeline", best, honest, *fillers(40))
    first, second = by_id(retrieval, best.summary.id), by_id(retrieval, honest.summary.id)
    assert first.body_bonus == 3
    assert second.score > 0.25 * first.score  # the other rule would drop it
    assert second.bm25 <= 0.25 * first.bm25
    assert second.injected
    best = memory("billing exports pipeline nightly")
    weak = [memory(f"billing glossary of words{i} and more about it zz{i} yy{i} xx{i}") for i in range(8)]
    retrieval = run("billing exports pipeline nightly", best, *weak, *fillers(30))
    assert injected(retrieval) == [best.summary.id]
    assert set(dropped(retrieval).values()) == {"floor"}
    assert "is under the floor of" in retrieval.candidates[-1].reason
    assert len(run("billing exports pipeline nightly", best, *weak, *fillers(30), mode=SEARCH).injected) == 9


def test_retired_and_archived_memories_are_dropped_and_hide_no_active_one() -> None:
    old = memory("cache expiry plan", status="retired")
    older = memory("cache expiry notes", status="archived")
    active = memory("cache")
    retrieval = run("cache expiry", old, older, active, *fillers(10))
    assert injected(retrieval) == ["cache"]
    assert dropped(retrieval) == {old.summary.id: "status", older.summary.id: "status"}
    assert by_id(retrieval, old.summary.id).reason == "its record is retired"
    assert by_id(retrieval, "cache").confidence == HIGH
    retired = [memory("cache expiry", "cache", "expiry", status="retired", memory_id=f"old-{i}") for i in range(9)]
    active = memory("cache of the kiosk")
    retrieval = run(
        "cache expiry", *retired, active, *fillers(20), config=replace(ORIGINAL, max_results=1), mode=SEARCH
    )
    assert injected(retrieval) == [active.summary.id]


def test_search_looks_into_bodies_injects_ten_and_does_not_drop_for_weakness_or_size() -> None:
    memories = [memory(f"Title {i}", body="the treasure is here", memory_id=f"t{i:02}") for i in range(12)]
    retrieval = run("treas", *memories, mode=SEARCH)
    assert injected(retrieval) == [f"t{i:02}" for i in range(10)]
    assert retrieval.candidates[0].matched == ("treas",)
    assert retrieval.candidates[0].body_bonus == 0
    assert run("treas", *memories).candidates == ()
    config = replace(ORIGINAL, max_characters=100, noise_floor=1.0)
    retrieval = run("cache rule 07", *CACHE, mode=SEARCH, config=config)
    assert len(retrieval.injected) == 10


def test_category_decides_between_equal_matches_and_confidence_under_the_floor_is_medium() -> None:
    memories = [memory("cache", category=name) for name in ("session_summary", "runbook", "decision")]
    memories = [replace(one, summary=replace(one.summary, id=one.summary.category)) for one in memories]
    assert injected(run("cache", *memories)) == ["decision", "runbook", "session_summary"]
    assert run("cache", memory("cache"), *fillers(9)).candidates[0].confidence == HIGH
    config = replace(ORIGINAL, confidence_abs_floor=50.0)
    assert run("cache", memory("cache"), *fillers(9), config=config).candidates[0].confidence == "medium"


def test_what_the_session_has_is_not_repeated_until_it_changes_and_takes_its_place() -> None:
    session = Session({CACHE_IDS[0]: CACHE[0].summary.digest, CACHE_IDS[7]: "whatever"})
    retrieval = run("cache rule", *CACHE, session=session)
    assert injected(retrieval) == CACHE_IDS[1:3]
    assert by_id(retrieval, CACHE_IDS[0]).dropped_by == "repeat"
    session = Session({CACHE_IDS[0]: "another digest"})
    assert injected(run("cache rule", *CACHE, session=session)) == CACHE_IDS[:3]


def test_the_budget_takes_whole_entries_as_many_as_fit_and_counts_an_emoji_twice() -> None:
    long, *short = [memory("cache", memory_id="a" * 300), memory("cache b"), memory("cache c")]
    config = replace(ORIGINAL, max_characters=350)
    retrieval = run("cache", long, *short, *fillers(5), config=config)
    text = inject.context(retrieval, config)
    assert dropped(retrieval) == {"a" * 300: "budget"}
    assert by_id(retrieval, "a" * 300).reason == "it does not fit into 350 characters"
    assert injected(retrieval) == ["cache-b", "cache-c"]
    assert inject.length(text) <= 350
    assert text.count("<result ") == text.count("</result>") == 2
    one = memory("cache " + "🚀" * 100)
    size = inject.FRAME_CHARACTERS + inject.length(inject.entry(one.summary, HIGH)) + 1
    assert size > 200 + inject.FRAME_CHARACTERS
    assert injected(run("cache", one, config=replace(ORIGINAL, max_characters=size))) == [one.summary.id]
    assert injected(run("cache", one, config=replace(ORIGINAL, max_characters=size - 1))) == []


def test_a_memory_that_does_not_fit_gives_its_place_to_the_next_and_one_of_the_session_keeps_it() -> None:
    config = replace(ORIGINAL, max_characters=450, max_inject=2)
    long = [replace(one, summary=replace(one.summary, path=".a" + "p" * 400)) for one in CACHE[:2]]
    retrieval = run("cache rule", *long, *CACHE[2:], config=config)
    assert injected(retrieval) == CACHE_IDS[2:4]
    assert [one.dropped_by for one in retrieval.candidates] == ["budget"] * 2 + [None] * 2 + ["cap"] * 11
    failed = run("cache rule", *long, *CACHE[2:], config=config, judge=FakeJudge(status="timeout"))
    assert injected(failed) == CACHE_IDS[2:4]
    nearly = replace(config, judge=replace(JudgeConfig(), fallback_top_k=1))
    assert injected(run("cache rule", *long, *CACHE[2:], config=nearly, judge=FakeJudge(status="timeout"))) == [
        CACHE_IDS[2]
    ]
    long = replace(CACHE[0], summary=replace(CACHE[0].summary, path=".a" + "p" * 400))
    session = Session({CACHE_IDS[1]: CACHE[1].summary.digest})
    config = replace(ORIGINAL, max_characters=450)
    retrieval = run("cache rule", long, *CACHE[1:], config=config, session=session)
    assert [one.dropped_by for one in retrieval.candidates[:5]] == ["budget", "repeat", None, None, "cap"]


@given(titles=st.lists(st.text(max_size=60), max_size=6), limit=st.integers(100, 600))
def test_the_block_never_exceeds_the_budget(titles: list[str], limit: int) -> None:
    memories = [memory(f"cache {title}", title, memory_id=f"m{i}") for i, title in enumerate(titles)]
    config = replace(ORIGINAL, max_characters=limit, max_inject=6)
    assert inject.length(inject.context(run("cache", *memories, config=config), config)) <= limit


def test_the_judge_sees_what_the_stages_before_left_and_what_it_keeps_is_injected_in_bm25_order_up_to_the_cap() -> None:
    retired = memory("cache rule zero", status="retired")
    judge = FakeJudge(keep=[CACHE_IDS[9], CACHE_IDS[1]])
    retrieval = run("cache rule", retired, *CACHE, judge=judge)
    (asked,) = judge.asked
    assert retired.summary.id not in asked
    assert asked == [one.memory.id for one in retrieval.candidates if one.memory.id != retired.summary.id]
    assert injected(retrieval) == [CACHE_IDS[1], CACHE_IDS[9]]
    assert (retrieval.system, retrieval.fallback) == ("bm25+judge", "")
    first = by_id(retrieval, CACHE_IDS[0])
    assert (first.dropped_by, first.reason) == ("judge", "the judge did not keep it")
    assert first.verdict.decision == REJECTED
    assert [one.verdict.decision for one in retrieval.injected if one.verdict] == [APPROVED, APPROVED]
    retrieval = run("cache rule", *CACHE, judge=FakeJudge(keep=CACHE_IDS))
    assert injected(retrieval) == CACHE_IDS[:3]
    assert dropped(retrieval)[CACHE_IDS[3]] == "cap"


def test_a_mode_has_its_own_largest_number_after_the_judge() -> None:
    modes = ModesConfig(ModeConfig(max_output=1), ModeConfig(max_output=2))
    config, answer = with_judge(modes=modes), Judgement("ok", (), "p", "m", "", 0.0)
    assert [cap(config, mode, answer) for mode in (AUTO, SEARCH)] == [1, 2]
    assert [cap(config, mode, None) for mode in (AUTO, SEARCH)] == [3, 10]
    assert cap(with_judge(), AUTO, answer) == 3


def test_a_judge_that_cannot_answer_leaves_the_best_two_and_one_without_a_key_is_none() -> None:
    for status in FAILURES:
        retrieval = run("cache rule", *CACHE, judge=FakeJudge(status=status))
        assert injected(retrieval) == CACHE_IDS[:2], status
        assert retrieval.fallback == status, status
        assert known(retrieval.judgement).status == status, status
        assert set(dropped(retrieval).values()) == {"cap"}, status
        assert {one.verdict.decision for one in retrieval.candidates if one.verdict} == {FLAGGED}, status
        assert {one.verdict.status for one in retrieval.candidates if one.verdict} == {status}, status
        none, many = with_judge(fallback_top_k=0), with_judge(fallback_top_k=9)
        assert injected(run("cache rule", *CACHE, judge=FakeJudge(status=status), config=none)) == [], status
        assert injected(run("cache rule", *CACHE, judge=FakeJudge(status=status), config=many)) == CACHE_IDS[:3], status
    retrieval = run("cache rule", *CACHE, judge=FakeJudge(status="no_key", detail="set ANTHROPIC_API_KEY"))
    assert injected(retrieval) == CACHE_IDS[:3]
    assert retrieval.fallback == "no_key"


def test_the_judge_is_not_asked_about_nothing_and_what_the_session_has_is_dropped_after_it() -> None:
    judge = FakeJudge()
    retrieval = run("zanzibar", *CACHE, judge=judge)
    assert (judge.asked, retrieval.judgement, retrieval.fallback) == ([], None, "")
    run("cache", memory("cache", status="retired"), judge=judge)
    assert judge.asked == []
    session = Session({CACHE_IDS[0]: CACHE[0].summary.digest})
    retrieval = run("cache rule", *CACHE, judge=FakeJudge(keep=CACHE_IDS[:2]), session=session)
    assert injected(retrieval) == CACHE_IDS[1:2]
    assert dropped(retrieval)[CACHE_IDS[0]] == "repeat"
    assert dropped(retrieval)[CACHE_IDS[2]] == "judge"


def test_without_fts5_or_by_choice_keywords_are_scored_and_no_judge_is_asked() -> None:
    for judge in [None, FakeJudge(keep=CACHE_IDS)]:
        tagged = memory("Title", "cache")
        retrieval = run("cache rule", tagged, *CACHE[:5], memory("Cached"), judge=judge, module="nosuchmodule")
        assert (retrieval.strategy, retrieval.fallback, retrieval.judgement) == (TITLE_TAGS, NO_FTS5, None), judge
        assert injected(retrieval) == CACHE_IDS[:3], judge
        assert [one.score for one in retrieval.candidates] == [-4.0, -4.0, -4.0, -4.0, -4.0, -3.0, -1.0], judge
        assert retrieval.candidates[-1].confidence == LOW, judge
        assert judge is None or judge.asked == [], judge
    judge = FakeJudge()
    config = replace(ORIGINAL, match_strategy=TITLE_TAGS)
    retrieval = run("cache rule", *CACHE, config=config, judge=judge)
    assert (retrieval.strategy, retrieval.fallback, judge.asked) == (TITLE_TAGS, "", [])
    assert (len(retrieval.candidates), injected(retrieval)) == (15, CACHE_IDS[:3])
    recent = memory("cache", memory_id="recent", updated_at="2025-12-31T00:00:00Z")
    old = memory("cache", memory_id="a", updated_at="2025-11-01T00:00:00Z")
    assert injected(run("cache", old, recent, module="nosuchmodule")) == ["recent", "a"]


def test_time_is_taken_from_the_clock() -> None:
    ticks = iter([1.0, 1.25])
    with open_index(memory("cache")) as index:
        retrieval = retrieve(Query(typed_prompt("cache")), index, OpenSystem(Config(), clock=lambda: next(ticks)))
    assert retrieval.elapsed_ms == 250.0


@given(
    prompt=st.text(max_size=40),
    titles=st.lists(st.text(max_size=20), max_size=5),
    mode=st.sampled_from(["auto", SEARCH]),
    module=st.sampled_from(["fts5", "nosuchmodule"]),
    status=st.sampled_from([None, "ok", "no_key", *FAILURES]),
    config=st.sampled_from([Config(), ORIGINAL]),
)
def test_any_text_is_answered_and_every_candidate_is_accounted_for(
    prompt: str, titles: list[str], mode: str, module: str, status: str | None, config: Config
) -> None:
    memories = [memory(title, title, body=title, memory_id=f"m{i}") for i, title in enumerate(titles)]
    judge = FakeJudge(keep=["m0"], status=status) if status else None
    retrieval = run(f"{prompt} {''.join(titles[:1])}", *memories, config=config, mode=mode, module=module, judge=judge)
    assert [one.rank for one in retrieval.candidates] == list(range(1, len(retrieval.candidates) + 1))
    assert all(one.dropped_by in (None, *DROP_STAGES) for one in retrieval.candidates)
    assert all(bool(one.reason) is (one.dropped_by is not None) for one in retrieval.candidates)
    for one in retrieval.candidates:
        assert 0 <= one.ratio <= 1
        assert one.confidence == (HIGH if one.ratio >= 0.75 else "medium" if one.ratio >= 0.4 else LOW)
