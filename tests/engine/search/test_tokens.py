"""Tokens of identifiers and of the world's scripts."""

import sqlite3
from contextlib import closing
from itertools import takewhile

from hypothesis import example, given
from hypothesis import strategies as st

from engine.search.database import TOKENIZER
from engine.search.tokens import GAP, camel_parts, chunks, fold, is_camel, joined, placed_tokens, tokens, words

MIXED = st.lists(
    st.sampled_from(
        [*"aAzZ09_.-/ \n\0", "é", "ß", "İ", "の", "が", "ガ", "ﾊﾞ", "\u3099", "\u0301", "漢", "한", "ि", "क"]
    )
    | st.characters(codec="utf-8"),
    max_size=15,
).map("".join)


def test_text_becomes_tokens() -> None:
    for text, expected in [
        ("fix the User_ID field", f"fix the user id field {GAP} userid"),
        ("rate-limiting, react.fc; a/b\\c", f"rate limiting react fc a b c {GAP} ratelimiting"),
        ("src/auth/login.py:42", "src auth login py 42"),
        ("v2.0.1 and HTTP2", "v2 0 1 and http2"),
        ('AND NEAR( "x" * : ^ ; -- %', "and near x"),
        ("café Ångström naïve", "cafe angstrom naive"),
        ("Straße ﬁle ＡＢＣ", "strasse file abc"),
        ("İstanbul ΣΊΣΥΦΟΣ", "istanbul σισυφοσ"),
        ("Ёлка й", "елка и"),
        ("Błąd Ærø Đà IŞIK ışık", "blad aero da isik isik"),
        ("خـــادم", "خادم"),
        ("JavaScript FastAPI", "javascript fastapi"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("한국어 서버가", "한국어 서버가"),
        ("हिंदी में", "हिंदी में"),
        ("ไทย ตั้งค่า", "ไ ท ย ตั้ ง ค่ า"),
        ("数据库迁移", "数 据 库 迁 移"),
        ("ログイン", "ロ グ イ ン"),
        ("ﾛｸﾞ", "ロ グ"),
        ("か\u3099", "が"),
        ("使用JWT认证", "使 用 jwt 认 证"),
        ("1️⃣ ⚙️ 👩‍👩‍👧 ™", "1"),
        ("\u0301 \u3099 \u200b \ufeff \ud800 \0", ""),
        ("", ""),
    ]:
        assert tokens(text) == expected.split(), text


def test_a_word_is_split_at_its_inner_capitals() -> None:
    for word, parts in [
        ("getUserName", ["get", "User", "Name"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseHTTP", ["parse", "HTTP"]),
        ("utf8Decoder", ["utf8", "Decoder"]),
        ("OAuth2Token", ["O", "Auth2", "Token"]),
        ("Login", ["Login"]),
        ("LOGIN", ["LOGIN"]),
        ("ÉcoleNormale", ["École", "Normale"]),
        ("GitHub", ["GitHub"]),
    ]:
        assert camel_parts(word) == parts, word
        assert is_camel(word) is (len(parts) > 1), word


def test_a_compound_is_one_word_as_well_and_chunks_keep_it_whole() -> None:
    for chunk, whole in [
        ("user_id", "userid"),
        ("front-end", "frontend"),
        ("userId", "userid"),
        ("e-Mail", "email"),
        ("covid-19", "covid19"),
        ("UserService.get_user", "userservice getuser"),
        ("user_id.name", "userid"),
        ("login.ts", ""),
        ("end.Start", ""),
        ("3.11", ""),
        ("2024-01-05", ""),
        ("plain", ""),
        ("数据-库", ""),
        ("why-we-do-not-retry-the-nightly-export-of-invoices", ""),
    ]:
        assert joined(chunk) == whole, chunk
    assert chunks("Fix user_id, in src/react.fc... (rate-limiting) --force") == [
        *("Fix", "user_id", "in", "src", "react.fc", "rate-limiting", "force"),
    ]


def test_each_token_has_its_place() -> None:
    text = "Use getUserName 数据!"
    assert [(token, text[start:end]) for token, start, end in placed_tokens(text)] == [
        ("use", "Use"),
        ("get", "get"),
        ("user", "User"),
        ("name", "Name"),
        ("数", "数"),
        ("据", "据"),
        (GAP, ""),
        ("getusername", "getUserName"),
    ]


@given(MIXED)
def test_placed_tokens_are_the_tokens_and_lie_in_the_text_in_order(text: str) -> None:
    placed = placed_tokens(text)
    assert [token for token, _, _ in placed] == tokens(text)
    before_gap = list(takewhile(lambda one: one[0] != GAP, placed))
    assert before_gap == sorted(before_gap, key=lambda one: one[1:])
    assert all(0 <= start <= end <= len(text) for _, start, end in placed)
    assert all(fold(text[start:end]) for token, start, end in placed if token != GAP)


@given(MIXED)
@example("a\u3099\ud55c")  # a mark that folding leaves out, between a letter and Hangul
@example("a_\ud55c")  # as one word it would be parted
def test_tokens_are_folded_and_tokens_of_tokens_are_the_same(text: str) -> None:
    found = [token for token in tokens(text) if token != GAP]
    assert all(found)
    assert tokens(" ".join(found)) == found


@given(MIXED)
def test_fts5_takes_every_token_as_it_is(text: str) -> None:
    found = tokens(text)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f'create virtual table texts using fts5(text, tokenize="{TOKENIZER}")')
        database.execute("create virtual table terms using fts5vocab(texts, instance)")
        database.execute("insert into texts values (?)", (" ".join(found),))
        stored = [term for (term,) in database.execute("select term from terms order by offset")]
    assert stored == found


@given(st.text())
def test_words_hold_no_separator(text: str) -> None:
    assert all(words(word) == [word] for word in words(text))
