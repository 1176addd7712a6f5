"""The commands by their subjects, and how `--help` is laid out."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Rows = list[tuple[str, str]]


JUDGE_SECTION = "Options of the judge"


SUBJECTS = {
    "Commands that open the app": "app:demo serve:serve",
    "Commands to set up": "setup.install:install setup.install:uninstall setup.doctor:doctor setup.config:config "
    "setup.trust:trust setup.trust:adopt setup.install:mute setup.completion:completion",
    "Commands to find memories": "search:search judge:judge listing:list_ listing:show activity:activity",
    "Commands to change memories": "changes:create changes:edit changes:tag changes:retire changes:archive "
    "changes:restore changes:merge changes:move changes:rename changes:undo changes:history",
    "Commands on the quality of memories": "quality:quality",
    "Commands on prompts, labels and numbers": "prompts:prompts replay:replay labels.diff:diff labels.label:label "
    "labels.report:report labels.gate:gate labels.tune:tune labels.exchange:export labels.exchange:import_ "
    "labels.exchange:merge_labels",
}
"""The sections of `memsift --help`, each with its commands: the module in this folder, and the function there."""


class Commands(click.Group):
    """A group that imports a command's module when the command is called. `subjects` are like SUBJECTS."""

    subjects: Mapping[str, str] = {}

    @property
    def table(self) -> dict[str, str]:
        """The place of each command by its name: that of its function, with a hyphen for each line between words."""
        places = " ".join(self.subjects.values()).split()
        return dict(sorted((name_of(place), place) for place in places))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        module, _, function = self.table.get(name, "").partition(":")
        return getattr(import_module(f"tui.cli.{module}"), function) if module else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click, with the nearest command for a misspelt one: click looks only at commands that are imported."""
        if not ctx.resilient_parsing and args[0] not in self.table:
            for near in get_close_matches(args[0], self.table, 1):
                raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands, and last the options of the judge."""
        subjects = self.subjects.items()
        commands = {title: command_rows(self, ctx, map(name_of, places.split())) for title, places in subjects}
        write_options(self, ctx, formatter, commands)


def name_of(place: str) -> str:
    """The name of the command at a place of SUBJECTS."""
    return place.partition(":")[2].strip("_").replace("_", "-")


class JudgeOption(click.Option):
    """An option about the judge: most people never need it."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """The name for an error: of the variable, if the value comes from there."""
        is_variable = ctx and self.name and ctx.get_parameter_source(self.name) is ParameterSource.ENVIRONMENT
        return str(self.envvar) if is_variable else super().get_error_hint(ctx)


class JudgedCommand(click.Command):
    """A command with options about the judge, which its help lists last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, ctx, formatter, {})


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, between: Mapping[str, Rows]
) -> None:
    """Write the options of a command: two columns below a heading. Those of the judge come last, behind *between*."""
    own: Rows = []
    of_judge: Rows = []
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and (row := param.get_help_record(ctx)):
            (of_judge if isinstance(param, JudgeOption) else own).append(row)
    for title, rows in {"Options": own, **between, JUDGE_SECTION: of_judge}.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def command_rows(group: click.Group, ctx: click.Context, names: Iterable[str]) -> Rows:
    """The names of commands, each with the first paragraph of its help."""
    commands = [(name, group.get_command(ctx, name)) for name in names]
    return [
        (name, " ".join((command.help or "").partition("\n\n")[0].split())) for name, command in commands if command
    ]
