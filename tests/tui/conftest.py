"""Fixtures of the app's tests: asyncio under anyio's plugin, and workspaces that are closed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui import apps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tui.workspace import Workspace

    Opener = Callable[..., Workspace]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def open_workspace(tmp_path: Path) -> Iterator[Opener]:
    """Opens workspaces over one label store, as one start of memsift after the other; closed when the test ends."""
    with ExitStack() as closing:

        def opened(**options: Any) -> Workspace:
            store = options.pop("store", tmp_path / "labels.db")
            workspace = apps.make_workspace(store, **options)
            closing.callback(workspace.close)
            return workspace

        yield opened
