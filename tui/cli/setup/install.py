"""`memsift install`, `memsift uninstall`, `memsift mute` and `memsift completion`."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.agents import installation
from engine.agents.agent import PROJECT, USER
from engine.agents.hook_entry import hook_entry, shared_entry
from engine.agents.prompt_hooks import OF_ORIGINAL, hook_ruling, prompt_hooks, remarks, removal
from engine.agents.registry import NAMES, OPTION, agent_of, all_agents, default_agent
from engine.agents.settings_files import backup_path, settings_files
from engine.doctor.memories import MUTE_OFF
from engine.errors import MemsiftError, RootNotFoundError
from engine.paths import hook_start_file
from engine.settings.roots import PROJECT_FOLDER, find_roots
from engine.stores.files import remove
from engine.stores.roots import readable_root
from tui.cli.declaring import argument, command, option
from tui.cli.options import OneRoot
from tui.cli.output import text_of
from tui.workspace import activity_rows, opening
from tui.workspace.activity_rows import EVERYWHERE, NEWEST_SESSION, NOWHERE
from tui.workspace.stderr import tell, uninterrupted, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.agents.agent import Agent
    from engine.agents.installation import SettingsChange
    from engine.agents.settings_files import SettingsFile


def scope_option(parameter: str, _: object, texts: Mapping[str, str]) -> Callable[[Any], Any]:
    """The options --user and --project of one parameter."""
    first = click.option("--user", parameter, flag_value=USER, default=USER, help=texts["--user"])
    second = click.option("--project", parameter, flag_value=PROJECT, help=texts["--project"])
    return lambda command: first(second(command))


ON_MACHINE = "A coding agent, repeatable. Without it, a terminal asks about the agents on this machine."
Agents = Annotated[tuple[str, ...], option(OPTION, type=click.Choice(NAMES), about=ON_MACHINE)]
Scope = Annotated[str, scope_option]
DryRun = Annotated[bool, option("--dry-run", about="Print the difference, and change nothing.")]
NEXT = "Next: type a prompt in {}, then run memsift activity."
NEXT_OF_PLUGIN = "Next: start Claude Code, which then loads the plugin, type a prompt, and run memsift activity."
KEPT = "Labels, logs and settings of memsift stay: memsift --help lists them. Next, to put it back: memsift install{}"


@command()
def install(
    names: Agents,
    scope: Scope,
    is_plugin: Annotated[bool, option("--plugin")],
    dry_run: DryRun,
    is_print: Annotated[bool, option("--print")],
) -> None:
    """Put memsift into a coding agent, so that it looks for memories at every prompt.

    Without --agent, a terminal asks about each agent on this machine, if there are several. A script gets Claude Code.

    --user changes your own settings of the agent, such as ~/.claude/settings.json, and no file of the project.
    --project changes the agent's file in the current folder, such as .claude/settings.json, for everybody: its command
    names no path of this machine, finds memsift on any, and is silent on machines without memsift. Only memsift's own
    lines change; everything else in the file stays as it was written. A copy of the file is kept in
    ~/.local/state/memsift/backups. memsift uninstall takes memsift out again.

    If your own settings and the settings of the project both run memsift, one of the two answers a prompt.

    The hook's command exits with 0 even after memsift was moved or removed, so it can never block a prompt. For --user
    its timeout is longer than the deadlines in the configuration of this project. Run the command again after you
    enable a judge, allow more time, trust this project's configuration, or move memsift.

    The indexes of the memories here are built at once, so that the first prompt gets an answer.

    The plugin brings the skills memory-search, memory-label and memory-phrases.

    Output: the path of each changed file. stderr says what was changed, and what to try next.

    \b
    Examples:
      memsift install
      memsift install --agent codex --dry-run

    --user: For all your projects. The default.
    --project: For everybody who works on the project in the current folder.
    --plugin: For Claude Code, as a plugin with three skills.
    --print: Only print the settings of one agent.
    """
    agents = chosen_agents(names, is_found, "Put memsift into {}?", asks=not (is_plugin or is_print))
    if is_plugin and agents != (default_agent(),):
        raise click.UsageError(f"--plugin is for {default_agent().title} alone.")
    if is_print:
        if len(agents) > 1:
            raise click.UsageError("--print is for one agent at a time.")
        path = agents[0].settings_path(scope, "", os.environ)
        click.echo(installation.new_text(agents[0], path, entry_of(agents[0], scope)), nl=False)
        return
    changes = [change for agent in agents for change in planned(agent, scope, is_plugin=is_plugin)]
    if dry_run:
        show(changes)
        return
    installation.record_start(os.environ)
    write(changes, "memsift is already installed; nothing was changed.")
    for agent in agents:
        warn(agent)
    build_indexes()
    for agent in agents:
        tell(" ".join(filter(None, (agent.asks, NEXT_OF_PLUGIN if is_plugin else NEXT.format(agent.title)))))


def chosen_agents(
    names: tuple[str, ...], is_offered: Callable[[Agent], bool], question: str, *, asks: bool = True
) -> tuple[Agent, ...]:
    """The agents that a person named, else those of the offered ones that the person wants; in a script, the default.

    A single offered agent needs no question.
    """
    offered = tuple(filter(is_offered, all_agents())) if asks and not names and sys.stdin.isatty() else ()
    if len(offered) > 1:
        offered = tuple(agent for agent in offered if click.confirm(question.format(agent.title), True, err=True))
        if not offered:
            tell("No agent was chosen, so nothing was changed.")
            click.get_current_context().exit()
    return offered or tuple(map(agent_of, dict.fromkeys(names))) or (default_agent(),)


def is_found(agent: Agent) -> bool:
    """Whether an agent is on this machine: its program, or the folder of its files."""
    return bool(shutil.which(agent.program)) or Path(agent.home(os.environ)).is_dir()


def files_of(agent: Agent) -> tuple[SettingsFile, ...]:
    """The settings files of an agent that is started here."""
    return settings_files(agent, os.getcwd(), os.environ)  # noqa: PTH109 - the engine speaks in strings


def entry_of(agent: Agent, scope: str) -> dict[str, Any]:
    """The hook's entry in the settings of a scope."""
    if scope == PROJECT:
        return shared_entry(agent)
    return hook_entry(agent, opening.settings_of(root_here(), os.environ).config)


def planned(agent: Agent, scope: str, *, is_plugin: bool) -> tuple[SettingsChange, ...]:
    """The changes that put memsift into an agent."""
    files = files_of(agent)
    if scope not in {file.scope for file in files}:
        raise click.UsageError("In the home folder, the settings are your own: use --user.")
    entry = entry_of(agent, scope)
    wanted = installation.wanted_plugin(scope, files) if is_plugin else installation.wanted_hook(scope, entry, files)
    reached = [file for file in files if file.scope in (*installation.REACH[scope], *wanted)]
    return installation.plan(reached, wanted, os.environ)


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
    """Write the files, print their paths, and tell what was changed. *none* is told if there are no changes.

    Raises SettingsFileError.
    """
    with uninterrupted():
        installation.apply(changes, os.environ)
        for change in changes:
            path, title = change.file.path, change.file.agent.title
            click.echo(visible(path))
            if change.after is None:
                tell(f"Removed {path}, which held only memsift's lines for {title}.")
            elif change.after == change.original:
                tell(f"Took memsift out of {title}: {path}.")
            else:
                copy = f" The file as it was: {backup_path(path, os.environ)}." if change.original is not None else ""
                tell(f"Put memsift into {title}: {path}.{copy}")
    if not changes:
        tell(none)


def warn(agent: Agent) -> None:
    """Tell about everything else in an agent's settings that makes the hook useless, doubled or slow."""
    files = files_of(agent)
    for file in files:
        if file.problem:
            tell(file.problem)
    if (ruling := hook_ruling(files, os.environ)).key:
        tell(f"{ruling.text}. {ruling.remedy}")
    for hook in prompt_hooks(files, os.environ):
        if hook.kind == OF_ORIGINAL:
            tell(f"{hook.source} also runs the hook of claude-memory: both would inject. {removal(hook)}")
    for sentence in remarks(files, os.environ):
        tell(sentence)


UNREAD = "memsift may still be in the settings that cannot be read. Mend them, then run memsift uninstall again."
SHARED = "memsift stays in {}, which belongs to the whole project. To take it out there: memsift uninstall --project"


@command()
def uninstall(names: Agents, scope: Scope, dry_run: DryRun) -> None:
    """Take memsift out of the settings of a coding agent, the hook and the plugin.

    Without --agent, a terminal asks about each agent with memsift, if there are several. A script gets Claude Code.
    Shared settings of the project, such as .claude/settings.json, change only with --project.

    A file that nobody else changed since memsift install becomes as it was, byte for byte, and a file made by memsift
    is removed. From any other file only memsift's own lines are taken out.

    The labels, logs and settings of memsift stay: memsift --help lists them.

    Output: the path of each changed file. stderr says what was changed, and what to try next.

    \b
    Examples:
      memsift uninstall
      memsift uninstall --agent codex --dry-run

    --user: From your own settings. The default.
    --project: From the settings of the project in this folder.
    """
    agents = chosen_agents(names, lambda agent: holds_memsift(agent, scope), "Take memsift out of {}?")
    files = [file for agent in agents for file in files_of(agent)]
    chosen = [file for file in files if file.scope in installation.REACH[scope]]
    problems = [file.problem for file in chosen if file.problem]
    for problem in problems:
        tell(problem)
    changes = installation.plan(chosen, {}, os.environ)
    if dry_run:
        show(changes)
        return
    write(changes, UNREAD if problems else "memsift is not in these settings; nothing was changed.")
    if scope == USER and not any(holds_memsift(agent, USER) for agent in all_agents()):
        remove(hook_start_file(os.environ))
    for file in files:
        is_shared = file.scope in (PROJECT, installation.SECOND[PROJECT])
        if scope == USER and is_shared and installation.ours_in(file) != installation.NOTHING:
            tell(SHARED.format(file.path))
    if changes:
        options = [" --project"] if scope == PROJECT else []
        options += [f" {OPTION} {agent.name}" for agent in agents if agents != (default_agent(),)]
        tell(KEPT.format("".join(options)))
    if problems and not changes:
        sys.exit(2)


def holds_memsift(agent: Agent, scope: str) -> bool:
    """Whether memsift stands in the settings of an agent that `memsift uninstall` may change."""
    files = (file for file in files_of(agent) if file.scope in installation.REACH[scope])
    return any(installation.ours_in(file) != installation.NOTHING for file in files)


@command()
def mute(
    is_session: Annotated[bool, option("--session")], is_off: Annotated[bool, option("--off")], root: OneRoot
) -> None:
    """Let the hook inject nothing in this project until the end of today, or in one session.

    The hook still logs each prompt, with the reason "muted"; memsift doctor and memsift activity say so too. A later
    mute replaces an earlier mute. If the hook uses several roots, the mute is for all of them.

    \b
    Examples:
      memsift mute --session
      memsift mute --off

    --session: Mute only the newest session that the hook saw here.
    --off: Let the hook inject memories again.
    """
    if is_off and is_session:
        raise click.UsageError("--off ends every mute: leave --session out.")
    place = readable_root(opening.resolve_root(root, os.environ))
    how = NOWHERE if is_off else NEWEST_SESSION if is_session else EVERYWHERE
    with uninterrupted():
        said = activity_rows.mute(place, how, os.environ)
        tell(said if is_off else f"{said} To end it: {MUTE_OFF}")


PROGRAM = "memsift"
VARIABLE = f"_{PROGRAM.upper()}_COMPLETE"


@command()
@click.pass_context
def completion(ctx: click.Context, shell: Annotated[str, argument(type=click.Choice(("bash", "zsh", "fish")))]) -> None:
    """Print a script that lets SHELL complete commands and options of memsift.

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
    assert made
    click.echo(made(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
