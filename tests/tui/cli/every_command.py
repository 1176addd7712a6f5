"""A plain run of every command on the example data, and the packages that a process has loaded at its end."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.paths import cutoff_file, state_dir
from engine.stores.files import write_whole
from labels.store import LabelStore
from tests.engine.builders import memory, put, write_root
from tests.tui.cli.command_line import PROJECT, jsonl
from tests.tui.demo import DEMO, DEMO_ROOT

PLAIN = {
    "activity": "--root root",
    "adopt": "gone --root other",
    "archive": "job-queue-skip-locked --root root --dry-run",
    "completion": "bash",
    "config": "--root root",
    "config get": "max_inject --root root",
    "config set": "max_inject 3",
    "config unset": "max_inject",
    "create": "--root root --category runbook --title T --set trigger=t --set steps=s --set verification=v --dry-run",
    "diff": "run.jsonl run.jsonl --root root --prompts prompts.jsonl",
    "doctor": "",
    "edit": "job-queue-skip-locked --root root --title 'Another title' --dry-run",
    "export": "",
    "gate": "--root root --run run.jsonl --qrels qrels.txt --min-precision 0.5",
    "history": "",
    "import": "qrels.txt --root root --prompts prompts.jsonl --dry-run",
    "install": "--print",
    "judge": "'write a haiku about semicolons' --root root --judge scripted:judge.jsonl",
    "label": "--root root --prompts prompts.jsonl",
    "list": "--root root",
    "merge": "job-queue-skip-locked cursor-pagination --root root --dry-run",
    "merge-labels": "other.db",
    "move": "job-queue-skip-locked --root root --to other --dry-run",
    "mute": "--root root",
    "phrases add": "job-queue-skip-locked 'two workers took the same job' --root root",
    "phrases import": "phrases.jsonl --root root",
    "phrases list": "--root root",
    "phrases missing": "--root root",
    "phrases remove": "job-queue-skip-locked --all --root phrased",
    "phrases write": "--root phrased --judge scripted:judge.jsonl --dry-run",
    "prompts": "prompts.jsonl",
    "quality accept": "job-queue-skip-locked --root root",
    "quality check": "--root root",
    "quality fix": "--root root --dry-run",
    "quality judge": "--root headings --judge anthropic-http",  # a rule rejects a heading, so nobody is asked
    "quality list": "--root root",
    "quality reject": "job-queue-skip-locked --root root",
    "rename": "tabs spaces --root auto --dry-run",
    "replay": "--root root --prompts prompts.jsonl",
    "report": "--root root --run run.jsonl --qrels qrels.txt",
    "restore": "rq-on-redis --root root --dry-run",
    "retire": "job-queue-skip-locked --root root --reason old --dry-run",
    "search": "'the job queue' --root root --mode auto --explain",
    "show": "job-queue-skip-locked --root root",
    "tag": "job-queue-skip-locked --root root --add job",
    "trust": "--list",
    "tune": "--root root --qrels qrels.txt --prompts prompts.jsonl --target-precision 0.6",
    "undo": "",
    "uninstall": "--dry-run",
}
"""Command -> the arguments of a plain run in the folder of `prepare`."""

IN_A_TERMINAL = ("demo", "serve")
"""Commands without a plain run. So is memsift without a command."""

EACH = """
import sys
started = set(sys.modules)  # with what a distribution or an installation loads into each process
import json, os, tempfile, time, traceback
from tui.cli import main
for lines in json.load(sys.stdin):
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    output, stderr, null = os.dup(1), tempfile.TemporaryFile(), os.open(os.devnull, os.O_RDWR)
    for number, target in enumerate((null, null, stderr.fileno())):
        os.dup2(target, number)
    codes, before = [], time.process_time()
    for line in lines:
        try:
            main(line, prog_name="memsift")
        except SystemExit as end:
            codes.append(end.code or 0)
        except BaseException:
            codes.append(traceback.format_exc())
    cpu_s, loaded = time.process_time() - before, sorted({*sys.modules} - started)
    sys.stderr.flush()
    stderr.seek(0)
    os.write(output, json.dumps([codes, cpu_s, loaded, stderr.read().decode()]).encode() + b"\\n")
    os._exit(0)
"""


@dataclass(frozen=True)
class Loaded:
    """The end of a process: the exit codes of its commands, its CPU time beyond that of `tui.cli`, and its modules."""

    codes: tuple[object, ...]
    cpu_s: float
    modules: tuple[str, ...]
    stderr: str

    @property
    def packages(self) -> set[str]:
        """The packages outside the standard library, with `labels`. Helpers that begin with _ are left out."""
        names = {name.partition(".")[0] for name in self.modules}
        return {
            one
            for one in names - sys.stdlib_module_names - {"engine", "tui", "cython_runtime"}
            if not one.startswith("_")
        }


def plain(command: str) -> list[str]:
    return [*command.split(), *shlex.split(PLAIN[command])]


def prepare(folder: Path) -> None:
    """Put everything that PLAIN names into *folder*: the example data, a run with labels, and a label store."""
    shutil.copytree(DEMO_ROOT, folder / "root")
    write_root(folder / "other", [])
    for name, text in (("MEMORY.md", ""), ("tabs.md", "Use tabs.")):
        put(folder / "auto" / name, text)
    phrased = write_root(folder / "phrased", [memory("Skip locked", memory_id="job-queue-skip-locked")])
    (phrased / ".memsift").mkdir()
    jsonl(phrased / ".memsift/phrases.jsonl", {"id": "job-queue-skip-locked", "phrase": "a job ran twice"})
    jsonl(folder / "phrases.jsonl", {"id": "job-queue-skip-locked", "phrases": ["a job ran twice"]})
    write_root(folder / "headings", [memory("## Executive Summary", body="All is well.", memory_id="summary")])
    for name in ("prompts.jsonl", "qrels.txt", "judge.jsonl"):
        shutil.copy(DEMO / name, folder / name)
    shown = defaultdict(list)
    for line in (DEMO / "qrels.txt").read_text(encoding="utf-8").splitlines():
        prompt_id, _, memory_id, _ = line.split()
        shown[prompt_id].append({"id": memory_id})
    rows = ({"prompt_id": name, "system": "memsift", "injected": ids, "candidates": ids} for name, ids in shown.items())
    jsonl(folder / "run.jsonl", *({**row, "ms": 1.0} for row in rows))
    LabelStore.open(folder / "other.db").close()
    write_whole(cutoff_file(state_dir(str(folder / "gone"), {"HOME": str(folder)})), b"{}")


def loaded_by(processes: Iterable[Sequence[Sequence[str]]], folder: Path, **variables: str) -> list[Loaded]:
    """Run the commands of each of *processes* one after the other, where only `tui.cli` was loaded before."""
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(PROJECT),
        "HOME": str(folder),
        "ANTHROPIC_API_KEY": "none",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", EACH],
        input=json.dumps([[list(line) for line in lines] for lines in processes]),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environ,
        timeout=300,
        check=True,
    )
    rows = map(json.loads, done.stdout.splitlines())
    return [Loaded(tuple(codes), cpu_s, tuple(modules), stderr) for codes, cpu_s, modules, stderr in rows]
