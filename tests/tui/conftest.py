"""Fixtures of the app's tests: asyncio under anyio's plugin, and workspaces that are closed."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.opening import index_file, open_index
from tests.engine.builders import write_root
from tests.engine.judge.api_server import ApiServer
from tests.tui import demo
from tests.tui.cli import command_line
from tui.workspace.workspace import Workspace

Opener = Callable[..., Workspace]
"""Opens a workspace over the test's label store."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index file of the demo's memories."""
    environ = {"HOME": str(tmp_path_factory.mktemp("demo"))}
    open_index(str(demo.DEMO_ROOT), environ).close()
    return Path(index_file(str(demo.DEMO_ROOT), environ))


@pytest.fixture(autouse=True)
def built_demo_index(private_home: Path, demo_index: Path) -> Path:
    """Let each test find the demo's index as a second start of memsift does. To build it takes long."""
    copy = Path(index_file(str(demo.DEMO_ROOT), {"HOME": str(private_home)}))
    copy.parent.mkdir(parents=True, mode=0o700)
    shutil.copy2(demo_index, copy)
    return copy


@pytest.fixture
def open_workspace(tmp_path: Path) -> Iterator[Opener]:
    """Opens workspaces over one label store, as several starts of memsift do. They are closed when the test ends."""
    with ExitStack() as opened_ones:

        def opened(**options: Any) -> Workspace:
            store = options.pop("store", tmp_path / "labels.db")
            workspace = demo.make_workspace(store, **options)
            opened_ones.callback(workspace.close)
            return workspace

        yield opened


@pytest.fixture
def locked() -> Callable[[Path], AbstractContextManager[None]]:
    """A context in which another program holds a label store, so that nothing can be written to it."""

    @contextmanager
    def hold(store: Path) -> Iterator[None]:
        with closing(sqlite3.connect(store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")

    return hold


@pytest.fixture
def root(tmp_path: Path, no_cutoff: None) -> Path:  # noqa: ARG001
    """A root of five rules about the cache."""
    return write_root(tmp_path / "root", command_line.RULES)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """A local API that the judges of Anthropic ask. It keeps two of the five rules."""
    with ApiServer(command_line.KEEP) as server:
        command_line.ask(server, monkeypatch)
        yield server
