"""Hooks in a person's own settings that start nothing, because memsift was moved, or upgraded to another place."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.agents.agent import USER, USER_TOML
from engine.agents.hook_entry import LAUNCHER, PACKAGES, PLUGIN_FOLDER
from engine.agents.registry import OPTION, all_agents, title_of
from engine.errors import SettingsFileError
from engine.paths import hook_start_file
from engine.stores.files import UnreadableFileError, text_of
from engine.wording import listed

if TYPE_CHECKING:
    from engine.agents.agent import Agent

OWN = (USER, USER_TOML)


def offer_install() -> str:
    """A sentence about the hooks that are gone, with the commands that mend them; empty if there are none.

    The shared command needs no mending by a person: the record by which it finds memsift is renewed here.
    """
    _renew_start()
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


def _renew_start() -> None:
    with suppress(UnreadableFileError, SettingsFileError):
        launcher = text_of(hook_start_file(os.environ)).splitlines()[1:]
        if not all(map(os.path.exists, launcher)):
            from engine.agents.installation import record_start

            record_start(os.environ)


def _gone_path(agent: Agent) -> str:
    own = [agent.settings_path(scope, "", os.environ) for scope in OWN if scope in agent.settings]
    if not any(map(_names_another, own)):
        return ""
    from engine.agents.prompt_hooks import gone_paths
    from engine.agents.settings_files import settings_files

    files = settings_files(agent, agent.home(os.environ), os.environ)
    return next(iter(gone_paths([file for file in files if file.scope in OWN]).values()), "")


def _names_another(path: str) -> bool:
    """Whether a settings file names a launcher or a plugin that is not of this installation."""
    try:
        text = text_of(path)
    except UnreadableFileError:
        return False
    return any(text.count(place) > text.count(f"{PACKAGES}{os.sep}{place}") for place in (LAUNCHER, PLUGIN_FOLDER))
