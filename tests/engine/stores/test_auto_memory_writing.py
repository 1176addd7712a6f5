"""Writing Claude Code's auto memory: only the lines that change, and MEMORY.md in step."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.curation.operations import Create, Edit, Merge, Move, Retire, Rewrite, Tag
from engine.errors import CurationError, InvalidMemoryError
from engine.stores.markdown import auto_memory_writing as writing
from engine.stores.roots import read_corpus
from engine.stores.writing import Changes, Draft, writing_of
from tests.engine.builders import put
from tests.engine.curation.roots import NOW, contents, perform, summary, undo

NESTED = """---
name: alpha-setup
description: "How the \\"alpha\\" app is wired: postcss, theme"
metadata:\x20
  node_type: memory
  type: feedback
  originSessionId: 9f1c0000-0000-4000-8000-000000000001
  modified: 2026-01-05T09:10:00.000Z
---

The root `.postcssrc.json` is the only place.

---
Related: [[beta]].
"""
FLAT = "---\r\nname: beta\r\ntype: project\r\ndescription: >-\r\n  Two lines\r\n  of text\r\n---\r\nBody.\r\n"
ABSENT = "# Use tabs\n\nAlways tabs."
INDEX = """# Memory

- [Alpha setup](alpha.md) — How the "alpha" app is wired: postcss, theme
  - and nowhere else
* [Beta](./beta.md): two lines
Some prose with a link to [Alpha](alpha.md) in it.
  - [Tabs](feedback_tabs.md) - always

## Later
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in (("alpha", NESTED), ("beta", FLAT), ("feedback_tabs", ABSENT), ("MEMORY", INDEX)):
        put(tmp_path / f"memory/{name}.md", text)
    return tmp_path / "memory"


def text(root: Path, name: str) -> str:
    return (root / name).read_bytes().decode("utf-8")


def test_a_retired_memory_says_so_in_its_front_matter_and_leaves_memory_md(root: Path) -> None:
    bodies = {one.body for one in read_corpus(str(root)).memories}
    perform(Retire(str(root), summary(root, "alpha"), "too old: gone"))
    assert summary(root, "alpha").status == "retired"
    assert {one.body for one in read_corpus(str(root)).memories} == bodies
    lines = f'  record_status: retired\n  retired_at: {NOW}\n  retired_reason: "too old: gone"\n'
    assert text(root, "alpha.md") == NESTED.replace("2026-01-05T09:10:00.000Z\n", f"2026-01-05T09:10:00.000Z\n{lines}")
    assert writing_of(str(root)).reason(text(root, "alpha.md")) == "too old: gone"
    assert text(root, "MEMORY.md") == INDEX.replace(
        '- [Alpha setup](alpha.md) — How the "alpha" app is wired: postcss, theme\n  - and nowhere else\n', ""
    ).replace("[Alpha](alpha.md) in it", "Alpha in it")


@pytest.mark.parametrize("memory_id", ["alpha", "beta", "feedback_tabs"])
def test_every_operation_is_undone_byte_for_byte(root: Path, tmp_path: Path, memory_id: str) -> None:
    other = tmp_path / "other"
    put(other / "MEMORY.md", "")
    one = summary(root, memory_id)
    rest = tuple(each.summary for each in read_corpus(str(root)).memories if each.summary.id != memory_id)
    operations = (
        Retire(str(root), one, "x"),
        Edit(str(root), one, Changes(title="Other", body="New\n\ntext", fields=(("type", ("user",)),))),
        Merge(str(root), one, rest, "same"),
        Move(str(root), one, str(other)),
    )
    before = contents(root, other)
    for operation in operations:
        perform(operation)
        assert contents(root, other) != before
        undo()
        assert contents(root, other) == before


def test_an_edit_changes_its_lines_and_the_hint_in_memory_md(root: Path) -> None:
    perform(Edit(str(root), summary(root, "alpha"), Changes(title='New: "title" #1')))
    wanted = NESTED.replace('"How the \\"alpha\\" app is wired: postcss, theme"', '"New: \\"title\\" #1"')
    assert text(root, "alpha.md") == wanted.replace("2026-01-05T09:10:00.000Z", "2026-05-01T10:00:00.000Z")
    assert '- [Alpha setup](alpha.md) — New: "title" #1\n  - and nowhere else\n' in text(root, "MEMORY.md")
    assert summary(root, "alpha").title == 'New: "title" #1'
    perform(Edit(str(root), summary(root, "beta"), Changes(title="Short", body="a\nb")))
    assert text(root, "beta.md") == "---\r\nname: beta\r\ntype: project\r\ndescription: Short\r\n---\r\na\r\nb\r\n"
    assert "* [Beta](./beta.md): two lines\n" in text(root, "MEMORY.md")
    before = text(root, "MEMORY.md")
    perform(Edit(str(root), summary(root, "alpha"), Changes(body="Another body.")))
    assert (text(root, "alpha.md")[-19:], text(root, "MEMORY.md")) == ("---\n\nAnother body.\n", before)


def test_a_new_memory_has_the_clients_front_matter_and_a_line_in_memory_md(root: Path) -> None:
    draft = Draft("feedback", "Prefer small: commits", changes=Changes(body="One change each."))
    perform(Create(str(root), draft))
    one = next(each for each in read_corpus(str(root)).memories if each.summary.id == "prefer-small-commits")
    assert (one.summary.category, one.summary.title) == ("feedback", "Prefer small: commits")
    assert one.body == "One change each."
    assert one.summary.updated_at == "2026-05-01T10:00:00.000Z"
    line = "- [Prefer small commits](prefer-small-commits.md) — Prefer small: commits\n"
    assert INDEX.replace("## Later", f"{line}\n## Later").replace(f"\n{line}", line) == text(root, "MEMORY.md")
    with pytest.raises(InvalidMemoryError, match="type must be one of user, feedback, project, reference"):
        perform(Create(str(root), Draft("decision", "x")))


def test_what_the_format_cannot_hold_is_refused_and_an_editor_may_change_all_but_the_status(
    root: Path, tmp_path: Path
) -> None:
    alpha = summary(root, "alpha")
    with pytest.raises(InvalidMemoryError, match="has no tags"):
        perform(Tag(str(root), alpha, ("x",)))
    (tmp_path / "claude/decisions").mkdir(parents=True)
    with pytest.raises(CurationError, match="another format"):
        perform(Move(str(root), alpha, str(tmp_path / "claude")))
    with pytest.raises(InvalidMemoryError, match="record_status may not be changed"):
        perform(Rewrite(str(root), alpha, NESTED, NESTED.replace("  type:", "  record_status: retired\n  type:")))
    perform(Rewrite(str(root), alpha, NESTED, NESTED.replace("only place", "best place")))
    assert "the best place" in text(root, "alpha.md")


def shown(title: str) -> str:
    """A title on one line, without characters that cannot be printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in title).split())


TITLES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda one: shown(one) and "<%" not in one and "{{" not in one
)
"""Titles without the marks of a template, which is no memory."""


@example('\\"', NESTED)
@example("it's a \\ or \\\\n", NESTED)
@given(TITLES, st.sampled_from([NESTED, FLAT, ABSENT, "", "---\n---\nx", "---\nno end"]))
def test_any_title_is_read_as_it_was_written(title: str, before: str) -> None:
    after = writing.edited(before, Changes(title=title), NOW)
    with TemporaryDirectory() as folder:
        (Path(folder) / "MEMORY.md").touch()
        (Path(folder) / "x.md").write_text(after, encoding="utf-8", newline="")
        assert read_corpus(folder).memories[0].summary.title == shown(title)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["retired", "archived"]))
def test_any_text_is_retired_and_restored_without_loss(body: str, status: str) -> None:
    retired = writing.with_status(body, status, "x", NOW)
    assert writing.entry_line("x.md", retired) == ""
    if not body.lstrip("\ufeff").startswith("---"):
        assert writing.with_status(retired, "active", "", NOW) == body


DESCRIPTIONS = [
    *("{one}", "{one}\n  on two lines", ">-\n  {one}\n  folded", ">-\n  {one}\n\n  folded", "|\n  {one}\n  literal"),
    *('"{one}\n  in quotes"', "'{one}'", "\n  {one}"),
]
"""Ways to write a description."""

BELOW = [
    *("", "metadata:\n  node_type: memory\n  type: project # a comment\n", "metadata: {type: project, x: [1, 2]}\n"),
    *("metadata: {type: project, record_status: active, x: 1}\n", "metadata: {type: project,\n  x: 1}\ntype: user\n"),
    "# a comment\ntags: [a, b] # two\nempty:\n",
]


@st.composite
def notes(draw: st.DrawFn) -> tuple[str, str, str]:
    """A note, cut before and after the value of its description."""
    value = draw(st.sampled_from(DESCRIPTIONS)).format(one=draw(st.sampled_from(["Some words", "no", "1.10", "x#y"])))
    comment = "" if value[0] in "|>" else draw(st.sampled_from(["", " # comment", "  #"]))
    above = draw(st.sampled_from(["", "name: x # first\n", "# comment\n\n"]))
    space, value = (value[: len(value) - len(value.lstrip())] or " "), value.lstrip()
    below = draw(st.sampled_from(BELOW))
    parts = f"---\n{above}description:{space}", value, f"{comment}\n{below}---\n\nBody.\n"
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return tuple(part.replace("\n", end) for part in parts)  # type: ignore[return-value]


@given(notes(), TITLES)
def test_an_edit_changes_one_value_and_no_other_byte(note: tuple[str, str, str], title: str) -> None:
    before, value, after = note
    changed = writing.edited(before + value + after, Changes(title=title), NOW)
    assert changed.startswith(before)
    assert changed.endswith(after)
    assert writing.form(changed)[1].text == shown(title)
    again = writing.edited(before + value + after, Changes(fields=(("type", ("user",)),)), NOW)
    assert again.startswith(before + value)
    assert writing.form(again)[1] == writing.form(before + value + after)[1]
    assert writing.form(again)[2].text == "user"


@given(notes(), st.sampled_from(["retired", "archived"]))
def test_a_note_is_retired_and_restored_however_its_front_matter_is_written(
    note: tuple[str, str, str], status: str
) -> None:
    whole = "".join(note)
    retired = writing.with_status(whole, status, "too old: # gone", NOW)
    assert writing.reason(retired) == "too old: # gone"
    assert writing.form(retired) == writing.form(whole)
    assert writing.entry_line("x.md", retired) == ""
    assert writing.with_status(retired, "active", "", NOW) == whole


@pytest.mark.parametrize("status", ["retired # since May", '"retired"', "\n  retired"])
def test_a_status_that_a_person_wrote_is_taken_back_as_a_whole(status: str) -> None:
    text = f"---\nname: x\nrecord_status: {status}\ntype: user\n---\nBody.\n"
    assert writing.with_status(text, "active", "", NOW) == "---\nname: x\ntype: user\n---\nBody.\n"
    inside = "---\nmetadata: {type: user, record_status: retired, retired_at: x}\n---\nBody.\n"
    restored = inside.replace("record_status: retired", "record_status: active")
    assert writing.with_status(inside, "active", "", NOW) == restored


def test_toml_is_never_written_and_a_file_that_no_line_can_name_has_none() -> None:
    for name, has_line in (("a\nb.md", False), ("a\u2028b.md", False), ("two-words.md", True)):
        assert bool(writing.entry_line(name, "text")) is has_line, name
    text = '+++\ndescription = "x"\n+++\nBody.\n'
    with pytest.raises(InvalidMemoryError, match="cannot write description into this front matter"):
        writing.edited(text, Changes(title="y"), NOW)
    with pytest.raises(InvalidMemoryError, match="cannot write record_status"):
        writing.with_status(text, "retired", "", NOW)


@given(st.lists(st.sampled_from([*"ab:#-'\"[]{}>| \n", "\n", "type: ", "description: ", "\n  "]), max_size=14))
def test_any_front_matter_takes_a_title_or_says_that_it_cannot(parts: list[str]) -> None:
    text = f"---\n{''.join(parts)}\n---\nBody.\n"
    try:
        changed = writing.edited(text, Changes(title="New: title"), NOW)
    except InvalidMemoryError:
        return
    assert writing.form(changed)[1].text == "New: title"
    assert changed.endswith("---\nBody.\n")
