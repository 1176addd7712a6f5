"""Commands whose options stand in the annotations of their parameters, and whose docstring is the whole help."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from functools import wraps
from inspect import cleandoc, getsource
from textwrap import dedent
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import click

from tui.cli.help import JudgedCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Declaration = Callable[[str, Any, Mapping[str, str]], Callable[[Any], Any]]
    """Gives a command the parameter with this name and type, and with the text of its flag."""
    Declarations = dict[str, tuple[Any, Declaration]]

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
