"""A project that was moved: its labels count, and its cutoff and its journal come with `memsift adopt`."""

import os
import subprocess
from pathlib import Path

import pytest

from engine.paths import cutoff_file, journal_file, state_dir
from engine.stores.files import write_whole
from tests.engine.curation.roots import contents, document, read, write_documents
from tests.tui.cli.command_line import memsift, refused

MEMORIES = ".claude/memory"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project in git with a change in the journal and with a tuned cutoff."""
    project = tmp_path / "old place"
    root = write_documents(project / MEMORIES, [document("alpha"), document("beta")])
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", *who, *words], cwd=project, check=True)
    assert memsift("retire", "alpha", "--root", root).exit_code == 0
    write_whole(cutoff_file(state_dir(str(root), os.environ)), b"the model")
    return project


def test_what_belongs_to_a_path_that_is_gone_is_named_and_adopted(old: Path, tmp_path: Path) -> None:
    before, new = [*contents(old / MEMORIES).values()], tmp_path / "new"
    old.rename(new)
    how = f"memsift adopt '{old / MEMORIES}'"
    assert how in refused(memsift("undo"))
    named = f"{old / MEMORIES} is gone and began with the same commit: {how} brings its tuned cutoff and 1 change here"
    assert named in memsift("report", "--root", new / MEMORIES).stderr
    done = memsift("adopt", old / MEMORIES, "--root", new / MEMORIES)
    assert (done.exit_code, "tuned cutoff and 1 change" in done.stderr) == (0, True)
    assert Path(cutoff_file(state_dir(str(new / MEMORIES), os.environ))).read_bytes() == b"the model"
    assert memsift("report", "--root", new / MEMORIES).stderr.count("adopt") == 0
    assert [*contents(new / MEMORIES).values()] == before
    assert memsift("undo", "1").exit_code == 0
    assert read(new / MEMORIES, "alpha")["record_status"] == "active"
    again = refused(memsift("adopt", old / MEMORIES, "--root", new / MEMORIES))
    assert "memsift knows no cutoff and no change" in again


def test_phrases_that_were_kept_for_a_root_that_could_not_be_written_come_along(old: Path, tmp_path: Path) -> None:
    (old / MEMORIES / ".memsift").write_text("in the way")
    assert memsift("phrases", "add", "alpha", "how do we start", "--root", old / MEMORIES).exit_code == 0
    new = tmp_path / "new"
    old.rename(new)
    (new / MEMORIES / ".memsift").unlink()
    done = memsift("adopt", old / MEMORIES, "--root", new / MEMORIES)
    assert (done.exit_code, "tuned cutoff, 1 change and 1 phrase" in done.stderr) == (0, True)
    assert "how do we start" in memsift("phrases", "list", "--root", new / MEMORIES).stdout
    assert (new / MEMORIES / ".memsift/phrases.jsonl").exists()


def test_nothing_is_taken_that_is_not_gone_or_not_of_this_repository_or_there_already(
    old: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(old), str(clone)], check=True)
    assert "is still there" in refused(memsift("adopt", old / MEMORIES, "--root", clone / MEMORIES))
    assert "adopt" not in memsift("report", "--root", clone / MEMORIES).stderr
    other = write_documents(tmp_path / "other" / MEMORIES, [document("alpha")])
    old.rename(tmp_path / "new")
    assert "adopt" not in memsift("report", "--root", other).stderr
    assert "adopt" in memsift("report", "--root", clone / MEMORIES).stderr
    new = tmp_path / "new" / MEMORIES
    place = Path(cutoff_file(state_dir(str(new), os.environ)))
    write_whole(str(place), b"its own")
    assert "has a tuned cutoff already" in refused(memsift("adopt", old / MEMORIES, "--root", new))
    assert place.read_bytes() == b"its own"


def test_a_damaged_journal_ends_no_command_that_would_only_tell_of_a_move(old: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    old.rename(new)
    Path(journal_file(os.environ)).write_bytes(b"no database" * 100)
    for words in (["report", "--root", new / MEMORIES], ["doctor", new]):
        done = memsift(*words)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert str(journal_file(os.environ)) not in done.stderr
