"""What a root is follows from what is in it, and only the formats in it are loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.paths import root_key
from engine.stores.registry import format_of
from engine.stores.roots import read_corpus
from tests.engine.builders import put

TYPED = "---\nname: a\ndescription: b\nmetadata: \n  node_type: memory\n  type: feedback\n---\nText\n"
GRAPH = '{"type":"relation","from":"a","to":"b","relationType":"uses"}\n'
LIST = "- [DECISION] A -> notes/a.json #tags:a\n"

SHOWN = [
    ({}, "auto_memory"),
    ({"notes.txt": "x", ".hidden.md": "x"}, "auto_memory"),
    ({"README.md": "About these memories"}, "auto_memory"),
    ({"index.md": "# Memory Index"}, "claude_memory"),
    ({"decisions/none.txt": ""}, "claude_memory"),
    ({"index.md": LIST}, "claude_memory"),
    ({"decisions/a.json": "{}", "README.md": "x"}, "claude_memory"),
    ({"index.md": "# Welcome\n\n- [home](a.md)\n", "a.md": "x"}, "markdown"),
    ({"index.md": "# Welcome", "decisions/a.md": "x"}, "markdown"),
    ({"topics/a.md": "x"}, "markdown"),
    ({"claude-mem.db": ""}, "claude_mem"),
    ({"rows.jsonl": ""}, "jsonl"),
    ({"memory.json": GRAPH}, "jsonl"),
    ({"memory.json": "{}"}, "auto_memory"),
    ({"MEMORY.md": "x", "memory-config.json": "{}"}, "auto_memory"),
    ({"a.md": TYPED, "b.md": TYPED, "c.md": "x"}, "auto_memory"),
    ({"a.md": TYPED, "b.md": "x"}, "markdown"),
    ({"MEMORY.md": "x", "raw_memories.md": "x"}, "markdown"),
    ({"decisions/a.json": "{}", "MEMORY.md": "x", "rows.jsonl": ""}, "claude_memory+auto_memory+jsonl"),
]
"""Files of a folder, and its formats."""

BY_PATH = [
    ("p/.claude/memory", "note.md", "auto_memory"),
    ("p/.claude/memory", "", "auto_memory"),
    ("projects/-home-me-app/memory", "note.md", "auto_memory"),
    ("projects/-home-me-app/memory", "", "auto_memory"),
    (".claude/agent-memory/reviewer", "note.md", "auto_memory"),
    ("projects/memory", "note.md", "markdown"),
    (".codex/memories", "MEMORY.md", "markdown"),
    ("vault/daily", "note.md", "markdown"),
    ("projects/-home-me-app/memory", "decisions/a.json", "claude_memory"),
]
"""The end of a root's path, the file in it, and its format: the path counts where files leave it open."""


def write(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        put(root / name, text)
    return str(root.resolve())


@pytest.mark.parametrize(("files", "expected"), SHOWN)
def test_the_files_in_a_root_show_its_formats(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert format_of(write(tmp_path, files)) == expected


@pytest.mark.parametrize(("path", "file", "expected"), BY_PATH)
def test_the_path_counts_where_the_files_leave_it_open(tmp_path: Path, path: str, file: str, expected: str) -> None:
    (tmp_path / path).mkdir(parents=True)
    assert format_of(write(tmp_path / path, {file: "text"} if file else {})) == expected


def test_a_file_can_be_a_root_and_a_folder_that_cannot_be_listed_is_a_new_one(tmp_path: Path) -> None:
    for name in ("CLAUDE.md", "a.markdown", "style.mdc", ".clinerules"):
        assert format_of(write(tmp_path, {name: ""}) + f"/{name}") == "markdown", name
    for name in ("rows.jsonl", "memory.json"):
        assert format_of(write(tmp_path, {name: ""}) + f"/{name}") == "jsonl", name
    for name in ("index.txt", "decisions", "settings.json"):
        assert format_of(write(tmp_path, {name: ""}) + f"/{name}") == "", name
    assert format_of(str(tmp_path / "gone")) == "auto_memory"


def test_all_kinds_of_memories_in_a_folder_are_read(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "## Build\n- `make ship` deploys\n- [Note](note.md)\n",
        "note.md": TYPED,
        "decisions/use-jwt.json": '{"id": "use-jwt", "title": "Use JWT", "content": {"decision": "yes"}}',
        "memory.json": GRAPH,
    }
    corpus = read_corpus(write(tmp_path / ".claude/memory", files))
    titles = [one.summary.title for one in corpus.memories]
    assert titles == ["Build: `make ship` deploys", "Use JWT", "a uses b", "b"]
    assert (corpus.skipped, corpus.notices) == ((), ())


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
@pytest.mark.parametrize(
    ("folder", "suffix", "broken"), [("decisions/", "json", b"not json"), ("", "md", b"\xff")], ids=["JSON", "Markdown"]
)
def test_a_name_that_is_not_utf_8_is_shown_with_replacement_characters(
    tmp_path: Path, folder: str, suffix: str, broken: bytes
) -> None:
    put(tmp_path / folder / os.fsdecode(b"a\xff." + suffix.encode()), "{}")
    put(tmp_path / folder / os.fsdecode(b"b\xff." + suffix.encode()), broken)
    corpus = read_corpus(str(tmp_path))
    (one,) = corpus.memories
    assert one.summary.id == "a\ufffd"
    assert one.summary.path.endswith(f"/{folder}a\ufffd.{suffix}")
    assert [one.where for one in corpus.skipped] == [f"{folder}b\ufffd.{suffix}"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "there is no file in it"),
        ({"a.txt": "", "b.txt": "", "x/c.pdf": "", "README.md": ""}, "(2 *.txt, 1 *.pdf, 1 README.md) none is read"),
        ({"README.md": "About these memories"}, "(1 README.md) none is read"),
        ({"use-jwt.json": "{}"}, "(1 *.json) none is read. memsift reads Markdown (*.md, *.mdc), JSON Lines"),
    ],
)
def test_a_folder_without_memories_says_why(tmp_path: Path, files: dict[str, str], said: str) -> None:
    (reason,) = read_corpus(write(tmp_path, files)).skipped
    assert reason.reason.startswith("holds no memories: ")
    assert said in reason.reason


def test_a_root_loads_no_other_format(tmp_path: Path) -> None:
    code = "import sys; from engine.stores.registry import store_of; store_of(sys.argv[1]); print(*sys.modules)"
    root = write(tmp_path, {"MEMORY.md": ""})
    done = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("engine.stores.")}
    of_markdown = {f"markdown.{name}" for name in ("store", "parts", "text", "front_matter", "auto_memory")}
    assert loaded == {f"engine.stores.{name}" for name in {"registry", "files", "roots", "markdown", *of_markdown}}


# A root and its places, and what is said when it cannot be used


def test_a_root_that_is_none_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RootNotFoundError, match=f"no folder {tmp_path}/gone. Name one with --root"):
        read_corpus(str(tmp_path / "gone"))
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(RootNotFoundError):
        read_corpus(str(tmp_path / "dangling"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RootUnreadableError, match="file is not a folder"):
        read_corpus(str(tmp_path / "file"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_root_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir(mode=0o000)
    with pytest.raises(RootUnreadableError, match="cannot be read"):
        read_corpus(str(tmp_path / "root"))


def test_a_root_key_names_the_project_and_never_two_roots(tmp_path: Path) -> None:
    first, second = tmp_path / "My Proj/.claude/memory", tmp_path / "other/My Proj/.claude/memory"
    assert root_key(str(first)).startswith("My-Proj-")
    assert root_key(str(first)) != root_key(str(second))
    assert root_key("/").startswith("root-")
    assert "/" not in root_key(str(tmp_path / ("x" * 200)))
    assert len(root_key(str(tmp_path / ("x" * 200)))) == 53
