"""The hook over folders as people have them, in the real process: what it adds, and why it adds nothing."""

import shutil
from pathlib import Path

from tests.engine.hook.world import Prompted, World

ASK = "on which port does the linter server listen for requests"
FACT = "- The linter server listens on port 8443 for requests\n"
INDEX = f"# Memory\n\n## Build\n{FACT}" + "- filler\n" * 220 + "## Later\n- The linter server requests a licence\n"


def emptied(tmp_path: Path) -> World:
    world = World(tmp_path)
    shutil.rmtree(world.root)
    world.root.mkdir()
    return world


def test_a_fact_of_the_clients_own_memory_md_is_repeated_only_behind_the_cut(tmp_path: Path) -> None:
    world = emptied(tmp_path)
    world.auto_memory.mkdir(parents=True, exist_ok=True)
    (world.auto_memory / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    found = Prompted(world, prompt=ASK).context
    assert "requests a licence" in found
    assert "8443" not in found
    assert "status" in {one["dropped_by"] for one in world.log()[-1]["candidates"]}
    world.environ["MEMSIFT_REPEAT_LOADED"] = "true"
    assert "8443" in Prompted(world, prompt=ASK).context


def test_the_memory_md_of_a_repository_is_not_loaded_by_the_client(tmp_path: Path) -> None:
    world = emptied(tmp_path)
    (world.root / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    assert "8443" in Prompted(world, prompt=ASK).context


def test_the_log_says_why_a_folder_has_no_memory(tmp_path: Path) -> None:
    world = emptied(tmp_path)
    (world.root / "notes.txt").write_text("text", encoding="utf-8")
    assert Prompted(world, prompt=ASK).context == ""
    assert "holds no memories: of its files (1 *.txt) none is read" in world.log()[-1]["reason"]
