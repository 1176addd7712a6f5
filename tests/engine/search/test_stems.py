"""Stems, held against SQLite's own Porter stemmer, and what differs from it on purpose."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import product
from pathlib import Path
from re import findall, sub

from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.search.commonness import STOP_WORDS
from engine.search.stems import APART, MAX_LENGTH, stem
from engine.search.tokens import tokens

STARTS = "run hop fil cach polic rel at tr troubl controll generat nation sens adopt conflat ee ye ba oxyl zzz".split()
ENDINGS = """
    s es ies sses ed eed ing ings y e er ers ion ions ational tional enci izer abli alli entli eli ousli ization ation
    ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence able ible
    ant ement ment ent ou ism ate iti ous ive ize ll le logi
""".split()


def sqlite_stems(words: Iterable[str]) -> dict[str, str]:
    listed = sorted(set(words))
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create virtual table texts using fts5(word, tokenize='porter unicode61')")
        db.execute("create virtual table terms using fts5vocab(texts, instance)")
        db.executemany("insert into texts(rowid, word) values (?, ?)", enumerate(listed))
        return {listed[row]: term for term, row in db.execute("select term, doc from terms")}


def with_i(text: str) -> str:
    """As Porter leaves a y after a vowel."""
    return sub("(?<=[aeou])y$", "i", text)


def assert_stems_are_sqlites(words: Iterable[str]) -> None:
    wanted = sqlite_stems(words)
    found = {word: with_i(stem(word)) for word in wanted if stem(word) not in APART.values() and word not in STOP_WORDS}
    assert found == {word: with_i(wanted[word]) for word in found}


def test_generated_words_and_those_of_our_own_sources_have_the_stems_that_sqlite_gives_them() -> None:
    words = {"".join(parts) for parts in product(STARTS, ["", *ENDINGS], ["", "s", "ed", "ing", "ly"])}
    assert len(words) > 5000
    assert_stems_are_sqlites(words)
    sources = Path(engine.__file__).parent.rglob("*.py")
    words = {word for path in sources for word in findall("[a-z]+", path.read_text(encoding="utf-8").lower())}
    assert len(words) > 2000
    assert_stems_are_sqlites(words - {"ies", "eed", "sses"})  # endings alone, which are no words


@given(st.lists(st.text("aeiouybcdlnrstz", min_size=5, max_size=12), min_size=1, max_size=50))
def test_any_letters_have_the_stem_that_sqlite_gives_them(words: list[str]) -> None:
    assert_stems_are_sqlites(words)


def test_forms_of_a_word_have_one_stem() -> None:
    for forms in [
        "cache caches cached caching",
        "policy policies",
        "run running runs",
        "migrate migration migrations migrating",
        "deploy deploys deployed deploying deployment deployments",
        "delay delays delayed",
        "authorize authorized authorization authorizes",
        "important importance",
        "customer customers",
        "general generally",
        "토큰 토큰을 토큰은 토큰에서 토큰으로",
        "сервер сервера серверу сервером серверов серверы",
        "база базы базу базе базами",
        "данные данных данными",
        "خادم الخادم والخادم",
    ]:
        assert len({stem(word) for word in forms.split()}) == 1, forms


def test_other_words_have_other_stems() -> None:
    pairs = """
        import/important custom/customer author/authority author/authorization generate/general
        generate/generic terminate/terminal intern/internal internal/international new/news origin/original
        digit/digital universe/university busy/business execute/executive object/objective organ/organization
        express/expression position/positive effect/effective policy/police
    """
    for pair in pairs.split():
        first, second = pair.split("/")
        assert stem(first) != stem(second), pair


def test_short_and_long_words_those_with_digits_and_of_other_languages_are_their_own_stems() -> None:
    longest = "a" * (MAX_LENGTH - 3)
    assert stem(f"{longest}ing") == longest
    for word in ("as", "is", f"{longest}aing", "sha256s", "v2s", "x"):
        assert stem(word) == word
    for word in ["διακομιστες", "שרתים", "خوادم", "सर्वर", "数", "ログ", "żółw", "은", "яма"]:
        assert stem(word) == word, word


@given(st.text(max_size=20))
def test_every_token_has_a_stem_that_is_no_longer_than_one_letter_more(text: str) -> None:
    for token in tokens(text):
        assert 0 < len(stem(token)) <= len(token) + 1
