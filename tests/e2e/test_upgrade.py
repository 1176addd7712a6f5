"""A home folder that memsift 1.0.0 wrote still holds everything after an upgrade: see `version_1_0_0/README.md`."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from engine.hook.process import respond
from engine.paths import root_key
from tests.tui.cli import command_line

ARCHIVE = Path(__file__).with_name("version_1_0_0") / "home_and_project.tar.gz"
THERE = "/tmp/fx"
"""The folder in which 1.0.0 wrote the archive. Its files name it."""

Command = Callable[..., str]


@pytest.fixture
def memsift(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run commands as the person and in the project of the archive, as if 1.0.0 had run in *tmp_path*."""
    subprocess.run(["tar", "--no-same-owner", "-xzf", str(ARCHIVE), "-C", str(tmp_path)], check=True)
    for file in filter(Path.is_file, private_home.rglob("*")):
        move_paths(file, THERE, str(tmp_path))
    trusted = private_home / ".config/memsift/trusted.json"
    trusted.write_text(trusted.read_text("utf-8").replace('"owner": 0', f'"owner": {os.getuid()}'), "utf-8")
    (state,) = (private_home / ".local/state/memsift").glob("project-*")
    state.rename(state.with_name(root_key(str(tmp_path / "project/.claude/memory"))))
    monkeypatch.setenv("MEMSIFT_ANNOTATOR", "ana")
    monkeypatch.chdir(tmp_path / "project")

    def run(*arguments: str) -> str:
        done = command_line.memsift(*arguments)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    return run


def move_paths(file: Path, old: str, new: str) -> None:
    """Replace a folder's name in a text file, and in every text of a SQLite file."""
    if file.suffix != ".db":
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
        return
    database = sqlite3.connect(file)
    for (table,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
        for column, kind in database.execute("select name, type from pragma_table_info(?)", (table,)).fetchall():
            if kind.lower() == "text":
                change = (
                    f'update or replace "{table}" set "{column}" = replace("{column}", ?, ?) where "{column}" like ?'
                )
                database.execute(change, (old, new, f"%{old}%"))
    database.commit()
    database.close()


def test_labels_and_saved_runs_of_1_0_0_count(memsift: Command) -> None:
    systems = {row["system"]: row for row in json.loads(memsift("report", "--format", "json"))["systems"]}
    shares = {name: (row["precision"]["part"], row["precision"]["whole"]) for name, row in systems.items()}
    assert shares["memsift+default"] == (7, 16)
    assert shares["bm25"] == (7, 68)
    rows = [json.loads(line) for line in memsift("export").splitlines()]
    assert sum(row.get("verdict") is not None for row in rows) == 109


def test_the_journal_of_1_0_0_takes_its_changes_back(memsift: Command, tmp_path: Path) -> None:
    note = tmp_path / "project/.claude/memory/photon_search.md"
    assert "own Photon" in note.read_text("utf-8")
    assert [row["number"] for row in json.loads(memsift("history", "--format", "json"))] == [1, 2]
    memsift("undo", "2")
    assert "self-hosted Photon" in note.read_text("utf-8")
    memsift("undo", "1")
    assert subprocess.run(["git", "diff", "--quiet"], cwd=tmp_path / "project", check=False).returncode == 0


def test_settings_trust_and_the_tuned_cutoff_of_1_0_0_count(memsift: Command) -> None:
    rows = {row["key"]: row for row in json.loads(memsift("config", "--format", "json"))}
    assert rows["cutoff_model"]["value"] == "tuned"
    assert rows["logging.prompts"]["value"] is True
    assert memsift("config", "get", "keys.browse.status") == '"f9"\n'
    (trusted,) = json.loads(memsift("trust", "--list"))
    assert (trusted["root"].endswith("project/.claude/memory"), trusted["reason"]) == (True, "")


def test_decisions_and_ratings_of_1_0_0_count_and_are_in_one_file(memsift: Command, private_home: Path) -> None:
    check = json.loads(memsift("quality", "check", "--fail-over", "1000", "--format", "json"))
    found = {(row["check"], row["memory_id"]) for row in check["findings"]}
    assert ("secrets", "snow_depth_feed") in found
    assert ("drift", "decision_pmtiles") not in found
    agreement = json.loads(memsift("quality", "judge", "--agreement", "--format", "json"))
    assert agreement["groups"][0]["both_accept"] == 2
    assert {file.name for file in (private_home / ".local/share/memsift").iterdir()} >= {"decisions.db"}
    assert not (private_home / ".local/share/memsift/ratings.db").exists()
    assert memsift("quality", "judge", "--agreement", "--format", "json") == json.dumps(agreement, indent=2) + "\n"


def test_the_log_and_the_session_of_1_0_0_go_on(memsift: Command, tmp_path: Path) -> None:
    assert len(json.loads(memsift("activity", "--format", "json"))["decisions"]) == 3
    prompt = "how do I rebuild the photon index for place search, results look stale"
    for session, is_new in (("s-1", False), ("s-2", True)):
        payload = {"prompt": prompt, "cwd": str(tmp_path / "project"), "session_id": session}
        answer = respond(json.dumps(payload).encode(), os.environ, StringIO())
        assert ("photon_search" in answer) is is_new
