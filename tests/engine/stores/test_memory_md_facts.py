"""The facts that MEMORY.md holds itself, and what clients load by themselves."""

from pathlib import Path

import pytest

from engine.memory import Memory, Section
from engine.stores.markdown.parts import LOADED, MarkdownText, client_of, loaded_lines
from engine.stores.roots import read_corpus
from tests.engine.builders import put

INDEX = """# Memory index

<!-- kept by hand -->

## Build
- Run `make ship` only
  after the tests
- [Ship](ship.md) — how to ship
- See also:
  - [Beta](beta.md)
- [Ship](ship.md) · [Beta](beta.md)
- `ship.md`: the same note
- [[ship]] the same note

## User feedback
Never push without asking.
Ask once.

| note | about |
| --- | --- |
| [Ship](ship.md) | shipping |

- Prose that leads to [Ship](ship.md) is an entry
---
- ok
```sh
make ship
```
"""


def read(root: Path, text: str = INDEX) -> list[Memory]:
    for name in ("ship", "beta"):
        (root / f"{name}.md").write_text(f"Text of {name}", encoding="utf-8")
    (root / "MEMORY.md").write_text(text, encoding="utf-8")
    corpus = read_corpus(str(root))
    assert (corpus.skipped, corpus.notices) == ((), ())
    return [one for one in corpus.memories if one.summary.id.startswith("MEMORY#")]


def test_bullets_and_texts_without_a_link_are_memories_with_their_heading(tmp_path: Path) -> None:
    build, feedback, ok = read(tmp_path)
    assert build.summary.title == "Build: Run `make ship` only after the tests"
    assert build.sections == (Section("Build", ("Run `make ship` only", "  after the tests")),)
    assert (build.summary.category, build.summary.path) == ("project", f"{tmp_path}/MEMORY.md:6")
    assert feedback.summary.title == "User feedback: Never push without asking. Ask once."
    assert feedback.summary.category == "user"
    assert ok.body.splitlines() == ["ok", "```sh", "make ship", "```"]
    after = read(tmp_path, INDEX.replace("## Build\n", "## Build\n- Another fact\n"))
    assert {one.summary.id for one in (build, feedback, ok)} < {one.summary.id for one in after}
    for text in ("", "# Memory\n\n- [Ship](ship.md)\n", "# Memory\n\n---\n"):
        assert read(tmp_path, text) == [], "a list without facts is no problem"


def test_facts_behind_the_cut_are_not_loaded(tmp_path: Path) -> None:
    lines = [f"- fact number {number}\n" for number in range(1, 251)]
    (tmp_path / "MEMORY.md").write_text("".join(lines), encoding="utf-8")
    memories = read_corpus(str(tmp_path)).memories
    assert [one.summary.is_loaded for one in memories] == [True] * 200 + [False] * 50
    long = "".join(f"- {number} {'word ' * 100}\n" for number in range(100))
    (tmp_path / "MEMORY.md").write_text(long, encoding="utf-8")
    assert sum(one.summary.is_loaded for one in read_corpus(str(tmp_path)).memories) == 25_000 // 504


RULE = "---\ndescription: How we test\n{}\n---\nRun pytest.\n\n## Slow tests\nThey need docker.\n"
FILES = [
    ("CLAUDE.md", "# P\n\nThis file provides guidance to X for\nwork here.\n\n## Slow tests\nx\n", "Claude Code", True),
    ("GEMINI.md", "## Slow tests\nx\n", "Gemini CLI", True),
    (".github/copilot-instructions.md", "## Slow tests\nx\n", "Copilot", True),
    (".cursor/rules/api/a.mdc", RULE.format("alwaysApply: true"), "Cursor", True),
    (".cursor/rules/a.mdc", RULE.format("globs: *.py\nalwaysApply: false"), "Cursor", False),
    (".windsurf/rules/a.md", "## Slow tests\nx\n", "Windsurf", True),
    (".clinerules/a.md", "## Slow tests\nx\n", "Cline", True),
    (".claude/rules/a.md", RULE.format("paths: src/**"), "Claude Code", False),
]
"""A file, its text, the client that loads it, and whether it does so by itself."""


@pytest.mark.parametrize(("name", "text", "client", "is_loaded"), FILES)
def test_rules_of_clients_are_cut_by_their_sections(
    tmp_path: Path, name: str, text: str, client: str, is_loaded: bool
) -> None:
    put(tmp_path / name, text)
    memories = read_corpus(str(tmp_path / name)).memories
    assert memories[-1].summary.title == "Slow tests"
    assert {one.summary.category for one in memories} == {"instruction"}
    assert not any("This file provides guidance" in one.body for one in memories)
    assert {one.summary.is_loaded for one in memories} == {is_loaded}
    assert client_of(str(tmp_path / name)) == client
    if text.startswith("---"):
        assert memories[0].summary.title == "How we test"


def test_every_file_of_the_table_is_known_by_its_client() -> None:
    for client, files in LOADED:
        for file in files:
            path = f"/p/{file.replace('*', 'x')}"
            assert client_of(path) == client
            assert loaded_lines(MarkdownText(path, ["text"])) == (0 if path.endswith(".mdc") else 1)
    assert client_of("/p/README.md") == ""


def test_what_is_no_memory_is_counted_by_its_reason(tmp_path: Path) -> None:
    files = {
        "a.md": "# A\n\ntext",
        "README.md": "About these notes",
        "one/README.md": "The only note of its folder",
        "templates/daily.md": "# {{title}}",
        "t.md": "<% tp.date.now() %>",
        "d.excalidraw.md": "drawing",
        **dict.fromkeys(("a.bak.md", "b/c.orig.md", "d.rej.md", "e~.md", "baker.md"), "text"),
        "e1.md": "",
        "e2.md": " \n",
    }
    for name, text in files.items():
        put(tmp_path / name, text)
    corpus = read_corpus(str(tmp_path))
    assert [one.summary.id for one in corpus.memories] == ["a", "baker", "one/README"]
    assert [one.summary.id for one in read_corpus(str(tmp_path / "a.bak.md")).memories] == ["a.bak"]
    reasons = [(one.where, one.reason) for one in corpus.skipped]
    assert ("2 files", "are empty") in reasons
    assert ("4 files", "are backups") in reasons
    assert ("2 files", "are templates") in reasons
    assert ("README.md", "describes the notes beside it") in reasons
    assert ("d.excalidraw.md", "is a drawing") in reasons
