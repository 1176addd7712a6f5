"""Reading claude-memory roots: the good, the broken and the hostile."""

import json
import os
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.inject import entry
from engine.lean.record import fields, replace
from engine.memory import Corpus, Memory, Section
from engine.opening import index_of
from engine.stores.roots import read_corpus
from tests.engine.builders import document, memory, put, write_memory, write_root

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


def index_line(root: Path, *targets: str) -> None:
    put(root / "index.md", "".join(f"- [DECISION] A title -> {target} #tags:a,b\n" for target in targets))


def reasons(corpus: Corpus) -> dict[str, str]:
    return {one.where: one.reason for one in corpus.skipped}


def test_a_root_is_read_with_every_field(tmp_path: Path) -> None:
    one = memory("Use JWT", "auth", "jwt", body="stateless\ntokens", category="constraint", status="retired")
    corpus = read(write_root(tmp_path, [one]))
    path = tmp_path.resolve() / "constraints/Use-JWT.json"
    assert corpus.memories == (Memory(replace(one.summary, file=str(path)), one.sections),)
    assert corpus.skipped == ()


def test_files_count_without_an_index_and_an_index_adds_other_folders(tmp_path: Path) -> None:
    write_memory(tmp_path, memory("Not listed"))
    put(tmp_path / "notes/extra.json", json.dumps(document(memory("Listed"))))
    put(tmp_path / "store/a.json", json.dumps({"id": "a", "title": "Linked"}))
    (tmp_path / "runbooks").symlink_to(tmp_path / "store")
    absolute = str(tmp_path.resolve() / "decisions/Not-listed.json")
    index_line(tmp_path, ".claude/memory/notes/extra.json", "notes/extra.json", "notes/../notes/extra.json", absolute)
    for name in ("decisions/.hidden.json", "decisions/note.txt", "decisions/a.json.tmp", "logs/x.json", "x.json"):
        put(tmp_path / name, "{}")
    corpus = read(tmp_path)
    assert [one.summary.title for one in corpus.memories] == ["Not listed", "Listed", "Linked"]
    assert corpus.skipped == ()


def test_content_becomes_sections_of_readable_lines(tmp_path: Path) -> None:
    content = {
        "status": "accepted",
        "decision": "Line one\nLine two",
        "rationale": ["fast", "", "many\nlines"],
        "alternatives": [{"option": "Sessions", "rejected_reason": "state"}, {"option": None}, {}],
        "limits": {"max_users": 3, "note": None, "allowed": ["read", "write"]},
        "nothing": None,
        "deep": json.loads("[" * 500 + '"too deep"' + "]" * 500),
        "empty": [],
    }
    put(tmp_path / "decisions/a.json", json.dumps({"title": "A", "content": content}))
    assert read(tmp_path).memories[0].sections == (
        Section("Status", ("accepted",)),
        Section("Decision", ("Line one", "Line two")),
        Section("Rationale", ("- fast", "- many", "  lines")),
        Section("Alternatives", ("- Sessions — state",)),
        Section("Limits", ("Max users: 3", "Allowed: read; write")),
    )


def test_a_field_of_the_wrong_type_counts_as_missing(tmp_path: Path) -> None:
    for wrong in [None, True, 3, 1.5, [], {}, ["x"], {"x": 1}, "", "   "]:
        for field in ["category", "id", "title", "tags", "record_status", "created_at", "updated_at"]:
            put(tmp_path / "runbooks/deploy.json", json.dumps({**document(memory("T", "t")), field: wrong}))
            corpus = read(tmp_path)
            assert corpus.skipped == (), (wrong, field)
            expected = {
                "category": "runbook", "id": "deploy", "title": "deploy", "record_status": "active",
                "tags": ("x",) if wrong == ["x"] else (), "created_at": "", "updated_at": "",
            }[field]  # fmt: skip
            name = {"record_status": "status"}.get(field, field)
            assert fields(corpus.memories[0].summary)[name] == expected, (wrong, field)


def test_titles_and_tags_are_put_on_one_line_and_no_text_is_half_a_character(tmp_path: Path) -> None:
    record = {"title": "  A\ntitle \t here ", "tags": [" x ", "x", "", 3, None, "two\nwords"]}
    put(tmp_path / "decisions/a.json", json.dumps(record).encode("utf-8-sig"))
    summary = read(tmp_path).memories[0].summary
    assert (summary.title, summary.tags) == ("A title here", ("x", "two words"))
    raw = r'{"id": "\ud800", "title": "a \udfff b", "tags": ["\ud83d"], "content": {"\ud800": "x \udc00"}}'
    put(tmp_path / "decisions/a.json", raw)
    one = read(tmp_path).memories[0]
    assert (one.summary.id, one.summary.title, one.summary.tags) == ("\ufffd", "a \ufffd b", ("\ufffd",))
    assert one.sections == (Section("\ufffd", ("x \ufffd",)),)


def test_a_file_that_cannot_be_used_is_skipped_with_the_reason(tmp_path: Path) -> None:
    for name, (raw, reason) in BROKEN.items():
        put(tmp_path / "decisions/broken.json", raw)
        write_memory(tmp_path, memory("Good"))
        corpus = read(tmp_path)
        assert [one.summary.title for one in corpus.memories] == ["Good"], name
        assert [one.where for one in corpus.skipped] == ["decisions/broken.json"], name
        assert corpus.skipped[0].reason.startswith(reason), name
        assert "\n" not in corpus.skipped[0].reason, name


LEADING_OUT = (
    *("../secret.json", ".claude/memory/../../secret.json", "decisions/../../secret.json", "decisions/link.json"),
    *("linked/secret.json", "{outside}/secret.json", "/etc/passwd", "/dev/zero"),
)


def test_what_leads_out_of_the_root_is_skipped(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "decisions").mkdir(parents=True)
    for folder in (tmp_path, outside):
        put(folder / "secret.json", json.dumps({"title": "SECRET"}))
    put(outside / "index.md", "- [DECISION] A -> decisions/a.json\n")
    for link, target in (("decisions/link.json", outside / "secret.json"), ("linked", outside), ("runbooks", outside)):
        (root / link).symlink_to(target)
    (root / "constraints").symlink_to(root / "nowhere")
    links = {
        "decisions/link.json": "points outside the root",
        "runbooks": "points outside the root",
        "constraints": "cannot be listed (No such file or directory)",
    }
    for target in LEADING_OUT:
        index_line(root, target.format(outside=outside))
        corpus = read(root)
        assert corpus.memories == (), target
        found = reasons(corpus)
        assert found.pop("index.md:1").startswith("points outside the root: "), target
        assert found == links
    (root / "index.md").unlink()
    (root / "index.md").symlink_to(outside / "index.md")
    corpus = read(root)
    assert corpus.memories == ()
    assert reasons(corpus) == {**links, "index.md": "points outside the root"}


def test_loops_folders_and_pipes_are_skipped_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "decisions/folder.json").mkdir(parents=True)
    (tmp_path / "decisions/loop.json").symlink_to(tmp_path / "decisions/loop.json")
    (tmp_path / "decisions/up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "decisions/pipe.json")
    (tmp_path / "runbooks").symlink_to(tmp_path / "constraints")
    (tmp_path / "constraints").symlink_to(tmp_path / "runbooks")
    (tmp_path / "sessions").write_text("a file", encoding="utf-8")
    corpus = read(tmp_path)
    assert corpus.memories == ()
    found = reasons(corpus)
    assert found.pop("sessions") == "cannot be listed (Not a directory)"
    assert found["decisions/folder.json"] == found["decisions/pipe.json"] == "is not a file"
    assert set(found) == {f"decisions/{name}.json" for name in ("folder", "pipe", "loop")} | {"runbooks", "constraints"}


def test_a_line_of_the_index_names_a_file_or_is_passed_over_or_skipped(tmp_path: Path) -> None:
    put(tmp_path / "memory-config.json", '{"retrieval": {}}')
    no_folder, outside = "names no file in a category folder", "points outside the root"
    for line, where, reason in [
        ("- [X] a -> decisions/gone.json", "decisions/gone.json", "does not exist"),
        *((f"- [X] a -> {name}", "index.md:1", no_folder) for name in ("memory-config.json", ".", "index.md")),
        ("- [X] a -> decisions/\0.json", "index.md:1", outside),
        (b"- [X] a -> \xff.json", "index.md", "is not UTF-8 text"),
        *(
            (line, "the root", "holds no memories")
            for line in ("", "- [", "- [X] no arrow", "# Title -> decisions/a.json")
        ),
        *((line, "the root", "holds no memories") for line in ("- [X] a -> ", "\0 -> \0")),
    ]:
        put(tmp_path / "index.md", line + (b"\n" if isinstance(line, bytes) else "\n"))
        corpus = read(tmp_path)
        assert (corpus.memories, corpus.notices, list(reasons(corpus))) == ((), (), [where]), line
        assert reasons(corpus)[where].startswith(reason), line


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.dictionaries(FIELDS, JSON, max_size=8) | JSON)
def test_any_json_is_a_memory_that_can_be_indexed_and_injected_or_is_skipped(tmp_path: Path, content: object) -> None:
    put(tmp_path / "decisions/a.json", json.dumps(content))
    corpus = read(tmp_path)
    assert len(corpus.memories) + len(corpus.skipped) == 1
    for one in corpus.memories:
        values = fields(one.summary)
        for text in (*one.summary.tags, *(values[name] for name in values.keys() - {"tags", "risk", "is_loaded"})):
            assert isinstance(text, str)
            text.encode()
        assert one.summary.id
        assert one.summary.title == " ".join(one.summary.title.split())
        assert len(one.summary.digest) == 64
        assert all(isinstance(line, str) and len(line.splitlines()) < 2 for line in one.body.split("\n"))
        one.body.encode()
        assert entry(one.summary, "high").isprintable()
    index = index_of(corpus)
    assert len(index.corpus_hash) == 16
    index.close()
