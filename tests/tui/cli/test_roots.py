"""Every command with several `--root` options."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.hook.process import respond
from engine.paths import cutoff_file, root_key, state_dir, transcripts_dir
from engine.stores.roots import joint_name
from tests.engine.builders import memory, put, write_root
from tests.engine.models import content, write_model
from tests.labels.samples import write
from tests.tui.cli.command_line import jsonl, memsift, printed, refused, rows
from tests.tui.cli.every_command import PLAIN, loaded_by, prepare
from tui.workspace.opening import places

if TYPE_CHECKING:
    Options = list[str | Path]

ASK = "how long does the token cache live?"
FIRST = [memory("token cache rule", "tokens", memory_id="a1"), memory("token cache colours", memory_id="a2")]
SECOND = [memory("cache for a token", "cache", memory_id="b1"), memory("what is for lunch", memory_id="b2")]


@pytest.fixture
def roots(tmp_path: Path, no_cutoff: None) -> tuple[Path, Path]:  # noqa: ARG001
    return write_root(tmp_path / "first", FIRST), write_root(tmp_path / "second", SECOND)


@pytest.fixture
def both(roots: tuple[Path, Path]) -> Options:
    return ["--root", roots[0], "--root", roots[1]]


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})


@pytest.fixture
def labelled(tmp_path: Path, both: Options, prompts: Path) -> Options:
    """A store with a replay over both roots. Injections of the first root are relevant, of the second not."""
    store: Options = ["--db", tmp_path / "labels.db"]
    assert memsift("replay", *both, "--prompts", prompts, "--save", *store).exit_code == 0
    qrels = write(tmp_path / "qrels.txt", "p1 0 a1 1", "p1 0 a2 1", "p1 0 b1 0")
    done = memsift("import", qrels, *both, "--prompts", prompts, *store)
    assert "3 labels" in done.stderr
    assert "Unknown here" not in done.stderr
    return store


def test_results_of_a_search_name_their_root(roots: tuple[Path, Path], both: Options) -> None:
    found = printed(memsift("search", ASK, *both))
    assert {one["id"]: one["root"] for one in found["results"]} == {
        "a1": str(roots[0]),
        "a2": str(roots[0]),
        "b1": str(roots[1]),
    }
    assert (found["query"], found["total_results"]) == (ASK, 3)
    assert "root" not in printed(memsift("search", ASK, *both[:2]))["results"][0]
    assert printed(memsift("search", ASK, *both[:2], *both[:2])) == printed(memsift("search", ASK, *both[:2]))
    text = memsift("search", ASK, *both, "--format", "text").stdout
    assert f"decisions/b1.json in {roots[1]}" in text
    found = printed(memsift("search", ASK, *both, "--mode", "auto", "--max-results", "2", "--explain"))
    assert (found["total_results"], [one["explain"]["outcome"] for one in found["dropped"]]) == (2, ["cap"])
    for name in ("a1", "b1"):
        assert printed(memsift("search", ASK, *both, "--memory", name))["memory"]["id"] == name
    assert "no memory 'c1' here" in memsift("search", ASK, *both, "--memory", "c1").stderr


def test_a_replay_over_several_roots_is_one_run(
    tmp_path: Path, roots: tuple[Path, Path], both: Options, prompts: Path
) -> None:
    """One injected set within one limit, which a run file can resume."""
    done = memsift("replay", *both, "--prompts", prompts)
    (row,) = rows(done)
    assert {one["id"] for one in row["injected"]} == {"a1", "a2", "b1"}
    assert f"Open together: {roots[0]}, {roots[1]}." in done.stderr
    (capped,) = rows(memsift("replay", *both, "--prompts", prompts, MEMSIFT_MAX_INJECT="2"))
    assert [one["dropped_by"] for one in capped["candidates"]] == [None, None, "cap"]
    run = jsonl(tmp_path / "run.jsonl", row)
    assert memsift("replay", *both, "--prompts", prompts, "--resume", run).exit_code == 0
    assert len(run.read_text(encoding="utf-8").splitlines()) == 1


def test_several_roots_give_the_numbers_of_one_root_with_all_their_memories(
    tmp_path: Path, both: Options, labelled: Options, prompts: Path
) -> None:
    """Report, gate and progress. The labels are of the texts, so they count for either."""
    whole = write_root(tmp_path / "whole", [*FIRST, *SECOND])
    one: Options = ["--root", whole]
    memsift("replay", *one, "--prompts", prompts, "--save", *labelled)

    def numbers(*command: str | Path) -> tuple[Any, Any]:
        found = [printed(memsift(*command, *each, *labelled, "--format", "json")) for each in (both, one)]
        for each in found:
            for system in each.get("systems", []):
                system.pop("median_ms")
        return found[0], found[1]

    together, alone = numbers("report")
    assert together == alone
    assert together["systems"][0]["precision"]["value"] == pytest.approx(2 / 3)
    together, alone = numbers("gate", "--min-precision", "0.5", "--allow-undecided")
    assert together["decision"] == alone["decision"]
    together, alone = numbers("label", "--prompts", prompts)
    assert together == alone

    def exported(*options: str | Path) -> set[str]:
        events = [one for one in rows(memsift("export", *options, *labelled)) if one["record"] == "event"]
        return {one["memory_id"] for one in events}

    assert exported(*both) == exported() == {"a1", "a2", "b1"}
    assert exported(*both[:2]) == exported(*both[2:]) == {"a1", "a2", "b1"}, "also open together with others"
    assert exported("--root", write_root(tmp_path / "more", [memory("token cache of others", "tokens")])) == set()
    used = cutoff_file(state_dir(str(both[1]), os.environ))
    for root in both[1::2]:
        write_model(Path(state_dir(str(root), os.environ)), content())
    said = f"The one in use is {used}."
    assert said in memsift("report", *both, *labelled, MEMSIFT_CUTOFF="tuned").stderr
    assert said not in memsift("report", *both[:2], *labelled, MEMSIFT_CUTOFF="tuned").stderr


def test_memories_with_the_same_id_are_told_apart(tmp_path: Path, prompts: Path, no_cutoff: None) -> None:  # noqa: ARG001
    """Both are injected, and commands take the id that tells one apart."""
    first = write_root(tmp_path / "first", [memory("token cache rule", "tokens", memory_id="same")])
    second = tmp_path / "vault/same.md"
    put(second, "# token cache note\n")
    both: Options = ["--root", first, "--root", second.parent]
    (row,) = rows(memsift("replay", *both, "--prompts", prompts))
    other = f"same@{root_key(str(second.parent))}"
    assert sorted(one["id"] for one in row["injected"]) == ["same", other]
    listed = [line.split()[0] for line in memsift("list", *both, "--format", "text").stdout.splitlines()]
    assert listed == ["same", other]
    assert "token cache note" in memsift("show", other, *both, "--format", "text").stdout
    assert f"say same@{root_key(str(first))} or {other}." in refused(memsift("show", "same", *both))


def test_runs_in_a_file_are_taken_as_over_all_roots_and_each_root_is_tuned_with_its_share(
    tmp_path: Path, roots: tuple[Path, Path], both: Options
) -> None:
    store = tmp_path / "labels.db"
    names = [f"p{number}" for number in range(20)]
    prompts = jsonl(tmp_path / "many.jsonl", *({"id": name, "prompt": ASK} for name in names))
    run = write(tmp_path / "run.txt", "p1 Q0 b1 1 2.5 bm25", "p1 Q0 a1 2 1.5 bm25")
    place: Options = [*both, "--prompts", prompts, "--db", store]
    done = memsift("import", run, *place)
    assert done.exit_code == 0, done.stderr
    with closing(sqlite3.connect(store)) as kept:
        assert kept.execute("SELECT DISTINCT root FROM run").fetchall() == [(joint_name([*map(str, roots)]),)]
        assert kept.execute("SELECT count(*) FROM result").fetchone() == (2,)
    memsift("replay", *place, "--save")
    lines = [f"{name} 0 {memory_id} {int(memory_id != 'b1')}" for name in names for memory_id in ("a1", "a2", "b1")]
    memsift("import", write(tmp_path / "qrels.txt", *lines), *place)
    tuned = memsift("tune", *both, "--target-precision", "0.5", "--format", "json", "--db", store)
    assert json.loads(tuned.stdout)["prompts"] == 40, "each root has its share of each prompt"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_used_only_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a root the message says why, and how to use it anyway. With a root above, stderr says it."""
    foreign = write_root(tmp_path / "project/.claude/memory", [memory("token cache rule", "tokens")])
    os.chown(foreign, 4242, -1)
    monkeypatch.chdir(tmp_path / "project")
    reason = f"{foreign} is not used: {foreign} belongs to another user (number 4242)."
    for command in (["search", ASK], ["report"], []):
        line = refused(memsift(*command))
        assert f"no Claude Code auto memory for this project. {reason} Name a folder with --root" in line
    assert printed(memsift("search", ASK, "--root", foreign))["total_results"] == 1
    write_root(tmp_path / ".claude/memory", [memory("token of the own root", "tokens")])
    done = memsift("search", ASK)
    assert [one["title"] for one in printed(done)["results"]] == ["token of the own root"]
    assert done.stderr == f"memsift: {reason}\n"


@pytest.fixture
def everywhere(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A project with a root, an auto memory, and a file and a folder of the user: their names -> their paths."""
    project = tmp_path / "project"
    own = write_root(project / ".claude/memory", [memory("token cache rule", memory_id="own")])
    monkeypatch.chdir(project)
    auto = Path(transcripts_dir(str(project), os.environ)) / "memory"
    vault = tmp_path / "vault"
    rules = tmp_path / "AGENTS.md"
    for path, text in (
        (auto / "auto.md", "---\ndescription: token cache of the client\n---\n"),
        (auto / "MEMORY.md", "- [gone](gone.md)\n"),
        (vault / "deep/note.md", "# token cache in general\n"),
        (rules, "# Rules\n\n## Token cache\n\nNever log it.\n"),
        (private_home / ".config/memsift/config.toml", f'roots = ["{vault}", "{rules}", "~/gone"]\n'),
    ):
        put(path, text)
    return {"own": str(own), "auto": str(auto), "vault": str(vault), "rules": str(rules)}


def test_without_a_root_all_that_the_hook_uses_are_taken_and_named_roots_may_be_files_and_folders(
    everywhere: dict[str, str], prompts: Path, tmp_path: Path
) -> None:
    found = memsift("search", "token cache")
    results = printed(found)["results"]
    assert {(one["root"], one["id"]) for one in results} == {
        (everywhere["own"], "own"),
        (everywhere["auto"], "auto"),
        (everywhere["vault"], "deep/note"),
        (everywhere["rules"], "AGENTS#token-cache"),
    }
    assert "'~/gone', which is not used" in found.stderr
    assert "MEMORY.md:1 links to gone.md, which does not exist." in found.stderr
    listed = json.loads(memsift("list", "--format", "json").stdout)
    assert {one["root"] for one in listed} == {*everywhere.values()}
    options = [part for name in ("rules", "vault") for part in ("--root", everywhere[name])]
    results = printed(memsift("search", "token cache", *options))["results"]
    assert {one["path"] for one in results} == {f"{everywhere['rules']}:3", f"{everywhere['vault']}/deep/note.md"}
    assert "Never log it." in memsift("show", "AGENTS#token-cache", "--root", everywhere["rules"]).stdout
    over, store = ["--root", everywhere["rules"]], ["--db", tmp_path / "labels.db"]
    replay = ("replay", *over, "--prompts", prompts, "--systems", "memsift", "--save", *store)
    replayed = memsift(*replay, MEMSIFT_REPEAT_LOADED="true")
    assert [one["id"] for row in rows(replayed) for one in row["injected"]] == ["AGENTS#token-cache"]
    qrels = write(tmp_path / "qrels.txt", "p1 0 AGENTS#token-cache 1")
    assert memsift("import", qrels, *over, "--prompts", prompts, *store).exit_code == 0
    for command in (["report"], ["label"], ["gate", "--min-precision", "0.5"]):
        done = memsift(*command, *over, *store)
        assert (done.exit_code in (0, 1), "1" in done.stdout) == (True, True), done.stderr


@pytest.mark.slow
def test_every_command_finds_the_roots_of_the_users_file_alone(tmp_path: Path) -> None:
    """In a folder without memories of its own, where `roots` in config.toml name the example data."""
    prepare(tmp_path)
    put(tmp_path / ".config/memsift/config.toml", f'roots = ["{tmp_path}/root"]\n')
    given = {command: text.replace("--root root", "") for command, text in PLAIN.items() if "--root root" in text}
    lines = [[*command.split(), *shlex.split(text)] for command, text in (*given.items(), ("trust", ""))]
    ended = loaded_by([[line] for line in lines], tmp_path)
    assert {
        " ".join(line): one.stderr for line, one in zip(lines, ended, strict=True) if one.codes not in ((0,), (1,))
    } == {}


def test_hook_commands_doctor_and_first_start_use_the_same_roots(
    tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a package of a monorepo, whose transcripts lie elsewhere than its auto memory."""
    top, package = tmp_path / "mono", tmp_path / "mono/packages/api"
    (top / ".git").mkdir(parents=True)
    roots = [write_root(one / ".claude/memory", [memory(f"token {one.name}")]) for one in (package, top)]
    auto = Path(transcripts_dir(str(top), os.environ)) / "memory"
    put(auto / "note.md", "# token cache\n")
    sessions = Path(transcripts_dir(str(package), os.environ))
    sessions.mkdir()
    transcript = jsonl(sessions / "s.jsonl", {"type": "user", "cwd": str(package)})
    monkeypatch.chdir(package)
    expected = [*map(str, roots), str(auto)]
    assert {one["root"] for one in json.loads(memsift("list", "--format", "json").stdout)} == {*expected}
    index = [one["text"] for one in json.loads(memsift("doctor", "--format", "json").stdout) if one["check"] == "index"]
    assert [text.rpartition(": ")[0] for text in index] == expected
    assert {one.root for one in places(os.environ)} == {*expected}
    request = {"prompt": ASK, "cwd": str(package), "transcript_path": str(transcript), "session_id": "s"}
    respond(json.dumps(request).encode(), {**os.environ, "HOME": str(private_home)}, StringIO())
    log = json.loads((Path(state_dir(expected[0], os.environ)) / "activity.jsonl").read_text("utf-8"))
    assert log["roots"] == expected
    (seen,) = printed(memsift("activity", "--format", "json"))["decisions"]
    assert seen["session_id"] == "s"
    assert printed(memsift("activity", "--format", "json", "--memory", "note"))["memory"] == "note"
