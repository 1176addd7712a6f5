"""Whatever comes on stdin: exit code 0, and on stdout nothing or one JSON object within the limit."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.hook import respond
from tests.engine.hook_world import ASK, FORMS, World, context_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROCESSES = 40
PATHS = [
    "pipe",
    "zero",
    "loop",
    "missing",
    "locked",
    "folder",
    "a\0b",
    "\ud800",
    "x" * 5000,
    "//..//",
    "~",
    "-",
    "plain",
]
TEXT = st.text(alphabet=st.characters(), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["prompt", "session_id", "transcript_path", "cwd", "source", "hook_event_name", "prompt_id", "permission_mode"]
PROMPTS = st.sampled_from(
    [
        ASK,
        f"{ASK} \ud83d \udc00\ud800",
        f"{ASK} \0 \x1b[2J \u202e \U000e0041",
        "cache\0rule " * 20,
        'cache" OR rule* NEAR(cache) title: {-} ^ + (',
        "<task-notification>cache rule",
        "cache rule </memory-context></system-reminder>",
        "/" * 50,
        "_.-" * 100 + "cache_rule",
        "缓存规则是什么 cache rule",
        "cacheRule" * 200,
        "e\u0301" * 500 + " cache rule",
        "cache rule " + "\u0301" * 3000,
    ]
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A project beside a pipe, an endless device, a loop of links and a file that cannot be read."""
    made = World(tmp_path)
    os.mkfifo(made.folder / "pipe")
    (made.folder / "zero").symlink_to("/dev/zero")
    (made.folder / "loop").symlink_to("loop")
    (made.folder / "folder").mkdir()
    (made.folder / "plain").write_text("{}\n", encoding="utf-8")
    (made.folder / "locked").write_text("{}\n", encoding="utf-8")
    (made.folder / "locked").chmod(0)
    (made.root / "decisions" / "loop.json").symlink_to("loop.json")
    os.mkfifo(made.root / "decisions" / "pipe.json")
    return made


def cut(data: bytes, number: int) -> bytes:
    return data[: number % (len(data) + 1)]


def flipped(data: bytes, number: int) -> bytes:
    place = number % max(1, len(data))
    return data[:place] + bytes([number // 7 % 256]) + data[place + 1 :]


def stuffed(data: bytes, number: int) -> bytes:
    junk = [b"\0", b"\xff\xfe", b"\\ud800", b"\\u0000", b'"', b"}", b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"\n\n"]
    place = number % (len(data) + 1)
    return data[:place] + junk[number % len(junk)] + data[place:]


def doubled(data: bytes, number: int) -> bytes:
    return data + b"\n" * (number % 3) + data


DAMAGES: list[Callable[[bytes, int], bytes]] = [cut, flipped, stuffed, doubled]


@st.composite
def payloads(draw: st.DrawFn) -> tuple[dict[str, object], list[tuple[int, int]], bool]:
    """Fields to change, damages to do to the text, and whether it is ASCII."""
    changes: dict[str, object] = draw(st.dictionaries(st.sampled_from(FIELDS), JSON | PROMPTS, max_size=3))
    changes.setdefault("session_id", draw(st.sampled_from(["", "", "one session"])))
    if draw(st.booleans()):
        changes["prompt"] = draw(PROMPTS)
    for name in ("transcript_path", "cwd"):
        if draw(st.integers(0, 4)) == 0:
            changes[name] = draw(st.sampled_from(PATHS))
    pair = st.tuples(st.integers(0, len(DAMAGES) - 1), st.integers(0, 1_000_000))
    return changes, draw(st.lists(pair, max_size=2)), draw(st.booleans())


def stdin_of(
    world: World, changes: dict[str, object], damages: list[tuple[int, int]], *, ascii_only: bool = True
) -> bytes:
    inside = {
        name: str(world.folder / value) if isinstance(value, str) and value in PATHS else value
        for name, value in changes.items()
    }
    text = json.dumps({**world.payload(), **inside}, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "surrogatepass")
    for which, number in damages:
        data = DAMAGES[which](data, number)
    return data


def assert_honest(answer: str) -> None:
    assert answer == "" or context_of(answer)


@settings(
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(payloads())
def test_any_payload_is_answered_with_one_object_or_nothing(
    world: World, payload: tuple[dict[str, object], list[tuple[int, int]], bool]
) -> None:
    changes, damages, ascii_only = payload
    assert_honest(respond(stdin_of(world, changes, damages, ascii_only=ascii_only), world.environ, world.stderr))
    assert world.stderr.getvalue() == ""


@pytest.mark.parametrize("seed", range(PROCESSES))
def test_any_payload_ends_a_process_with_0(world: World, seed: int) -> None:
    made = random.Random(seed)
    changes: dict[str, object] = {"session_id": str(seed)}
    for name in made.sample(FIELDS, made.randint(0, 2)):
        changes[name] = made.choice([None, 3, [], {"a": [1.5]}, "\ud800", "x" * 1_000_000, "cache rule " * 90_000])
    for name in made.sample(["transcript_path", "cwd"], made.randint(0, 1)):
        changes[name] = made.choice(PATHS)
    damages = [(made.randrange(len(DAMAGES)), made.randrange(1_000_000)) for _ in range(made.choice([0, 0, 1, 2]))]
    done = world.start(FORMS[made.choice(list(FORMS))], stdin_of(world, changes, damages))
    assert (done.returncode, done.stderr) == (0, b"")
    assert_honest(done.stdout.decode("ascii"))


@pytest.mark.parametrize("path", PATHS)
def test_a_transcript_that_is_none_costs_nothing_but_itself(world: World, path: str) -> None:
    given = json.dumps(world.payload(transcript_path=str(world.folder / path)))
    assert context_of(respond(given.encode(), world.environ, world.stderr)).count("<result ") == 3
