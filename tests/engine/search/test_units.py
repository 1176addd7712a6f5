"""Terms of a prompt as the corpus says them."""

import pytest
from engine.search.units import COMMON, MAX_LONGER, MAX_TERMS, Unit, units_of

from engine.memory import Memory
from engine.search.strategies.memsift import asked
from tests.engine.builders import memory, open_index


def units(prompt: str, *memories: Memory | str) -> dict[str, Unit]:
    """The units of a prompt, guesses included, by what the prompt says."""
    texts = [memory(one) if isinstance(one, str) else one for one in memories]
    with open_index(*texts) as index:
        found = index.ask(lambda db: units_of(db, asked(prompt)[1])).units
    return {unit.text: unit for unit in found}


def unit(prompt: str, *memories: Memory | str) -> Unit:
    (only,) = units(prompt, *memories).values()
    return only


def test_a_word_stands_for_every_form_that_the_corpus_holds() -> None:
    assert unit("caching", "cache one", "cached two", "cached three", "cash") == Unit(
        "caching", (("cache",), ("cached",)), (), 3
    )


def test_a_longer_word_counts_apart_from_the_forms() -> None:
    found = unit("auth", "auth", "authentication one", "authentication two", "author")
    assert (found.phrases, found.longer) == ((("auth",),), ("authentication", "author"))
    assert found.memories == 4


def test_a_form_is_no_longer_word() -> None:
    assert unit("migrate", "migrated", "migrates").longer == ()


@pytest.mark.parametrize(
    ("prompt", "longer"),
    [
        ("log", ()),
        ("logi", ("login",)),
        ("404", ()),
        ("8080", ()),
        ("2fas", ("2fast",)),
        ("при", ()),
        ("прил", ("приложение",)),
        ("서버", ("서버실",)),
        ("שר", ()),
        ("שרת", ("שרתים",)),
    ],
)
def test_only_a_word_of_some_length_begins_longer_ones(prompt: str, longer: tuple[str, ...]) -> None:
    corpus = ("login", "4040", "80801", "2fast", "приложение", "서버실", "שרתים", "การตั้งค่า")
    assert unit(prompt, *corpus).longer == longer


def test_of_the_longer_words_the_commonest_count() -> None:
    rare = [f"auth{i:03}" for i in range(MAX_LONGER + 5)]
    found = unit("auth", *rare, *(memory("authz", memory_id=f"z{i}") for i in range(3)))
    assert found.longer == ("authz", *rare[: MAX_LONGER - 1])
    assert found.memories == 3 + MAX_LONGER - 1


def test_a_word_that_the_corpus_does_not_hold_stands_for_itself() -> None:
    assert unit("zanzibar", "cache") == Unit("zanzibar", (("zanzibar",),), (), 0)


def test_forms_of_one_word_are_one_unit() -> None:
    assert list(units("cache caching cached", "caches")) == ["cache"]


def test_forms_that_the_corpus_does_not_hold_stay_apart() -> None:
    assert len(units("zanzibar zanzibars", "cache")) == 2


def test_a_compound_may_end_in_another_form() -> None:
    assert ("user", "id") in unit("user_ids", "user_id").phrases
    assert ("user", "ids") in unit("user_id", "user ids").phrases
    assert ("email",) in unit("e-mails", "email").phrases


def test_the_first_word_of_a_compound_stands_as_it_is() -> None:
    assert unit("users_id", "user_id").memories == 0


def test_the_count_of_a_phrase_is_that_of_its_rarest_word() -> None:
    assert unit("rate-limit", "rate one limit", "rate two", "rate three").memories == 1
    assert unit("rate-limit", "rate one", "rate two").memories == 0


def test_a_name_has_no_other_form() -> None:
    assert unit("is it in Go?", "go", "going", "goes") == Unit("Go", (("go",),), (), 1)


def test_an_unknown_word_may_be_two() -> None:
    assert unit("frontend", "front end") == Unit("frontend", (("frontend",), ("front", "end")), (), 1)
    assert ("http", "2") in unit("http2", "HTTP/2").phrases
    assert ("rfc", "7231") in unit("rfc7231", "RFC 7231").phrases


def test_a_known_word_is_taken_apart_only_if_it_is_long() -> None:
    assert unit("frontend", "front end", "frontend").phrases == (("frontend",), ("front", "end"))
    assert unit("setup", "set up", "setup").phrases == (("setup",),)


FORMS = ("factory reset", "factory-reset", "factory_reset", "factoryreset")


@pytest.mark.parametrize("asked", FORMS)
@pytest.mark.parametrize("written", FORMS)
def test_two_words_one_word_and_an_identifier_find_each_other(asked: str, written: str) -> None:
    found = units(asked, f"The {written} of the switch", "factoryreset notes", "a factory that can reset", "front end")
    (best,) = [one for one in found.values() if ("factoryreset",) in one.phrases]
    assert ("factory", "reset") in best.phrases


THAI = [("การตั้งค่า", "ตั้งค่า"), ("ວິທີຕັ້ງຄ່າ", "ຕັ້ງຄ່າ"), ("ဆာဗာပြန်စ", "ပြန်စ"), ("ការកំណត់ម៉ាស៊ីន", "កំណត់")]


@pytest.mark.parametrize(("written", "asked"), THAI)
def test_scripts_without_spaces_are_found_by_part(written: str, asked: str) -> None:
    found = units(asked, written, "other words").values()
    assert found
    assert all(one.memories for one in found)


def test_half_a_word_is_none() -> None:
    assert unit("frontend", "front").phrases == (("frontend",),)
    assert unit("goat", "go at").phrases == (("goat",),)


def test_two_neighbours_may_be_one_word_that_the_corpus_holds() -> None:
    assert units("the time out", "timeout")["time out"] == Unit("time out", (("timeout",),), (), 1)
    assert list(units("the time out", "clock")) == ["time"]


def test_a_long_prompt_is_looked_up_by_the_words_that_the_corpus_holds() -> None:
    noise = " ".join(f"absent{i}" for i in range(MAX_TERMS))
    found = units(f"auth cached {noise}", "auth", "authentication", "cached one", "caching two")
    assert (found["auth"].longer, found["auth"].memories) == ((), 1)
    assert found["cached"].phrases == (("cached",), ("caching",))
    assert found["absent0"].memories == 0


def test_a_prompt_of_as_many_terms_as_are_looked_up_is_looked_up_in_full() -> None:
    noise = " ".join(f"absent{i}" for i in range(MAX_TERMS - 1))
    assert units(f"auth {noise}", "auth", "authentication")["auth"].longer == ("authentication",)


def test_an_unknown_pair_of_characters_beside_a_known_one_is_no_word() -> None:
    assert list(units("用户登录失败", "登录")) == ["用户", "登录", "失败"]
    assert list(units("用户登录失败", "cache")) == ["用户", "户登", "登录", "录失", "失败"]


def test_nothing_has_no_units() -> None:
    assert units("", "cache") == units("the of", "cache") == {}


def test_of_a_prompt_with_very_many_terms_the_rarest_that_the_corpus_holds_count() -> None:
    common = [f"word{i:03}" for i in range(MAX_TERMS)]
    twice = [memory(" ".join(common), memory_id=name) for name in "ab"]
    found = units(f"absent {' '.join(common)} rare", *twice, "rare words")
    assert len(found) == MAX_TERMS
    assert "rare" in found
    assert not {"absent", common[-1]} & found.keys()


def test_a_word_that_very_many_memories_hold_stands_for_no_longer_ones() -> None:
    def longer(memories: int) -> tuple[str, ...]:
        return unit("cache", *(f"cache {i}" for i in range(memories)), "cachexia").longer

    assert longer(COMMON - 1) == ("cachexia",)
    assert longer(COMMON) == ()
