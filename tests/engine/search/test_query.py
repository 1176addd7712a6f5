"""A prompt as a query: phrases, prefixes, and nothing that reaches FTS5's parser."""

from hypothesis import example, given
from hypothesis import strategies as st

from engine.search.query import MAX_CHARACTERS, Term, all_of, any_of, filter_terms, query_terms
from engine.search.tokens import tokens
from tests.engine.builders import memory, open_index


def word(text: str) -> Term:
    return Term(text, ((text,),))


def of_file(text: str) -> Term:
    return Term(text, ((text,),), of_file=True)


def phrase(text: str, *phrases: str) -> Term:
    return Term(text, tuple(tuple(each.split()) for each in phrases))


def test_a_word_becomes_its_term() -> None:
    for text, expected in [
        ("auth", [word("auth")]),
        ("user_id", [phrase("user_id", "user id", "userid")]),
        ("rate-limiting", [phrase("rate-limiting", "rate limiting", "ratelimiting")]),
        ("react.fc", [phrase("react.fc", "react fc")]),
        ("v2.0", [phrase("v2.0", "v2 0", "2 0")]),
        ("getUserName", [phrase("getUserName", "getusername", "get user name")]),
        ("UserService.getUser", [phrase("UserService.getUser", "userservice getuser", "user service get user")]),
        ("数据库", [phrase("数据", "数 据"), phrase("据库", "据 库")]),
        ("猫", [word("猫")]),
        ("JWT认证", [word("jwt"), phrase("认证", "认 证")]),
        ("CAFÉ", [Term("CAFÉ", (("cafe",),))]),
        ("404", [word("404")]),
        ("3.11", [phrase("3.11", "3 11", "v3 11")]),
        ("user_id.name", [phrase("user_id.name", "user id name")]),
        ("self.user_id", [phrase("user_id", "user id", "userid")]),
        ("this.cache", [word("cache")]),
        ("selfish.cache", [phrase("selfish.cache", "selfish cache")]),
        ("user_id.py", [phrase("user_id.py", "user id py", "user id", "userid"), of_file("user")]),
        ("login.py", [phrase("login.py", "login py"), of_file("login")]),
        ("src/user.PY", [word("src"), phrase("user.PY", "user py"), of_file("user")]),
        (
            "@web-socket.md",
            [phrase("web-socket.md", "web socket md", "web socket", "websocket"), of_file("web"), of_file("socket")],
        ),
        ("axiosInstance에서", [phrase("axiosInstance", "axiosinstance", "axios instance")]),
        ("401일", [word("401")]),
        ("JavaScript", [Term("JavaScript", (("javascript",),))]),
        ("テストして", [phrase("テス", "テ ス"), phrase("スト", "ス ト"), phrase("トし", "ト し")]),
        ("して", [phrase("して", "し て")]),
    ]:
        assert list(query_terms(text)) == expected, text


def test_text_without_content_has_no_terms() -> None:
    for text in ["", " ", "the of and", "a b c 1", "?!...", "\u0301", "\u3099", "a.\u0301", "\ud800", "\0"]:
        assert query_terms(text) == (), text
        assert all_of(()) == any_of(()) == "", text


def test_terms_are_distinct_and_in_order_and_every_stem_is_quoted() -> None:
    found = query_terms("login Login LOGIN user_id user-id auth")
    assert [term.text for term in found] == ["login", "user_id", "auth"]
    assert any_of(phrase for term in query_terms("caching user_id") for phrase in term.stems) == (
        '"cach" OR "user id" OR "userid"'
    )
    assert all_of(query_terms("getUser")) == '("getus" OR "get user")'
    assert all_of(query_terms("auth login")) == '("auth") AND ("login")'


@given(st.text(alphabet=st.sampled_from("ABNDORTEabnr ()*\":^{}+-,.;'\\\0\n"), max_size=30))
def test_an_expression_holds_only_quoted_tokens_and_its_own_words(text: str) -> None:
    for terms in (query_terms(text), filter_terms(text)):
        expression = all_of(terms)
        outside = expression.split('"')[::2]
        assert all(part in ("(", ")", "*)", ") AND (", " OR ", "") for part in outside)
        assert all(part == " ".join(tokens(part)) for part in expression.split('"')[1::2])


def test_a_filter_takes_every_word_even_short_ones_and_the_last_may_go_on() -> None:
    assert filter_terms("The user_id a") == (
        word("the"),
        word("user"),
        word("id"),
        Term("a", (("a",),), is_prefix=True),
    )
    assert filter_terms("getUser") == (word("get"), Term("user", (("user",),), is_prefix=True))
    assert filter_terms(" !? ") == ()


def test_at_every_letter_of_a_word_that_is_being_typed_the_filter_finds_it() -> None:
    with open_index(memory("authentication")) as index:
        for typed in ["auth", "authenti", "authentica", "authenticatio", "authentication"]:
            assert len(index.matching(filter_terms(typed))) == 1, typed


def test_of_a_long_prompt_both_ends_are_read() -> None:
    half = MAX_CHARACTERS // 2
    text = "first " + "x" * (half - 6) + " between " + "y" * (half - 7) + " behind"
    assert [term.text[:6] for term in query_terms(text)] == ["first", "x" * 6, "y" * 6, "behind"]


@given(st.text())
@example("0\u0e31")  # a vowel sign of Thai behind a digit
@example("A\u13a0")  # a letter of Cherokee behind a capital
def test_any_text_has_terms_whose_tokens_are_tokens(text: str) -> None:
    for term in query_terms(text):
        assert all(term.phrases)
        assert all(token and tokens(token) == [token] for each in term.phrases for token in each)
