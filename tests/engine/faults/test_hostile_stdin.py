"""Any input on stdin gives exit code 0, and on stdout nothing or one JSON object within the limit.

10,000 payloads are answered in this process, in 50 projects with traps in place of files, and 40 by commands.
"""

import random
from pathlib import Path

import pytest

from engine.hook.process import respond
from tests.engine.faults.answers import tries
from tests.engine.faults.payloads import payload
from tests.engine.faults.trapped_world import TrappedWorld, assert_honest
from tests.engine.hook.world import FORMS

pytestmark = [pytest.mark.long, pytest.mark.slow]
WORLDS, PAYLOADS, MIN_ANSWERED = tries(50, 10), 200, 10
PROCESSES = tries(40, 10)


@pytest.fixture
def made(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrappedWorld:
    """A project with traps. The client starts the hook anywhere; here nothing is to be found."""
    monkeypatch.chdir(tmp_path)
    return TrappedWorld(tmp_path)


def unexplained(stderr: str) -> list[str]:
    """The lines of stderr but those about a transcript that is not in its place, and about broken settings."""
    explained = ("is not used: the transcript beside it is not in", "memory-config.json")
    return [line for line in stderr.splitlines() if not any(one in line for one in explained)]


@pytest.mark.parametrize("seed", range(WORLDS))
def test_any_payload_is_answered_with_one_object_or_nothing(world: TrappedWorld, made: random.Random) -> None:
    answered = 0
    for number in range(PAYLOADS):
        if number % 50 == 0:
            world.trap(made)
        answer = respond(payload(made, world.payload(), world.paths()), world.environ, world.stderr)
        assert_honest(answer)
        answered += bool(answer)
    assert answered >= MIN_ANSWERED
    assert unexplained(world.stderr.getvalue()) == []
    world.assert_untouched()


@pytest.mark.parametrize("seed", range(PROCESSES))
def test_any_payload_ends_a_process_with_0(world: TrappedWorld, made: random.Random) -> None:
    world.trap(made)
    done = world.start(FORMS[made.choice(list(FORMS))], payload(made, world.payload(), world.paths()))
    assert (done.returncode, unexplained(done.stderr.decode())) == (0, [])
    assert_honest(done.stdout.decode("ascii"))
    world.assert_untouched()
