"""A world, and a judge on loopback, for every test of the hook."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.hook.world import World
from tests.engine.judge.api_server import ApiServer, at


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def judged(tmp_path: Path, server: ApiServer) -> World:
    """A world whose user has a key for the server."""
    world = World(tmp_path)
    world.environ |= at(server.url)
    return world
