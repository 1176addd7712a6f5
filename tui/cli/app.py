"""The app: started by `memsift` without a command, by `memsift demo`, and in a browser of this machine by `serve`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.agents.hook_entry import PACKAGES
from engine.errors import MemsiftError
from engine.paths import state_home
from tui.cli.declaring import command, option
from tui.cli.options import EachRoot, Plain, PromptFiles, StoreFile
from tui.workspace import opening
from tui.workspace.stderr import MANY, tell

if TYPE_CHECKING:
    import logging
    from collections.abc import Awaitable, Callable, Sequence

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


# In a browser


HOST = "127.0.0.1"
POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: ws://{}"
"""The browser loads nothing from the network: no fonts and no scripts of others."""


@command()
def serve(
    port: Annotated[int, option("--port", metavar="PORT", type=click.IntRange(1, 65535), default=8765)],
    roots: EachRoot,
    prompts: PromptFiles,
    db: StoreFile,
) -> None:
    """The app in a browser on this machine, under an address with a secret.

    Only a browser of this machine that knows the printed address can use the app: the server listens on 127.0.0.1, and
    refuses requests without the secret or from pages of other sites.

    \b
    Examples:
      memsift serve
      memsift serve --port 9000 --root ~/notes

    --port: Port on this machine.
    --root: they are open together.
    """
    given = [*(("--root", root) for root in roots), *(("--prompts", prompt) for prompt in prompts)]
    options = [part for pair in (*given, *([("--db", db)] if db else [])) for part in pair]
    from secrets import token_urlsafe

    token = token_urlsafe(24)
    server = made_server(join(app_command(*options)), port, token)
    tell(f"Open http://{HOST}:{port}/{token}/ in a browser of this machine. Ctrl-C ends it.")
    server.serve()
    raise click.Abort  # the server ends by Ctrl-C alone


def app_command(*options: str) -> list[str]:
    """The command that opens the app. `-P`: a module in the current folder, which may be a stranger's, is not run."""
    start = f"import sys; sys.path.insert(0, {PACKAGES!r}); from tui.cli import main; main()"
    return [sys.executable, "-P", "-c", start, *options]


def made_server(command: str, port: int, token: str) -> Any:
    """A server that starts *command*, an app, for each browser. Raises ImportError without textual-serve."""
    import logging
    import secrets

    from aiohttp import web
    from textual_serve.server import Server

    here = f"{HOST}:{port}"

    @web.middleware
    async def guard(request: web.Request, handler: Callable[[web.Request], Awaitable[Any]]) -> Any:
        """Answer 403 to a request without the token, for another host's name, or from another site's page."""
        given = request.path.split("/")[1]
        origin = request.headers.get("Origin", f"http://{here}")
        is_known = secrets.compare_digest(given.encode(), token.encode())
        if not is_known or request.host != here or origin != f"http://{here}":
            raise web.HTTPForbidden(text="403: use the address that memsift serve printed.")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers["Content-Security-Policy"] = POLICY.format(here)
            answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    class GuardedServer(Server):
        """The routes of textual-serve below the token."""

        async def _make_app(self) -> web.Application:
            outer = web.Application(middlewares=[guard])
            outer.add_subapp(f"/{token}", await super()._make_app())
            return outer

        def initialize_logging(self) -> None:
            """Say in a line on stderr what went wrong. A request, and the variables of a traceback, hold the token."""
            logging.basicConfig(format="memsift: serve: %(message)s", level=logging.WARNING)
            logging.getLogger().handlers[0].addFilter(partial(hide, token))

        async def on_startup(self, app: web.Application) -> None:
            """Say nothing: the address was printed with its token."""

    return GuardedServer(command, HOST, port, title="memsift")


def hide(token: str, record: logging.LogRecord) -> bool:
    """Take the traceback and the token out of a line of the log."""
    record.msg, record.args = record.getMessage().replace(token, "..."), ()
    record.exc_info = None
    return True
