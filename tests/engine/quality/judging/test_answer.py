"""Answers in JSON and in Markdown, well-formed and hostile; and the Markdown form there and back."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.answer import UnreadableAnswerError
from engine.judge.prompts import one_line
from engine.judge.provider import WebSource
from engine.quality.judging.rating import (
    Rating,
    RatingEntry,
    parse_entries,
    print_entries,
    rating_of_text,
    rating_text,
    read_rating,
)
from tests.engine.quality.judging.answers import POINTS, answer

CRITERIA = ("specific", "actionable", "still_true", "stands_alone", "worth_its_tokens")
MARKDOWN = """\
Here is my rating.

### REJECTED: use a cache
**Quality Score**: 3.5/10
**Evaluation Breakdown**:
- specific: 4/10 - It names a tool.
- actionable: 3.0/10
- unknown: 9/10
- still_true: high
**Key Points**:
- It names a tool.
- It gives no reason.

**Rejection Reasons**:
- General advice.
**Suggested Title**: Cache the schema for an hour
**Suggested Tags**: Cache, schema
"""

# JSON


def test_a_json_answer_is_read() -> None:
    text = json.dumps(answer(4.5, suggested_title="Better [b]title[/b]", suggested_tags=["Cache", "b"]))
    found = read_rating(f"Let me think {{...}}\n```json\n{text}\n```", CRITERIA)
    assert found == Rating(
        overall=4.5,
        scores=tuple((name, 4.5) for name in CRITERIA),
        key_points=POINTS,
        reasons=("It names no version.",),
        title="Better [b]title[/b]",
        tags=("cache", "b"),
    )


def test_the_last_object_with_an_overall_score_of_0_to_10_counts() -> None:
    texts = [json.dumps(answer(score)) for score in (9.0, 2.0)]
    assert read_rating(" or rather ".join(texts), CRITERIA).overall == 2.0
    for overall in [10.1, -1, "much", True, None, float("nan"), float("inf"), [7], {"score": 7}]:
        with pytest.raises(UnreadableAnswerError):
            read_rating(json.dumps({**answer(5.0), "overall": overall}), CRITERIA)
    for score in ("", "11/10", "-3/10", "high"):
        assert parse_entries(f"### IDEA: a\n**Quality Score**: {score}\n") == ()
    scores = dict(zip(CRITERIA, (9, 9, 0, 9, 8), strict=True))
    assert read_rating(json.dumps(answer(9.0, scores=scores)), CRITERIA).overall == 7.0, "the mean of all criteria"
    del scores["specific"]
    assert read_rating(json.dumps(answer(9.0, scores=scores)), CRITERIA).overall == 9.0


def test_what_does_not_fit_is_left_out_or_cut_and_a_rating_in_the_cache_is_read_back() -> None:
    found = read_rating(
        json.dumps(
            answer(
                7.26,
                key_points=["x" * 5_000, 3, "", "a\nb\u202e", *map(str, range(9))],
                scores={"specific": 8, "actionable": 11, "still_true": "9/10", "elegant": 9},
                suggested_tags=["a,b"] * 30 + ["t" * 99],
                suggested_title=None,
                rejection_reasons="none",
            )
        ),
        CRITERIA,
    )
    assert found.overall == 7.3
    assert [len(point) for point in found.key_points] == [400, 3, 1, 1, 1]
    assert found.key_points[1] == "a b"
    assert found.scores == (("specific", 8.0),)
    assert found.tags == ("a b", "t" * 40)
    assert (found.title, found.reasons) == ("", ())
    text = json.dumps(answer(3.0, key_points=["k3y"], rejection_reasons=["k3y"], suggested_title="k3y"))
    found = read_rating(text, CRITERIA, lambda text: text.replace("k3y", "[hidden]"))
    assert (found.key_points, found.reasons, found.title) == (("[hidden]",), ("[hidden]",), "[hidden]")
    found = Rating(5.0, (("a", 1.0),), ("p",), ("r",), "t", ("x",), (WebSource("https://a.b/", "c"),))
    assert rating_of_text(rating_text(found)) == found
    assert [rating_of_text(text) for text in (None, "", "[]", "{", '{"overall": 99}', "[" * 9_000)] == [None] * 6


# Markdown


def test_a_markdown_answer_is_read() -> None:
    assert read_rating(MARKDOWN, CRITERIA) == Rating(
        overall=3.5,
        scores=(("specific", 4.0), ("actionable", 3.0)),
        key_points=("It names a tool.", "It gives no reason."),
        reasons=("General advice.",),
        title="Cache the schema for an hour",
        tags=("cache", "schema"),
        why=(("specific", "It names a tool."),),
    )
    found = read_rating(f"{MARKDOWN}**Research Validation**:\n- The manual says so.\n- It is the default.\n", CRITERIA)
    assert found.research == ("The manual says so.", "It is the default.")
    assert rating_of_text(rating_text(found)) == found


LINES = st.text(max_size=60).map(one_line)
TEXTS = LINES.filter(bool)
LISTS = st.lists(TEXTS, max_size=5).map(tuple)
SCORES = st.integers(0, 100).map(lambda tenths: tenths / 10)
NAMES = st.from_regex(r"\A[a-z][a-z0-9_]{0,39}\Z")
TAGS = TEXTS.map(lambda text: one_line(text.replace(",", " "))).filter(bool)
URLS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="<>"), max_size=40)
SOURCES = st.builds(WebSource, URLS.map("https://".__add__), LINES)
PARTS = st.dictionaries(NAMES, st.tuples(SCORES, LINES), max_size=5)
RATINGS = st.builds(
    lambda parts, **fields: Rating(
        scores=tuple((name, score) for name, (score, _) in parts.items()),
        why=tuple((name, reason) for name, (_, reason) in parts.items() if reason),
        **fields,
    ),
    PARTS,
    overall=SCORES,
    research=LISTS,
    key_points=LISTS,
    reasons=LISTS,
    title=LINES,
    tags=st.lists(TAGS, max_size=5).map(tuple),
    sources=st.lists(SOURCES, max_size=3).map(tuple),
)
ENTRIES = st.lists(st.builds(RatingEntry, st.booleans(), LINES, RATINGS, LINES), max_size=4)


@given(ENTRIES)
def test_entries_come_back_from_their_markdown(entries: list[RatingEntry]) -> None:
    assert parse_entries(print_entries(entries)) == tuple(entries)


@given(st.text())
def test_any_text_is_a_rating_or_unreadable(text: str) -> None:
    for one in (text, f"### IDEA: {text}\n**Quality Score**: {text}", json.dumps({"overall": text})):
        with suppress(UnreadableAnswerError):
            assert 0 <= read_rating(one, CRITERIA).overall <= 10
