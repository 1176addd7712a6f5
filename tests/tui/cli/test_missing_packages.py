"""memsift where only its required packages are installed: no statistics, no SDK of a judge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from engine.errors import EXTRAS, missing_library
from tests.tui.cli.command_line import process
from tests.tui.demo import DEMO, DEMO_ROOT

if TYPE_CHECKING:
    from pathlib import Path

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
        await press(pilot, "f3", "f2")

asyncio.run(label_two_cards())
"""


def test_only_commands_with_statistics_need_their_packages_and_they_name_them(tmp_path: Path) -> None:
    store = str(tmp_path / "labels.db")
    labelled = process(store, code=[sys.executable, "-c", LABELLING])
    assert labelled.returncode == 0, labelled.stderr
    place = ["--root", str(DEMO_ROOT), "--db", store]
    for command in (["replay", "--save", "--prompts", str(DEMO / "prompts.jsonl")], ["export"]):
        done = process(*command, *place[-2 if command == ["export"] else 0 :], code=MAIN)
        assert done.returncode == 0, done.stderr
    assert done.stdout.count('"record": "event"') == 2
    run = tmp_path / "run.jsonl"
    run.write_text(process("replay", "--prompts", str(DEMO / "prompts.jsonl"), *place, code=MAIN).stdout, "utf-8")
    judged = ["--run", str(run), "--qrels", str(DEMO / "qrels.txt")]
    for command in (["report", *judged], ["tune", "--target-precision", "0.6", *place]):
        done = process(*command, code=MAIN)
        assert (done.returncode, done.stdout) == (2, "")
        assert "which is not installed: pip install 'memsift[stats]'" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_module_of_our_own_that_is_missing_is_no_missing_package() -> None:
    assert missing_library(ModuleNotFoundError("No module named 'engine.gone'", name="engine.gone")) is None
