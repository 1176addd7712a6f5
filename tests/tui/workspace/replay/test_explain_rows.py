"""Explanations as lines: scores of matched words, similar words, outcomes, at every width."""

import pytest
from rich.cells import cell_len

from engine.config import FTS5_BM25, TITLE_TAGS, Config
from engine.explaining.explain import Explainer, Explanation
from engine.lean.json_text import without_lone_surrogates
from engine.lean.record import replace
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Prompt, Turn, typed_prompt
from tests.engine.builders import FakeJudge, fillers, memory, open_index
from tests.engine.judge.cases import HOSTILE_TEXTS
from tui.widgets.explain_text import explain_text
from tui.workspace.replay.explain_rows import WIDE, detail_lines, explanation_row, outcome_line

ONE = memory("Cached replies", "auth", body="a cache of user ids", memory_id="one")
CONFIG = Config()
PROMPT = "caching auth user_id login"


def explain(
    prompt: str | Prompt, one: object = ONE, config: Config = CONFIG, judge: FakeJudge | None = None
) -> Explanation:
    with open_index(one, *fillers(20)) as index:  # type: ignore[arg-type]
        asked = typed_prompt(prompt) if isinstance(prompt, str) else prompt
        retrieval = retrieve(Query(asked), index, OpenSystem(config, judge=judge))
        found = Explainer(retrieval, index, config).of("one")
    assert found
    return found


def shown(found: Explanation, width: int = WIDE) -> list[str]:
    lines = [outcome_line(found), *detail_lines(found, width)]
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_a_match_shows_its_outcome_sums_bars_and_words() -> None:
    lines = shown(explain(PROMPT))
    assert lines[0] == "memsift injects it: rank 1 in its order, high confidence."
    strength, floor, least = (line.replace("at ", "").split() for line in lines[1:4])
    assert strength[0] == "strength"
    assert strength[-4:] == ["3", "of", "4", "words"]
    words = sum(float(line.split()[0]) for line in lines[6:9])
    assert (float(strength[2]), float(strength[1])) == pytest.approx((words, words + float(strength[6])), abs=0.02)
    assert (floor[0], floor[-1], least[0], least[-1]) == ("floor", "above", "least", "above")
    assert float(floor[1]) == pytest.approx(0.4 * float(strength[1]), abs=0.02), "it is the best itself"
    assert float(floor[1]) + float(floor[2]) == pytest.approx(float(strength[1]), abs=0.02)
    assert lines[5].split() == ["score", "share", "memories", "weight", "word"]
    assert [line.split()[4] for line in lines[6:9]] == ["caching", "auth", "user_id"]
    assert lines[6].endswith("cached (stem): title 1; cache (stem): body 1") or lines[6].endswith(
        "cache (stem): body 1; cached (stem): title 1"
    )
    assert lines[7].endswith("auth          tags 1")
    assert lines[8].endswith("user ids (stem): body 1")
    assert lines[-1] == "not in it  login"
    shares = [int(line.split()[1].strip("%")) for line in lines[6:9]]
    assert sum(shares) == pytest.approx(100, abs=2)
    assert shares == sorted(shares, reverse=True)


def test_where_it_is_narrow_the_places_stand_below_the_word() -> None:
    lines = shown(explain(PROMPT), 48)
    assert all(len(line) <= 48 for line in lines[4:] if "(stem)" not in line)
    assert lines[8:10][1].strip() == "tags 1"


def test_a_dropped_memory_says_the_stage_and_what_it_missed_by() -> None:
    (first, *_) = shown(explain("bicycle bell login", memory("bell", body="word " * 200, memory_id="one")))
    assert first.startswith("memsift leaves it out, rank 1 in its order, too weak: ")
    assert first.endswith(" short.")
    assert float(first.split()[-2]) > 0


def test_the_original_rules_and_keywords_show_what_they_have() -> None:
    bm25 = shown(explain(PROMPT, config=replace(CONFIG, match_strategy=FTS5_BM25)))
    assert bm25[1].startswith("score")
    assert "for words in its body" in bm25[1]
    assert bm25[4].split() == ["BM25", "share", "memories", "word"]
    keywords = shown(explain(PROMPT, config=replace(CONFIG, match_strategy=TITLE_TAGS)))
    assert keywords[1].startswith("points       3.00  3 for words")
    assert keywords[3].split() == ["points", "share", "word"]


def test_words_that_were_almost_found_are_shown_and_the_first_that_are_missing() -> None:
    lines = shown(explain("the cahced repliess"))
    assert lines[0] == "memsift does not find it: it holds no word of the prompt."
    assert [line.split()[:2] for line in lines[2:4]] == [["cahced", "cached"], ["repliess", "replies"]]
    assert lines[-1] == "The prompt says 'cahced', the memory 'cached'."
    assert shown(explain("auth cahced"))[-1].split()[:2] == ["cahced", "cached"]
    prompt = " ".join(f"word{number}" for number in range(75))
    last = next(line for line in shown(explain(f"cached {prompt}")) if line.startswith("not in it"))
    assert last.endswith("word19 and 55 more")


def test_words_of_every_script_stand_in_columns() -> None:
    one = memory("数据库迁移 토큰을 café", "שלום", memory_id="one")
    found = explain("迁移 토큰은 cafe שלום", one)
    lines = detail_lines(found, WIDE)
    starts = {cell_len("".join(text for text, _ in line[:-1])) for line in lines[5:] if len(line) == 3}
    assert len(starts) == 1


def test_json_holds_the_same_numbers() -> None:
    found = explain(PROMPT)
    row = explanation_row(found)
    assert found.breakdown
    assert row["strength"] == round(found.breakdown.strength, 4)
    words = sum(one["score"] for one in row["matched"])
    assert words + row["bonus"] == pytest.approx(row["strength"], abs=1e-3)
    assert row["bm25"] < words, "title and passage count beside BM25"
    assert row["matched"][1] == {
        "text": "auth",
        "how": "exact",
        "memories": 1,
        "idf": pytest.approx(found.breakdown.contributions[1].idf, abs=1e-4),
        "score": pytest.approx(found.breakdown.contributions[1].score, abs=1e-4),
        "is_earlier": False,
        "share": pytest.approx(found.breakdown.contributions[1].share, abs=1e-4),
        "found": [{"words": "auth", "how": "exact", "title": 0, "tags": 1, "body": 0}],
    }
    assert (row["outcome"], row["missing"], row["pool"], row["gap"]) == ("injected", ["login"], None, None)
    assert row["floor"]["gap"] > 0


def test_a_word_of_an_earlier_turn_says_so() -> None:
    prompt = typed_prompt("fix the login", (Turn("user", "auth of replies"),))
    with open_index(ONE, *fillers(20)) as index:
        retrieval = retrieve(Query(prompt), index, OpenSystem(replace(CONFIG, min_strength=0.0)))
        found = Explainer(retrieval, index, CONFIG).of("one")
    assert found
    assert [line.endswith(" 1; from an earlier turn") for line in shown(found)[6:8]] == [True, True]
    assert {row["text"]: row["is_earlier"] for row in explanation_row(found)["matched"]} == {
        "auth": True,
        "replies": True,
    }


# In the app


def test_systems_of_one_strategy_share_their_sums_and_of_two_have_their_own() -> None:
    text = explain_text([explain(PROMPT), explain(PROMPT, judge=FakeJudge())], 60).plain
    assert text.startswith("Cached replies\n\nmemsift injects it")
    assert "\nmemsift+judge leaves it out, rank 1 in its order, rejected: " in text
    assert text.count("strength") == 1
    other = explain(PROMPT, config=replace(CONFIG, match_strategy=FTS5_BM25))
    lines = explain_text([explain(PROMPT), other], 60).plain.split("\n")
    assert lines.index("memsift") < lines.index("bm25")
    assert explain_text([], 60).plain == "This prompt has not been run yet."


def test_hostile_text_is_shown_as_text() -> None:
    for text in [*HOSTILE_TEXTS, "[/b] [red]x[/] cached", "\x1b[31mcached", "\u202ecached"]:
        text = without_lone_surrogates(text)
        one = memory(f"{text} cached", body=text, memory_id="one")
        for prompt in (f"cached {text}", text, "zzz"):
            found = explain_text([explain(prompt, one)], 60)
            assert "\x1b" not in found.plain, text
            assert "\u202e" not in found.plain, text
            assert "[red]" not in text or "[/b] [red]x[/]" in found.plain, text
