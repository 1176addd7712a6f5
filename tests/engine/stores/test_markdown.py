"""Reading Markdown: vaults, notes of basic-memory, CLAUDE.md and AGENTS.md, memsearch and Codex."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.inject import entry
from engine.memory import Corpus, Memory, Section, Skipped
from engine.stores.markdown import store as markdown
from engine.stores.markdown.parts import TYPES
from engine.stores.roots import read_corpus
from tests.engine.builders import put

BASIC = """---
title: Alice Chen
type: Person
tags: [engineering, drift-test]
permalink: people/alice-chen
created: 2026-01-05
modified: "2026-02-01T10:00:00Z"
---
## Observations
- [expertise] Backend systems #jwt (since 2020)
- [ ] call her
- [x] met her
- [her page](https://example.org)
## Relations
- works_at [[Acme Corp]]
```python
# not a heading
#include this
```
"""

CLAUDE = """# Project

We use make.

## Testing

Run `pytest -q`.

### Slow tests

They need docker.

```sh
# start it
docker compose up
```

## Empty

## Style
- tabs
## Style
- and spaces
"""

DAILY = """## Session 14:30

### 14:30
<!-- session:abc123def turn:ghi789jkl transcript:/home/user/.claude/projects/p/abc123def.jsonl -->
- Implemented caching system with Redis L1 and in-process LRU L2
  and a fallback
- Decided to use Prometheus counters

### 15:05
<!-- session:abc123def turn:x -->
- Decided to use Prometheus counters
"""

RAW = r"""# Raw Memories

Merged stage-1 raw memories (stable ascending thread-id order):

## Thread `019fcb94`
updated_at: 2026-08-04T10:40:59+00:00
cwd: \\?\C:\Users\u\.codex
rollout_path: C:\rollout-019fcb94.jsonl

---
description: routers
task: router-cleanup
 task_group: codex-maintenance
 task_outcome: success
keywords: routers, live routes
---

### Task 1: clean the router
Preference signals:
- The user asked to "look first" -> inspect live routes
Reusable knowledge:
- Routes are cached for 5 minutes
Failures and how to do differently:
- Deleting a route needs a restart

## Thread `older`

### Task 1: no keys at all
Reusable knowledge:
- The linter is slow
"""

MEMORY = """# Task Group: router work
scope: the router
applies_to: cwd=/home/u; reuse_rule=same repository

## Task 1: clean it
### rollout_summary_files
- 2026-08-04.md (cwd=/home/u, thread_id=019f)
### keywords
routers, live routes

## User preferences
- look before you delete [Task 1]

## Reusable knowledge
- routes are cached [Task 1]

## Failures and how to do differently
- a restart was needed [Task 1]

# Task Group: other
## Reusable knowledge
- unrelated
"""


def read(root: Path) -> Corpus:
    return read_corpus(str(root))


def read_all(root: Path, name: str, text: str) -> list[Memory]:
    """The memories of a single file in a folder, none of which is skipped."""
    put(root / name, text)
    corpus = read(root)
    assert corpus.skipped == ()
    return list(corpus.memories)


def test_a_note_of_basic_memory_is_one_memory(tmp_path: Path) -> None:
    (one,) = read_all(tmp_path, "people/alice.md", BASIC)
    summary = one.summary
    assert (summary.id, summary.title, summary.category) == ("people/alice", "Alice Chen", "person")
    assert summary.tags == ("engineering", "drift-test", "expertise", "jwt")
    assert (summary.created_at, summary.updated_at) == ("2026-01-05", "2026-02-01T10:00:00Z")
    assert (summary.path, summary.status) == (f"{tmp_path}/people/alice.md", "active")
    assert [section.heading for section in one.sections] == ["Observations", "Relations"]
    assert one.sections[1].lines == ("- works_at [[Acme Corp]]", "```python", "# not a heading", "#include this", "```")


def test_title_and_tags_of_a_note(tmp_path: Path) -> None:
    for text, title, tags in [
        ("plain text only", "cache-rules", ()),
        ("\n# The cache\n\ntext", "The cache", ()),
        ("text\n# Later heading", "cache-rules", ()),
        ("---\ndescription: How we cache\n---\ntext", "How we cache", ()),
        ("---\ntags:\n  - one\n  - '#two'\n---\ntext", "cache-rules", ("one", "two")),
        ("---\ntags: one, two\naliases: [x]\n---\n#three, and #4 C# x#y ##", "cache-rules", ("one", "two", "three")),
        ("---\ntags:\ntitle: [draft] cache\n---\ntext", "[draft] cache", ()),
        ("---\ntitle: open\n\ntext", "cache-rules", ()),
        ("---\n---\n---\n", "cache-rules", ()),
    ]:
        (one,) = read_all(tmp_path, "cache-rules.md", text)
        assert (one.summary.title, one.summary.tags, one.summary.category) == (title, tags, "note"), text
    statuses = {"superseded": "retired", "Rejected": "retired", "archived": "archived", "open": "active"}
    for status, expected in statuses.items():
        (one,) = read_all(tmp_path, "cache-rules.md", f"---\ntype: decision\nstatus: {status}\n---\ntext")
        assert (one.summary.category, one.summary.status) == ("decision", expected), status


def test_a_vault_is_read_through_its_folders_but_not_through_hidden_folders_and_links(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    put(outside / "secret.md", "SECRET")
    hidden = (".obsidian/c.md", "x/.trash/d.md", "node_modules/e.md", ".f.md")
    for name in ("b.md", "x/a.md", "x/y/A.MD", *hidden, "g.txt"):
        put(root / name, "text")
    put(root / "empty.md", " \n")
    put(root / "latin.md", b"caf\xe9")
    put(root / "huge.md", b"x" * 1_000_001)
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "self.md").symlink_to(root / "self.md")
    (root / "folder.md").mkdir()
    (root / "linked").symlink_to(outside)
    (root / "loop").symlink_to(root)
    corpus = read(root)
    assert [one.summary.id for one in corpus.memories] == ["b", "x/a", "x/y/A"]
    link = "is a link to a folder; name that folder with --root to read it"
    assert {one.where: one.reason for one in corpus.skipped} == {
        "loop": link,
        "linked": link,
        "empty.md": "is empty",
        "latin.md": "is not UTF-8 text",
        "huge.md": "is larger than 1,000 kB",
        "link.md": "points outside the root",
        "self.md": "cannot be read (Too many levels of symbolic links)",
        "folder.md": "is not a file",
    }


def test_too_deep_folders_and_too_many_notes_are_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = "/".join("x" * (markdown.MOST_DEPTH + 1))
    put(tmp_path / f"{deep}/deep.md", "text")
    put(tmp_path / f"{deep[2:]}/less.md", "text")
    corpus = read(tmp_path)
    assert [one.summary.id for one in corpus.memories] == [f"{deep[2:]}/less"]
    assert corpus.skipped == (Skipped(deep, "lies more than 12 folders deep"),)
    monkeypatch.setattr(markdown, "MOST_FILES", 2)
    for name in "abc":
        put(tmp_path / f"{name}.md", "text")
    corpus = read(tmp_path)
    assert [one.summary.title for one in corpus.memories] == ["a", "b"]
    assert corpus.skipped[-1].reason == "holds more than 2 notes or 5,000 folders; the rest is not read"


def test_each_section_of_an_instruction_file_is_a_memory(tmp_path: Path) -> None:
    for name in ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"):
        put(tmp_path / name, CLAUDE)
        corpus = read_corpus(str(tmp_path / name))
        assert corpus.skipped == ()
        assert [(one.summary.id.partition("#")[2], one.summary.title) for one in corpus.memories] == [
            ("we-use-make", "We use make."),
            ("testing", "Testing"),
            ("testing-slow-tests", "Testing > Slow tests"),
            ("style", "Style"),
            ("style-2", "Style"),
        ]
    slow = corpus.memories[2]
    assert (slow.summary.path, slow.summary.file) == (f"{tmp_path / name}:9", str(tmp_path / name))
    assert (slow.summary.id, slow.summary.category) == ("AGENTS#testing-slow-tests", "instruction")
    assert slow.sections[0].lines[-3:] == ("# start it", "docker compose up", "```")
    put(tmp_path / "AGENTS.md", "- use uv\n- no pip\n")
    (one,) = read_corpus(str(tmp_path / "AGENTS.md")).memories
    assert (one.summary.title, one.body) == ("- use uv", "- use uv\n- no pip")


def test_each_bullet_of_a_day_of_memsearch_is_a_memory_with_its_time(tmp_path: Path) -> None:
    put(tmp_path / "2026-02-09.md", DAILY)
    corpus = read(tmp_path)
    first, second = corpus.memories
    assert first.summary.title == "Implemented caching system with Redis L1 and in-process LRU L2 and a fallback"
    assert first.summary.created_at == "2026-02-09T14:30:00"
    assert (second.summary.title, second.sections) == ("Decided to use Prometheus counters", ())
    assert second.summary.path == f"{tmp_path}/2026-02-09.md:7"
    assert [one.where for one in corpus.skipped] == ["2026-02-09.md"]
    assert "a second time" in corpus.skipped[0].reason
    put(tmp_path / "2026-02-09.md", "# Monday\n- bought milk\n- slept\n")
    (one,) = read(tmp_path).memories
    assert (one.summary.id, one.summary.title) == ("2026-02-09", "Monday"), "a note of another program"


def test_each_bullet_of_codex_is_a_memory_that_keeps_its_id_when_others_come_and_go(tmp_path: Path) -> None:
    memories = read_all(tmp_path, "raw_memories.md", RAW)
    assert [(one.summary.category, one.summary.title) for one in memories] == [
        ("preference", 'The user asked to "look first" -> inspect live routes'),
        ("reference", "Routes are cached for 5 minutes"),
        ("feedback", "Deleting a route needs a restart"),
        ("reference", "The linter is slow"),
    ]
    assert memories[0].summary.tags == ("codex-maintenance", "routers", "live routes")
    assert memories[0].summary.updated_at == "2026-08-04T10:40:59+00:00"
    assert memories[0].sections == (Section("Preference signals", ()),)
    assert (memories[3].summary.tags, memories[3].summary.updated_at) == ((), "")
    before = {one.summary.title: one.summary.id for one in memories}
    more = RAW.replace("Reusable knowledge:\n", "Reusable knowledge:\n- Something new\n", 1)
    after = {one.summary.title: one.summary.id for one in read_all(tmp_path, "raw_memories.md", more)}
    assert after.keys() - before.keys() == {"Something new"}
    assert {title: after[title] for title in before} == before


def test_codex_memory_lists_files_and_keywords_that_are_no_memories(tmp_path: Path) -> None:
    put(tmp_path / "raw_memories.md", RAW)
    put(tmp_path / "MEMORY.md", MEMORY)
    put(tmp_path / "memory_summary.md", "v1\n\n## User profile\nLikes short answers.\n")
    memories = [one for one in read(tmp_path).memories if not one.summary.id.startswith("raw_")]
    assert [(one.summary.category, one.summary.title, one.summary.tags) for one in memories] == [
        ("preference", "look before you delete [Task 1]", ("router work", "routers", "live routes")),
        ("reference", "routes are cached [Task 1]", ("router work", "routers", "live routes")),
        ("feedback", "a restart was needed [Task 1]", ("router work", "routers", "live routes")),
        ("reference", "unrelated", ("other",)),
        ("instruction", "User profile", ()),
    ]


PIECES = (
    *("-:#`\"' \n\ra\0\u2028é[]"),
    *("---\n", "name: ", "type:", "tags:", "```", "\n- ", "\n## ", "<!-- session:", "# Task Group:", "v1"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(
        ["note.md", "CLAUDE.md", "2026-01-01.md", "raw_memories.md", "memory_summary.md", "MEMORY.md"]
    ),
    text=st.lists(st.sampled_from(PIECES), max_size=25).map(lambda parts: "".join(parts).encode())
    | st.binary(max_size=30),
)
def test_any_file_gives_memories_or_a_reason_also_in_auto_memory(tmp_path: Path, name: str, text: bytes) -> None:
    path, folder = tmp_path / name, tmp_path / "projects/-p/memory"
    put(path, text)
    put(folder / "note.md", text)
    corpus, auto_memory = read_corpus(str(path)), read_corpus(str(folder))
    assert corpus.memories or corpus.skipped or not text.strip()
    ids = [one.summary.id for one in corpus.memories]
    assert len(ids) == len({*ids})
    assert len(auto_memory.memories) + len(auto_memory.skipped) == 1
    assert {one.summary.category for one in auto_memory.memories} <= {*TYPES}
    for one in (*corpus.memories, *auto_memory.memories):
        assert one.summary.title == " ".join(one.summary.title.split()) != ""
        assert entry(one.summary, "high").isprintable()
