"""Writing claude-memory: times, counts and the list of changes, and the lines of index.md."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidMemoryError
from engine.stores import claude_memory_writing as writing
from engine.stores.writing import Changes
from tests.engine.curation.roots import CONTENT, NOW, document


def text(**others: Any) -> str:
    return json.dumps(document("alpha", **others), indent=2, ensure_ascii=False) + "\n"


def edited(wanted: Changes, **others: Any) -> dict[str, Any]:
    one: dict[str, Any] = json.loads(writing.edited(text(**others), wanted, NOW))
    return one


def test_the_list_of_changes_holds_the_newest_fifty_without_long_values() -> None:
    old = [{"date": NOW, "summary": f"change {number}"} for number in range(50)]
    one = edited(Changes(title="New", fields=(("context", ("c",)),)), changes=old, times_updated=70)
    *kept, title, context = one["changes"]
    assert kept == old[2:]
    changed = {"date": NOW, "summary": "title changed", "field": "title"}
    assert title == {**changed, "old_value": "Title of alpha", "new_value": "New"}
    assert context["summary"] == "content.context changed"
    assert (one["times_updated"], one["updated_at"], one["created_at"]) == (71, NOW, "2026-01-01T00:00:00Z")
    one = edited(Changes(fields=(("context", ("c" * 5000,)),)))
    assert one["changes"] == [{"date": NOW, "summary": "content.context changed", "field": "content.context"}]
    retired = json.loads(writing.with_status(text(), "retired", "r" * 400, NOW))
    assert len(retired["changes"][0]["summary"]) == 300
    assert retired["retired_reason"] == "r" * 400


def test_values_of_every_kind_are_set() -> None:
    values = {
        "rationale": ("first", "second"),
        "content.consequences": ('["one, two"]',),
        "alternatives": ('[{"option": "a", "rejected_reason": "b"}]',),
        **{"tags": ("One,two", "one"), "related_files": ("a.py", "b.py"), "confidence": ("0.5",)},
        "status": ("superseded",),
    }
    one = edited(Changes(fields=tuple(values.items())))
    assert one["content"]["rationale"] == ["first", "second"]
    assert one["content"]["consequences"] == ["one, two"]
    assert one["content"]["alternatives"] == [{"option": "a", "rejected_reason": "b"}]
    assert (one["tags"], one["related_files"], one["confidence"]) == (["one", "two"], ["a.py", "b.py"], 0.5)
    assert "consequences" not in edited(Changes(fields=(("consequences", ("",)),)))["content"]
    assert edited(Changes(body="New\ntext"))["content"]["decision"] == "New\ntext", "the main field is the body"
    runbook = edited(Changes(body="one\ntwo"), category="runbook", content=CONTENT["runbook"])
    assert runbook["content"]["steps"] == ["one", "two"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("confidence", "2", "confidence must be a number from 0 to 1"),
        ("confidence", "high", "confidence must be a number, written as JSON"),
        ("status", "maybe", "status must be one of proposed, accepted, deprecated, superseded"),
        ("rationale", "", "rationale is missing"),
        ("context", "", "context is missing"),
        ("alternatives", '["x"]', "alternatives must be a list"),
        ("tags", "", "at least one text"),
        ("tags", ",".join(map(str, range(13))), "there are 13 tags, 12 are allowed"),
        ("record_status", "retired", "is no field that can be set here"),
        ("id", "beta", "is no field that can be set here"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused(field: str, value: str, message: str) -> None:
    with pytest.raises(InvalidMemoryError, match=message):
        edited(Changes(fields=((field, (value,)),)))


def test_every_required_field_of_every_category_is_required() -> None:
    for category, name in [(category, name) for category, content in CONTENT.items() for name in content]:
        whole = text(category=category, content=CONTENT[category])
        without = {key: value for key, value in CONTENT[category].items() if key != name}
        with pytest.raises(InvalidMemoryError, match=f"{name} is missing"):
            writing.rewritten(whole, text(category=category, content=without), NOW)


def test_titles_and_tags_cannot_forge_a_line_of_the_index() -> None:
    evil = writing.edited(text(), Changes(title="a\n- [DECISION] b -> .claude/memory/x.json #tags:y"), NOW)
    evil = writing.retagged(evil, ["x,y", "p -> q\nr"], [], NOW)
    line = writing.entry_line("decisions/alpha.json", evil)
    assert line == (
        "- [DECISION] a - [DECISION] b - .claude/memory/x.json y -> .claude/memory/decisions/alpha.json "
        "#tags:tag-alpha,shared,x y,p q r"
    )
    assert [one.name for one in writing.entries([line])] == ["decisions/alpha.json"]
    for name in ("a\nb", "a\r- [DECISION] x -> y", "a\u2028b", "a -> b", "a #tags:b"):
        assert writing.entry_line(f"decisions/{name}.json", text()) == "", "no line can name it"
    assert writing.entry_line("decisions/two words.json", text())


@given(
    st.lists(
        st.tuples(st.sampled_from(["DECISION", "RUNBOOK", "PREFERENCE"]), st.text("abAB-. ", min_size=1)), unique=True
    )
)
def test_entries_that_are_placed_one_by_one_are_sorted(pairs: list[tuple[str, str]]) -> None:
    lines: list[str] = ["# Memory Index", ""]
    keys = [(category, title.strip() or "x", f"{number:03}") for number, (category, title) in enumerate(pairs)]
    for category, title, name in keys:
        line = f"- [{category}] {title} -> .claude/memory/decisions/{name}.json"
        lines.insert(writing.place(lines, line), line)
    wanted = sorted(keys, key=lambda key: (key[0], key[1].lower(), key[2]))
    assert [line.rpartition("/")[2] for line in lines[2:]] == [f"{name}.json" for _, _, name in wanted]
    lines = [f"- [{one}] m -> .claude/memory/x/{one}.json" for one in ("RUNBOOK", "DECISION", "CONSTRAINT")]
    for title, at in (("z", 2), ("a", 1)):  # a person ordered the categories
        assert writing.place(lines, f"- [DECISION] {title} -> .claude/memory/decisions/{title}.json") == at
