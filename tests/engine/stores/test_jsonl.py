"""Reading JSON Lines: names of fields, broken lines, bounds."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.memory import Corpus, Memory
from engine.stores import jsonl, registry
from engine.stores.roots import read_corpus
from tests.engine.builders import document, memory
from tests.patterns import in_child

NAMES = [*jsonl.IDS, *jsonl.TEXTS, *jsonl.TAGS, *jsonl.CREATED, *jsonl.STATUSES]
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))
ROWS = st.dictionaries(st.sampled_from(NAMES), VALUES)


def read(path: Path, *lines: object) -> Corpus:
    """The corpus of a file with these lines: raw bytes, or values to be written as JSON."""
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(raw))
    return read_corpus(str(path))


def read_one(tmp_path: Path, row: dict[str, object]) -> Memory:
    corpus = read(tmp_path / "rows.jsonl", row)
    assert corpus.skipped == ()
    return corpus.memories[0]


def test_a_line_in_the_form_of_claude_memory_keeps_every_field(tmp_path: Path) -> None:
    expected = memory("Use JWT", "auth", "jwt", body="stateless\ntokens", category="constraint", status="retired")
    one = read_one(tmp_path, document(expected))
    for name in ("id", "category", "title", "tags", "status", "created_at", "updated_at", "digest"):
        assert getattr(one.summary, name) == getattr(expected.summary, name)
    assert one.sections == expected.sections
    assert one.summary.path == f"{tmp_path}/rows.jsonl:1"


@pytest.mark.parametrize(
    ("row", "title", "body"),
    [
        ({"fact": "Ann likes tea."}, "Ann likes tea.", ""),
        ({"memory": "Ann likes tea.", "name": "Tea"}, "Tea", "Ann likes tea."),
        ({"text": "a " * 100}, ("a " * 60).strip() + "…", ("a " * 100).rstrip() + " "),
        ({"statement": ["one", "two"]}, "- one - two", ""),
        ({"title": "Only a title"}, "Only a title", ""),
        ({"title": "", "content": {"decision": "use tabs"}}, "use tabs", ""),
        ({"title": 5, "text": None, "body": "x"}, "5", "x"),
    ],
)
def test_other_programs_name_the_text_in_other_ways(
    tmp_path: Path, row: dict[str, object], title: str, body: str
) -> None:
    one = read_one(tmp_path, row)
    assert (one.summary.title, one.body.strip()) == (title, body.strip())


def test_times_tags_and_status_of_other_programs_are_read_and_unknown_fields_named(tmp_path: Path) -> None:
    row = {"text": "t", "keywords": "a, #b", "created": 1767225600, "updated": 1767225600000, "state": "paused"}
    one = read_one(tmp_path, row)
    assert (one.summary.tags, one.summary.status, one.summary.category) == (("a", "b"), "archived", "note")
    assert one.summary.created_at == one.summary.updated_at == "2026-01-01T00:00:00Z"
    assert read_one(tmp_path, {"text": "t", "status": "superseded", "created_at": True}).summary.status == "retired"
    assert read_one(tmp_path, {"text": "t", "created": 1e300}).summary.created_at == ""
    rows = [{"title": "Tea", "remark": "Ann likes tea.", "n": 1}, {"title": "Tea", "n": 1}, {"remark": ["x"]}]
    corpus = read(tmp_path / "rows.jsonl", *rows)
    assert [one.summary.title for one in corpus.memories] == ["Tea"]
    said = "has no text in a field that is known; its fields: remark"
    assert [(one.where, one.reason) for one in corpus.skipped] == [("rows.jsonl:1", said), ("rows.jsonl:3", said)]


def test_broken_lines_are_skipped_with_their_numbers_and_reasons_and_many_are_counted(tmp_path: Path) -> None:
    corpus = read(
        tmp_path / "rows.jsonl",
        b"\xef\xbb\xbf" + json.dumps({"id": "a", "text": "first"}).encode(),
        b"{cut",
        b"",
        b'{"text": "\xff"}',
        [1],
        {"tags": ["x"]},
        {"type": "queue-operation", "sessionId": "s", "content": "a prompt"},
        b"[" * 100_000,
        b'"' + b"x" * 1_000_000 + b'"',
        {"id": "a", "text": "again"},
        {"id": "b", "text": "last"},
    )
    assert [one.summary.title for one in corpus.memories] == ["first", "last"]
    assert {one.where: one.reason for one in corpus.skipped} == {
        "rows.jsonl:2": "is not valid JSON",
        "rows.jsonl:4": "is not UTF-8 text",
        "rows.jsonl:5": "holds no JSON object",
        "rows.jsonl:6": "has no title and no text",
        "rows.jsonl:7": "is a row of a transcript, no memory",
        "rows.jsonl:8": "is nested too deeply",
        "rows.jsonl:9": "is longer than 1,000 kB",
        "rows.jsonl": "has the id 'a' a second time",
    }
    corpus = read(tmp_path / "rows.jsonl", *[b"{"] * 250, {"text": "good"})
    assert len(corpus.memories) == 1
    assert len(corpus.skipped) == registry.MOST_LISTED + 1
    assert corpus.skipped[-1].reason == "has 150 more lines that are no memories"


def test_a_folder_of_files_is_a_root_and_an_id_stays_when_lines_come_before_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = read(tmp_path / "b.jsonl", {"text": "tea"}).memories
    read(tmp_path / "b.jsonl", {"text": "milk"}, {"text": "tea"})
    (tmp_path / ".hidden.jsonl").write_text('{"text": "x"}', encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"text": "one"}', encoding="utf-8")
    memories = read_corpus(str(tmp_path)).memories
    assert [one.summary.title for one in memories] == ["one", "milk", "tea"]
    assert memories[2].summary.id == before.summary.id
    monkeypatch.setattr(jsonl, "MOST_BYTES", 1000)
    corpus = read(tmp_path / "a.jsonl", {"text": "x" * 1000})
    assert [one.reason for one in corpus.skipped] == ["is larger than 1 kB"]


def test_locomo_is_read_without_a_loss(shared_data: Path) -> None:
    path = shared_data / "locomo/memories.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    corpus = read_corpus(str(path))
    assert [one.summary.id for one in corpus.memories] == [row["id"] for row in rows]
    assert corpus.skipped == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=20) | ROWS, min_size=1))
def test_any_line_is_a_memory_or_is_skipped(tmp_path: Path, lines: list[object]) -> None:
    corpus = read(tmp_path / "rows.jsonl", *lines)
    assert corpus.memories or corpus.skipped
    assert all(one.reason for one in corpus.skipped)
    for one in corpus.memories:
        assert one.summary.title == " ".join(one.summary.title.split()) != ""


GRAPH = [
    {"type": "entity", "name": "billing", "entityType": "service", "observations": ["Deploys by make", "Is old"]},
    {"type": "entity", "name": "empty", "entityType": "service", "observations": []},
    {"type": "relation", "from": "billing", "to": "ledger", "relationType": "writes to"},
]


@pytest.mark.parametrize("is_whole", [False, True])
def test_the_observations_of_an_mcp_memory_server_are_memories(tmp_path: Path, is_whole: bool) -> None:
    whole = {"entities": GRAPH[:2], "relations": GRAPH[2:]}
    corpus = read(tmp_path / "memory.json", *([whole] if is_whole else GRAPH))
    found = {one.summary.id: (one.summary.title, one.summary.tags) for one in corpus.memories}
    assert found.pop("billing") == ("billing: Deploys by make", ("service",))
    assert found.pop("billing writes to ledger") == ("billing writes to ledger", ())
    ((name, second),) = found.items()
    assert (name.partition("#")[0], second) == ("billing", ("billing: Is old", ("service",)))
    assert [one.reason for one in corpus.skipped] == ["has no text in a field that is known; its fields: observations"]
    before = {one.summary.digest for one in corpus.memories}
    more = {**GRAPH[0], "observations": ["Is new", *GRAPH[0]["observations"]]}
    after = {one.summary.digest for one in read(tmp_path / "memory.json", more, *GRAPH[1:]).memories}
    assert before < after, "labels survive an added observation"


@pytest.mark.parametrize("space", ["", " "])
def test_all_objects_on_a_line_are_read(tmp_path: Path, space: str) -> None:
    line = space.join(map(json.dumps, [*GRAPH, {"type": "entity", "name": "b}{", "observations": ["x"]}]))
    corpus = read(tmp_path / "memory.json", f"{line}{space}{{cut".encode())
    assert [one.summary.title for one in corpus.memories][2:] == ["billing writes to ledger", "b}{: x"]
    assert corpus.skipped[-1].reason == "is not valid JSON"


def test_an_entity_that_is_none_does_not_hide_the_others(tmp_path: Path) -> None:
    corpus = read(tmp_path / "memory.json", {"entities": ["x", *GRAPH[:1], None], "relations": [5]})
    assert [one.summary.title for one in corpus.memories] == ["billing: Deploys by make", "billing: Is old"]
    assert [one.reason for one in corpus.skipped] == ["has no title and no text"] * 3


@pytest.mark.slow
def test_a_line_of_very_many_objects_is_read_in_linear_time(tmp_path: Path) -> None:
    line = '{"text": "a"} ' * 60_000
    (tmp_path / "memories.jsonl").write_text(line, encoding="utf-8")
    assert in_child(lambda: read_corpus(str(tmp_path / "memories.jsonl")), 5)
