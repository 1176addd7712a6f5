"""A memory as a person reads it."""

from engine.search.highlight import Marker
from engine.search.query import filter_terms
from tests.engine.builders import memory
from tui.widgets.memory_pane import memory_text


def test_title_facts_tags_path_and_body_stand_below_each_other_and_only_texts_are_marked() -> None:
    body = "the [queue] is stuck\nsecond line"
    one = memory(
        "Queue of jobs", "queue", "db", body=body, category="tech_debt", status="retired", memory_id="queue-id"
    )
    text = memory_text(one, Marker(filter_terms("queu")))
    assert text.plain.split("\n") == [
        "Queue of jobs",
        "tech debt · retired · updated 2024-01-01",
        "#queue #db",
        ".claude/memory/tech-debt/queue-id.json",
        "",
        "Context",
        "the [queue] is stuck",
        "second line",
    ]
    marked = [text.plain[span.start : span.end] for span in text.spans if "accent" in str(span.style)]
    assert marked == ["Queue", "queue", "queue"]
    bare = memory_text(memory("Bare", updated_at=""))
    assert bare.plain.split("\n") == ["Bare", "decision", ".claude/memory/decisions/Bare.json"]
