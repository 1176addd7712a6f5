"""Scoring by keywords."""

from engine.search.strategies.title_tags import keyword_score, keywords
from tests.engine.builders import memory

LONG_AGO, RECENT_SINCE = "2024-01-01T00:00:00Z", "2026-01-01"


def score(prompt: str, title: str, *tags: str, updated_at: str = LONG_AGO) -> tuple[float, tuple[str, ...]]:
    return keyword_score(keywords(prompt), memory(title, *tags, updated_at=updated_at).summary, RECENT_SINCE)


def test_words_of_title_and_tags_count_and_a_recent_memory_one_more_if_it_matches() -> None:
    for prompt, title, tags, points, matched in [
        ("cache", "Cache rules", (), 2, ("cache",)),
        ("cache", "Rules", ("cache",), 3, ("cache",)),
        ("cache", "Cache rules", ("cache",), 3, ("cache",)),
        ("auth", "Authentication", (), 1, ("auth",)),
        ("aut", "Authentication", (), 0, ()),
        ("authentication", "auth", (), 0, ()),
        ("auth", "Rules", ("authentication",), 1, ("auth",)),
        ("rules for the cache", "Cache rules", (), 4, ("rules", "cache")),
        ("user_id", "The user", ("user-id",), 6, ("user", "id")),
        ("the of and", "the of and", ("the",), 0, ()),
        ("数据库", "数据库", ("数据库",), 0, ()),
        ("café", "caf", (), 2, ("caf",)),
    ]:
        assert score(prompt, title, *tags) == (-points, matched), prompt
    assert score("cache", "Cache", updated_at="2026-01-01T00:00:00Z") == (-3, ("cache",))
    assert score("cache", "Cache", updated_at="2025-12-31T23:59:59Z") == (-2, ("cache",))
    assert score("cache", "Cache", updated_at="") == (-2, ("cache",))
    assert score("other", "Cache", updated_at="2026-01-01T00:00:00Z") == (0, ())
    assert list(keywords("Fix the USER_ID, fix x2 & a naïve\0 b")) == ["fix", "user", "id", "x2", "na"]
    assert keywords("\ud800 é") == {}
