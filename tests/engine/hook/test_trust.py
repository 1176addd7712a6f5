"""The hook's process in a cloned repository: the settings of a stranger decide nothing until the user trusts them."""

import os
import shlex
from pathlib import Path

import pytest

from engine.paths import trust_file
from engine.settings.trust import revoke, trust
from tests.engine.hook.world import ASK, Prompted, World
from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.engine.settings.files import user_file

JUDGE = {"enabled": True, "provider": "anthropic-http", "model": "claude-opus-4-5", "context_turns": 20}
FIRST_STAGE, JUDGED = 3, 1


@pytest.fixture
def world(judged: World, server: ApiServer) -> World:
    """A user with a key, in a project that comes with settings."""
    server.answer = kept_titles("cache rule 4")
    os.mkfifo(judged.root / "pipe")
    return judged


STRANGERS: list[tuple[dict[str, object], str]] = [
    ({"judge": JUDGE}, "judge.enabled, judge.provider, judge.model, judge.context_turns are"),
    (
        {"judge": {"enabled": True, "modes": {"auto": {"prompt_file": "pipe"}}}},
        "judge.enabled, judge.modes.auto.prompt_file are",
    ),
    ({"judge": {"enabled": True, "provider": "scripted:/dev/zero"}}, "judge.enabled, judge.provider"),
    ({"logging": {"prompts": True}, "deadline": 60}, "deadline, logging.prompts are"),
    ({"max_inject": 5, "noise_floor": 0, "cutoff": "off"}, "max_inject, noise_floor, cutoff are"),
]


def test_what_a_stranger_sets_is_ignored_and_said(world: World, server: ApiServer) -> None:
    plain = Prompted(world)
    for settings, ignored in STRANGERS:
        world.receive(**settings)
        answer = Prompted(world)
        assert answer.injected == plain.injected == FIRST_STAGE
        assert answer.row["config"] == plain.row["config"]
        assert server.requests == []
        assert "prompt" not in answer.row
        (line,) = answer.stderr
        assert line == f"memsift-hook: {answer.row['untrusted']}"
        assert line.startswith(f"memsift-hook: {world.root}/memory-config.json: {ignored}")
        assert line.endswith(f"To allow: memsift trust {shlex.quote(str(world.root))}")


def test_a_trusted_root_decides_until_the_trust_is_taken_back(world: World, server: ApiServer) -> None:
    world.receive(judge=JUDGE, logging={"prompts": True})
    trust(str(world.root), world.environ)
    answer = Prompted(world)
    assert (answer.injected, answer.stderr, answer.row["prompt"]) == (JUDGED, [], ASK)
    assert server.requests[0].body["model"] == "claude-opus-4-5"
    revoke(str(world.root), world.environ)
    answer = Prompted(world)
    assert (answer.injected, len(answer.stderr), "prompt" in answer.row) == (FIRST_STAGE, 1, False)
    assert len(server.requests) == 1


def test_with_a_broken_list_nothing_is_trusted_and_the_line_says_why(world: World, server: ApiServer) -> None:
    world.configure(judge=JUDGE)
    file = Path(trust_file(world.environ))
    file.unlink()
    os.mkfifo(file)
    answer = Prompted(world)
    assert answer.injected == FIRST_STAGE
    (line,) = answer.stderr
    assert f"{file} cannot be read" in line
    assert server.requests == []


def test_the_users_own_file_and_variables_count_everywhere(world: World, server: ApiServer) -> None:
    user_file(world.home, '[retrieval.judge]\nenabled = true\nmodel = "mine"\n')
    world.receive(judge={**JUDGE, "provider": "scripted:/dev/zero"})
    answer = Prompted(world)
    assert answer.injected == JUDGED
    assert answer.stderr[0].startswith(f"memsift-hook: {world.root}/memory-config.json: judge.provider, judge.model, ")
    assert server.requests[-1].body["model"] == "mine"
    world.environ["MEMSIFT_JUDGE_MODEL"] = "ours"
    assert Prompted(world).injected == JUDGED
    assert server.requests[-1].body["model"] == "ours"
    world.environ["MEMSIFT_JUDGE_ENABLED"] = "0"
    assert Prompted(world).injected == FIRST_STAGE


def test_a_stranger_cannot_command_the_terminal(world: World) -> None:
    world.receive(**{"colour\x1b[2J\n\u202e": "\x1b]0;x\x07"})
    (line,) = Prompted(world).stderr
    assert line.isprintable()
