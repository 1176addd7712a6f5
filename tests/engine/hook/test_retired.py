"""A change of a memory's status counts from the next prompt on, in the real process, without a rebuild by anybody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.curation.curator import Curator
from engine.curation.operations import Restore, Retire
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_root
from tests.engine.hook.world import World, context_of

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "how do we handle the cache rule"


def injected(world: World, session: str) -> str:
    """The context that a hook process of its own adds to the prompt, or empty."""
    done = world.run(json.dumps(world.payload(PROMPT, session_id=session)).encode())
    assert done.returncode == 0, done.stderr
    return context_of(done.stdout.decode()) if done.stdout else ""


def change(world: World, root: Path, memory_id: str, kind: type[Retire | Restore]) -> None:
    (one,) = [each.summary for each in read_corpus(str(root)).memories if each.summary.id == memory_id]
    operation = Retire(str(root), one, "gone") if kind is Retire else Restore(str(root), one)
    curator = Curator(world.environ)
    curator.perform(curator.plan(operation))
    curator.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    rules = [memory(f"cache rule {number}", "cache", body="the cache is cold") for number in range(2)]
    for path in world.root.glob("decisions/*.json"):
        path.unlink()
    write_root(world.root, rules)
    return world


def test_a_retired_memory_is_not_injected_from_the_next_prompt_on_and_a_restored_one_is(world: World) -> None:
    assert "cache-rule-0" in injected(world, "1")
    change(world, world.root, "cache-rule-0", Retire)
    after = injected(world, "2")
    assert "cache-rule-0" not in after
    assert "cache-rule-1" in after
    change(world, world.root, "cache-rule-0", Restore)
    assert "cache-rule-0" in injected(world, "3")
