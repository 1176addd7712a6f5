"""`memsift diff`: two runs, saved or in files, prompt by prompt."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.engine.builders import memory, write_root
from tests.labels.samples import write
from tests.tui.cli.command_line import configure, jsonl, memsift, printed, refused, rows

TEXTS = ("who is signing webhooks, cookies, and tokens?", "signing webhooks rotate", "nothing of the kind")


class Place(NamedTuple):
    """The options that name a root and a label store with two saved runs, and what the runs printed."""

    options: list[str]
    earlier: Path
    later: Path

    def line(self, *arguments: str | Path) -> list[str]:
        return ["diff", *map(str, arguments), *self.options]


@pytest.fixture
def place(tmp_path: Path, no_cutoff: None) -> Place:  # noqa: ARG001
    """Two runs of one system; the later injects one memory instead of three, and has another third prompt."""
    root = write_root(tmp_path / "root", [memory(f"signing {word}") for word in ("webhooks", "cookies", "tokens")])
    options = ["--root", str(root), "--db", str(tmp_path / "labels.db")]
    files = []
    for name, most, texts in (("earlier", 3, TEXTS), ("later", 1, (*TEXTS[:2], "another prompt"))):
        configure(root, max_inject=most)
        prompts = jsonl(
            tmp_path / f"{name}.prompts", *({"id": text[:5].replace(" ", "_"), "prompt": text} for text in texts)
        )
        done = memsift("replay", "--prompts", prompts, "--systems", "memsift", "--save", *options)
        assert done.exit_code == 0, done.output
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text(done.stdout, encoding="utf-8")
    return Place(options, *files)


JSON = ("--format", "json")


def gains(made: dict[str, list[dict[str, list[str]]]]) -> dict[str, tuple[int, int, int]]:
    """prompt id -> memories gained, lost and the same."""
    return {str(one["prompt_id"]): (len(one["gained"]), len(one["lost"]), len(one["same"])) for one in made["prompts"]}


def test_saved_runs_are_listed_and_compared_by_number_id_or_system(place: Place) -> None:
    listed = rows(memsift(*place.line(*JSON)))
    assert [(one["number"], one["system"], one["prompts"]) for one in listed] == [(1, "memsift", 3), (2, "memsift", 3)]
    made = printed(memsift(*place.line("2", "1", *JSON)))
    assert gains(made) == {"who_i": (0, 2, 1), "signi": (0, 0, 1), "anoth": (0, 0, 0), "nothi": (0, 0, 0)}
    only_one = [(one["before"] is None, one["now"] is None) for one in made["prompts"][2:]]
    assert only_one == [(True, False), (False, True)]
    assert made["settings"] == ["max_inject was 3, is 1"]
    assert made["prompts"][0]["prompt"] == TEXTS[0]
    by_id = memsift(*place.line(listed[1]["run_id"][:6], "memsift", *JSON))
    assert printed(by_id) == made
    text = memsift(*place.line()).stdout.splitlines()
    assert [line.split()[-2:] for line in text] == [["memsift", one["run_id"][:8]] for one in listed]


def test_files_compare_like_saved_runs_and_qrels_give_precision(place: Place, tmp_path: Path) -> None:
    made = printed(memsift(*place.line(place.earlier, place.later, *JSON)))
    assert gains(made) == gains(printed(memsift(*place.line("2", "1", *JSON))))
    assert (made["before"]["run"], made["settings"]) == (str(place.earlier), [])
    kept = made["prompts"][0]["same"][0]
    ids = [one["id"] for one in made["prompts"][0]["before"]]
    qrels = write(tmp_path / "qrels.txt", *(f"who_i 0 {name} {int(name == kept)}" for name in ids))
    judged = printed(memsift(*place.line(place.earlier, place.later, "--qrels", qrels, *JSON)))
    assert judged["before"]["precision"] == {"value": 1 / 3, "part": 1, "whole": 3}
    assert judged["now"]["precision"] == {"value": 1.0, "part": 1, "whole": 1}
    text = memsift(*place.line(place.earlier, place.later, "--qrels", qrels)).stdout
    assert "1 of 2 prompts differs: 0 memories gained, 2 memories lost" in text
    assert "before 1 of 3 (33 %), now 1 of 1 (100 %)" in " ".join(text.split())
    assert text.count("  - not relevant: signing") == 2


def test_the_exit_code_tells_of_a_lost_relevant_memory_and_of_too_many_without_a_label(
    place: Place, tmp_path: Path
) -> None:
    assert memsift(*place.line("2", "1", "--exit-code")).exit_code == 0, "memories without a label may go"
    back = place.line("1", "2", "--exit-code")
    held = memsift(*back)
    assert (held.exit_code, memsift(*back, "--max-new", "1").exit_code) == (1, 1)
    assert "2 memories came in without a label (allowed: 0). To label them: memsift, then L." in held.stderr
    assert memsift(*back, "--max-new", "2").exit_code == 0
    assert memsift(*place.line("1", "2")).exit_code == 0
    lost = printed(memsift(*place.line("2", "1", *JSON)))["prompts"][0]["lost"]
    qrels = write(tmp_path / "qrels.txt", f"who_i 0 {lost[0]} 1")
    relevant = memsift(*place.line("2", "1", "--exit-code", "--qrels", qrels))
    assert (relevant.exit_code, "1 relevant memory was lost" in relevant.stderr) == (1, True)


GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")


def git(folder: Path, *command: str) -> None:
    subprocess.run([*GIT, "-C", str(folder), *command], check=True, capture_output=True)


def test_revisions_and_folders_are_replayed_with_the_system_of_the_hook(tmp_path: Path, no_cutoff: None) -> None:  # noqa: ARG001
    project = tmp_path / "project"
    root = project / ".claude/memory"
    git(tmp_path, "init", "-q", str(project))
    git(project, "commit", "-q", "--allow-empty", "-m", "nothing")
    for name in ("webhooks", "cookies"):
        write_root(root, [memory(f"signing {name}")])
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", name)
    write_root(tmp_path / "other", [memory("signing webhooks")])
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p", "prompt": TEXTS[0]})
    options = ["--root", root, "--db", tmp_path / "labels.db"]
    assert memsift("replay", *options, "--prompts", prompts, "--save").exit_code == 0
    indexes = sorted((tmp_path / "home").rglob("index.db"))

    def compared(first: str | Path, second: str | Path, *more: str | Path) -> tuple[list[str], list[str]]:
        made = printed(memsift("diff", first, second, *options, *JSON, *more))
        assert (made["before"]["system"], made["now"]["system"]) == ("memsift", "memsift")
        return made["prompts"][0]["gained"], made["prompts"][0]["lost"]

    assert compared("HEAD~1", "HEAD") == (["signing-cookies"], [])
    assert compared("HEAD~2", "HEAD~1", "--prompts", prompts) == (["signing-webhooks"], [])
    assert compared("HEAD~1", root) == (["signing-cookies"], [])
    assert sorted((tmp_path / "home").rglob("index.db")) == indexes, "a revision leaves nothing behind"
    assert compared(tmp_path / "other", "main", "--prompts", prompts) == (["signing-cookies"], [])
    empty = jsonl(tmp_path / "empty.jsonl", {"id": "p"})
    said = memsift("diff", "HEAD~1", "HEAD", "--prompts", empty, *options)
    assert (said.exit_code, "There is no prompt in" in said.stderr) == (2, True)
    assert "No prompt was replayed over" in refused(memsift("diff", tmp_path / "other", root, *options))
    assert "no revision and no saved run 'HEAD~9'" in refused(memsift("diff", "HEAD~9", "HEAD", *options))
    table = memsift("diff", "HEAD~1", "HEAD", *options, "--format", "markdown").stdout
    assert table.splitlines()[-1].endswith("| signing cookies (signing-cookies) |  |")


def test_a_run_that_cannot_be_found_is_named_with_the_way_to_find_one(place: Place, tmp_path: Path) -> None:
    for given in ("3", "0", "", "bm25", "abcdef", "HEAD", str(tmp_path / "none.jsonl")):
        assert f"no saved run {given!r}. `memsift diff` alone lists" in refused(memsift(*place.line("1", given)))
    several = jsonl(
        tmp_path / "two.jsonl",
        *(json.loads(place.earlier.read_text().splitlines()[0]) | {"system": name} for name in ("bm25", "memsift")),
    )
    assert printed(memsift(*place.line(several, "1", *JSON)))["before"]["system"] == "memsift", "the hook's own"
    configure(Path(place.options[1]), match_strategy="title_tags")
    assert "holds several systems: bm25, memsift. Name one" in refused(memsift(*place.line(several, "1")))
    assert "has no rows of the system 'none'" in refused(memsift(*place.line(several, "1", "--systems", "none")))
    made = printed(memsift(*place.line(several, several, "--systems", "bm25,memsift", *JSON)))
    assert (made["before"]["system"], made["now"]["system"]) == ("bm25", "memsift")
    assert memsift(*place.line("1")).exit_code == 2
