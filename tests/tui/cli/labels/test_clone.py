"""The labels of a project count in a clone of it, whichever command comes first there."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.engine.builders import memory, write_root
from tests.labels.samples import write
from tests.tui.cli.command_line import jsonl, memsift
from tui.workspace.opening import opened_index
from tui.workspace.root_labels import let_labels_follow

TITLES = ("signing webhooks", "signing cookies", "signing tokens")
PROMPTS = [{"id": f"p{number}", "prompt": f"who is {title}?"} for number, title in enumerate(TITLES)]
OTHER = {"id": "other", "prompt": "which cookies are signing tokens?"}


class Project:
    """A labelled project, and a clone of it."""

    def __init__(self, folder: Path) -> None:
        self.root = write_root(folder / "root", [memory(title, memory_id=f"m{n}") for n, title in enumerate(TITLES)])
        self.clone = folder / "clone"
        shutil.copytree(self.root, self.clone)
        self.prompts, self.db, self.folder = jsonl(folder / "prompts.jsonl", *PROMPTS), folder / "labels.db", folder

    def run(self, root: Path, *arguments: str) -> str:
        done = memsift(*arguments, "--root", root, "--db", self.db)
        assert done.exit_code == 0, done.output
        return done.stdout

    def replay(self, root: Path, *prompts: dict[str, str]) -> None:
        given = jsonl(self.folder / "given.jsonl", *prompts) if prompts else self.prompts
        self.run(root, "replay", "--save", "--prompts", str(given))

    def label(self) -> None:
        qrels = write(self.folder / "qrels", *(f"p{number} 0 m{number} 1" for number in range(3)))
        self.run(self.root, "import", str(qrels), "--annotator", "ann", "--prompts", str(self.prompts))

    def labelled_prompts(self, root: Path) -> int:
        return int(json.loads(self.run(root, "report", "--format", "json"))["labelled_prompts"])


@pytest.fixture
def project(tmp_path: Path, no_cutoff: None) -> Project:  # noqa: ARG001
    return Project(tmp_path)


@pytest.mark.parametrize("is_before", [True, False], ids=["replayed before the labels", "after them"])
def test_a_replayed_clone_has_the_labels(project: Project, is_before: bool) -> None:
    if is_before:
        project.replay(project.clone, OTHER)
        assert project.labelled_prompts(project.clone) == 0
    project.replay(project.root)
    project.label()
    if not is_before:
        project.replay(project.clone, OTHER)
    assert project.labelled_prompts(project.clone) == project.labelled_prompts(project.root) == 3


def test_the_first_command_in_a_clone_may_list_the_runs_or_export_the_labels(project: Project) -> None:
    project.replay(project.root)
    project.label()
    runs = [project.run(root, "diff", "--format", "json") for root in (project.clone, project.root)]
    assert runs[0] == runs[1] != ""
    with closing(sqlite3.connect(project.db)) as db, db:
        db.execute("DELETE FROM same_memories")
    exported = [project.run(root, "export", "--format", "qrels") for root in (project.clone, project.root)]
    assert exported[0] == exported[1] == "p0 0 m0 1\np1 0 m1 1\np2 0 m2 1\n"


def test_a_store_that_cannot_be_written_is_read_as_it_is(project: Project) -> None:
    project.replay(project.root)
    project.label()
    with (
        LabelStore.open(project.db, busy_timeout_s=0.01) as store,
        opened_index(str(project.clone)) as index,
        closing(sqlite3.connect(project.db)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        let_labels_follow(store, index)
        assert store.labels(root=index.root) == ()
        other.rollback()
        let_labels_follow(store, index)
        assert len(store.labels(root=index.root)) == 3
