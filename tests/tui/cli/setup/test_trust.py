"""`memsift trust`, and the line of the other commands about settings that need it."""

import json
import os
import shlex
from pathlib import Path

import pytest

from engine.paths import trust_file
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
    assert memsift("trust", cloned).stdout == f"{cloned}/memory-config.json needs no trust today.\n"
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
    file.parent.mkdir(parents=True)
    file.write_text("{broken", encoding="utf-8")
    for arguments in (["trust", cloned], ["trust", "--list"], ["trust", "--revoke", cloned]):
        assert f"{file} cannot be read" in refused(memsift(*arguments))


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
