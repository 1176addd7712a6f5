"""What a session was given is remembered, until a compaction or a broken file."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from engine.config import Config
from engine.hook.session import Session, load_session, save_session
from engine.search.ranking import Scored, rank
from tests.engine.builders import memory

if TYPE_CHECKING:
    from pathlib import Path

    from engine.retrieval import Candidate

USER = '{"type":"user","message":{"role":"user","content":"hello"}}\n'
BOUNDARY = '{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}\n'


def candidates(*titles: str) -> tuple[Candidate, ...]:
    return tuple(rank([Scored(memory(title).summary, -1.0, 0, -1.0, ()) for title in titles], Config()))


def digests(*titles: str) -> dict[str, str]:
    return {title: memory(title).summary.digest for title in titles}


def test_what_was_added_is_loaded_again(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A", "B"))
    assert load_session(str(tmp_path), "s").injected == digests("A", "B")


def test_additions_accumulate(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A"))
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s"), candidates("B"))
    assert load_session(str(tmp_path), "s").injected == digests("A", "B")


def test_sessions_are_apart(tmp_path: Path) -> None:
    save_session(str(tmp_path), "one", Session({}), candidates("A"))
    assert load_session(str(tmp_path), "two").injected == {}


def test_a_compaction_starts_over(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(USER + BOUNDARY, encoding="utf-8")
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s", str(transcript)), candidates("A"))
    assert load_session(str(tmp_path), "s", str(transcript)).injected == digests("A")
    with transcript.open("a", encoding="utf-8") as file:
        file.write(USER + BOUNDARY + USER)
    after = load_session(str(tmp_path), "s", str(transcript))
    assert after.injected == {}
    save_session(str(tmp_path), "s", after, candidates("B"))
    assert load_session(str(tmp_path), "s", str(transcript)).injected == digests("B")


def test_only_what_was_added_to_a_transcript_is_read_again(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"x" * 5_000_000)
    session = load_session(str(tmp_path), "s", str(transcript))
    assert (session.transcript_bytes, session.scanned_bytes) == (5_000_000, 0)
    save_session(str(tmp_path), "s", session, candidates("A"))
    with transcript.open("ab") as file:
        file.write(b"y" * 2_000_000)
    grown = load_session(str(tmp_path), "s", str(transcript))
    assert abs(grown.scanned_bytes - 2_000_000) < 100
    save_session(str(tmp_path), "s", grown, ())
    again = load_session(str(tmp_path), "s", str(transcript))
    assert again.scanned_bytes < 100
    assert again.injected == digests("A")


def test_a_transcript_that_became_shorter_starts_over(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(USER * 3, encoding="utf-8")
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s", str(transcript)), candidates("A"))
    transcript.write_text(USER, encoding="utf-8")
    assert load_session(str(tmp_path), "s", str(transcript)).injected == {}


def test_sessions_lie_in_many_folders(tmp_path: Path) -> None:
    """So that none of them has many others to look after."""
    for number in range(600):
        save_session(str(tmp_path), f"session {number}", Session({}), candidates("A"))
    paths = [*tmp_path.rglob("*.json")]
    folders = [path.parent for path in paths]
    assert len(paths) == 600
    assert max(folders.count(one) for one in folders) < 20


def test_a_session_that_begins_removes_the_old_ones_in_its_folder(tmp_path: Path) -> None:
    save_session(str(tmp_path), "one", Session({}), candidates("A"))
    (path,) = tmp_path.rglob("*.json")
    now, month = path.stat().st_mtime, 30 * 86400
    young, old = path.with_name("young.json"), path.with_name("old.json")
    for beside, age in ((young, month - 3600), (old, month + 3600)):
        beside.write_text("{}", encoding="utf-8")
        os.utime(beside, (now - age, now - age))
    save_session(str(tmp_path), "one", load_session(str(tmp_path), "one"), candidates("B"))
    assert old.exists(), "a session that goes on looks after none"
    path.unlink()
    save_session(str(tmp_path), "one", load_session(str(tmp_path), "one"), candidates("C"))
    assert {*path.parent.iterdir()} == {path, young}
    assert load_session(str(tmp_path), "one").injected == digests("C")


def test_without_a_session_id_nothing_is_remembered(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "", Session({}), candidates("A"))
    assert load_session(str(tmp_path / "state"), "").injected == {}
    assert not (tmp_path / "state").exists()


def test_no_session_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "state"
    session_ids = ["../../etc/x", "/abs", "a\0b", "\ud800", "x" * 10_000, "."]
    for session_id in session_ids:
        save_session(str(folder), session_id, Session({}), candidates("A"))
        assert load_session(str(folder), session_id).injected == digests("A")
    assert list((tmp_path / "out").iterdir()) == [folder]
    assert list(folder.iterdir()) == [folder / "sessions"]
    assert len([*(folder / "sessions").glob("??/*.json")]) == len([*folder.rglob("*.json")]) == len(session_ids)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"transcript_bytes": 0}',
        '{"transcript_bytes": 0, "injected": [1]}',
        '{"transcript_bytes": 0, "injected": null}',
        '{"transcript_bytes": null, "injected": {}}',
        '{"transcript_bytes": Infinity, "injected": {}}',
    ],
)
def test_a_broken_file_is_a_new_session(tmp_path: Path, content: str) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A"))
    (path,) = (tmp_path / "sessions").rglob("*.json")
    path.write_text(content, encoding="utf-8")
    assert load_session(str(tmp_path), "s").injected == {}
    save_session(str(tmp_path), "s", Session({}), candidates("B"))
    assert json.loads(path.read_text(encoding="utf-8"))["injected"] == digests("B")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    save_session(str(tmp_path / "file/state"), "s", Session({}), candidates("A"))
    assert load_session(str(tmp_path / "file/state"), "s").injected == {}


def test_only_the_user_may_read_the_folder(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "s", Session({}), candidates("A"))
    for path in (tmp_path / "state/sessions").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    assert [path.suffix for path in (tmp_path / "state").rglob("*") if path.is_file()] == [".json"]
