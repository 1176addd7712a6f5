"""The app: started by `memsift` without a command, and by `memsift demo`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import MemsiftError
from engine.paths import state_home
from tui.cli.declaring import command, option
from tui.cli.options import Plain
from tui.workspace import opening
from tui.workspace.stderr import MANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.errors import RootNotFoundError
    from tui.workspace.app_settings import AppSettings
    from tui.workspace.judging import JudgeOptions
    from tui.workspace.workspace import Workspace


LIVE = "live"
"""The screen that the example opens on, and a project without prompts."""


@command()
def demo(fresh: Annotated[bool, option("--fresh")], plain: Plain) -> None:
    """The app on example data: memories, prompts and a scripted judge.

    Its labels are kept apart from yours, in the cache folder.

    \b
    Examples:
      memsift demo
      memsift demo --fresh

    --fresh: Delete the labels of earlier demos first.
    """
    from tui.demo import open_demo

    require_terminal()
    run_app(open_demo(os.environ, fresh=fresh), LIVE, is_plain=plain)


def require_terminal() -> None:
    """Raise MemsiftError unless stdin, which Textual reads, and stderr, which it draws on, are a terminal.

    In a browser, the variable of Textual names another driver.
    """
    if not (os.environ.get("TEXTUAL_DRIVER") or (sys.stdin.isatty() and sys.stderr.isatty())):
        raise MemsiftError("The app needs a terminal. For scripts, use a command: see memsift --help.")


def open_other(error: RootNotFoundError, judge: JudgeOptions, db: str | None, *, is_plain: bool) -> None:
    """Offer the memories of other projects, the hook and the demo, because this project has no memories.

    Without a terminal, raise *error* with the same list.
    """
    from tui.workspace.opening import DEMO, places

    found = places(os.environ)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        error.detail = "\n".join(f"memsift --root {quote(place.root)}  ({place.text})" for place in found)
        raise error
    from engine.agents.agent import USER
    from engine.agents.registry import all_agents, title_of
    from tui.cli import gone_hooks
    from tui.cli.setup.install import holds_memsift, install, is_found
    from tui.starting import INSTALL, FirstStartApp

    found_agents, gone = filter(is_found, all_agents()), gone_hooks()
    agents = {agent.name: holds_memsift(agent, USER) and agent.name not in gone for agent in found_agents}
    prompts = len(opening.project_prompts((), os.environ).prompts)
    titles = {title_of(name): has_hook for name, has_hook in agents.items()}
    chosen = FirstStartApp(found, titles, prompts, app_settings(is_plain=is_plain)).run()
    if chosen == INSTALL:
        without = tuple(name for name, has_hook in agents.items() if not has_hook)
        click.get_current_context().invoke(install, names=without if len(without) == 1 else ())
    if chosen == DEMO:
        click.get_current_context().invoke(demo, fresh=False, plain=is_plain)
    for place in found:
        if place.root == chosen:
            open_app([chosen], (place.folder,), judge, db, is_plain=is_plain)


def open_app(
    roots: Sequence[str], prompts: Sequence[str], judge: JudgeOptions, db: str | None, *, is_plain: bool
) -> None:
    """Run the app on *roots*. A progress bar is shown while the first indexes of many memories are built."""
    from engine.opening import files_to_build

    for root in roots:
        count = files_to_build(root, os.environ)
        if count >= MANY:
            from tui.starting import BuildingApp

            if not BuildingApp(root, count, is_plain=app_settings(is_plain=is_plain).is_plain).run():
                return
    first, *others = roots
    opened = opening.open_workspace(
        first, prompts, judge, db, os.environ, asks_first=True, others=others, needs_labels=False
    )
    run_app(opened, LIVE if len(opened.index) and not opened.prompts else None, is_plain=is_plain)


def app_settings(*, is_plain: bool) -> AppSettings:
    """The settings of the app, in plain mode also if the flag *is_plain* says so."""
    from tui.workspace.app_settings import read_app_settings

    settings = read_app_settings(os.environ)
    return replace(settings, is_plain=is_plain or settings.is_plain)


def run_app(workspace: Workspace, start: str | None = None, *, is_plain: bool = False) -> None:
    """Run the app until the person quits. *start*: the screen that it opens on, Browse by default."""
    from tui.app import MemsiftApp
    from tui.cli import offer_install
    from tui.workspace.app_settings import Choices

    workspace.notice = " ".join(filter(None, (offer_install(), workspace.notice)))
    try:
        MemsiftApp(workspace, start, Choices(state_home(os.environ)), app_settings(is_plain=is_plain)).run()
    finally:
        workspace.close()
