"""The printed settings in the real Claude Code client: a prompt always reaches the model, with memories or without."""

import json
import shutil
from typing import Any

import pytest

from engine.config import CONFIG_FILE
from tests.engine.builders import NO_CUTOFF
from tests.engine.hook.installation import Installation
from tests.tui.demo import DEMO_ROOT

pytestmark = [pytest.mark.long, pytest.mark.parametrize("version", ["2.1.330", "2.1.197"])]


@pytest.mark.slow
def test_an_intact_installation_injects_memories(installation: Installation, ask: Any) -> None:
    reached = ask(installation.entry())
    assert (reached.exit, reached.requests, reached.memories) == (0, 1, 3)
    assert reached.hook == ["hook_additional_context"]


PROMPTS = {
    "why do we compute queue_position on read?": True,
    "Should I add an index on loan.due_at for the overdue job?": True,
    "Are fines stored as integer cents or as Decimal?": True,
    "write a haiku about autumn": False,
    "explain the difference between a list and a tuple in Python": False,
}
"""Prompt -> whether the example data answers it. Without a cutoff, each of them gets memories."""


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_fresh_install_answers_questions_and_stays_out_of_small_talk(
    installation: Installation, ask: Any, prompt: str
) -> None:
    world = installation.world
    shutil.copytree(DEMO_ROOT, world.root, dirs_exist_ok=True)
    assert ask(installation.entry(), prompt).memories > 0
    for name in NO_CUTOFF:
        del world.environ[name]
    reached = ask(installation.entry(), prompt)
    assert (reached.exit, reached.requests, reached.memories > 0) == (0, 1, PROMPTS[prompt])
    assert bool(reached.hook) is PROMPTS[prompt]


BROKEN = {
    "uninstalled": lambda it: it.remove(it.package),
    "moved": lambda it: it.packages.rename(it.packages.with_name("moved")),
    "launcher gone": lambda it: it.remove(it.launcher),
    "a module gone": lambda it: it.remove(it.package / "inject.py"),
    "interpreter gone": lambda it: it.remove(it.python),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_installation_lets_the_prompt_through_without_a_word(
    installation: Installation, ask: Any, name: str
) -> None:
    entry = installation.entry()
    BROKEN[name](installation)
    reached = ask(entry)
    assert (reached.exit, reached.requests, reached.memories, reached.hook) == (0, 1, 0, [])
    assert "ok from fake" in reached.said


def test_the_client_waits_for_the_memories_of_the_first_stage_where_the_judge_hangs(
    installation: Installation, ask: Any
) -> None:
    installation.world.environ |= {
        "MEMSIFT_JUDGE_ENABLED": "true",
        "MEMSIFT_JUDGE": "openai",
        "MEMSIFT_JUDGE_MODEL": "some",
        "MEMSIFT_JUDGE_TIMEOUT": "6",
    }
    entry = installation.entry()
    assert entry["timeout"] == 11
    reached = ask(entry)
    assert (reached.requests, reached.memories, reached.judged) == (1, 2, 1)
    assert reached.hook == ["hook_additional_context"]


def test_a_cloned_root_asks_no_judge_before_it_is_trusted(installation: Installation, ask: Any) -> None:
    judge = {"enabled": True, "provider": "openai", "model": "some"}
    config = installation.world.root / CONFIG_FILE
    config.write_text(json.dumps({"retrieval": {"judge": judge}}), encoding="utf-8")
    reached = ask(installation.entry())
    assert (reached.requests, reached.memories, reached.judged) == (1, 3, 0)
    installation.memsift("trust")
    reached = ask(installation.entry())
    assert (reached.requests, reached.memories, reached.judged) == (1, 2, 1)
    installation.memsift("trust", "--revoke")
    assert ask(installation.entry()).judged == 0
