"""Every command with several `--root` options."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.paths import transcripts_dir
from labels.measure.judgements import replayed_texts
from labels.store import LabelStore
from tests.engine.builders import memory, write_root
from tests.labels.samples import card
from tests.tui.cli.command_line import jsonl, memsift, printed, refused, rows

if TYPE_CHECKING:
    from click.testing import Result

    Options = list[str | Path]

ASK = "how long does the token cache live?"


@pytest.fixture
def roots(tmp_path: Path, no_cutoff: None) -> tuple[Path, Path]:  # noqa: ARG001
    first = [memory("token cache rule", "tokens", memory_id="a1"), memory("token cache colours", memory_id="a2")]
    second = [memory("cache for a token", "cache", memory_id="b1"), memory("what is for lunch", memory_id="b2")]
    return write_root(tmp_path / "first", first), write_root(tmp_path / "second", second)


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
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("p1 0 a1 1\np1 0 a2 1\np1 0 b1 0\n", encoding="utf-8")
    done = memsift("import", qrels, *both, "--prompts", prompts, *store)
    assert "3 labels" in done.stderr
    assert "Unknown here" not in done.stderr
    return store


def usage_error(result: Result) -> str:
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_results_of_a_search_take_turns_and_name_their_root(roots: tuple[Path, Path], both: Options) -> None:
    found = printed(memsift("search", ASK, *both))
    assert [one["root"] for one in found["results"]] == [str(roots[0]), str(roots[1]), str(roots[0])]
    alone = [printed(memsift("search", ASK, "--root", root))["results"] for root in roots]
    assert [one["id"] for one in found["results"]] == [alone[0][0]["id"], "b1", alone[0][1]["id"]]
    assert (found["query"], found["total_results"]) == (ASK, 3)
    assert "root" not in printed(memsift("search", ASK, *both[:2]))["results"][0]
    assert printed(memsift("search", ASK, *both[:2], *both[:2])) == printed(memsift("search", ASK, *both[:2]))
    text = memsift("search", ASK, *both, "--format", "text").stdout
    assert text.index(str(roots[0])) < text.index("token cache rule") < text.index(str(roots[1]))


def test_one_memory_is_explained_in_the_root_that_has_it(roots: tuple[Path, Path], both: Options) -> None:
    assert printed(memsift("search", ASK, *both, "--memory", "b1"))["memory"]["id"] == "b1"
    assert printed(memsift("search", ASK, *both, "--memory", "a1"))["memory"]["id"] == "a1"
    assert "no memory 'c1' in this root" in refused(memsift("search", ASK, *both, "--memory", "c1"))
    dropped = printed(memsift("search", "lunch", *both, "--explain", "--mode", "auto"))
    assert {one["root"] for one in (*dropped["results"], *dropped["dropped"])} == {str(roots[1])}


def test_the_judge_is_asked_about_each_root(tmp_path: Path, roots: tuple[Path, Path], both: Options) -> None:
    script = f"scripted:{jsonl(tmp_path / 'judge.jsonl', {'prompt': ASK, 'keep': []})}"
    found = printed(memsift("judge", ASK, *both, "--judge", script, "--format", "json"))
    assert [(one["root"], len(one["verdicts"])) for one in found] == [(str(roots[0]), 2), (str(roots[1]), 1)]


def test_a_replay_says_over_which_root_and_such_a_file_is_not_one_report(
    tmp_path: Path, roots: tuple[Path, Path], both: Options, prompts: Path
) -> None:
    found = rows(memsift("replay", *both, "--prompts", prompts))
    assert [(row["root"], {one["id"] for one in row["injected"]}) for row in found] == [
        (str(roots[0]), {"a1", "a2"}),
        (str(roots[1]), {"b1"}),
    ]
    assert "root" not in rows(memsift("replay", *both[:2], "--prompts", prompts))[0]
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("p1 0 a1 1\n", encoding="utf-8")
    line = refused(memsift("report", "--run", jsonl(tmp_path / "run.jsonl", *found), "--qrels", qrels))
    assert "line 2, root: expected" in line
    assert "a file for each root" in line
    line = refused(memsift("replay", *both[:2], "--prompts", prompts, "--resume", tmp_path / "run.jsonl"))
    assert "line 1, root: expected none" in line


def test_what_belongs_to_one_run_is_refused_for_several_roots(tmp_path: Path, both: Options, prompts: Path) -> None:
    for options in (["--resume", tmp_path / "run.jsonl"], ["--max-cost", "1"], ["--batch"]):
        assert "name one --root" in usage_error(memsift("replay", *both, "--prompts", prompts, *options))


def test_there_is_a_report_of_each_root(roots: tuple[Path, Path], both: Options, labelled: Options) -> None:
    found = printed(memsift("report", *both, *labelled, "--format", "json"))
    values = {one["root"]: one["systems"][0]["precision"]["value"] for one in found}
    assert values == {str(roots[0]): 1.0, str(roots[1]): 0.0}
    assert printed(memsift("report", *both[:2], *labelled, "--format", "json")) == {
        name: value for name, value in found[0].items() if name != "root"
    }
    text, markdown = (memsift("report", *both, *labelled, "--format", form).stdout for form in ("text", "markdown"))
    assert [line for line in text.splitlines() if line.startswith(str(roots[0].parent))] == [
        str(each) for each in roots
    ]
    assert f"# {roots[1]}\n" in markdown
    assert "one --root with --format html" in usage_error(memsift("report", *both, *labelled, "--format", "html"))


def test_the_gate_fails_where_one_root_does(tmp_path: Path, roots: tuple[Path, Path], both: Options) -> None:
    store: Options = ["--db", tmp_path / "labels.db"]
    names = [f"p{number}" for number in range(40)]
    prompts = jsonl(tmp_path / "many.jsonl", *({"id": name, "prompt": ASK} for name in names))
    memsift("replay", *both, "--prompts", prompts, "--save", *store)
    with LabelStore.open(tmp_path / "labels.db") as opened:
        for root, verdict in zip(roots, ("relevant", "not"), strict=True):
            for prompt_id, digests in replayed_texts(opened.outcomes(str(root))).items():
                for shown in (card(*pair) for pair in digests.items()):
                    opened.label("me", prompt_id, shown, verdict, seed=1, blind=True, elapsed_ms=1)
    asked = ["gate", "--min-precision", "0.5", "--format", "json", *store]
    result = memsift(*asked, *both)
    verdicts = {one["root"]: one["decision"]["verdict"] for one in json.loads(result.stdout)}
    assert (result.exit_code, verdicts) == (1, {str(roots[0]): "pass", str(roots[1]): "fail"})
    assert memsift(*asked, *both[:2]).exit_code == 0
    assert memsift(*asked, *both[2:]).exit_code == 1


def test_how_far_labelling_is_is_told_of_each_root(
    roots: tuple[Path, Path], both: Options, labelled: Options, prompts: Path
) -> None:
    told = rows(memsift("label", *both, *labelled, "--prompts", prompts, "--format", "json"))
    assert [one["root"] for one in told] == [str(each) for each in roots]
    following = rows(memsift("label", *both, *labelled, "--prompts", prompts, "--next", "1", "--format", "json"))
    assert {(one["root"], one["id"]) for one in following} <= {(str(each), "p1") for each in roots}
    assert "name one --root" in usage_error(memsift("label", *both, *labelled, "--adjudicate"))


def test_an_export_holds_what_any_of_the_roots_brought_up(both: Options, labelled: Options) -> None:
    def exported(*options: str | Path) -> set[str]:
        events = [one for one in rows(memsift("export", *options, *labelled)) if one["record"] == "event"]
        return {one["memory_id"] for one in events}

    assert exported(*both) == exported() == {"a1", "a2", "b1"}
    assert (exported(*both[:2]), exported(*both[2:])) == ({"a1", "a2"}, {"b1"})


def test_runs_in_a_file_are_taken_as_over_the_first_root(
    tmp_path: Path, roots: tuple[Path, Path], both: Options, prompts: Path
) -> None:
    run = tmp_path / "run.txt"
    run.write_text("p1 Q0 b1 1 2.5 bm25\np1 Q0 a1 2 1.5 bm25\n", encoding="utf-8")
    store = tmp_path / "labels.db"
    done = memsift("import", run, *both, "--prompts", prompts, "--db", store)
    assert done.exit_code == 0, done.stderr
    with closing(sqlite3.connect(store)) as kept:
        assert kept.execute("SELECT DISTINCT root FROM run").fetchall() == [(str(roots[0]),)]
        assert kept.execute("SELECT count(*) FROM result").fetchone() == (2,)


def test_the_app_is_open_on_one_root(both: Options) -> None:
    assert "one folder of memories at a time, not on 2" in usage_error(memsift(*both))


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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {"own": str(own), "auto": str(auto), "vault": str(vault), "rules": str(rules)}


def test_without_a_root_search_and_list_take_all_that_the_hook_uses(everywhere: dict[str, str]) -> None:
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


def test_named_roots_may_be_folders_and_files_of_several_formats(everywhere: dict[str, str]) -> None:
    options = [part for name in ("rules", "vault") for part in ("--root", everywhere[name])]
    results = printed(memsift("search", "token cache", *options))["results"]
    assert [one["path"] for one in results] == [
        f"{everywhere['rules']}:3",
        f"{everywhere['vault']}/deep/note.md",
    ]
    assert "Never log it." in memsift("show", "AGENTS#token-cache", "--root", everywhere["rules"]).stdout


def test_every_command_reads_a_root_that_is_a_file(everywhere: dict[str, str], prompts: Path, tmp_path: Path) -> None:
    over = ["--root", everywhere["rules"]]
    store = ["--db", tmp_path / "labels.db"]
    replayed = memsift("replay", *over, "--prompts", prompts, "--systems", "memsift", "--save", *store)
    assert [one["id"] for row in rows(replayed) for one in row["injected"]] == ["AGENTS#token-cache"]
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("p1 0 AGENTS#token-cache 1\n", encoding="utf-8")
    assert memsift("import", qrels, *over, "--prompts", prompts, *store).exit_code == 0
    for command in ("report", "label", "gate"):
        more = ["--min-precision", "0.5"] if command == "gate" else []
        done = memsift(command, *over, *store, *more)
        assert done.exit_code in (0, 1), done.stderr
        assert "1" in done.stdout


@pytest.mark.parametrize("command", ["edit", "retire", "tag"])
def test_a_format_that_is_only_read_cannot_be_changed(everywhere: dict[str, str], command: str) -> None:
    more = {"edit": ["--title", "x"], "tag": ["--add", "x"], "retire": []}[command]
    before = Path(everywhere["rules"]).read_bytes()
    done = memsift(command, "AGENTS#token-cache", "--root", everywhere["rules"], *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "which memsift only reads" in done.stderr
    assert Path(everywhere["rules"]).read_bytes() == before
