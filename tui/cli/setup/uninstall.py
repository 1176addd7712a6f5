"""`memsift uninstall`."""

from __future__ import annotations

import os
import sys

import click

from engine.claude_code import installation
from engine.claude_code.settings_files import PROJECT, USER, settings_files
from tui.cli.setup.install import DRY_RUN, show, write
from tui.workspace.stderr import tell

UNREAD = "memsift may still be in the settings that cannot be read. Mend them, then run memsift uninstall again."
SHARED = "memsift stays in {}, which is for all who work on the project: memsift uninstall --project takes it out."


@click.command()
@click.option("--user", "scope", flag_value=USER, default=USER, help="From your own settings. The default.")
@click.option("--project", "scope", flag_value=PROJECT, help="From the settings of the project in this folder.")
@DRY_RUN
def uninstall(scope: str, dry_run: bool) -> None:
    """Take memsift out of Claude Code's settings, the hook and the plugin.

    Settings of the project that others use too, .claude/settings.json, change only with --project.

    A file that nobody else changed since memsift install becomes what it was, byte for byte, and a file that memsift
    made is removed. From any other file only memsift's own lines are taken out.

    The labels, logs and settings of memsift stay: memsift --help lists them.

    Output: the path of each changed file.
    """
    files = settings_files(os.getcwd(), os.environ)  # noqa: PTH109 - the engine speaks in strings
    chosen = [file for file in files if file.scope in installation.REACH[scope]]
    for file in chosen:
        if file.problem:
            tell(file.problem)
    changes = installation.plan(chosen, {}, os.environ)
    if dry_run:
        show(changes)
        return
    is_unread = any(file.problem for file in chosen)
    write(changes, UNREAD if is_unread else "memsift is not in these settings; nothing was changed.")
    if scope == USER:
        installation.forget_start(os.environ)
    for file in files:
        if file.scope == PROJECT != scope and installation.ours_in(file.content) != installation.NOTHING:
            tell(SHARED.format(file.path))
    if is_unread and not changes:
        sys.exit(2)
