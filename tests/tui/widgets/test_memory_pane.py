"""A memory as a person reads it."""

from engine.search.highlight import Marker
from engine.search.query import filter_terms
from tests.engine.builders import memory
from tui.widgets.memory_pane import category_name, memory_text


def test_title_facts_tags_path_and_body_stand_below_each_other() -> None:
    one = memory("Job queue", "queue", "postgres", body="first line\nsecond line", category="tech_debt")
    assert memory_text(one).plain.split("\n") == [
        "Job queue",
        "tech debt · updated 2024-01-01",
        "#queue #postgres",
        ".claude/memory/tech-debt/Job-queue.json",
        "",
        "Context",
        "first line",
        "second line",
    ]


def test_a_retired_memory_says_so() -> None:
    assert "decision · retired · updated" in memory_text(memory("Old", status="retired")).plain


def test_a_memory_without_tags_dates_or_body_has_no_empty_lines() -> None:
    assert memory_text(memory("Bare", updated_at="")).plain.split("\n") == [
        "Bare",
        "decision",
        ".claude/memory/decisions/Bare.json",
    ]


def test_matches_are_marked_in_title_tags_and_body_and_nowhere_else() -> None:
    one = memory("Queue of jobs", "queue", body="the [queue] is stuck\nnothing", memory_id="queue-id")
    text = memory_text(one, Marker(filter_terms("queu")))
    marked = [text.plain[span.start : span.end] for span in text.spans if "accent" in str(span.style)]
    assert marked == ["Queue", "queue", "queue"]


def test_category_names_are_words() -> None:
    names = [category_name(name) for name in ("tech_debt", "session_summary", "decision", "made_up_kind")]
    assert names == ["tech debt", "session", "decision", "made up kind"]
