"""How commands end: Ctrl-C, a reader that stops, a full disk, closed streams, and errors that nobody expected."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import __version__
from labels.store import LabelStore
from tests.engine.curation.roots import document, write_documents
from tests.tui.cli.command_line import ASK, MAIN, PROJECT, memsift
from tests.tui.cli.every_command import PLAIN, plain, prepare
from tests.tui.demo import DEMO, DEMO_ROOT

INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from importlib.abc import MetaPathFinder
class Finder(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == os.environ["AT"]:
            {act}
sys.meta_path.insert(0, Finder())
from memsift import main
main()
"""
"""memsift, with something that happens when the module in the variable AT is imported."""

CTRL_C = [
    sys.executable,
    "-c",
    INTERRUPTED.format(act="signal.signal(2, signal.default_int_handler); signal.raise_signal(2)"),
]
FAULT = [sys.executable, "-c", INTERRUPTED.format(act="raise ZeroDivisionError('no[/b] zero')")]
FULL = "memsift: The output could not be written in full (No space left on device). Make room, or write it elsewhere.\n"


def run(*arguments: str | Path, code: list[str] | None = None, at: str = "", **options: Any) -> Any:
    """The end of a process with one of its streams as in *options*, its stdout and stderr as text."""
    environ = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tui/start'}", "AT": at}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [*(code or MAIN), *map(str, arguments)]
    return subprocess.run(command, env=environ, text=True, timeout=60, check=False, **{"cwd": PROJECT, **streams})


def full(*arguments: str | Path, stream: str = "stdout", **options: Any) -> Any:
    with Path("/dev/full").open("w") as device:
        return run(*arguments, **{stream: device}, **options)


def without_reader(*arguments: str, cwd: Path) -> Any:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        return run(*arguments, stdout=closed, cwd=cwd)


def closing(*numbers: int) -> Callable[[], None]:
    """Close streams of the child before it becomes Python, as `>&-` of a shell does."""
    return lambda: [os.close(number) for number in numbers] and None


def test_ctrl_c_ends_with_130_and_no_traceback_and_an_early_one_without_a_word(tmp_path: Path) -> None:
    prepare(tmp_path)
    for command, at in {
        "doctor": "labels.store",
        "search cache --root root --explain": "engine.explaining.explain",
    }.items():
        done = run(*command.split(), code=CTRL_C, at=at, cwd=tmp_path)
        assert (done.returncode, done.stderr.splitlines()[-1:]) == (130, ["memsift: Stopped."]), command
        assert "Traceback" not in done.stderr
    done = run("list", code=CTRL_C, at="click")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


LAST_STEP = """
import json, os, signal, sys, tempfile
sys.dont_write_bytecode = True  # Python, too, puts files into their places
import labels.exchange.importing, labels.exchange.merge, labels.exchange.registry  # slow below a profile
from tui.cli import main
for name in ("import", "retire", "trust", "config", "mute"):
    main.get_command(None, name)
for file, words in json.load(sys.stdin):
    output = tempfile.TemporaryFile()
    if child := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        print(json.dumps([code, output.read().decode()]), flush=True)
        continue
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test may run in the background

    def stop(frame, event, function):
        is_placed = event == "c_return" and function is os.replace and frame.f_locals["place"].endswith(file)
        if is_placed or (event == "return" and frame.f_code.co_name == "commit"):
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

    sys.setprofile(stop)
    main(words)
"""
"""Commands that get SIGINT right after their first commit of labels, or when a file with this ending is placed."""

CHANGES = {
    "import LABELS --db NEW": ("labels", "Imported from"),
    "merge-labels STORE --db NEW": ("labels", "Merged labels.db: "),
    "retire alpha --root ROOT": (".json", "To undo: memsift undo 1"),
    "trust ROOT": ("trusted.json", "Trusted: "),
    "config set max_inject 2": ("config.toml", "config.toml"),
    "mute --root ROOT": ("muted.json", "Muted until"),
    "install --user": ("settings.json", "settings.json"),
}
"""Command -> the end of the name of the file that it changes last, and a part of its output."""


@pytest.mark.slow
def test_a_change_that_cannot_be_stopped_any_more_is_told(tmp_path: Path) -> None:
    root = write_documents(tmp_path / "project/.claude/memory", [document("alpha")])
    store, labels = tmp_path / "labels.db", tmp_path / "labels.jsonl"
    qrels = ("import", DEMO / "qrels.txt", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl")
    assert memsift(*qrels, "--annotator", "jan", "--db", store).exit_code == 0
    assert memsift("export", "--db", store, "--output", labels).exit_code == 0
    steps = []
    for number, (line, (file, _)) in enumerate(CHANGES.items()):
        new = tmp_path / f"new{number}.db"
        LabelStore.open(new).close()
        places = {"ROOT": root, "STORE": store, "LABELS": labels, "NEW": new}
        steps.append((file, [str(places.get(word, word)) for word in line.split()]))
    done = run(code=[sys.executable, "-c", LAST_STEP], stdin=None, input=json.dumps(steps))
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    for (line, (_, told)), (code, said) in zip(CHANGES.items(), ended, strict=True):
        assert (code, told in said, "Stopped." in said) == (130, True, False), (line, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_stdout_is_told_in_a_line_and_a_full_stderr_costs_only_its_lines(root: Path) -> None:
    done = full("list", "--root", root)
    assert (done.returncode, done.stderr) == (2, FULL)
    assert full("show", "nobody", "--root", root, stream="stderr").returncode == 2
    assert full("retire", "cache-rule-1", "--root", root, stream="stderr").returncode == 0
    assert b'"retired"' in (root / "decisions/cache-rule-1.json").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_every_command_that_prints_ends_quietly_at_a_closed_pipe_and_tells_of_a_full_disk(tmp_path: Path) -> None:
    prepare(tmp_path)
    wrong = {}
    for name, line in {**{name: plain(name) for name in PLAIN}, "help": ["--help"]}.items():
        closed, filled = without_reader(*line, cwd=tmp_path), full(*line, cwd=tmp_path)
        noise = {"Traceback", "Exception", "written"} & {*closed.stderr.split()}
        is_told = filled.returncode == 2 and filled.stderr.count(FULL) == 1 and "Exception" not in filled.stderr
        if (closed.returncode != 141 or noise or not is_told) and run(*line, cwd=tmp_path).stdout:
            wrong[name] = (closed.returncode, closed.stderr, filled.returncode, filled.stderr)
    assert wrong == {}


def test_data_is_utf_8_in_every_locale_and_other_input_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii:strict")
    (tmp_path / "a.md").write_text("# The cache → 数据\n\nIt is cold.", "utf-8")
    done = run("list", "--root", tmp_path)
    assert (done.returncode, done.stderr, "The cache → 数据" in done.stdout) == (0, "", True)
    done = subprocess.run([*MAIN, "retire", "-"], input=b"caf\xe9", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "memsift: The input is not UTF-8 text. Convert it first: iconv -f latin1 -t utf-8\n"


def test_closed_streams_are_empty_ones(root: Path) -> None:
    done = run("search", ASK, "--root", root, preexec_fn=closing(1))
    assert (done.returncode, done.stderr) == (0, "")
    done = run("retire", "-", "--root", root, preexec_fn=closing(0))
    assert done.stderr == "memsift: No memory was named, so nothing was changed.\n"
    assert run("list", "--root", root, preexec_fn=closing(0, 1, 2)).returncode == 0


def test_an_unexpected_error_is_a_line_and_with_debug_a_traceback(tmp_path: Path) -> None:
    line = "memsift: A bug in memsift: ZeroDivisionError: no[/b] zero. To see where: memsift --debug COMMAND"
    done = run("list", code=FAULT, at="tui.cli.listing")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{line}\n")
    done = run("--debug", "list", code=FAULT, at="tui.cli.listing")
    assert (done.returncode, done.stderr[:33]) == (2, "Traceback (most recent call last)")
    assert done.stderr.splitlines()[-2:] == ["ZeroDivisionError: no[/b] zero", line]
    gone = tmp_path / "gone"
    gone.mkdir()
    done = run("list", cwd=gone, preexec_fn=gone.rmdir)
    folder = (
        "memsift: The current folder cannot be read (No such file or directory). It may be gone. Go to another: cd ~\n"
    )
    assert (done.returncode, done.stderr) == (2, folder)


def test_a_misspelt_command_gets_the_nearest_one_and_the_version_has_a_short_option() -> None:
    for typed, meant in (("serch", "search"), ("quality chekc", "check"), ("config gte", "get")):
        done = memsift(*typed.split())
        assert done.exit_code == 2
        assert f"No such command '{typed.split()[-1]}'. Did you mean '{meant}'?" in done.stderr
        assert done.stderr.count("Did you mean") == 1
    assert memsift("-V").stdout == memsift("--version").stdout == f"memsift, version {__version__}\n"
