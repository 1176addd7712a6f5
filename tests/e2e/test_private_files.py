"""Folders and files that memsift makes are for their owner alone, whatever the umask: real processes, then a walk."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.judge.cache import cache_file
from engine.opening import index_file
from engine.paths import labels_file, state_dir
from engine.stores.files import make_folder, make_private
from tests.engine.builders import memory, write_root
from tests.engine.hook.world import ASK, FORMS, RULES
from tests.tui.cli.command_line import MAIN, jsonl
from tests.tui.demo import DEMO, DEMO_ROOT

PROJECT = Path(__file__).resolve().parents[2]
OPEN = 0
"""The umask that lets everybody read and write what a program does not protect."""

TUNE = ["tune", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--qrels", DEMO / "qrels.txt"]
IN_APP = """
import os, sys
from engine.paths import state_home
from tui.workspace.app_settings import Choices
Choices(state_home(os.environ)).write("theme", "nord")
"""
WRITING = """
import os, stat, sys
from engine.lean.sqlite import for_writing
from labels.database import LabelDatabase
from pathlib import Path
index = for_writing(sys.argv[1])
index.execute("begin immediate")
index.execute("create table growing(text)")
index.execute("insert into growing values (zeroblob(100000000))")
labels = LabelDatabase(Path(sys.argv[2]))
labels.execute("create table growing(text)")
for place in sys.argv[1:]:
    for name in os.listdir(os.path.dirname(place)):
        if name.startswith(os.path.basename(place)):
            print(name, oct(stat.S_IMODE(os.stat(os.path.join(os.path.dirname(place), name)).st_mode)))
"""


class Home:
    """A home folder, a project with memories, and processes with an umask."""

    def __init__(self, folder: Path, umask: int) -> None:
        self.path = folder / "fresh"
        self.path.mkdir()
        self.path.chmod(0o755)
        self.project = folder / "project"
        self.root = write_root(self.project / ".claude/memory", RULES)
        self.umask = umask
        self.environ = {"HOME": str(self.path), "MEMSIFT_CUTOFF": "off"}

    def run(self, command: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        environ = {**self.environ, "PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PROJECT)}
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, env=environ, cwd=self.project, umask=self.umask,
            timeout=120, check=False,
        )  # fmt: skip

    def memsift(self, *arguments: str | Path, code: int = 0) -> None:
        done = self.run([*MAIN, *map(str, arguments)])
        assert done.returncode == code, done.stderr

    def hook(self, session: str) -> None:
        payload = {"prompt": ASK, "cwd": str(self.project), "session_id": session}
        assert "<result " in self.run(FORMS["launcher"], json.dumps(payload)).stdout

    def hook_without_root(self) -> None:
        """The hook where the only root is one that does not exist, so that the log of no root is written."""
        settings = self.path / ".config/memsift/config.toml"
        make_folder(str(settings.parent))
        settings.write_text('roots = ["/no/such/folder"]\n', encoding="utf-8")
        settings.chmod(0o600)
        assert self.run(FORMS["launcher"], json.dumps({"prompt": ASK, "cwd": str(self.path)})).stdout == ""
        settings.unlink()

    def open_to_others(self) -> list[str]:
        """The folders and files below the home folder that are not for their owner alone."""
        kept = {path: stat.S_IMODE(path.lstat().st_mode) for path in self.path.rglob("*")}
        return [str(path) for path, mode in kept.items() if mode != (0o700 if path.is_dir() else 0o600)]

    def names(self) -> set[str]:
        return {path.name for path in self.path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("umask", [OPEN, 0o077, 0o777])
def test_what_the_hook_writes_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    home = Home(tmp_path, umask)
    home.hook("one")
    home.hook("two")
    home.hook_without_root()
    assert home.open_to_others() == []
    assert {"index.db", "activity.jsonl"} < home.names()
    assert len(list(home.path.rglob("sessions/*/*.json"))) == 2
    assert len(list(home.path.rglob("activity.jsonl"))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("umask", [OPEN, 0o077])
def test_what_the_commands_write_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    """Files that a person named are made in the same way, and so are the folders of a named label store."""
    home = Home(tmp_path, umask)
    out = home.path / "out"
    make_folder(str(out))
    script = f"scripted:{jsonl(tmp_path / 'judge.jsonl', {'prompt': ASK, 'keep': ['cache rule 1']})}"
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    home.memsift("search", ASK)
    home.memsift("trust")
    home.memsift("judge", ASK, "--judge", script)
    home.memsift("replay", "--prompts", prompts, "--save", "--resume", out / "run.jsonl")
    home.memsift("replay", "--prompts", prompts, "--save", "--db", home.path / "deep/down/named.db")
    home.memsift("import", DEMO / "qrels.txt", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl")
    home.memsift("merge-labels", home.path / "deep/down/named.db")
    home.memsift("export", "--output", out / "labels.jsonl")
    home.memsift("report", "--format", "html", "--output", out / "report.html")
    home.memsift(*TUNE, "--target-precision", "0.65", "--apply")
    home.memsift("config", "set", "max_inject", "2")
    home.memsift("retire", "cache-rule-4")
    home.memsift("quality", "reject", "cache-rule-3")
    home.memsift("install", "--plugin")
    assert home.run([sys.executable, "-c", IN_APP]).returncode == 0
    assert home.open_to_others() == []
    made = {"index.db", "judge.db", "judge.db.lock", "labels.db"}
    made |= {"cutoff.json", "theme", "trusted.json", "config.toml", "journal.db", "decisions.db", "hook-start"}
    made |= {"root.json", "writing.lock", "settings.json"}
    assert home.names() - {"run.jsonl", "labels.jsonl", "report.html", "named.db"} == made
    page = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    assert [name for name in made if name.removesuffix(".lock") not in page] == []


def test_files_of_earlier_versions_are_narrowed_and_folders_stay(tmp_path: Path) -> None:
    home = Home(tmp_path, OPEN)
    home.hook("one")
    home.memsift("judge", ASK, "--judge", f"scripted:{jsonl(tmp_path / 'j.jsonl', {'prompt': ASK, 'keep': []})}")
    index, log = Path(index_file(str(home.root), home.environ)), Path(state_dir(str(home.root), home.environ))
    judged, shared = Path(cache_file(home.environ)), home.path / ".local"
    files = [index, log / "activity.jsonl", judged]
    for file in files:
        file.chmod(0o644)
    shared.chmod(0o755)
    write_root(home.root, [*RULES, memory("cache rule 9", "cache")])
    home.hook("two")
    home.memsift("judge", ASK, "--judge", f"scripted:{jsonl(tmp_path / 'j.jsonl', {'prompt': ASK, 'keep': []})}")
    assert [oct(stat.S_IMODE(file.stat().st_mode)) for file in files] == ["0o600"] * 3
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_a_file_that_a_person_named_keeps_its_mode(tmp_path: Path) -> None:
    """A run file that is cut and written again, because a row has no answer of the judge, is no exception."""
    home = Home(tmp_path, OPEN)
    failing, fine = ({"prompt": ASK, **answer} for answer in ({"status": "timeout"}, {"keep": []}))
    prompts, run = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK}), home.path / "run.jsonl"
    for script, code in ((failing, 2), (fine, 0)):
        judge = f"scripted:{jsonl(tmp_path / 'judge.jsonl', script)}"
        asked = ["--prompts", prompts, "--systems", "memsift+judge", "--judge", judge, "--resume", run, "--save"]
        home.memsift("replay", *asked, code=code)
        run.chmod(0o640)
    assert stat.S_IMODE(run.stat().st_mode) == 0o640
    page = home.path / "report.html"
    page.touch()
    page.chmod(0o644)
    link = home.path / "link.html"
    link.symlink_to(page)
    home.memsift("report", "--format", "html", "--output", page)
    home.memsift("export", "--output", link)
    assert link.is_symlink()
    assert page.read_text().startswith('{"record"')
    assert stat.S_IMODE(page.stat().st_mode) == 0o644


def test_files_that_sqlite_keeps_are_private_and_no_open_database_is_opened_beside_sqlite(tmp_path: Path) -> None:
    """Closing a second descriptor would free the locks that this process holds, and let two processes write at once."""
    home = Home(tmp_path, OPEN)
    home.memsift("search", ASK)
    places = index_file(str(home.root), home.environ), labels_file(home.environ)
    done = home.run([sys.executable, "-c", WRITING, *places])
    modes = dict(line.split() for line in done.stdout.splitlines())
    assert set(modes) == {"index.db", "index.db-journal", "labels.db", "labels.db-wal", "labels.db-shm"}, done.stderr
    assert set(modes.values()) == {"0o600"}
    path = str(tmp_path / "deep/down/file.db")
    make_private(path)
    os.chmod(path, 0o644)  # noqa: PTH101
    holder = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1], timeout=0); d.execute('begin exclusive')"
    db = sqlite3.connect(path)
    db.execute("begin exclusive")
    make_private(path)
    done = subprocess.run([sys.executable, "-c", holder, path], capture_output=True, text=True, check=False)
    db.close()
    assert "database is locked" in done.stderr
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600  # noqa: PTH116
