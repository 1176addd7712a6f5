"""Links and Python modules that a cloned repository brings along: nothing writes through a link or runs a module."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.engine.builders import put
from tests.engine.curation.roots import document, write_documents
from tests.tui.cli.command_line import ASK, PROJECT, jsonl, memsift, refused
from tests.tui.demo import DEMO, DEMO_ROOT
from tui.cli.app import app_command

MEMORY = ".claude/memory"
WRITTEN = (
    *(
        f"{MEMORY}/{name}"
        for name in ("index.md", "memory-config.json", "memory-config.json.lock", "decisions/new.json")
    ),
    *(f"{MEMORY}/decisions/{name}.json" for name in ("alpha", "beta", "gamma")),
    *(f"other/{MEMORY}/{name}" for name in ("index.md", "decisions/alpha.json")),
    *("notes/MEMORY.md", "notes/note.md", "notes/new.md"),
    *(f"{MEMORY}/.memsift/{name}" for name in ("phrases.jsonl", ".gitattributes")),
    *(".claude/settings.json", ".claude/settings.local.json"),
    *("out.jsonl", "out.html"),
)
"""Files that the commands make or change."""

ASIDE = ("{}.memsift", "{}.tmp", "{}.new", "{}.bak", "{}.lock", f"{{}}.{os.getpid()}", f"{{}}.{os.getpid() + 1}", "{}~")
"""What a program may call a file until it is complete: with the file's name, and with a dot before it."""

PLANTED = [
    str(Path(file).with_name(dot + form.format(Path(file).name)))
    for file, dot, form in product(WRITTEN, ("", "."), ASIDE)
]
NEW = ("--title", "new", "--body", "Use it.")
FIELDS = ("--set", "status=accepted", "--set", "context=c", "--set", "rationale=r")
ROOT = ("--root", MEMORY)
PROMPTS = ("--prompts", DEMO / "prompts.jsonl")
COMMANDS: list[tuple[str | Path, ...]] = [
    ("create", "--category", "decision", "--id", "new", *NEW, *FIELDS, *ROOT),
    ("create", "--category", "project", "--id", "new", *NEW, "--root", "notes"),
    ("edit", "alpha", "--title", "Other", *ROOT),
    ("edit", "note", "--title", "Other", "--root", "notes"),
    ("tag", "alpha", "beta", "--add", "new", *ROOT),
    ("retire", "alpha", *ROOT),
    ("restore", "alpha", *ROOT),
    ("archive", "note", "--root", "notes"),
    ("merge", "alpha", "beta", *ROOT),
    ("move", "alpha", "--to", f"other/{MEMORY}", *ROOT),
    ("undo",),
    ("phrases", "add", "gamma", "a phrase", *ROOT),
    ("phrases", "remove", "gamma", "--all", *ROOT),
    ("quality", "fix", "--check", "drift", "--yes", *ROOT),
    ("config", "set", "max_inject", "2", *ROOT),
    ("config", "unset", "max_inject", *ROOT),
    ("install", "--project"),
    ("uninstall", "--project"),
    ("export", "--output", "out.jsonl"),
    ("replay", *ROOT, *PROMPTS, "--save"),
    ("report", *ROOT, "--format", "html", "--output", "out.html"),
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with memories in both formats that are written; the commands run in it."""
    folder = tmp_path / "clone"
    write_documents(folder / MEMORY, [document(name) for name in ("alpha", "beta", "gamma")])
    write_documents(folder / "other" / MEMORY, [document("zeta")])
    (folder / MEMORY / ".memsift").mkdir()
    put(folder / "notes/MEMORY.md", "- [Note](note.md) — A note\n")
    put(folder / "notes/note.md", "---\nname: note\ndescription: A note\n---\n\nText.\n")
    monkeypatch.chdir(folder)
    return folder


def plant(project: Path, names: Sequence[str]) -> dict[Path, str | None]:
    """Put a link at each name of the clone, to a file of its own in the home folder; every second is missing there.

    That file -> its text.
    """
    mine = project.parent / "mine"
    mine.mkdir()
    for number, name in enumerate(names):
        (project / name).unlink(missing_ok=True)
        (project / name).symlink_to(mine / str(number))
        if number % 2:
            (mine / str(number)).write_text(f'{{"mine": {number}}}', encoding="utf-8")
    return texts(mine / str(number) for number in range(len(names)))


def texts(files: Iterable[Path]) -> dict[Path, str | None]:
    return {file: file.read_text(encoding="utf-8") if file.exists() else None for file in files}


@pytest.mark.slow
def test_links_at_temporary_names_are_left_alone_by_every_command_that_writes(project: Path) -> None:
    mine = plant(project, PLANTED)
    assert len(mine) > 250
    for command in COMMANDS:
        done = memsift(*command)
        assert done.exit_code == 0, (command, done.stderr)
        assert texts(mine) == mine, command
        assert all((project / name).is_symlink() for name in PLANTED), command


KINDS = (("decisions/",), ("index.md", "memory-config.json", ".memsift/"), ("notes/", "settings."))
"""Parts of the names of files that are links at the same time: each command would write another of them."""


@pytest.mark.parametrize("kinds", KINDS)
def test_no_command_writes_through_a_link_that_leads_out(project: Path, kinds: tuple[str, ...]) -> None:
    mine = plant(project, [name for name in WRITTEN if any(kind in name for kind in kinds)])
    for command in COMMANDS[:-3]:
        done = memsift(*command)
        assert isinstance(done.exception, (SystemExit, type(None))), command
        assert texts(mine) == mine, command


def test_no_command_writes_into_a_folder_that_a_link_leads_to(project: Path) -> None:
    (project / MEMORY / "decisions").rename(project.parent / "decisions")
    (project / MEMORY / "decisions").symlink_to(project.parent / "decisions")
    before = texts((project.parent / "decisions").iterdir())
    for command in COMMANDS[:-3]:
        memsift(*command)
    (project / ".claude").rename(project.parent / "claude")
    (project / ".claude").symlink_to(project.parent / "claude")
    settings = texts([project.parent / "claude/settings.json"])
    assert "is outside of" in refused(memsift("install", "--project"))
    assert texts((project.parent / "decisions").iterdir()) == before
    assert texts(settings) == settings


# Modules

NAMES = ("click.py", "struct.py", "pickle.py", "tempfile.py", "sitecustomize.py", "engine.py", "tui.py")
SCRIPT = "from tui.cli import main\n\nif __name__ == '__main__':\n    main(prog_name='memsift')\n"
"""What pip installs as `memsift`: its modules come from the folder of the script, not from the current folder."""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in NAMES:
        put(folder / name, f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n")
    return folder


def run_in(project: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, timeout=120, check=False)


def test_the_served_app_runs_no_module_of_the_project(foreign: Path, tmp_path: Path) -> None:
    done = run_in(foreign, app_command("--version"))
    assert (done.returncode, done.stdout[:8]) == (0, "memsift,"), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_the_processes_of_a_large_replay_run_no_module_of_the_project(foreign: Path, tmp_path: Path) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    script = tmp_path / "memsift"
    script.write_text(SCRIPT, encoding="utf-8")
    done = run_in(
        foreign,
        [
            *(sys.executable, str(script), "replay", "--executor", "processes:1"),
            *("--root", str(DEMO_ROOT), "--prompts", str(prompts)),
        ],
    )
    assert '"prompt_id": "p1"' in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()
