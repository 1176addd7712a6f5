"""The hook with a cutoff, the default one or a tuned one, as the process that Claude Code starts."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import CONFIG_FILE, SHARED_CUTOFF_FILE, Config
from engine.settings.trust import trust
from tests.engine.builders import memory, write_root
from tests.engine.hook.world import Prompted, World
from tests.engine.models import content, write_model

ASK = "how is the cache of sessions invalidated nightly"
NAMES = ["cache of sessions invalidated nightly", "sessions cache invalidated", "cache of images invalidated"]
BEST, GOOD, POOR = NAMES


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path, has_cutoff=True)
    fillers = [memory(f"zz{number} filler") for number in range(40)]
    write_root(world.root, [*(memory(name) for name in NAMES), *fillers])
    world.configure(noise_floor=0.0, min_strength=0.0)
    return world


def model(max_inject: int = 3, **changes: Any) -> dict[str, Any]:
    return content(Config(noise_floor=0.0, min_strength=0.0, max_inject=max_inject), **changes)


def answered(world: World) -> list[str]:
    """The titles that a process of the hook injects."""
    done = Prompted(world, prompt=ASK, session_id="")
    assert done.stderr == []
    return [name for name in NAMES if name in done.context]


def test_a_fresh_install_has_the_default_cutoff(world: World) -> None:
    (world.root / CONFIG_FILE).unlink()
    assert answered(world) == [BEST, GOOD]
    row = world.log()[-1]
    assert row["system"] == "memsift+default"
    assert {one["dropped_by"] for one in row["candidates"]} <= {None, "cutoff", "floor"}
    assert "cutoff" not in row


def test_the_cutoff_can_be_switched_off_and_its_threshold_set(world: World) -> None:
    world.configure(noise_floor=0.0, min_strength=0.0, cutoff="off")
    assert answered(world) == NAMES
    assert world.log()[-1]["system"] == "memsift"
    world.configure(noise_floor=0.0, min_strength=0.0, cutoff_threshold=0.05)
    assert answered(world) == NAMES
    world.environ["MEMSIFT_CUTOFF_THRESHOLD"] = "1"
    assert answered(world) == []
    world.environ["MEMSIFT_CUTOFF"] = "off"
    assert answered(world) == NAMES


def test_the_hook_injects_less_with_a_model(world: World) -> None:
    write_model(world.state, model(threshold=0.0, doubt=0.0))
    assert answered(world) == NAMES
    write_model(world.state, model(threshold=0.9))
    assert answered(world) == [BEST]
    row = world.log()[-1]
    assert row["system"] == "memsift+cutoff"
    assert {one["dropped_by"] for one in row["candidates"]} == {None, "cutoff"}
    assert "cutoff" not in row


def test_in_the_place_of_a_model_that_is_broken_or_does_not_fit_the_default_model_decides(world: World) -> None:
    before = answered(world)
    for made, why in (("{", "cannot be read"), (model(max_inject=9), "max_inject was 9, is 3")):
        write_model(world.state, made)
        assert answered(world) == before
        row = world.log()[-1]
        assert row["system"] == "memsift+default"
        assert row["cutoff"].startswith("ignored: it ")
        assert why in row["cutoff"]


def test_a_model_that_the_root_shares_counts_where_the_root_is_trusted(world: World) -> None:
    """Until then the default model decides, and the log says so. After a change, it must be trusted again."""
    shared = world.root / SHARED_CUTOFF_FILE
    for changes, best in (({"threshold": 0.9}, 1), ({"threshold": 0.0, "doubt": 0.0}, 3)):
        shared.write_text(json.dumps(model(**changes)), encoding="utf-8")
        world.send(ASK, session_id="")
        row = world.log()[-1]
        assert (row["system"], "which you have not trusted" in row["cutoff"]) == ("memsift+default", True)
        trust(str(world.root), world.environ)
        assert answered(world) == NAMES[:best]
        row = world.log()[-1]
        assert (row["system"], "cutoff" in row) == ("memsift+cutoff", False)
    write_model(world.state, model(threshold=0.9))
    assert answered(world) == [BEST], "one's own comes before the shared one"


def test_a_shared_model_that_lies_outside_of_the_root_is_not_read(world: World) -> None:
    outside = world.home / "model.json"
    outside.write_text(json.dumps(model(threshold=0.9)), encoding="utf-8")
    (world.root / SHARED_CUTOFF_FILE).symlink_to(outside)
    trust(str(world.root), world.environ)
    answered(world)
    assert world.log()[-1]["cutoff"] == "ignored: it points outside the root"
