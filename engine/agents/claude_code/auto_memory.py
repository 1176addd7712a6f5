"""The folder where Claude Code keeps the auto memory of a project, by its settings and variables.

The rules are those of client 2.1.330, with one exception: settings that lie in a project may come from a stranger, so
they may switch auto memory off, and another folder counts only where the user trusts it as a root.
"""

from __future__ import annotations

import os
import sys

from engine.lean.json_text import loads
from engine.lean.record import Record
from engine.paths import SESSION_FOLDER, claude_dir, home_dir, projects_dir, transcripts_dir
from engine.stores.files import UnreadableFileError, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

PREFIX = "autoMemory"
DIRECTORY, ENABLED = f"{PREFIX}Directory", f"{PREFIX}Enabled"
VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
ON, OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
SHORTEST = 3
"""Characters of the shortest path that the client takes for a folder."""


class AutoMemory(Record):
    """The folder of a project's auto memory, which may not exist; empty where auto memory is off.

    `said_by` is the settings file or the variable that decides it, empty for the usual place. `untrusted`: pairs of a
    folder and the settings file in the project that names it, which do not count.
    """

    folder: str = ""
    said_by: str = ""
    untrusted: tuple[tuple[str, str], ...] = ()


def auto_memory(folder: str, main: str, environ: Mapping[str, str], trusts: Callable[[str], bool]) -> AutoMemory:
    """The auto memory of a client that is started in *folder*, a resolved path. Raises ValueError for no path.

    *main*: the top of the main tree of its repository, or *folder* again. *trusts*: whether the user trusts a root.
    """
    is_on, named, off_by, named_by = True, "", "", ""
    untrusted: list[tuple[str, str]] = []
    for path, is_own in _settings_files(folder, main, environ):
        content = _content(path)
        if content.get(ENABLED) is False or (is_own and content.get(ENABLED) is True):
            is_on, off_by = content[ENABLED], path
        wanted = content.get(DIRECTORY)
        if isinstance(wanted, str):
            place = _place(wanted, environ)
            if is_own or (place and trusts(place)):
                named, named_by = place, path
            elif os.path.isdir(place):
                untrusted.append((place, path))
    said = environ.get(VARIABLE, "").lower()
    if said in (*ON, *OFF):
        is_on, off_by = said in OFF, VARIABLE
    if not is_on:
        return AutoMemory("", off_by, tuple(untrusted))
    usual = os.path.join(transcripts_dir(main, environ), "memory")
    return AutoMemory(named or usual, named_by if named else "", tuple(untrusted))


def client_loads(root: str, environ: Mapping[str, str]) -> bool:
    """Whether the client loads the beginning of MEMORY.md in *root* by itself: not in a repository's own folder."""
    here = os.path.realpath(environ.get(SESSION_FOLDER) or os.getcwd())
    own = auto_memory(here, here, environ, lambda _: True).folder
    project, name = os.path.split(root)
    is_usual = name == "memory" and os.path.dirname(project) == os.path.realpath(projects_dir(environ))
    return bool(own) and (is_usual or os.path.realpath(own) == root)


def managed_settings() -> str:
    """The settings file of this machine's administrator."""
    place = "/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code"
    return os.path.join(place, "managed-settings.json")


def managed_parts() -> str:
    """The folder of further settings files of the administrator, each of which overrides those before it."""
    return f"{managed_settings().removesuffix('.json')}.d"


def json_files(folder: str) -> list[str]:
    """The files NAME.json in a folder, in the order of their names; hidden ones do not count. None without a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".json") and name[0] != "."]


def _settings_files(folder: str, main: str, environ: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The files that the client reads, the weakest first, and whether each is outside of the project.

    The local settings of a main tree count for the folders and worktrees of its repository, too.
    """
    user = os.path.join(claude_dir(environ), "settings.json")
    project = os.path.join(folder, ".claude", "settings.json")
    yield user, True
    if os.path.realpath(project) != os.path.realpath(user):
        yield project, False
    for place in dict.fromkeys((folder, main)):
        yield os.path.join(place, ".claude", "settings.local.json"), False
    for place in (managed_settings(), *json_files(managed_parts())):
        yield place, True


def _content(path: str) -> Mapping[str, Any]:
    """The object in a settings file. Empty for most files, which are not parsed, and for one that cannot be read."""
    try:
        text = text_of(path)
        content = loads(text) if PREFIX in text else {}
    except (UnreadableFileError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _place(wanted: str, environ: Mapping[str, str]) -> str:
    """The folder that a setting names; empty for a path that the client ignores, such as ~ itself."""
    below = os.path.normpath(wanted[2:] or ".") if wanted.startswith("~/") else ""
    if below.split(os.sep)[0] in (".", ".."):
        return ""
    place = os.path.join(home_dir(environ), below) if below else os.path.normpath(wanted)
    return place if os.path.isabs(place) and len(place) >= SHORTEST and "\0" not in place else ""
