"""`memsift demo`, and the app itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from engine.errors import MemsiftError
from engine.paths import theme_file
from tui.cli.options import ORDER
from tui.workspace import opening

if TYPE_CHECKING:
    from tui.workspace.workspace import Workspace


@click.command()
@click.option("--fresh", is_flag=True, help="Forget the labels of earlier demos first.")
@ORDER
def demo(fresh: bool, order: str | None) -> None:
    """The app on bundled example memories, prompts and a scripted judge; your own labels are not touched."""
    require_terminal()
    run_app(opening.open_demo(os.environ, fresh=fresh, order=order))


def require_terminal() -> None:
    """Raise MemsiftError unless there is one where Textual looks for it: it reads stdin and draws on stderr."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise MemsiftError("The app needs a terminal. For scripts there are commands: see memsift --help.")


def run_app(workspace: Workspace, start: str | None = None) -> None:
    """The app until it is left; *start* is the mode that it opens in, if not the usual one."""
    from tui.app import MemsiftApp, ThemeFile

    try:
        MemsiftApp(workspace, start, ThemeFile(theme_file(os.environ))).run()
    finally:
        workspace.close()
