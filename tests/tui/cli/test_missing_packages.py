"""memsift where only its required packages are installed: no statistics, no SDK of a judge."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.errors import EXTRAS, missing_library
from engine.installation import install_command
from tests.tui.cli.command_line import process
from tests.tui.demo import DEMO, DEMO_ROOT

BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({sorted(EXTRAS)}))\n"
MAIN = [sys.executable, "-c", f"{BLOCKED}from tui.cli import main; main(prog_name='memsift')"]
LABELLING = f"""{BLOCKED}
import asyncio
from pathlib import Path
from tests.tui.apps import SIZE, card_shown, press, starting_in
from tests.tui.demo import demo_prompts, make_workspace

async def label_two_cards():
    workspace = make_workspace(Path(sys.argv[1]), prompts=demo_prompts("p01"))
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        for key in "ax":
            await card_shown(pilot)
            await press(pilot, key)
        await press(pilot, "f3", "f5", "f6")
        print(*(one.message for one in pilot.app._notifications))

asyncio.run(label_two_cards())
"""


def printed(command: Sequence[str | Path], code: list[str] | None = None) -> tuple[int, str]:
    """The exit code and the output. Times of a run differ from call to call."""
    done = process(*command, code=code)
    assert "Traceback" not in done.stderr
    return done.returncode, re.sub(r"[\d.]+ ms|\"median_ms\": [\d.]+", "", done.stdout)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Labels that were given in the app without the packages, then a saved run and labels of a file."""
    path = tmp_path / "labels.db"
    labelled = process(path, code=[sys.executable, "-c", LABELLING])
    assert labelled.returncode == 0, labelled.stderr
    assert "numpy" not in labelled.stdout, "every label of the app told what to install"
    place = ["--root", DEMO_ROOT, "--db", path]
    for command in (["replay", "--save", "--prompts", DEMO / "prompts.jsonl"], ["import", DEMO / "qrels.txt"]):
        done = process(*command, *place, code=MAIN)
        assert done.returncode == 0, done.stderr
    return path


@pytest.mark.slow
def test_numbers_are_the_same_without_the_packages(store: Path, tmp_path: Path) -> None:
    place = ["--root", DEMO_ROOT, "--db", store]
    run = tmp_path / "run.jsonl"
    run.write_text(process("replay", "--prompts", DEMO / "prompts.jsonl", *place, code=MAIN).stdout, "utf-8")
    files, gate = ["--run", run, "--qrels", DEMO / "qrels.txt"], ["gate", "--system", "memsift+default"]
    commands: list[list[str | Path]] = [
        ["report", "--format", "json", *place],
        ["report", "--full", *files],
        [*gate, "--min-precision", "0.5", "--format", "json", *files],
        [*gate, "--min-precision", "0.9", "--one-look", "--full", *files],
        ["diff", "1", "2", *place],
        ["label", "--format", "json", *place],
        ["export", "--format", "run", "--system", "memsift", "--root", DEMO_ROOT, "--db", store],
    ]
    for command in commands:
        code, out = printed(command, MAIN)
        assert out
        assert (code, out) == printed(command), f"{command} differs without numpy, scipy and the others"


@pytest.mark.slow
def test_what_needs_a_package_says_how_to_add_it(store: Path) -> None:
    place = ["--root", DEMO_ROOT, "--db", store]
    done = process("tune", "--target-precision", "0.6", *place, code=MAIN)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"is not installed: {install_command('stats')}" in done.stderr
    done = process("report", "--ranking", "--full", *place, code=MAIN)
    assert done.returncode == 0
    assert "Ranking, as TREC counts it\nThis needs the package ir_measures" in done.stdout
    assert f"is not installed: {install_command('stats')}" in done.stderr


def test_a_module_of_our_own_that_is_missing_is_no_missing_package() -> None:
    assert missing_library(ModuleNotFoundError("No module named 'engine.gone'", name="engine.gone")) is None
