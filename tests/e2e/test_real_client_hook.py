"""The printed settings in the real Claude Code client: a prompt always reaches the model, with memories or without."""

from typing import Any

import pytest

from tests.engine.hook.installation import Installation

pytestmark = [pytest.mark.long, pytest.mark.parametrize("version", ["2.1.330", "2.1.197"])]


@pytest.mark.slow
def test_an_intact_installation_injects_memories(installation: Installation, ask: Any) -> None:
    reached = ask(installation.entry())
    assert (reached.exit, reached.requests, reached.memories) == (0, 1, 3)
    assert reached.hook == ["hook_additional_context"]


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
