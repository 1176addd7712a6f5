"""memsift serve: the app in a browser, for this machine alone."""

from __future__ import annotations

import logging
import secrets
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.agents.hook_entry import PACKAGES
from tui.cli.declaring import command, option
from tui.cli.options import EachRoot, PromptFiles, StoreFile
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HOST = "127.0.0.1"
POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: ws://{}"
"""The browser loads nothing from the network: no fonts and no scripts of others."""


PORTS = click.IntRange(1, 65535)


@command()
def serve(
    port: Annotated[int, option("--port", metavar="PORT", type=PORTS, default=8765)],
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
    token = secrets.token_urlsafe(24)
    server = made_server(shlex.join(app_command(*options)), port, token)
    tell(f"Open http://{HOST}:{port}/{token}/ in a browser of this machine. Ctrl-C ends it.")
    server.serve()
    raise click.Abort  # the server ends by Ctrl-C alone


def app_command(*options: str) -> list[str]:
    """The command that opens the app. `-P`: a module in the current folder, which may be a stranger's, is not run."""
    start = f"import sys; sys.path.insert(0, {PACKAGES!r}); from tui.cli import main; main()"
    return [sys.executable, "-P", "-c", start, *options]


def made_server(command: str, port: int, token: str) -> Any:
    """A server that starts *command*, an app, for each browser. Raises ImportError without textual-serve."""
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
