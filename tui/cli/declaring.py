"""The commands by their subjects, how each is declared, and how `--help` is laid out.

The options of a command stand in the annotations of its parameters, and its docstring is the whole help.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from inspect import cleandoc, getsource
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Declaration = Callable[[str, Any, Mapping[str, str]], Callable[[Any], Any]]
    """Gives a command the parameter with this name and type, and with the text of its flag."""
    Declarations = dict[str, tuple[Any, Declaration]]
    Rows = list[tuple[str, str]]

SUBJECTS = {
    "Commands that open the app": "app:demo app:serve",
    "Commands to set up": "setup.install:install setup.install:uninstall setup.doctor:doctor setup.config:config "
    "setup.trust:trust setup.trust:adopt setup.install:mute setup.install:completion",
    "Commands to find memories": "search:search judge:judge listing:list_ listing:show activity:activity "
    "phrases:phrases",
    "Commands to change memories": "changes:create changes:edit changes:tag changes:retire changes:archive "
    "changes:restore changes:merge changes:move changes:rename changes:undo changes:history",
    "Commands on the quality of memories": "quality:quality",
    "Commands on prompts, labels and numbers": "listing:prompts replay:replay labels.diff:diff labels.label:label "
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
        between: dict[str, Rows] = {}
        for title, places in self.subjects.items():
            found = ((name, self.get_command(ctx, name)) for name in map(name_of, places.split()))
            helps = ((name, (command.help or "").partition("\n\n")[0]) for name, command in found if command)
            between[title] = [(name, " ".join(first.split())) for name, first in helps]
        write_options(self, ctx, formatter, between)


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
    for title, rows in {"Options": own, **between, "Options of the judge": of_judge}.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


# Declarations


ENTRY = re.compile(r"^(--[a-z-]+): (.+(?:\n +.+)*)\n*", re.MULTILINE)
"""The text of an option in a docstring. Its other lines are indented."""


def option(*flags: str, about: str = "", **settings: Any) -> Declaration:
    """An option, in the annotation of a parameter: `Annotated[bool, option("--full")]`.

    Its help is *about*, and behind that the text that follows the flag and a colon in the docstring. The type says the
    rest: bool is a flag, and a tuple an option that can be repeated.
    """

    def declare(parameter: str, kind: object, texts: Mapping[str, str]) -> Callable[[Any], Any]:
        said = {"is_flag": kind is bool or None, "multiple": get_origin(kind) is tuple}
        shown = {"help": about + texts[flags[0]], "show_default": bool(settings.get("default"))}
        return click.option(*flags, parameter, **{**said, **shown, **settings})

    return declare


def argument(**settings: Any) -> Declaration:
    """An argument, in the annotation of a parameter."""
    return lambda parameter, *_: click.argument(parameter, **settings)


def bundle(make: Callable[..., Any], **others: Declaration) -> Declaration:
    """The options in the annotations of *make*, in the annotation of a parameter. It gets what *make* makes of them.

    *others*: name of a parameter of *make* -> its option for this command.
    """
    found = {name: (kind, others.get(name, declare)) for name, (kind, declare) in declarations(make).items()}

    def declare(parameter: str, *_: object) -> Callable[[Any], Any]:
        def give(command: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(command)
            def gathering(*given: Any, **named: Any) -> Any:
                own = {name: named.pop(name) for name in found}
                return command(*given, **{parameter: make(**own)}, **named)

            return with_options(gathering, found, help_of(make)[1])

        return give

    return declare


def declarations(source: Callable[..., Any]) -> Declarations:
    """Parameter -> its type, and its option or argument."""
    hints = get_type_hints(source, include_extras=True)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Annotated}


def help_of(source: object) -> tuple[str, Mapping[str, str]]:
    """The docstring without the texts of options; and flag -> its text."""
    whole = cleandoc(docstring(source))
    texts = {flag: " ".join(text.split()) for flag, text in ENTRY.findall(whole)}
    return ENTRY.sub("", whole).strip(), defaultdict(str, texts)


def docstring(source: Any) -> str:
    """The docstring of a module, class or function. `python -OO` drops it, so it is read from the file then."""
    if sys.flags.optimize < 2:
        return source.__doc__ or ""
    tree = ast.parse(dedent(getsource(source)))
    return ast.get_docstring(tree if isinstance(source, ModuleType) else tree.body[0]) or ""  # type: ignore[arg-type]


def with_options(command: Callable[..., Any], found: Declarations, texts: Mapping[str, str]) -> Callable[..., Any]:
    for parameter, (kind, declare) in reversed(found.items()):
        command = declare(parameter, kind, texts)(command)
    return command


def declared(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function* with the options and arguments in the annotations of its parameters, in this order in the help."""
    function.__doc__, texts = help_of(function)
    return with_options(function, declarations(function), texts)


def command(name: str | None = None, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """As `click.command`, with the options and arguments in the annotations of the parameters."""
    make: Callable[..., click.Command] = click.command(name, cls=JudgedCommand, **settings)
    return lambda function: make(declared(function))
