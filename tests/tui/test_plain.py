"""User text on its way to the screen: nothing is parsed, nothing moves the cursor, widths are kept."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from engine.search.highlight import Marker
from engine.search.query import filter_terms, query_terms
from tests.engine.judge.cases import HOSTILE_TEXTS
from tui.plain import beginning, cells, hanging, marked, one_line, plain, printable


def marker(text: str) -> Marker:
    return Marker(filter_terms(text))


MARKUP = ("[/", "[b + x", "closing [/b]", "[link=http://x]y", "[true, false]", "[@click=app.quit]x[/]", "\\[x", "[[]]")


@pytest.mark.parametrize("text", MARKUP)
def test_brackets_stay_as_they_are(text: str) -> None:
    assert plain(text).plain == text
    assert marked(text, marker("x")).plain == text
    assert cells(text, 40) == text.ljust(40)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a    b"),
        ("a\r\nb\rc\nd", "a\nb·c\nd"),
        ("\x1b[31mred\x1b]0;title\x07", "·[31mred·]0;title·"),
        ("right \u202eleft\u202c, \u2066isolated\u2069", "right left, isolated"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("\u200d", ""),
        ("\x00\x7f\x85", "···"),
        ("heart ❤\ufe0f", "heart ❤"),
        ("汉字 العربية עברית", "汉字 العربية עברית"),
    ],
)
def test_control_characters_become_dots_and_invisible_ones_go(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_one_line_folds_every_kind_of_white_space() -> None:
    assert one_line(" a\n\tb\u2028c\u3000d \x1d e ") == "a b c d e"


@given(st.text())
def test_what_is_printable_moves_no_cursor(text: str) -> None:
    for character in printable(text):
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_cells_are_exactly_as_wide_as_asked(text: str, width: int) -> None:
    fitted = cells(text, width)
    assert cell_len(fitted) == width
    assert "\n" not in fitted


def test_wide_and_combined_characters_are_cut_between_cells() -> None:
    for width in [0, 1, 2, 3, 7, 20]:
        for text in ["汉字汉字汉字", "👩‍👩‍👧 family", "e\u0301tude", "🇩🇪🇫🇷", "ﷺ" * 9, *HOSTILE_TEXTS]:
            assert cell_len(cells(text, width)) == width, (width, text)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("sum  1 + 2", 10, ["sum  1 + 2"]),
        ("sum  1 + 2 + 30", 12, ["sum  1 + 2 +", "     30"]),
        ("sum  1 + 2 + 30", 8, ["sum  1 +", "    2 +", "    30"]),  # half of a narrow line at most
        ("sum  汉字汉字汉字", 10, ["sum", "     汉字", "     汉字", "     汉字"]),
        ("sum", 0, ["sum"]),
    ],
)
def test_a_line_is_wrapped_below_its_last_piece(text: str, width: int, lines: list[str]) -> None:
    shown = hanging(plain(text).stylize("bold", 5), 5, width)
    assert [line.rstrip() for line in shown.plain.split("\n")] == lines
    bold = "".join(shown.plain[span.start : span.end] for span in shown.spans)
    assert bold.replace(" ", "") == text[5:].replace(" ", "")


def test_what_does_not_fit_ends_in_an_ellipsis() -> None:
    assert cells("abcdefgh", 5) == "abcd…"
    assert cells("abcde", 5) == "abcde"
    assert cells("ab", 5) == "ab   "
    assert cells("abc", 0) == ""
    assert cells("abc", -3) == ""


def test_matches_are_marked_where_they_stand_in_what_is_shown() -> None:
    text = marked("the\tjob_queue [b] is \u202estuck\u202c", Marker(query_terms("stuck job_queue")))
    spans = [text.plain[span.start : span.end] for span in text.spans]
    assert spans == ["job_queue", "stuck"]


def test_a_text_with_very_many_matches_is_marked_in_one_go() -> None:
    text = "e " * 50_000
    assert len(marked(text, marker("e")).spans) == 50_000


@given(st.text(max_size=200), st.text(max_size=10))
def test_marking_changes_no_character(text: str, words: str) -> None:
    assert marked(text, marker(words)).plain == printable(text)


def test_of_a_very_long_text_a_row_shows_the_beginning_and_an_ellipsis() -> None:
    assert cells("\n " * 50_000 + "word " * 100_000, 12) == "word word w…"
    assert cells("\u200b" * 100_000 + "word", 4) == "…   "


def test_a_pane_that_does_not_scroll_gets_the_beginning_of_a_text() -> None:
    shown = beginning("[/b] " + "x" * 200_000).plain
    assert shown.startswith("[/b] xxx")
    assert shown.endswith("…")
    assert len(shown) < 10_000
    assert beginning("short [b").plain == "short [b"
