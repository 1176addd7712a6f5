"""A mistake in the settings: the hook injects what it can, and says what is wrong on stderr and in its log."""

import json

import pytest

from engine.config import CONFIG_FILE
from engine.settings.trust import trust
from tests.engine.hook.world import Prompted, World
from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.engine.settings.files import user_file

NO_JUDGE = 3


@pytest.fixture
def world(judged: World, server: ApiServer) -> World:
    server.answer = kept_titles("cache rule 4")
    return judged


def judge(**settings: object) -> dict[str, object]:
    return {"judge": {"enabled": True, **settings}}


FILES = {
    "broken": ("{broken", NO_JUDGE, "memory-config.json is not valid JSON"),
    "too large": ({"max_inject": 99}, 5, "'retrieval.max_inject' is 99; expected a whole number from 0 to 20"),
    "unknown judge": (judge(provider="oracle"), NO_JUDGE, "'retrieval.judge.provider' is 'oracle'; expected anthropic"),
    "prompt file outside": (judge(modes={"auto": {"prompt_file": "/etc/passwd"}}), NO_JUDGE, "points outside the root"),
    "timeout": (judge(timeout_per_call=900), 1, "'retrieval.judge.timeout_per_call' is 900; expected a number from"),
}
"""Settings of a root with one mistake, the number of memories that the hook injects, and what it says.

The tests of `engine.settings.sources` have the other mistakes.
"""


def test_a_mistake_in_a_root_is_named_and_costs_no_answer(world: World, server: ApiServer) -> None:
    for name, (content, injected, says) in FILES.items():
        server.requests.clear()
        text = content if isinstance(content, str) else json.dumps({"retrieval": content})
        (world.root / CONFIG_FILE).write_text(text, encoding="utf-8")
        trust(str(world.root), world.environ)
        done = Prompted(world)
        (line,) = done.stderr
        assert (done.injected, len(server.requests)) == (injected, int(injected == 1)), name
        assert done.row["mistakes"] == [line.removeprefix("memsift-hook: ")]
        assert "reason" not in done.row
        assert str(world.root / CONFIG_FILE) in line
        assert says in line


VARIABLES = {
    "MEMSIFT_MAX_INJECT": ("many", "MEMSIFT_MAX_INJECT: 'retrieval.max_inject' is 'many'; expected a whole number"),
    "MEMSIFT_JUDGE": ("oracle", "MEMSIFT_JUDGE: 'retrieval.judge.provider' is 'oracle'; expected anthropic, "),
    "MEMSIFT_MAX_INJECTS": ("1", "MEMSIFT_MAX_INJECTS is not a variable of memsift. Did you mean MEMSIFT_MAX_INJECT?"),
}


def test_a_mistake_in_a_variable_or_in_the_users_file_is_named_and_costs_no_answer(
    world: World, server: ApiServer
) -> None:
    usual = dict(world.environ)
    for name, (text, says) in VARIABLES.items():
        world.environ = {**usual, name: text, "MEMSIFT_JUDGE_ENABLED": "1" if name == "MEMSIFT_JUDGE" else "0"}
        done = Prompted(world)
        (line,) = done.stderr
        assert (done.injected, server.requests) == (NO_JUDGE, []), name
        assert line.startswith(f"memsift-hook: {says}")
        assert done.row["mistakes"] == [line.removeprefix("memsift-hook: ")]
    world.environ = usual
    user_file(world.home, "[retrieval]\nmax_inject = 'one'")
    done = Prompted(world)
    (line,) = done.stderr
    assert (done.injected, done.row["mistakes"]) == (NO_JUDGE, [line.removeprefix("memsift-hook: ")])
    assert "config.toml: 'retrieval.max_inject' is 'one'" in line
