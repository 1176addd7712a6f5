"""`memsift completion`."""

from __future__ import annotations

from typing import Annotated

import click

from engine.errors import MemsiftError
from tui.cli.declaring import argument, command

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "memsift"
VARIABLE = f"_{PROGRAM.upper()}_COMPLETE"


@command()
@click.pass_context
def completion(ctx: click.Context, shell: Annotated[str, argument(type=click.Choice(SHELLS))]) -> None:
    """Print the script with which SHELL completes commands and options of memsift.

    \b
    bash, a line in ~/.bashrc:
        eval "$(memsift completion bash)"
    zsh, a line in ~/.zshrc, after compinit:
        eval "$(memsift completion zsh)"
    fish, once:
        memsift completion fish > ~/.config/fish/completions/memsift.fish

    Then start the shell anew.

    \b
    Example:
      memsift completion fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise MemsiftError(f"This version of click completes nothing in {shell}.")
    click.echo(made(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
