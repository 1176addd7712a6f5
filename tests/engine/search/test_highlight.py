"""Where matches stand in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import AUTO, SEARCH
from engine.prompt import typed_prompt
from engine.search.highlight import ELLIPSIS, Marker, Snippet, snippet
from engine.search.query import filter_terms, query_terms
from tests.engine.builders import fillers, memory, open_index, pool_of

WORDS = st.sampled_from(
    ["cache", "caching", "cached", "auth", "authentication", "id", "identity", "user_id", "user_ids", "userId", "users",
     "v2.0", "2.0", "迁移", "数据库迁移", "토큰을", "토큰은", "שלום", "cafés", "Café", "🦆", "the", "go", "Go"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


def asking(query: str) -> Marker:
    return Marker(query_terms(query))


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in asking(query).places(text)]


def test_matches_are_marked_and_merged_where_they_overlap() -> None:
    for text, query, expected in [
        ("Use Authentication, auth!", "auth", ["auth"]),
        ("the user_id and userId", "user-id", ["user_id", "userId"]),
        ("user identity", "user_id", []),
        ("getUserName()", "name", ["Name"]),
        ("getUserName()", "getUserName", ["getUserName"]),
        ("getUserName()", "user_name", ["UserName"]),
        ("数据库迁移方案", "迁移", ["迁移"]),
        ("数据库迁移方案", "数据库", ["数据库"]),
        ("Café [bold]menu[/]", "cafe menu", ["Café", "menu"]),
        ("e\u0301cole", "école", ["e\u0301cole"]),
        ("cached, it caches", "caching", ["cached", "caches"]),
        ("a cache of user_ids", "user_id", ["user_ids"]),
        ("identity and ids", "id", ["ids"]),
        ("the going, Go", "Do we use Go?", ["Go"]),
        ("auth", "authentication", []),
        ("토큰은 갱신된다", "토큰을", ["토큰은"]),
        ("לפני האימות של שלום", "שלום", ["שלום"]),
        ("🦆 caching 👩‍👩‍👧 é", "cached", ["caching"]),
        ("on v2.0 and 2.0.1", "2.0", ["v2.0", "2.0"]),
        ("", "auth", []),
        ("auth", "", []),
    ]:
        assert marked(text, query) == expected, text
    assert marked("user_id_map", "user_id id_map map") == ["user_id_map"]


def test_a_snippet_is_the_text_on_one_line_or_its_beginning_with_a_match_as_far_as_it_is_shown() -> None:
    assert snippet("one\n two\tthree", asking("three"), 40) == Snippet("one two three", ((8, 13),))
    assert snippet("word " * 100, asking("treasure"), 20) == Snippet("word word word word" + ELLIPSIS, ())
    shown = snippet("island" * 100, Marker(filter_terms("island")), 20)
    assert shown == Snippet(("island" * 4)[:20] + ELLIPSIS, ((0, 20),))


def test_a_snippet_stands_around_the_first_match_and_shows_the_others_also_without_spaces() -> None:
    text = "word " * 100 + "caching an island, cached " + "more " * 100
    shown = snippet(text, asking("cache island"), 64)
    assert [shown.text[start:end] for start, end in shown.matches] == ["caching", "island", "cached"]
    assert shown.text.startswith(f"{ELLIPSIS}word")
    assert shown.text.endswith(ELLIPSIS)
    assert "迁移" in snippet("字" * 500 + "迁移" + "文" * 500, asking("迁移"), 60).text


@given(st.text(), st.text(max_size=10))
def test_marks_are_sorted_apart_and_inside_the_text(text: str, query: str) -> None:
    for marker in (asking(query), asking(text), Marker(filter_terms(query))):
        found = marker.places(text)
        flat = [offset for place in found for offset in place]
        assert flat == sorted(flat)
        assert all(0 <= start < end <= len(text) for start, end in found)


@given(st.text(max_size=400), st.text(max_size=10), st.integers(10, 80))
def test_a_snippet_is_one_line_of_its_width(text: str, query: str, width: int) -> None:
    shown = snippet(text, asking(query), width)
    assert len(shown.text) <= width + 2
    assert len(shown.text.splitlines()) <= 1
    flat = [offset for place in shown.matches for offset in place]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(shown.text) for start, end in shown.matches)


def test_a_filter_marks_other_forms_and_what_its_last_word_begins() -> None:
    for query, marks in [
        ("cach", ["cached", "caching"]),
        ("caching", ["cached", "caching"]),
        ("id cach", ["id", "cached", "caching"]),
        ("cached id", ["id", "identity", "cached", "caching"]),
        ("deploym", ["deploy"]),
    ]:
        text = "id, identity, cached, caching, deploy"
        assert [text[start:end] for start, end in Marker(filter_terms(query)).places(text)] == marks, query


@pytest.mark.parametrize("mode", [AUTO, SEARCH])
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_is_marked_is_what_the_strategy_matches(mode: str, title: str, tag: str, body: str, prompt: str) -> None:
    """A memory has marks if and only if the strategy finds it."""
    one = memory(title, tag, body=body, memory_id="it")
    with open_index(one, *fillers(2)) as index:
        found = {each.memory.id for each in pool_of(index, prompt, mode=mode).memories}
    marker = Marker.of(typed_prompt(prompt), mode)
    assert ("it" in found) is any(marker.places(text) for text in (title, tag, body))
