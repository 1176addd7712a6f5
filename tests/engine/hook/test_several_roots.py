"""The hook over several roots: the project's, its auto memory, and those of the user."""

import json
import shutil
from pathlib import Path

import pytest

from engine.opening import index_file
from tests.engine.builders import memory, put, write_root
from tests.engine.hook.world import World

ASK = "where does the token ledger live"


class Everywhere(World):
    """A project with an auto memory, and a user with a vault and a file of rules."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.auto = self.auto_memory
        self.vault, self.rules = self.folder / "vault", self.folder / "AGENTS.md"
        self.transcript = self.auto.parent / "session-1.jsonl"
        self.write(self.auto / "MEMORY.md", "# Memory\n")
        self.write(self.auto / "auto.md", "---\ndescription: the token ledger of the client\n---\n")
        self.write(self.vault / "deep/note.md", "# token ledger notes\n")
        self.write(self.rules, "# Rules\n\n## Token ledger rules\n\nNever log it.\n")
        write_root(self.root, [memory("token ledger", "ledger", memory_id="own"), *others()])
        self.name_roots(self.vault, self.rules)

    def write(self, path: Path, text: str) -> None:
        put(path, text)

    def name_roots(self, *paths: object, table: str = "") -> None:
        listed = ", ".join(json.dumps(str(path)) for path in paths)
        self.write(self.home / ".config/memsift/config.toml", f"roots = [{listed}]\n{table}")

    @property
    def injected(self) -> list[str]:
        return list(self.log()[-1]["injected"])


def others() -> list[object]:
    return [memory(f"zz{number} filler", f"yy{number}") for number in range(5)]


@pytest.fixture
def world(tmp_path: Path) -> Everywhere:
    return Everywhere(tmp_path)


def test_the_best_of_all_roots_are_injected_within_one_cap(world: Everywhere) -> None:
    world.name_roots(world.vault, world.rules, table="[retrieval]\nmax_inject = 4\nrepeat_loaded = true\n")
    context = world.context(ASK)
    assert set(world.injected) == {"own", "auto", "deep/note", "AGENTS#token-ledger-rules"}
    for path in (".claude/memory/decisions/own.json", f"{world.auto}/auto.md", f"{world.vault}/deep/note.md"):
        assert path in context
    assert f"{world.rules}:3" in context
    assert world.log()[-1]["roots"] == [str(one) for one in (world.root, world.auto, world.vault, world.rules)]
    world.name_roots(world.vault, world.rules, table="[retrieval]\nmax_inject = 2\nrepeat_loaded = true\n")
    world.context(ASK, session_id="other")
    assert len(world.injected) == 2
    stages = {one["id"]: one["dropped_by"] for one in world.log()[-1]["candidates"]}
    assert list(stages.values()).count("cap") == 2


def test_a_changed_memory_of_any_root_is_injected_as_it_is_now(world: Everywhere) -> None:
    assert "token ledger notes" in world.context(ASK)
    world.write(world.vault / "deep/note.md", "# token ledger moved to Postgres\n")
    context = world.context(ASK, session_id="other")
    assert "moved to Postgres" in context
    assert "token ledger notes" not in context


def test_a_session_gets_no_memory_of_any_root_twice(world: Everywhere) -> None:
    world.name_roots(world.vault, world.rules, table="[retrieval]\nmax_inject = 10\n")
    assert world.context(ASK)
    assert world.send(ASK) == ""
    stages = {one["id"]: one["dropped_by"] for one in world.log()[-1]["candidates"]}
    for memory_id in ("own", "auto", "deep/note"):
        assert stages[memory_id] == "repeat"
    assert stages["AGENTS#token-ledger-rules"] == "status"


def test_of_two_roots_with_one_id_each_memory_is_injected_once(world: Everywhere) -> None:
    """A session of memsift 1.0.0 has a row for an id alone: it counts for the memory of its content in any root."""
    vaults = [world.folder / name for name in ("first", "second")]
    for vault in vaults:
        world.write(vault / "deploy.md", f"# token ledger deploy of the {vault.name}\n")
    world.name_roots(*vaults, table="[retrieval]\nmax_inject = 2\n")
    for path in (world.root, world.auto):
        shutil.rmtree(path)
    first, *later = [world.send("where is the token ledger deploy") for _ in range(4)]
    assert all(vault.name in first for vault in vaults)
    assert later == ["", "", ""]
    (path,) = world.home.rglob("sessions/??/*.json")
    rows = json.loads(path.read_text("utf-8"))["given"]
    old = {key.rpartition("\n")[2]: row for key, row in rows.items() if key.startswith(str(vaults[1]))}
    path.write_text(json.dumps({"given": old}), encoding="utf-8")
    again = world.send("where is the token ledger deploy")
    assert [vault.name in again for vault in vaults] == [True, False]
    assert world.send("where is the token ledger deploy") == ""


def test_the_same_memory_in_two_roots_is_injected_once(world: Everywhere) -> None:
    copy = world.folder / "copy"
    world.write(copy / "deep/note.md", "# token ledger notes\n")
    world.name_roots(world.vault, copy, table="[retrieval]\nmax_inject = 10\n")
    world.context(ASK)
    assert len([name for name in world.injected if name.startswith("deep/note")]) == 1


def test_a_project_without_memories_or_with_a_root_that_is_off_has_those_of_the_user(world: Everywhere) -> None:
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    context = world.context(ASK, cwd=str(elsewhere), transcript_path="")
    assert f"{world.vault}/deep/note.md" in context
    assert "own.json" not in context
    world.receive(enabled=False)
    context = world.context(ASK)
    assert "own.json" not in context
    assert "deep/note.md" in context


def test_a_root_that_is_gone_or_unreadable_takes_no_other_with_it(world: Everywhere) -> None:
    broken = world.folder / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 2000)
    strange = world.folder / "strange.xyz"
    strange.write_text("text", encoding="utf-8")
    world.name_roots(world.folder / "gone", broken, strange, world.vault)
    context = world.context(ASK)
    assert "own.json" in context
    assert "deep/note.md" in context
    assert "gone" in world.log()[-1]["refused"][0]
    assert "which is not used" in world.stderr.getvalue()


def test_settings_of_the_user_that_are_wrong_are_said_once(world: Everywhere) -> None:
    world.name_roots(world.vault, table="[retrieval]\nmax_inject = 999\n")
    world.context(ASK)
    assert world.stderr.getvalue().count("max_inject") == 1
    assert len(world.log()[-1]["mistakes"]) == 1


def test_one_root_alone_does_not_load_what_several_need(world: Everywhere) -> None:
    world.context(ASK)
    assert Path(index_file(str(world.vault), world.environ)).exists()
    (world.home / ".config/memsift/config.toml").unlink()
    (world.auto / "auto.md").unlink()
    (world.auto / "MEMORY.md").unlink()
    world.auto.rmdir()
    code = """import sys
from engine.hook.process import respond
import os
respond(sys.stdin.buffer.read(), dict(os.environ), sys.stderr)
print(*[name for name in sys.modules if name in ("engine.roots", "tomllib")])"""
    done = world.run(json.dumps(world.payload(ASK, session_id="other")).encode(), code)
    assert done.stdout.split() == []
    assert world.injected == ["own"]
