"""The command line. stdout is data, stderr is for people; 0 is fine, 1 a check did not hold, 2 setup or usage.

Each command imports what it needs when it runs: `memsift search` loads neither Textual nor the label store.
"""

from __future__ import annotations

import os
from typing import Any

import click

from engine.errors import MemsiftError
from engine.version import __version__
from tui.cli.app import demo, require_terminal, run_app
from tui.cli.export import export
from tui.cli.gate import gate
from tui.cli.import_ import import_
from tui.cli.install import install
from tui.cli.judge import judge
from tui.cli.judge_options import JudgeOptions, judge_options
from tui.cli.label import label
from tui.cli.merge import merge
from tui.cli.options import DB, ORDER, PROMPTS, ROOT
from tui.cli.prompts import prompts
from tui.cli.replay import replay
from tui.cli.report import report
from tui.cli.search import search
from tui.cli.telling import tell
from tui.cli.tune import tune
from tui.workspace import opening


class Memsift(click.Group):
    """Turns errors that a person can act on into one line on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MemsiftError as error:
            tell(str(error))
            ctx.exit(2)


@click.group(cls=Memsift, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memsift")
@ROOT
@PROMPTS
@judge_options
@DB
@ORDER
@click.pass_context
def main(
    ctx: click.Context,
    root: str | None,
    prompts: tuple[str, ...],
    judge: JudgeOptions,
    db: str | None,
    order: str | None,
) -> None:
    """See, label and measure the memories that coding assistants inject into prompts.

    Without a command: the app, on this project's memories and prompts.
    """
    if ctx.invoked_subcommand is None:
        found = opening.resolve_root(root, os.environ)
        require_terminal()
        run_app(opening.open_workspace(found, prompts, judge, db, os.environ, order=order))


for command in (demo, search, judge, prompts, replay, label, report, gate, tune, export, import_, merge, install):
    main.add_command(command)
