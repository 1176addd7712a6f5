"""Python modules that a stranger put into a project are not run by the processes that memsift starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.cli.command_line import ASK, PROJECT, jsonl
from tests.tui.demo import DEMO_ROOT
from tui.cli.serve import app_command

NAMES = ("click.py", "struct.py", "pickle.py", "tempfile.py", "sitecustomize.py", "engine.py", "tui.py")
SCRIPT = "from tui.cli import main\n\nif __name__ == '__main__':\n    main(prog_name='memsift')\n"
"""What pip installs as `memsift`: its modules come from the folder of the script, not from the current folder."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n", encoding="utf-8")
    return folder


def run_in(project: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, timeout=120, check=False)


def test_the_served_app_runs_no_module_of_the_project(project: Path, tmp_path: Path) -> None:
    done = run_in(project, app_command("--version"))
    assert (done.returncode, done.stdout[:8]) == (0, "memsift,"), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_the_processes_of_a_large_replay_run_no_module_of_the_project(project: Path, tmp_path: Path) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    script = tmp_path / "memsift"
    script.write_text(SCRIPT, encoding="utf-8")
    done = run_in(
        project,
        [
            *(sys.executable, str(script), "replay", "--executor", "processes:1"),
            *("--root", str(DEMO_ROOT), "--prompts", str(prompts)),
        ],
    )
    assert '"prompt_id": "p1"' in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()
