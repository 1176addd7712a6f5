"""`memsift uninstall`."""

from __future__ import annotations

import os
import sys

import click

from engine.claude_code import installation
from engine.claude_code.settings_files import LOCAL, PROJECT, SCOPES, USER, settings_files
from tui.cli.setup.install import DRY_RUN, show, write
from tui.workspace.stderr import tell

UNREAD = "memsift may still be in the settings that cannot be read. Mend them, then run memsift uninstall again."
OF_SCOPE = {USER: (USER,), PROJECT: (PROJECT, LOCAL), None: SCOPES}


@click.command()
@click.option("--user", "scope", flag_value=USER, help="Only from the user's settings.")
@click.option("--project", "scope", flag_value=PROJECT, help="Only from the settings of the project in this folder.")
@DRY_RUN
def uninstall(scope: str | None, dry_run: bool) -> None:
    """Take memsift out of Claude Code's settings: the hook and the plugin, of the user and of this project.

    A file that nobody else changed since memsift install becomes what it was, byte for byte, and a file that memsift
    made is removed. From any other file only memsift's own lines are taken out.

    The labels, logs and settings of memsift stay: memsift --help lists them.

    Output: the path of each changed file.
    """
    files = settings_files(os.getcwd(), os.environ)  # noqa: PTH109 - the engine speaks in strings
    chosen = [file for file in files if file.scope in OF_SCOPE[scope]]
    for file in chosen:
        if file.problem:
            tell(file.problem)
    changes = installation.plan(chosen, {}, os.environ)
    if dry_run:
        show(changes)
        return
    is_unread = any(file.problem for file in chosen)
    write(changes, UNREAD if is_unread else "memsift is not in these settings; nothing was changed.")
    if scope != PROJECT:
        installation.forget_start(os.environ)
    if is_unread and not changes:
        sys.exit(2)
