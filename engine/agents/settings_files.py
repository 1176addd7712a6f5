"""The settings files of a coding agent: their content, and writing one so that no moment shows a part.

memsift changes those of the user and of the project.
"""

from __future__ import annotations

import json
import os
import tomllib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from engine.agents.agent import LOCAL, PARTS, PROJECT, PROJECT_TOML, USER, USER_TOML
from engine.agents.claude_code.auto_memory import json_files
from engine.curation.files import FileChange, text_at, write
from engine.errors import CurationError, SettingsFileError
from engine.lean.record import Record
from engine.paths import state_home
from engine.stores.files import is_inside, write_whole
from engine.stores.json_members import without_comments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.agents.agent import Agent

WRITABLE_BITS = 0o222
BOM = "\ufeff"
TOML = ".toml"


class SettingsFile(Record):
    """A settings file. `text` is None if there is no file. `problem`: a sentence if it cannot be read, with the line.

    `content` is the object that it holds; empty without a file, and for a file that cannot be read.
    """

    agent: Agent
    scope: str
    path: str
    text: str | None = None
    content: Mapping[str, Any] = {}
    problem: str = ""


def settings_files(agent: Agent, folder: str, environ: Mapping[str, str]) -> tuple[SettingsFile, ...]:
    """The file of each scope, for an agent that is started in *folder*, in the order in which the agent reads them.

    In the home folder, the user's file and the project's are the same: it counts once.
    """
    paths = [(scope, agent.settings_path(scope, folder, environ)) for scope in agent.settings]
    paths = [(scope, found) for scope, path in paths for found in (json_files(path) if scope == PARTS else [path])]
    first = {os.path.realpath(path): (scope, path) for scope, path in reversed(paths)}
    return tuple(_read(agent, *pair) for pair in paths if pair in first.values())


def _read(agent: Agent, scope: str, path: str) -> SettingsFile:
    try:
        text = text_at(path)
        return SettingsFile(agent, scope, path, text, parsed(text or "", path, agent))
    except SettingsFileError as error:
        return SettingsFile(agent, scope, path, text, {}, str(error))
    except CurationError as error:
        return SettingsFile(agent, scope, path, None, {}, str(error))


def write_settings(file: SettingsFile, text: str | None) -> None:
    """Replace the file's text, or remove the file where *text* is None. A link stays, and what it leads to is written.

    A new file of the user is for its owner alone, because whoever can write it can run commands.
    Raises SettingsFileError.
    """
    real = os.path.realpath(file.path)
    try:
        change = FileChange(os.path.dirname(real), os.path.basename(real), file.text, text)
        write(change, is_private=file.scope in (USER, USER_TOML))
    except CurationError as error:
        raise SettingsFileError(f"{error} Run the command again when it can be.") from None


def require_writable(file: SettingsFile) -> None:
    """Raise SettingsFileError for a file that is write-protected, or that changed since it was read.

    A new file takes its place, which the mode of the old file alone would not prevent. A repository can hold links, so
    the file of a project must not lead out of it.
    """
    real = os.path.realpath(file.path)
    folder = file.path.removesuffix(file.agent.settings[file.scope]).rstrip(os.sep)
    if file.scope in (PROJECT, PROJECT_TOML, LOCAL) and not is_inside(os.path.realpath(folder), real):
        problem = f"{file.path} leads to {real}, which is outside of {folder}, so nothing was changed."
        fix = "Put a file in the place of the link, or run the command where it leads to."
        raise SettingsFileError(f"{problem} {fix}")
    folder = real
    while not os.path.exists(folder := os.path.dirname(folder)):
        pass
    if not os.access(folder, os.W_OK) or (os.path.exists(real) and not os.stat(real).st_mode & WRITABLE_BITS):
        raise SettingsFileError(
            f"{file.path} is write-protected, so nothing was changed. If another program makes this file, as Nix does, "
            f"give it the lines that memsift install --print prints. If not, allow it: chmod u+w {real}"
        )
    if text_at(file.path) != file.text:
        raise SettingsFileError(f"{file.path} was changed since it was read. Nothing was done: run the command again.")


def backup_path(path: str, environ: Mapping[str, str]) -> str:
    """The copy of a settings file as it was before memsift changed it: outside of the project, for its owner alone."""
    name = sha256(os.path.abspath(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return os.path.join(state_home(environ), "backups", f"{name}-{os.path.basename(path)}")


def backup_of(path: str, environ: Mapping[str, str]) -> str | None:
    """The text of the copy, or None."""
    try:
        return text_at(backup_path(path, environ))
    except CurationError:
        return None


def save_backup(path: str, text: str | None, environ: Mapping[str, str]) -> None:
    """Keep *text* as the copy of a settings file; None: there was no file, so there is no copy either."""
    place = backup_path(path, environ)
    try:
        if text is None:
            if os.path.exists(place):
                os.unlink(place)
            return
        write_whole(place, text.encode("utf-8"))
    except OSError as error:
        problem = f"{place}, the copy of {path}, cannot be written ({error.strerror})"
        raise SettingsFileError(f"{problem}. Nothing was changed.") from None


def parsed(text: str, name: str, agent: Agent) -> dict[str, Any]:
    """The object that a settings file holds; an empty file counts as an empty object.

    Raises SettingsFileError, with the line, for a text that *agent* would not read. *name* is the file's name.
    """
    bare = without_comments(text) if agent.hook.allows_comments else text
    if agent.hook.text or not bare.strip(f"{BOM} \t\r\n"):
        return {}
    if name.endswith(TOML):
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise SettingsFileError(f"{name} is not TOML ({error}). Mend it first: nothing was changed.") from None
    try:
        content = json.loads(bare.removeprefix(BOM), parse_constant=_refuse_constant, object_pairs_hook=_require_unique)
    except json.JSONDecodeError as error:
        has_comment = error.doc[error.pos :].lstrip().startswith(("//", "/*"))
        problem = "holds a comment, which is not JSON" if has_comment else f"is not JSON ({error.msg})"
        effect = f"{agent.title} ignores the whole file until this is mended, and memsift does not change it."
        raise SettingsFileError(f"{name}, line {error.lineno}: {problem}. {effect}") from None
    except (ValueError, RecursionError) as error:
        raise SettingsFileError(f"{name} cannot be read ({error}). Mend it first: nothing was changed.") from None
    if not isinstance(content, dict):
        raise SettingsFileError(f"{name}, line 1: expected an object in braces. Mend it first: nothing was changed.")
    return content


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _require_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)
