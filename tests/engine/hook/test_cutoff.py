"""The hook with a tuned cutoff, as the process that Claude Code starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.config import Config
from tests.engine.builders import memory, write_root
from tests.engine.hook.world import FORMS, World, context_of
from tests.engine.models import content, write_model

if TYPE_CHECKING:
    from pathlib import Path

ASK = "how is the cache of sessions invalidated"
NAMES = ["cache of sessions invalidated", "sessions cache", "cache of images"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    fillers = [memory(f"zz{number} filler") for number in range(40)]
    write_root(world.root, [*(memory(name) for name in NAMES), *fillers])
    world.configure(noise_floor=0.0, min_strength=0.0)
    return world


def model(max_inject: int = 3, **changes: Any) -> dict[str, Any]:
    return content(Config(noise_floor=0.0, min_strength=0.0, max_inject=max_inject), **changes)


def answered(world: World, form: str = "launcher") -> list[str]:
    """The titles that a process of the hook injects."""
    done = world.start(FORMS[form], json.dumps(world.payload(ASK, session_id="")).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    text = context_of(done.stdout.decode()) if done.stdout else ""
    return [name for name in NAMES if name in text]


@pytest.mark.parametrize("form", FORMS)
def test_the_hook_injects_less_with_a_model(world: World, form: str) -> None:
    before = answered(world, form)
    assert "cache of images" in before
    write_model(world.state, model(threshold=0.9))
    assert answered(world, form) == ["cache of sessions invalidated"]
    row = world.log()[-1]
    assert row["system"] == "memsift+cutoff"
    assert {one["dropped_by"] for one in row["candidates"]} == {None, "cutoff"}
    assert "cutoff" not in row


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("{", "cannot be read"),
        (b"\xff\xfe".decode("latin-1") * 10, "cannot be read"),
        ({"features": 99}, "features 99"),
        (model(weights={"share": None}), "makes no sense"),
        (model(max_inject=9), "max_inject was 9, is 3"),
    ],
)
def test_with_a_model_that_is_broken_or_does_not_fit_the_hook_does_as_without(
    world: World, made: object, why: str
) -> None:
    before = answered(world)
    write_model(world.state, made)
    assert answered(world) == before
    row = world.log()[-1]
    assert row["system"] == "memsift"
    assert row["cutoff"].startswith("ignored: it ")
    assert why in row["cutoff"]
    assert len(row["cutoff"]) <= 500


def test_with_a_model_and_a_judge_without_a_key_the_cutoff_decides(world: World) -> None:
    world.configure(noise_floor=0.0, min_strength=0.0, judge={"enabled": True})
    write_model(world.state, model(threshold=0.9))
    done = world.start(FORMS["launcher"], json.dumps(world.payload(ASK, session_id="")).encode())
    text = context_of(done.stdout.decode())
    assert [name for name in NAMES if name in text] == ["cache of sessions invalidated"]
    assert b"ANTHROPIC_API_KEY" in done.stderr
