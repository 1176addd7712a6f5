"""Front matter of notes: YAML and TOML, by line where it is no valid YAML and in the hook."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory import MemorySummary
from engine.opening import hook_index, index_file, open_index
from engine.stores.markdown import auto_memory, store
from engine.stores.markdown.front_matter import front_matter, is_plain, keys_of
from tests.engine.builders import put
from tests.engine.hook.world import LAUNCHER

WRAPPED = "---\ndescription: The token rotates\n  at two\n---\nbody"


def read(folder: Path, front: str, fence: str = "---", *, is_auto: bool = False) -> MemorySummary:
    """A note with front matter, as a plain note or as auto memory."""
    (folder / "note.md").write_text(f"{fence}\n{front}\n{fence}\nbody\n", encoding="utf-8", newline="")
    (one,) = (auto_memory if is_auto else store).read(str(folder), "note.md")
    return one.summary


def title(folder: Path, front: str, fence: str = "---") -> str:
    return read(folder, front, fence).title


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("title: one\n  two\n\n  three", "one two three"),
        ("title: >-\n  one\n  two", "one two"),
        ("title: |\n  one\n  two\n", "one two"),
        ('title: "one\n  two"', "one two"),
        ("title: >-\r\n  one\r\n  two\r", "one two"),
        ("title: one # two", "one"),
        ("title: C# and x#y", "C# and x#y"),
        ('"title": one', "one"),
        ('title: "stra\\u00dfe"', "straße"),
        ("title: 'it''s'", "it's"),
        ("title: no", "no"),
        ("title: 1.10", "1.10"),
        ("title: 2026-01-02", "2026-01-02"),
        ("title: ~", "note"),
        ("title:", "note"),
        ("{title: one, x: 2}", "one"),
        ("meta:\n  title: one", "one"),
        ("x:\n  - title: two\ntitle: one\ny: [{title: two}]", "one"),
        ("title: Plan: one # two", "Plan: one # two"),  # from here on no plain YAML
        ("title: one\n\tx: 2", "one"),
        ("title: &a one\nx: *a", "&a one"),
        ("title: !!str one", "!!str one"),
        ("title: one\n--- !x\ny: 2", "one"),
        ('title: "a\\ud800"', "a\\ud800"),
        ("x: [\ntitle: one", "one"),
    ],
)
def test_a_title_is_read_as_yaml_says_or_else_by_line(tmp_path: Path, front: str, expected: str) -> None:
    assert title(tmp_path, front) == expected


def test_tags_and_status_are_read_without_their_comments_and_toml_between_its_own_fences(tmp_path: Path) -> None:
    one = read(tmp_path, 'tags: [a, "b, c", d] # two\nstatus: superseded # by x\nx: {tags2: 1}')
    assert (one.tags, one.status) == (("a", "b", "c", "d"), "retired")
    assert read(tmp_path, "tags:\n- a # first\n- [b, c]").tags == ("a", "b", "c")
    for front in ("record_status: retired # since May", "metadata: {type: user, record_status: retired}"):
        assert read(tmp_path, front, is_auto=True).status == "retired"
    front = 'title = "One"\ntags = ["a", "b"]\ndate = 2026-01-02\n[extra]\nstatus = "superseded"\nv = 1.10'
    one = read(tmp_path, front, "+++")
    assert (one.title, one.tags, one.created_at, one.status) == ("One", ("a", "b"), "2026-01-02", "retired")
    assert title(tmp_path, "title = ", "+++") == "note", "no valid TOML is text"


def test_hostile_front_matter_is_read_by_line_and_hostile_toml_is_text(tmp_path: Path) -> None:
    for front in [
        *("x: " + "[" * 20_000, "x: " + "{a: " * 20_000, "- " * 20_000, "? " * 20_000, '"' * 49_000),
        "\n".join(" " * depth + "a:" for depth in range(200)),
        "a: &a [x, x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 99)),
        *("x: !!python/object/apply:os.system [exit]", "x: " + "a" * 900_000),
    ]:
        assert title(tmp_path, f"title: one\n{front}") == "one", front[:40]
    for value in ("x = " + "[" * 4_000, ".".join("x" * 450_000) + " = 1", "x = " + "9" * 900_000):
        assert title(tmp_path, f"title = 'one'\n{value[:900_000]}", "+++") == "note", value[:40]


PIECES = st.sampled_from(
    [*"-:#'\"[]{},~|>&*!%@`? \t\\aß0", "\n", "\n", "\n  ", "\n- ", "\na: ", "\nb:", "null", ": ", " #", "\r\n", "---"]
)
FRONTS = st.lists(PIECES, max_size=16).map(lambda parts: "a: " + "".join(parts))


@given(FRONTS)
def test_plain_front_matter_is_read_by_line_as_yaml_reads_it(text: str) -> None:
    lines = text.splitlines()
    if is_plain(lines):
        by_line = front_matter(["---", *lines, "---"], by_line=True).values
        assert {entry.key: entry.values for entry in keys_of("\n".join(lines)) if entry.values} == {
            key: values for key, values in by_line.items() if values
        }


def rows(root: Path, home: dict[str, str]) -> list[tuple[str, str]]:
    with closing(open_index(str(root), home)) as index:
        return [(memory.id, memory.title) for memory in index.summaries()]


def test_the_hook_reads_by_line_until_the_next_index_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, home = tmp_path / "root", {"HOME": str(tmp_path / "home")}
    for name, text in (("MEMORY.md", ""), ("note.md", "text")):
        put(root / name, text)
    assert rows(root, home) == [("note", "text")]
    (root / "new.md").write_text(WRAPPED, encoding="utf-8")
    with monkeypatch.context() as hook:
        hook.setitem(sys.modules, "yaml", None)
        hook.setattr("engine.opening.start_update", lambda *_: None)
        index = hook_index(str(root), home, 60.0)
        assert index is not None
        with closing(index):
            assert [memory.title for memory in index.summaries()] == ["The token rotates", "text"]
    os.utime(index_file(str(root), home))
    assert rows(root, home) == [("new", "The token rotates at two"), ("note", "text")]


def test_the_hook_imports_no_yaml_although_it_is_installed(tmp_path: Path) -> None:
    for name, text in (("MEMORY.md", ""), ("note.md", WRAPPED)):
        put(tmp_path / "project/.claude/memory" / name, text)
    payload = f'{{"prompt": "when does the token rotate at two", "cwd": "{tmp_path / "project"}"}}'
    command = [sys.executable, "-X", "importtime", str(LAUNCHER)]
    done = subprocess.run(
        command, input=payload, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert "engine.stores.markdown.front_matter" in done.stderr
    assert "yaml.events" not in done.stderr
