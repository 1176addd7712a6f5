"""The command line. stdout is data, stderr is for people.

Exit codes: 0 fine, 1 a check did not hold, 2 setup or usage error, 130 stopped with Ctrl-C, 141 nobody reads stdout.
A new command is a function in a module of this folder, and its place in SUBJECTS.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from engine import __version__
from engine.agents.agent import USER, USER_TOML
from engine.agents.hook_entry import LAUNCHER, PACKAGES, PLUGIN_FOLDER
from engine.agents.registry import OPTION, all_agents, title_of
from engine.errors import MemsiftError, RootNotFoundError, SettingsFileError, missing_library
from engine.paths import hook_start_file
from engine.stores.files import UnreadableFileError
from engine.stores.files import text_of as file_text
from engine.wording import listed
from tui.cli.declaring import SUBJECTS, Commands, declared
from tui.cli.options import AskedJudge, Plain, PromptFiles, Roots, StoreFile
from tui.cli.output import drop_unwritten, explanation, open_streams, text_of
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.agents.agent import Agent

LOOKS_ITSELF = ("doctor", "install", "serve", "uninstall")
"""The commands without a line about hooks that start nothing: they show, mend or remove them, or open the app."""

STOPPED, UNREAD = 130, 141
"""The exit codes of a shell for a program that Ctrl-C or a closed pipe ended."""

IS_DEBUG = "tui.cli.is_debug"


class Memsift(Commands):
    """All commands, and how each of them ends."""

    subjects = SUBJECTS

    def main(self, *given: Any, **options: Any) -> Any:
        open_streams()
        try:
            return super().main(*given, **options)
        finally:
            drop_unwritten()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with plain_ends(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with plain_ends(ctx):
            return super().invoke(ctx)


@contextmanager
def plain_ends(ctx: click.Context) -> Iterator[None]:
    """Turn each error into lines on stderr and an exit code, with a traceback only for --debug.

    click's own errors pass. What they print is written at once, so a full disk or a closed pipe is found in here.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except (KeyboardInterrupt, click.Abort):
        tell("Stopped.")
        ctx.exit(STOPPED)
    except BrokenPipeError:
        ctx.exit(UNREAD)
    except Exception as error:  # noqa: BLE001 - a person gets a line, and with --debug the traceback
        known = missing_library(error) if isinstance(error, ImportError) else error
        if not isinstance(known, MemsiftError):
            if ctx.meta.get(IS_DEBUG):
                import traceback

                traceback.print_exc()
            known = MemsiftError(explanation(error))
        tell(str(known))
        with suppress(OSError):  # a full stderr costs only its lines
            click.echo(text_of(known.detail.splitlines()), err=True, nl=False)
        ctx.exit(2)


def offer_install() -> str:
    """A sentence about the hooks that start nothing, with the commands that mend them; empty if there are none.

    The shared command needs no mending by a person: the record by which it finds memsift is renewed here.
    """
    with suppress(UnreadableFileError, SettingsFileError):
        launcher = file_text(hook_start_file(os.environ)).splitlines()[1:]
        if not all(map(os.path.exists, launcher)):
            from engine.agents.installation import record_start

            record_start(os.environ)
    gone = gone_hooks()
    if not gone:
        return ""
    hooks = [f"{OPTION} {name}" for name, path in gone.items() if not path.endswith(PLUGIN_FOLDER)]
    wanted = [*([] if len(hooks) == len(gone) else ["--plugin"]), *filter(None, [" ".join(hooks)])]
    return (
        f"{listed([*map(title_of, gone)])} {'gets' if len(gone) == 1 else 'get'} no memories: memsift was moved or "
        f"upgraded, and {next(iter(gone.values()))} in the settings is gone. Run "
        f"{listed([f'memsift install {options}' for options in wanted])}."
    )


def gone_hooks() -> dict[str, str]:
    """The name of each agent in whose settings memsift's launcher or plugin is gone, with its path.

    Every command asks this, so only settings that name another installation are parsed.
    """
    return {agent.name: path for agent in all_agents() if (path := _gone_path(agent))}


def _gone_path(agent: Agent) -> str:
    scopes = [scope for scope in (USER, USER_TOML) if scope in agent.settings]
    for scope in scopes:
        with suppress(UnreadableFileError):
            text = file_text(agent.settings_path(scope, "", os.environ))
            if any(text.count(place) > text.count(f"{PACKAGES}{os.sep}{place}") for place in (LAUNCHER, PLUGIN_FOLDER)):
                break  # a launcher or a plugin that is not of this installation
    else:
        return ""
    from engine.agents.prompt_hooks import gone_paths
    from engine.agents.settings_files import settings_files

    files = settings_files(agent, agent.home(os.environ), os.environ)
    return next(iter(gone_paths([file for file in files if file.scope in scopes]).values()), "")


keep_debug = lambda ctx, _, is_debug: ctx.meta.update({IS_DEBUG: is_debug})  # noqa: E731
DEBUG = "Show the traceback of an unexpected error. It comes before the command."


@click.group(cls=Memsift, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="memsift")
@click.option("--debug", is_flag=True, is_eager=True, expose_value=False, callback=keep_debug, help=DEBUG)
@declared
@click.pass_context
def main(
    ctx: click.Context,
    roots: Roots,
    prompts: PromptFiles,
    judge: AskedJudge,
    db: StoreFile,
    plain: Plain,
) -> None:
    """See, label and measure the memories that coding assistants inject into prompts.

    Without a command, the app opens on this project's memories and prompts.

    \b
    Words:
      memory   a document that an assistant may inject into your prompts
      root     a folder or file of memories; auto memory is the root that Claude
               Code writes by itself, beside the transcripts of a project
      system   a way from a prompt to memories: a search, with or without a
               cutoff (it drops unlikely memories) and a judge (a language model
               that decides, for money)
      label    your answer: is this memory relevant for this prompt?

    stdout is for data, stderr for people. Exit codes: 0 fine, 1 a check did not hold, 2 a mistake in setup or usage,
    130 stopped with Ctrl-C, 141 stopped because the reader of the output is gone.

    \b
    Files (XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME and XDG_STATE_HOME move
    them):
      ~/.config/memsift/config.toml      your settings, under [retrieval]
      ~/.config/memsift/trusted.json     the roots that you trust: memsift trust
      memory-config.json in the root     settings of a root, under "retrieval";
                                         some need your trust in the root
      .memsift/phrases.jsonl in the root
                                         phrases by which memories are found
      ~/.local/share/memsift/labels.db   labels
      ~/.local/share/memsift/journal.db  the changes to memories, for memsift undo
      ~/.local/share/memsift/decisions.db
                                         memories and findings that you accepted,
                                         and ratings of memories by a model
      ~/.cache/memsift/                  indexes, and the judge's answers; you may
                                         delete them
      ~/.local/state/memsift/            the hook's log and sessions, tuned
                                         cutoffs, choices in the app, copies of
                                         Claude Code's settings before a change

    \b
    Environment variables, stronger than these files:
      MEMSIFT_DB, MEMSIFT_ANNOTATOR (the name on your labels),
      MEMSIFT_MATCH_STRATEGY, MEMSIFT_MAX_INJECT, MEMSIFT_NOISE_FLOOR,
      MEMSIFT_MIN_STRENGTH, MEMSIFT_CUTOFF, MEMSIFT_CUTOFF_THRESHOLD,
      MEMSIFT_MAX_RISK, MEMSIFT_OUTPUT_MODE, MEMSIFT_HINTS,
      MEMSIFT_REPEAT_LOADED, MEMSIFT_DEADLINE, MEMSIFT_LOG_PROMPTS,
      MEMSIFT_JUDGE, MEMSIFT_JUDGE_ENABLED, MEMSIFT_JUDGE_MODEL,
      MEMSIFT_JUDGE_DEPTH, MEMSIFT_JUDGE_TIMEOUT, MEMSIFT_JUDGE_TEMPERATURE,
      MEMSIFT_JUDGE_MAX_TOKENS, MEMSIFT_JUDGE_SAMPLES

    \b
    Examples:
      memsift
      memsift --root ~/notes --prompts history.jsonl
    """
    if ctx.invoked_subcommand is None:
        from tui.cli.app import open_app, open_other, require_terminal

        try:
            found = opening.known_roots(roots, os.environ)
        except RootNotFoundError as error:
            open_other(error, judge, db, is_plain=plain)
            return
        require_terminal()
        open_app(found, prompts, judge, db, is_plain=plain)
    elif ctx.invoked_subcommand not in LOOKS_ITSELF and (offer := offer_install()):
        tell(offer)
