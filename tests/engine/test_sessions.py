"""What a session was given is remembered, until a compaction or a broken file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.config import Config
from engine.pipeline import Session
from engine.search.ranking import Scored, rank
from engine.sessions import load_session, save_session
from tests.engine.builders import memory

if TYPE_CHECKING:
    from pathlib import Path

    from engine.retrieval import Candidate


def candidates(*titles: str) -> tuple[Candidate, ...]:
    return tuple(rank([Scored(memory(title).summary, -1.0, 0, ()) for title in titles], Config()))


def digests(*titles: str) -> dict[str, str]:
    return {title: memory(title).summary.digest for title in titles}


def test_what_was_added_is_loaded_again(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", 0, Session({}), candidates("A", "B"))
    assert load_session(str(tmp_path), "s", 0).injected == digests("A", "B")


def test_additions_accumulate(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", 0, Session({}), candidates("A"))
    save_session(str(tmp_path), "s", 0, load_session(str(tmp_path), "s", 0), candidates("B"))
    assert load_session(str(tmp_path), "s", 0).injected == digests("A", "B")


def test_sessions_are_apart(tmp_path: Path) -> None:
    save_session(str(tmp_path), "one", 0, Session({}), candidates("A"))
    assert load_session(str(tmp_path), "two", 0).injected == {}


def test_a_compaction_starts_over(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", 0, Session({}), candidates("A"))
    after = load_session(str(tmp_path), "s", 1)
    assert after.injected == {}
    save_session(str(tmp_path), "s", 1, after, candidates("B"))
    assert load_session(str(tmp_path), "s", 1).injected == digests("B")


def test_without_a_session_id_nothing_is_remembered(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "", 0, Session({}), candidates("A"))
    assert load_session(str(tmp_path / "state"), "", 0).injected == {}
    assert not (tmp_path / "state").exists()


def test_no_session_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "state"
    session_ids = ["../../etc/x", "/abs", "a\0b", "\ud800", "x" * 10_000, "."]
    for session_id in session_ids:
        save_session(str(folder), session_id, 0, Session({}), candidates("A"))
        assert load_session(str(folder), session_id, 0).injected == digests("A")
    assert list((tmp_path / "out").iterdir()) == [folder]
    assert list(folder.iterdir()) == [folder / "sessions"]
    assert len(list((folder / "sessions").iterdir())) == len(session_ids)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"compactions": 0}',
        '{"compactions": 0, "injected": [1]}',
        '{"compactions": 0, "injected": null}',
    ],
)
def test_a_broken_file_is_a_new_session(tmp_path: Path, content: str) -> None:
    save_session(str(tmp_path), "s", 0, Session({}), candidates("A"))
    (path,) = (tmp_path / "sessions").iterdir()
    path.write_text(content, encoding="utf-8")
    assert load_session(str(tmp_path), "s", 0).injected == {}
    save_session(str(tmp_path), "s", 0, Session({}), candidates("B"))
    assert json.loads(path.read_text(encoding="utf-8"))["injected"] == digests("B")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    save_session(str(tmp_path / "file/state"), "s", 0, Session({}), candidates("A"))
    assert load_session(str(tmp_path / "file/state"), "s", 0).injected == {}


def test_only_the_user_may_read_the_folder(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "s", 0, Session({}), candidates("A"))
    assert (tmp_path / "state/sessions").stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "state/sessions").glob("*.json.*"))
