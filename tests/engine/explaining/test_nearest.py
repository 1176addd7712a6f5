"""The words of a prompt that come closest to those of a memory that they do not find."""

from hypothesis import given
from hypothesis import strategies as st

from engine.explaining.contributions import (
    LONGER,
    MOST,
    PART,
    SAME_STEM,
    SHORTER,
    SPELLING,
    Near,
    advice,
    nearest,
    suggested_tag,
)
from engine.search.query import query_terms
from engine.search.tokens import tokens


def near(prompt: str, title: str, *tags: str, body: str = "") -> list[tuple[str, str, str, str]]:
    found = nearest(query_terms(prompt), (tokens(title), tokens(" ".join(tags)), tokens(body)))
    return [(one.prompt, one.memory, one.how, one.field) for one in found]


def test_what_is_near_is_named_with_how_and_the_first_field_and_not_what_is_merely_short() -> None:
    for prompt, title, expected in [
        ("cahce", "Reply cache", ("cahce", "cache", SPELLING)),
        ("cachee", "Reply cache", ("cachee", "cache", SPELLING)),
        ("cace", "Reply cache", ("cace", "cache", SPELLING)),
        ("cocha", "Reply kocha", ("cocha", "kocha", SPELLING)),
        ("authentication", "Auth tokens", ("authentication", "auth", SHORTER)),
        ("db", "The dbase", ("db", "dbase", LONGER)),
        ("caching", "Replies cached", ("caching", "cached", SAME_STEM)),
        ("user_id", "A user", ("user", "user", PART)),
        ("שלומ", "שלום", ("שלומ", "שלום", SPELLING)),
        ("토큰은", "토큰을", ("토큰은", "토큰을", SAME_STEM)),
    ]:
        assert near(prompt, title) == [(*expected, "title")], prompt
    for prompt, title in [
        ("cat", "car"),
        ("v2", "v3"),
        ("2024", "2025"),
        ("3.11", "3.12"),
        ("rat", "rate limit"[5:]),
        ("迁", "移"),
        ("", "x"),
    ]:
        assert near(prompt, title) == [], prompt
    assert near("cahce", "Reply", "cache", body="cache") == [("cahce", "cache", SPELLING, "tags")]
    assert near("cahce", "Reply", body="a cache") == [("cahce", "cache", SPELLING, "body")]


def test_the_nearest_stand_first_one_for_each_word_and_not_too_many() -> None:
    title = " ".join(f"wordy{letter}" for letter in "abcdefgh")
    prompt = " ".join(f"wordz{letter}" for letter in "abcdefgh")
    assert len(near(f"{prompt} authentication", f"{title} auth")) == MOST
    found = near("authentication cahce", "auth cache cachet")
    assert found == [("cahce", "cache", SPELLING, "title"), ("authentication", "auth", SHORTER, "title")]


def test_advice_says_what_would_have_made_it_match_such_as_the_rarest_word_as_a_tag() -> None:
    shorter = Near("authentication", "authentication", "auth", SHORTER, "tags")
    assert advice(shorter, "x").endswith("the tag 'authentication' would make it match.")
    part = Near("user_id", "user", "user", PART, "title")
    assert "not 'user_id' in one" in advice(part, "x")
    assert advice(None, "auth") == "No word comes close. The tag 'auth' would make it match."
    assert advice(None, "") == "The prompt has no word to search for."
    assert suggested_tag({"common": 9, "rare": 1, "rarer": 1}) == "rarer"
    assert suggested_tag({}) == ""


@given(st.text(), st.text(), st.text())
def test_any_text_has_neighbours_or_none(prompt: str, title: str, body: str) -> None:
    for one in nearest(query_terms(prompt), (tokens(title), [], tokens(body))):
        assert one.memory in tokens(title) + tokens(body)
