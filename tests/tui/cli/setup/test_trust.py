"""What belongs to the path of a root: `memsift trust`, settings that need it, and `memsift adopt` after a move."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from engine.paths import cutoff_file, journal_file, state_dir, trust_file
from engine.stores.files import write_whole
from tests.engine.builders import put
from tests.engine.curation.roots import contents, document, read, write_documents
from tests.engine.judge.api_server import ApiServer
from tests.tui.cli.command_line import ASK, jsonl, memsift, printed, refused, rows

JUDGE = {"enabled": True, "provider": "anthropic-http", "model": "claude-opus-4-5"}


@pytest.fixture
def cloned(root: Path) -> Path:
    """A root that comes with a judge, a log of prompts, and a setting that needs no trust."""
    retrieval = {"max_inject": 2, "judge": JUDGE, "logging": {"prompts": True}}
    (root / "memory-config.json").write_text(json.dumps({"retrieval": retrieval}), encoding="utf-8")
    return root


def test_trust_shows_what_it_allows_and_records_it(cloned: Path, server: ApiServer) -> None:
    result = memsift("trust", cloned)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{cloned}/memory-config.json decides from now on:",
        "  retrieval.judge.enabled = true",
        '  retrieval.judge.provider = "anthropic-http"',
        '  retrieval.judge.model = "claude-opus-4-5"',
        "  retrieval.logging.prompts = true",
    ]
    quoted = shlex.quote(str(cloned))
    assert result.stderr == f"memsift: Trusted: {cloned}. To take it back: memsift trust --revoke {quoted}\n"
    assert memsift("search", ASK, "--root", cloned).stderr == ""
    assert server.requests[0].body["model"] == "claude-opus-4-5"
    again = memsift("trust", cloned)
    assert again.stdout == ""
    assert again.stderr.startswith(f"memsift: Trusted: {cloned}; it has no settings that wait for trust. To take")
    (cloned / "memory-config.json").write_text('{"retrieval": {"judge": {"provider": "oracle"}}}', encoding="utf-8")
    assert memsift("search", ASK, "--root", cloned).exit_code == 0
    told = memsift("trust", cloned).stderr.splitlines()
    assert told[1].startswith(f"memsift: {cloned}/memory-config.json: 'retrieval.judge.provider' is 'oracle'")
    assert memsift("search", ASK, "--root", cloned).exit_code == 2


def test_the_list_names_trusted_roots_and_those_that_changed(cloned: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for root in (cloned, gone):
        memsift("trust", root)
    gone.rmdir()
    listed = memsift("trust", "--list", "--format", "text")
    assert listed.stdout == f"{cloned}\n{gone}  (not trusted: its folder is gone)\n"
    first, second = printed(memsift("trust", "--list", "--format", "json"))
    assert (first["root"], first["owner"], first["reason"]) == (str(cloned), os.getuid(), "")
    assert second["reason"] == "its folder is gone"
    assert memsift("trust", "--revoke", gone).exit_code == 0
    assert memsift("trust", "--list", "--format", "text").stdout == f"{cloned}\n"


def test_revoke_takes_it_back_also_of_the_root_of_this_project(
    cloned: Path, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memsift("trust", cloned)
    result = memsift("trust", "--revoke", cloned)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"memsift: No longer trusted: {cloned}.\n"
    memsift("search", ASK, "--root", cloned)
    assert server.requests == []
    assert "memsift trust --list" in refused(memsift("trust", "--revoke", cloned))
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/memory").symlink_to(cloned)
    monkeypatch.chdir(tmp_path / "project")
    for options, listed in (((), f"{cloned}\n"), (("--revoke",), "")):
        assert memsift("trust", *options).exit_code == 0
        assert memsift("trust", "--list", "--format", "text").stdout == listed


def test_mistakes_of_usage_are_refused(cloned: Path, tmp_path: Path) -> None:
    assert "There is no folder" in refused(memsift("trust", tmp_path / "nowhere"))
    assert memsift("trust", "--list", cloned).exit_code == 2
    assert memsift("trust", "--list", "--revoke").exit_code == 2
    file = Path(trust_file(os.environ))
    put(file, "{broken")
    assert f"{file} cannot be read" in refused(memsift("trust", "--list"))


def test_each_command_says_once_what_is_ignored_and_how_to_allow_it(
    cloned: Path, tmp_path: Path, server: ApiServer
) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    line = (
        f"memsift: {cloned}/memory-config.json: judge.enabled, judge.provider, judge.model, logging.prompts are "
        f"ignored, because you have not trusted this root. To allow: memsift trust {shlex.quote(str(cloned))}\n"
    )
    found = memsift("search", ASK, "--root", cloned, "--mode", "auto")
    assert (found.stderr, len(json.loads(found.stdout)["results"])) == (line, 2)
    replayed = memsift("replay", "--root", cloned, "--prompts", prompts, "--save")
    assert (replayed.stderr, {row["system"] for row in rows(replayed)}) == (line, {"memsift"})
    for command in (["report"], ["label", "--prompts", prompts], ["gate", "--min-precision", "0.5"]):
        assert memsift(*command, "--root", cloned).stderr.startswith(line)
    assert server.requests == []
    named = memsift("search", ASK, "--root", cloned, "--judge", "anthropic-http")
    assert (named.stderr, server.requests[0].body["model"]) == (line, "claude-haiku-4-5")


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
