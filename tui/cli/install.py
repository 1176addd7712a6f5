"""`memsift install`."""

from __future__ import annotations

import json

import click

from engine.errors import MemsiftError


@click.command()
@click.option("--print", "is_print", is_flag=True, help="Print the settings that start the hook fastest.")
def install(is_print: bool) -> None:
    """Set the hook up in Claude Code: print the `hooks` section of a settings.json."""
    from tui.cli.installing import hook_settings

    if not is_print:
        raise MemsiftError("There is only --print yet. Put what it prints into .claude/settings.json yourself.")
    click.echo(json.dumps(hook_settings(), indent=2))
