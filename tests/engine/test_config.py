"""Systems: names for the ways from a prompt to an injected set."""

from engine.config import MEMSIFT, SYSTEMS, TITLE_TAGS, TUNED, Config, system_of


def test_there_are_eleven_systems_and_those_of_memsift_also_without_phrases() -> None:
    assert {name for name, system in SYSTEMS.items() if system.has_phrases} == {
        *("memsift", "memsift+default", "memsift+cutoff", "bm25", "bm25+cutoff", "keywords"),
        *("memsift+judge", "memsift+default+judge", "memsift+cutoff+judge", "bm25+judge", "bm25+cutoff+judge"),
    }
    plain = [system for system in SYSTEMS.values() if not system.has_phrases]
    assert len(plain) == 6
    assert {system.strategy for system in plain} == {MEMSIFT}
    assert SYSTEMS["memsift+default-phrases+judge"] in plain


def test_a_system_describes_the_configuration_that_it_makes_and_keywords_have_neither_cutoff_nor_judge() -> None:
    for name in SYSTEMS:
        system = SYSTEMS[name]
        config = system.of(Config())
        assert system_of(config, has_judge=system.has_judge, cutoff=system.cutoff) == system, name
    config = Config(match_strategy=TITLE_TAGS)
    assert system_of(config, has_judge=True) == SYSTEMS["keywords"]
    assert system_of(config, has_judge=False, cutoff=TUNED) == SYSTEMS["keywords"]
