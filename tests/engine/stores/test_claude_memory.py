"""Reading claude-memory roots: the good, the broken and the hostile."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.inject import entry
from engine.lean.record import fields, replace
from engine.memory import Corpus, Memory, MemorySummary, Section, Skipped
from engine.opening import index_of
from engine.stores.roots import read_corpus
from tests.engine.builders import document, memory, write_memory, write_root

ANY_TEXT = st.text(alphabet=st.characters(), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)
FIELDS = st.sampled_from(["category", "id", "title", "tags", "record_status", "created_at", "updated_at", "content"])

BROKEN = {
    "empty": (b"", "is not valid JSON"),
    "cut": (b"{", "is not valid JSON"),
    "list": (b"[1, 2]", "holds no JSON object"),
    "null": (b"null", "holds no JSON object"),
    "text": (b'"text"', "holds no JSON object"),
    "latin": (b'{"title": "\xff\xfe"}', "is not UTF-8 text"),
    "utf-16": ("{}".encode("utf-16"), "is not UTF-8 text"),
    "deep lists": (b"[" * 100_000, "is not valid JSON (nested too deeply)"),
    "deep objects": (b'{"content":' * 50_000, "is not valid JSON (nested too deeply)"),
    "long number": (b'{"content": ' + b"9" * 5000 + b"}", "is not valid JSON"),
    "huge": (b'{"title": "' + b"x" * 1_000_000 + b'"}', "is larger than 1,000 kB"),
    "nul": (b'{"a": "\x00"}', "is not valid JSON"),
}


def read(root: Path) -> Corpus:
    return read_corpus(str(root))


def write_raw(root: Path, name: str, raw: bytes | str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)


def index_line(root: Path, *targets: str) -> None:
    write_raw(root, "index.md", "".join(f"- [DECISION] A title -> {target} #tags:a,b\n" for target in targets))


def titles(corpus: Corpus) -> list[str]:
    return [one.summary.title for one in corpus.memories]


def reasons(corpus: Corpus) -> dict[str, str]:
    return {one.where: one.reason for one in corpus.skipped}


def test_a_root_is_read_with_every_field(tmp_path: Path) -> None:
    one = memory("Use JWT", "auth", "jwt", body="stateless\ntokens", category="constraint", status="retired")
    corpus = read(write_root(tmp_path, [one]))
    path = tmp_path.resolve() / "constraints/Use-JWT.json"
    assert corpus.memories == (Memory(replace(one.summary, file=str(path)), one.sections),)
    assert corpus.skipped == ()


def test_memories_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write_root(tmp_path, [memory("B"), memory("A"), memory("C", category="runbook")])
    assert titles(read(tmp_path)) == ["A", "B", "C"]


def test_files_count_without_an_index_and_an_index_adds_other_folders(tmp_path: Path) -> None:
    write_memory(tmp_path, memory("Not listed"))
    write_raw(tmp_path, "notes/extra.json", json.dumps(document(memory("Listed"))))
    index_line(tmp_path, ".claude/memory/notes/extra.json", "notes/extra.json", "notes/../notes/extra.json")
    corpus = read(tmp_path)
    assert titles(corpus) == ["Not listed", "Listed"]
    assert corpus.skipped == ()


def test_content_becomes_sections_of_readable_lines(tmp_path: Path) -> None:
    content = {
        "status": "accepted",
        "decision": "Line one\nLine two",
        "rationale": ["fast", "", "many\nlines"],
        "alternatives": [{"option": "Sessions", "rejected_reason": "state"}, {"option": None}, {}],
        "limits": {"max_users": 3, "note": None, "allowed": ["read", "write"]},
        "nothing": None,
        "empty": [],
    }
    write_raw(tmp_path, "decisions/a.json", json.dumps({"title": "A", "content": content}))
    assert read(tmp_path).memories[0].sections == (
        Section("Status", ("accepted",)),
        Section("Decision", ("Line one", "Line two")),
        Section("Rationale", ("- fast", "- many", "  lines")),
        Section("Alternatives", ("- Sessions — state",)),
        Section("Limits", ("Max users: 3", "Allowed: read; write")),
    )


def test_what_is_missing_is_taken_from_the_file_name_and_the_folder(tmp_path: Path) -> None:
    write_raw(tmp_path, "tech-debt/old-parser.json", "{}")
    summary = read(tmp_path).memories[0].summary
    assert (summary.id, summary.title, summary.category) == ("old-parser", "old-parser", "tech_debt")
    assert (summary.status, summary.tags, summary.updated_at) == ("active", (), "")
    assert summary.path == ".claude/memory/tech-debt/old-parser.json"


def test_a_field_of_the_wrong_type_counts_as_missing(tmp_path: Path) -> None:
    for wrong in [None, True, 3, 1.5, [], {}, ["x"], {"x": 1}, "", "   "]:
        for field in ["category", "id", "title", "tags", "record_status", "created_at", "updated_at"]:
            write_raw(tmp_path, "runbooks/deploy.json", json.dumps({**document(memory("T", "t")), field: wrong}))
            corpus = read(tmp_path)
            assert corpus.skipped == (), (wrong, field)
            expected = {
                "category": "runbook", "id": "deploy", "title": "deploy", "record_status": "active",
                "tags": ("x",) if wrong == ["x"] else (), "created_at": "", "updated_at": "",
            }[field]  # fmt: skip
            name = {"record_status": "status"}.get(field, field)
            assert fields(corpus.memories[0].summary)[name] == expected, (wrong, field)


def test_titles_and_tags_are_put_on_one_line_and_tags_occur_once(tmp_path: Path) -> None:
    record = {"title": "  A\ntitle \t here ", "tags": [" x ", "x", "", 3, None, "two\nwords"]}
    write_raw(tmp_path, "decisions/a.json", json.dumps(record))
    summary = read(tmp_path).memories[0].summary
    assert (summary.title, summary.tags) == ("A title here", ("x", "two words"))


def test_a_file_that_cannot_be_used_is_skipped_with_the_reason(tmp_path: Path) -> None:
    for name, (raw, reason) in BROKEN.items():
        write_raw(tmp_path, "decisions/broken.json", raw)
        write_memory(tmp_path, memory("Good"))
        corpus = read(tmp_path)
        assert titles(corpus) == ["Good"], name
        assert [one.where for one in corpus.skipped] == ["decisions/broken.json"], name
        assert corpus.skipped[0].reason.startswith(reason), name
        assert "\n" not in corpus.skipped[0].reason, name


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    write_raw(tmp_path, "decisions/a.json", json.dumps({"title": "A"}).encode("utf-8-sig"))
    assert titles(read(tmp_path)) == ["A"]


def test_content_nested_deeper_than_six_levels_is_cut_there(tmp_path: Path) -> None:
    deep: object = "treasure"
    for _ in range(500):
        deep = [deep]
    write_raw(tmp_path, "decisions/deep.json", json.dumps({"content": {"a": "seen", "b": deep}}))
    assert read(tmp_path).memories[0].body == "seen"


def test_the_second_of_two_files_of_the_same_age_with_an_id_is_skipped(tmp_path: Path) -> None:
    write_raw(tmp_path, "decisions/a.json", json.dumps({"id": "same", "title": "First"}))
    write_raw(tmp_path, "runbooks/b.json", json.dumps({"id": "same", "title": "Second"}))
    for path in tmp_path.rglob("*.json"):
        os.utime(path, (1, 1))
    corpus = read(tmp_path)
    assert titles(corpus) == ["First"]
    reason = "has the id 'same' of decisions/a.json, which is used in its place"
    assert corpus.skipped == (Skipped("runbooks/b.json", reason, "same"),)


def test_a_duplicate_with_a_huge_id_has_a_short_reason(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_raw(tmp_path, f"decisions/{name}.json", json.dumps({"id": "x" * 100_000}))
    assert len(read(tmp_path).skipped[0].reason) < 200


LEADING_OUT = (
    *("../secret.json", ".claude/memory/../../secret.json", "decisions/../../secret.json", "decisions/link.json"),
    *("linked/secret.json", "{outside}/secret.json", "/etc/passwd", "/dev/zero"),
)


def test_an_index_line_that_leads_out_of_the_root_is_skipped(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "decisions").mkdir(parents=True)
    write_raw(tmp_path, "outside/secret.json", json.dumps({"title": "SECRET"}))
    write_raw(tmp_path, "secret.json", json.dumps({"title": "SECRET"}))
    (root / "decisions/link.json").symlink_to(tmp_path / "secret.json")
    (root / "linked").symlink_to(tmp_path / "outside")
    for target in LEADING_OUT:
        index_line(root, target.format(outside=tmp_path / "outside"))
        corpus = read(root)
        assert corpus.memories == (), target
        assert reasons(corpus)["index.md:1"].startswith("points outside the root: "), target


def test_files_and_folders_that_are_links_out_of_the_root_are_skipped(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "decisions").mkdir(parents=True)
    write_raw(outside, "secret.json", json.dumps({"title": "SECRET"}))
    (root / "decisions/link.json").symlink_to(outside / "secret.json")
    (root / "runbooks").symlink_to(outside)
    (root / "constraints").symlink_to(root / "nowhere")
    write_raw(outside, "index.md", "- [DECISION] A -> decisions/a.json\n")
    (root / "index.md").symlink_to(outside / "index.md")
    corpus = read(root)
    assert corpus.memories == ()
    assert reasons(corpus) == {
        "decisions/link.json": "points outside the root",
        "runbooks": "points outside the root",
        "constraints": "cannot be listed (No such file or directory)",
        "index.md": "points outside the root",
    }


def test_a_link_within_the_root_is_followed(tmp_path: Path) -> None:
    write_raw(tmp_path, "store/a.json", json.dumps({"id": "a", "title": "A"}))
    (tmp_path / "decisions").symlink_to(tmp_path / "store")
    assert titles(read(tmp_path)) == ["A"]


def test_loops_of_links_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "decisions").mkdir()
    (tmp_path / "decisions/loop.json").symlink_to(tmp_path / "decisions/loop.json")
    (tmp_path / "decisions/up").symlink_to(tmp_path)
    (tmp_path / "runbooks").symlink_to(tmp_path / "constraints")
    (tmp_path / "constraints").symlink_to(tmp_path / "runbooks")
    corpus = read(tmp_path)
    assert corpus.memories == ()
    assert set(reasons(corpus)) == {"decisions/loop.json", "runbooks", "constraints"}


def test_a_folder_or_a_pipe_named_like_a_memory_is_skipped_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "decisions/folder.json").mkdir(parents=True)
    os.mkfifo(tmp_path / "decisions/pipe.json")
    (tmp_path / "runbooks").write_text("a file", encoding="utf-8")
    assert reasons(read(tmp_path)) == {
        "decisions/folder.json": "is not a file",
        "decisions/pipe.json": "is not a file",
        "runbooks": "cannot be listed (Not a directory)",
    }


def test_an_index_line_without_a_file_is_skipped(tmp_path: Path) -> None:
    index_line(tmp_path, "decisions/gone.json")
    assert reasons(read(tmp_path)) == {"decisions/gone.json": "does not exist"}


@pytest.mark.parametrize("target", ["memory-config.json", ".", "index.md", ".claude/memory/"])
def test_a_file_beside_the_index_is_no_memory(tmp_path: Path, target: str) -> None:
    write_raw(tmp_path, "memory-config.json", '{"retrieval": {}}')
    index_line(tmp_path, target)
    corpus = read(tmp_path)
    assert corpus.memories == ()
    assert reasons(corpus)["index.md:1"].startswith("names no file in a category folder")


def test_an_absolute_path_into_the_root_names_the_same_file(tmp_path: Path) -> None:
    write_memory(tmp_path, memory("A"))
    index_line(tmp_path, str(tmp_path.resolve() / "decisions/A.json"))
    corpus = read(tmp_path)
    assert [one.summary.path for one in corpus.memories] == [".claude/memory/decisions/A.json"]
    assert corpus.skipped == ()


def test_other_lines_of_the_index_are_passed_over(tmp_path: Path) -> None:
    for line in ["", "- [", "- [X] no arrow", "# Title -> decisions/a.json", "- [X] a -> ", "\0 -> \0"]:
        write_raw(tmp_path, "index.md", line + "\n")
        corpus = read(tmp_path)
        assert (corpus.memories, corpus.notices) == ((), ()), line
        assert [skipped.where for skipped in corpus.skipped] == ["the root"], line


def test_a_target_with_nul_or_broken_text_is_skipped(tmp_path: Path) -> None:
    write_raw(tmp_path, "index.md", "- [X] a -> decisions/\0.json\n")
    assert reasons(read(tmp_path))["index.md:1"].startswith("points outside the root")
    write_raw(tmp_path, "index.md", b"- [X] a -> \xff.json\n")
    assert reasons(read(tmp_path)) == {"index.md": "is not UTF-8 text"}


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    raw = r'{"id": "\ud800", "title": "a \udfff b", "tags": ["\ud83d"], "content": {"\ud800": "x \udc00"}}'
    write_raw(tmp_path, "decisions/a.json", raw)
    one = read(tmp_path).memories[0]
    assert (one.summary.id, one.summary.title, one.summary.tags) == ("\ufffd", "a \ufffd b", ("\ufffd",))
    assert one.sections == (Section("\ufffd", ("x \ufffd",)),)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
def test_a_file_name_that_is_not_utf_8_is_shown_with_replacement_characters(tmp_path: Path) -> None:
    write_raw(tmp_path, os.fsdecode(b"decisions/a\xff.json"), "{}")
    write_raw(tmp_path, os.fsdecode(b"decisions/b\xff.json"), "not json")
    corpus = read(tmp_path)
    assert corpus.memories[0].summary.path == ".claude/memory/decisions/a\ufffd.json"
    assert corpus.memories[0].summary.id == "a\ufffd"
    assert [one.where for one in corpus.skipped] == ["decisions/b\ufffd.json"]


def test_hidden_and_other_files_are_not_memories(tmp_path: Path) -> None:
    for name in ("decisions/.hidden.json", "decisions/note.txt", "decisions/a.json.tmp", "logs/x.json", "x.json"):
        write_raw(tmp_path, name, "{}")
    assert read(tmp_path).memories == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.dictionaries(FIELDS, JSON, max_size=8) | JSON)
def test_any_json_is_a_memory_that_can_be_indexed_and_injected_or_is_skipped(tmp_path: Path, content: object) -> None:
    write_raw(tmp_path, "decisions/a.json", json.dumps(content))
    corpus = read(tmp_path)
    assert len(corpus.memories) + len(corpus.skipped) == 1
    for one in corpus.memories:
        assert_is_clean(one.summary)
        assert all(isinstance(line, str) and len(line.splitlines()) < 2 for line in one.body.split("\n"))
        one.body.encode()
        assert entry(one.summary, "high").isprintable()
    index = index_of(corpus)
    assert len(index.corpus_hash) == 16
    index.close()


def assert_is_clean(summary: MemorySummary) -> None:
    """Every field has its type, can be encoded, and the title is one line."""
    values = fields(summary)
    texts = [*summary.tags, *(value for name, value in values.items() if name not in ("tags", "risk", "is_loaded"))]
    for text in texts:
        assert isinstance(text, str)
        text.encode()
    assert summary.id
    assert summary.title == " ".join(summary.title.split())
    assert len(summary.digest) == 64
