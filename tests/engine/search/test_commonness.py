"""Words without content that something shows to be names."""

from hypothesis import given
from hypothesis import strategies as st

from engine.search.commonness import names
from engine.search.query import query_terms


def test_a_name_is_shown_by_a_sign_and_found_as_it_is() -> None:
    for text, name in [
        ("does `make` work here?", "make"),
        ("see ```use``` there", "use"),
        ("`make all` fails", "make"),
        ("is `get()` safe?", "get"),
        ("can we write it in Go?", "Go"),
        ("is it in C?", "C"),
        ("scripts in R are slow", "R"),
        ("build Go on AWS", "Go"),
        ("why make -j4 fails", "make"),
        ("why make --silent fails", "make"),
        ("get() returns null", "get"),
        ("is C++ safe?", "C"),
        ("C# or java?", "C"),
        ("C++, please", "C"),
    ]:
        assert name in names(text), text
    for text, word in [
        ("Go ahead with it", "Go"),
        ("It works. Go on with it", "Go"),
        ("first\nGo on with it", "Go"),
        ("first\n- Use it", "Use"),
        ("How To Use Go In Production", "Go"),
        ("PLEASE USE IT NOW", "USE"),
        ("the rule\n**Why:** The user wants it", "The"),
        ("it works \N{WHITE HEAVY CHECK MARK} The rest is open", "The"),
        ("it works\N{ROCKET} Use it", "Use"),
        ("what do I need", "I"),
        ("make it go", "make"),
        ("make - or something else", "make"),
        ("use (or not) it", "use"),
        ("WHY IS R SLOW", "R"),
    ]:
        assert word not in names(text), text
    found = [term.stems for term in query_terms("can Go load plugins?")]
    assert found == [(("go",),), (("load",),), (("plugin",),)]


@given(st.text(alphabet=st.sampled_from("aAgGoO`-+#(). \n\0éß") | st.characters(codec="utf-8")))
def test_any_text_has_names_without_spaces(text: str) -> None:
    assert all(name.split() in ([name], []) for name in names(text))
