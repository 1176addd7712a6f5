"""Systems: names for the ways from a prompt to an injected set."""

from engine.config import DEFAULT, FTS5_BM25, MEMSIFT, SYSTEMS, TITLE_TAGS, TUNED, Config, System, system_of


def test_there_are_eleven_systems_and_those_of_memsift_also_without_phrases() -> None:
    assert {
        "memsift": System("memsift", MEMSIFT, has_judge=False),
        "bm25": System("bm25", FTS5_BM25, has_judge=False),
        "keywords": System("keywords", TITLE_TAGS, has_judge=False),
        "memsift+judge": System("memsift+judge", MEMSIFT, has_judge=True),
        "bm25+judge": System("bm25+judge", FTS5_BM25, has_judge=True),
        "memsift+default": System("memsift+default", MEMSIFT, has_judge=False, cutoff=DEFAULT),
        "memsift+default+judge": System("memsift+default+judge", MEMSIFT, has_judge=True, cutoff=DEFAULT),
        "memsift+cutoff": System("memsift+cutoff", MEMSIFT, has_judge=False, cutoff=TUNED),
        "bm25+cutoff": System("bm25+cutoff", FTS5_BM25, has_judge=False, cutoff=TUNED),
        "memsift+cutoff+judge": System("memsift+cutoff+judge", MEMSIFT, has_judge=True, cutoff=TUNED),
        "bm25+cutoff+judge": System("bm25+cutoff+judge", FTS5_BM25, has_judge=True, cutoff=TUNED),
    } == {name: system for name, system in SYSTEMS.items() if system.has_phrases}
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
