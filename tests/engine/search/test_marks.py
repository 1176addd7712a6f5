"""Where matches stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.marks import ELLIPSIS, marks, snippet
from engine.search.query import filter_terms, query_terms


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in marks(text, query_terms(query))]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Use Authentication, auth!", "auth", ["Authentication", "auth"]),
        ("the user_id and userId", "user-id", ["user_id", "userId"]),
        ("user identity", "user_id", []),
        ("getUserName()", "name", ["Name"]),
        ("getUserName()", "getUserName", ["getUserName"]),
        ("getUserName()", "user_name", ["UserName"]),
        ("数据库迁移方案", "迁移", ["迁移"]),
        ("数据库迁移方案", "数据库", ["数据库"]),
        ("Café [bold]menu[/]", "cafe menu", ["Café", "menu"]),
        ("e\u0301cole", "école", ["e\u0301cole"]),
        ("", "auth", []),
        ("auth", "", []),
    ],
)
def test_matches_are_marked(text: str, query: str, expected: list[str]) -> None:
    assert marked(text, query) == expected


def test_overlapping_marks_are_merged() -> None:
    assert marked("user_id_map", "user_id id_map map") == ["user_id_map"]


def test_a_snippet_of_a_short_text_is_the_text_on_one_line() -> None:
    assert snippet("one\n two\tthree", query_terms("two"), 40) == "one two three"


def test_a_snippet_stands_around_the_first_match() -> None:
    text = "word " * 100 + "treasure island " + "more " * 100
    shown = snippet(text, query_terms("treasure"), 60)
    assert shown.startswith(ELLIPSIS + "word")
    assert shown.endswith(ELLIPSIS)
    assert "treasure island" in shown
    assert len(shown) <= 62


def test_a_snippet_without_a_match_is_the_beginning() -> None:
    assert snippet("word " * 100, query_terms("treasure"), 20) == "word word word word" + ELLIPSIS


def test_a_snippet_of_a_text_without_spaces_still_shows_the_match() -> None:
    shown = snippet("字" * 500 + "迁移" + "文" * 500, query_terms("迁移"), 60)
    assert "迁移" in shown
    assert len(shown) <= 62


@given(st.text(), st.text(max_size=10))
def test_marks_are_sorted_apart_and_inside_the_text(text: str, query: str) -> None:
    for terms in (query_terms(query), query_terms(text), filter_terms(query)):
        found = marks(text, terms)
        flat = [offset for place in found for offset in place]
        assert flat == sorted(flat)
        assert all(0 <= start < end <= len(text) for start, end in found)


@given(st.text(max_size=400), st.text(max_size=10), st.integers(10, 80))
def test_a_snippet_is_one_line_of_its_width(text: str, query: str, width: int) -> None:
    shown = snippet(text, query_terms(query), width)
    assert len(shown) <= width + 2
    assert len(shown.splitlines()) <= 1
