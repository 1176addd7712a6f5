"""`memsift install` and `memsift uninstall`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from engine.agents.claude_code import installation
from engine.agents.claude_code.hook_entry import EVENT, SHARED_ENTRY, bare_interpreter, hook_entry, slow_start
from engine.agents.claude_code.prompt_hooks import (
    OF_ORIGINAL,
    OURS,
    all_hooks_are_off,
    of_one_machine,
    prompt_hooks,
    removal,
    several,
)
from engine.agents.claude_code.settings_files import PROJECT, USER, backup_path, settings_files
from engine.errors import MemsiftError, RootNotFoundError
from engine.lean.json_text import printed_json
from engine.settings.roots import PROJECT_FOLDER, find_roots
from tui.cli.output import text_of
from tui.workspace import opening
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.agents.claude_code.installation import SettingsChange


DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the difference, and change nothing.")
NEXT = "Type a prompt in Claude Code, then run memsift activity."
NEXT_OF_PLUGIN = "Claude Code loads the plugin when it starts: start it, type a prompt, then run memsift activity."


@click.command()
@click.option("--user", "scope", flag_value=USER, default=USER, help="For all projects of yours. The default.")
@click.option("--project", "scope", flag_value=PROJECT, help="For all who work on the project in the current folder.")
@click.option("--plugin", "is_plugin", is_flag=True, help="As a plugin with two skills, in place of a hook alone.")
@DRY_RUN
@click.option("--print", "is_print", is_flag=True, help="Only print the `hooks` section of a settings.json.")
def install(scope: str, is_plugin: bool, dry_run: bool, is_print: bool) -> None:
    """Put memsift into Claude Code, so that it looks for memories at every prompt.

    --user changes settings.json in ~/.claude, or in CLAUDE_CONFIG_DIR, and no file of the project. --project changes
    .claude/settings.json in the current folder, which is made to be committed: its command names no path of this
    machine, finds memsift on any, and stays silent where there is none. Only memsift's own lines change; everything
    else in the file stays as it was written. A copy of the file is kept in ~/.local/state/memsift/backups.
    memsift uninstall takes memsift out again.

    Where your own settings and those of the project both run memsift, one of the two answers a prompt.

    The hook's command exits with 0 even after memsift was moved or removed, so it can never block a prompt. For --user
    its timeout is longer than the deadlines in the configuration of this project. Run the command again after you
    enabled a judge, gave a deadline or the judge more time, trusted this project's configuration, or moved memsift.

    The indexes of the memories here are built at once, so that the first prompt gets an answer.

    The plugin brings the skills memory-search and memory-label.

    Output: the path of each changed file.
    """
    entry = SHARED_ENTRY if scope == PROJECT else hook_entry(opening.config_of(root_here(), os.environ))
    if is_print:
        click.echo(printed_json({"hooks": {EVENT: [{"hooks": [entry]}]}}, indent=2))
        return
    files = settings_files(os.getcwd(), os.environ)  # noqa: PTH109 - the engine speaks in strings
    if scope not in {file.scope for file in files}:
        raise click.UsageError("the settings of your home folder are those of the user: use --user.")
    wanted = installation.wanted_plugin(scope, files) if is_plugin else installation.wanted_hook(scope, entry, files)
    reached = [file for file in files if file.scope in (*installation.REACH[scope], *wanted)]
    changes = installation.plan(reached, wanted, os.environ)
    if dry_run:
        show(changes)
        return
    installation.record_start(os.environ)
    write(changes, "memsift is installed already; nothing was changed.")
    warn()
    build_indexes()
    tell(NEXT_OF_PLUGIN if is_plugin else NEXT)


def build_indexes() -> None:
    """Bring the indexes of the memories here up to date, with a progress bar for many. A problem is only told."""
    with suppress(RootNotFoundError):
        for root in opening.known_roots((), os.environ):
            try:
                with opening.opened_index(root):
                    pass
            except MemsiftError as error:
                tell(str(error))


def root_here() -> str:
    """The first root that the hook uses here, or the folder where it would be."""
    here = os.getcwd()  # noqa: PTH109
    return next(iter(find_roots(here, os.environ).roots), f"{here}/{PROJECT_FOLDER}")


def show(changes: Sequence[SettingsChange]) -> None:
    """Print the difference of each file."""
    click.echo(text_of(line for change in changes for line in change.diff.splitlines()), nl=False)
    if not changes:
        tell("Nothing would be changed.")


def write(changes: Sequence[SettingsChange], none: str) -> None:
    """Write the files and print their paths. *none* is told if there are no changes. Raises SettingsFileError."""
    installation.apply(changes, os.environ)
    for change in changes:
        click.echo(visible(change.file.path))
        if change.original is not None and change.after is not None:
            tell(f"{change.file.path} as it was before: {backup_path(change.file.path, os.environ)}")
    if not changes:
        tell(none)


def warn() -> None:
    """Tell about everything else in the settings that makes the hook useless, doubled or slow."""
    files = settings_files(os.getcwd(), os.environ)  # noqa: PTH109
    for file in files:
        if file.problem:
            tell(file.problem)
    if off := all_hooks_are_off(files):
        tell(f"{off} switches all hooks off: memsift's runs only without disableAllHooks.")
    hooks = prompt_hooks(files, os.environ)
    for hook in hooks:
        if hook.kind == OF_ORIGINAL:
            tell(f"{hook.source} runs the hook of claude-memory, too: both would inject. {removal(hook)}")
    own = [hook for hook in hooks if hook.kind == OURS]
    slow = slow_start((hook.command for hook in own), bare_interpreter(), os.environ)
    for sentence in (*several(own), *of_one_machine(files), *slow):
        tell(sentence)


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
