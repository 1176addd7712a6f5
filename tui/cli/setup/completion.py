"""`memsift completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from engine.errors import MemsiftError

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "memsift"
VARIABLE = f"_{PROGRAM.upper()}_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes commands and options of memsift.

    \b
    bash, a line in ~/.bashrc:
        eval "$(memsift completion bash)"
    zsh, a line in ~/.zshrc, after compinit:
        eval "$(memsift completion zsh)"
    fish, once:
        memsift completion fish > ~/.config/fish/completions/memsift.fish

    Then start the shell anew.
    """
    made = get_completion_class(shell)
    if made is None:
        raise MemsiftError(f"This version of click completes nothing in {shell}.")
    click.echo(made(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
