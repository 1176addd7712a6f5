"""Places of files: a project's memories, memsift's own files, and Claude Code's transcripts.

memsift's own files lie where the XDG rules say, on macOS as on Linux. On Windows, the XDG variables count as well;
without them, the files lie in `AppData`.
"""

from __future__ import annotations

import os

from engine.lean.record import Record
from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

PROJECT_FOLDER = os.path.join(".claude", "memory")
CONFIG, DATA, CACHE, STATE = "config", "data", "cache", "state"
_PLACES = {CONFIG: ".config", DATA: ".local/share", CACHE: ".cache", STATE: ".local/state"}
"""Kind of memsift's own files -> the folder in the home folder, where `XDG_<KIND>_HOME` names no other."""
_SLUG_CHARACTERS = 200


class RootSearch(Record):
    """The root of a project, or None. `refused` has a sentence for each folder that was found and not taken.

    `auto_memory` is the project's auto memory if it is a root beside the other, else empty.
    """

    root: str | None
    refused: tuple[str, ...] = ()
    auto_memory: str = ""

    @property
    def roots(self) -> tuple[str, ...]:
        """The project's root and its auto memory, as far as they exist."""
        return tuple(filter(None, (self.root, self.auto_memory)))


def find_root(
    start: str, environ: Mapping[str, str], transcript_path: str = "", users: Collection[int] | None = None
) -> RootSearch:
    """The nearest `.claude/memory` from *start* upwards, and the auto memory: `memory/` beside the transcripts.

    A folder of memories is text for the model, so it must not come from a stranger. It is taken only if it, its
    `.claude`, the folder around them and, for a link, the folder that it leads into belong to *users*: `own_users` by
    default. A path that no file system can hold has no root.
    """
    owners = own_users(environ) if users is None else users
    refused: list[str] = []
    found: list[str] = []

    def take(candidate: str, reason: str = "") -> bool:
        """Whether the search of a kind ends here: with a folder that is taken."""
        reason = reason or _stranger(candidate, owners)
        if reason:
            refused.append(f"{candidate} is not used: {reason}.")
        else:
            found.append(os.path.realpath(candidate))
        return not reason

    try:
        for folder in _upwards(start, environ):
            candidate = os.path.join(folder, PROJECT_FOLDER)
            if os.path.isdir(candidate) and take(candidate):
                break
        _take_auto_memory(start, environ, transcript_path, take)
    except (OSError, ValueError):
        pass
    roots = [*dict.fromkeys(found)]
    return RootSearch(roots[0] if roots else None, tuple(refused), "".join(roots[1:]))


def own_users(environ: Mapping[str, str]) -> Collection[int]:
    """The numbers of the users whose folders are taken. As in git, root also takes those of the user who called sudo.

    Windows has no such numbers: there every folder belongs to user 0.
    """
    own = getattr(os, "geteuid", int)()
    caller = "" if own else environ.get("SUDO_UID", "")
    return {own, int(caller)} if caller.isdecimal() else {own}


def is_in_place(transcript_path: str, environ: Mapping[str, str]) -> bool:
    """Whether a path, after all links are followed, is a transcript in the folder where Claude Code keeps them."""
    place = os.path.realpath(projects_dir(environ)) + os.sep
    real = os.path.realpath(transcript_path)
    return real.startswith(place) and real.endswith(".jsonl")


def state_home(environ: Mapping[str, str]) -> str:
    """The folder of what belongs to no root: the hook's log of prompts without a root, and choices made in the app."""
    return _own_folder(environ, STATE)


def state_dir(root: str, environ: Mapping[str, str]) -> str:
    """The folder of a root's hook log, tuned cutoff and session files."""
    return os.path.join(state_home(environ), root_key(root))


def config_file(environ: Mapping[str, str]) -> str:
    """The user's own settings, for all roots."""
    return os.path.join(_own_folder(environ, CONFIG), "config.toml")


def trust_file(environ: Mapping[str, str]) -> str:
    """The list of the roots that the user trusts."""
    return os.path.join(_own_folder(environ, CONFIG), "trusted.json")


def cutoff_file(folder: str) -> str:
    """The file of a tuned cutoff in a root's state folder."""
    return os.path.join(folder, "cutoff.json")


def cache_dir(environ: Mapping[str, str]) -> str:
    """The folder for derived data, which can be deleted at any time."""
    return _own_folder(environ, CACHE)


def labels_file(environ: Mapping[str, str]) -> str:
    """The label store: MEMSIFT_DB, else labels.db in the user's data folder."""
    return environ.get("MEMSIFT_DB") or os.path.join(_own_folder(environ, DATA), "labels.db")


def ratings_file(environ: Mapping[str, str]) -> str:
    """The newest rating of each memory by a model, of all roots."""
    return os.path.join(_own_folder(environ, DATA), "ratings.db")


def decisions_file(environ: Mapping[str, str]) -> str:
    """The memories that the user accepted or rejected, and dismissed findings, of all roots."""
    return os.path.join(_own_folder(environ, DATA), "decisions.db")


def journal_file(environ: Mapping[str, str]) -> str:
    """The journal of the changes to memories, of all roots."""
    return os.path.join(_own_folder(environ, DATA), "journal.db")


def root_key(root: str) -> str:
    """A folder name for a root: its project's name for people, and 12 hex digits of its path's SHA-256."""
    real = os.path.realpath(root)
    parts = [part for part in real.split(os.sep) if part not in ("", ".claude", "memory")]
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in parts[-1])[:40] if parts else "root"
    return f"{name}-{hex_digest(real)[:12]}"


def transcripts_dir(cwd: str, environ: Mapping[str, str]) -> str:
    """The folder of a project's transcripts. Only the beginning of its path if `project_slug` had to be cut."""
    return os.path.join(projects_dir(environ), project_slug(cwd))


def projects_dir(environ: Mapping[str, str]) -> str:
    """The folder in which Claude Code keeps the transcripts of all projects."""
    return os.path.join(claude_dir(environ), "projects")


def claude_dir(environ: Mapping[str, str]) -> str:
    """The folder of Claude Code's own files: settings, plugins, transcripts."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(_home(environ), ".claude")


def hook_start_file(environ: Mapping[str, str]) -> str:
    """The file that tells the plugin how to start the hook: a line with the interpreter, a line with the launcher."""
    return os.path.join(state_home(environ), "hook-start")


def project_slug(cwd: str) -> str:
    """The name of a project's folder under `projects/`: every character but ASCII letters and digits becomes "-".

    A character outside the basic plane becomes two dashes, because the client counts UTF-16 units. The client cuts a
    name of more than 200 characters and appends "-" and a hash that cannot be known: the result then ends in "-".
    """
    slug = "".join(
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in cwd
    )
    return slug if len(slug) <= _SLUG_CHARACTERS else slug[:_SLUG_CHARACTERS] + "-"


def _take_auto_memory(
    start: str, environ: Mapping[str, str], transcript_path: str, take: Callable[[str, str], bool]
) -> None:
    """Offer the project's auto memory to *take*, with a reason not to take it, or an empty text."""
    place = os.path.dirname(os.path.realpath(transcript_path)) if transcript_path else transcripts_dir(start, environ)
    folder = os.path.join(place, "memory")
    if os.path.isdir(folder):
        is_strange = bool(transcript_path) and not is_in_place(transcript_path, environ)
        take(folder, f"the transcript beside it is not in {projects_dir(environ)}" if is_strange else "")


def _upwards(start: str, environ: Mapping[str, str]) -> Iterator[str]:
    """*start* and the folders above it, as far as git looks for a repository: to its top, within one file system.

    The search also ends before the home folder. Its `.claude` is the client's own, and memories in it would count for
    every project below that is no repository. They are found from the home folder itself.
    """
    home = _status(_home(environ))
    folder = first = os.path.realpath(start)
    device: int | None = None
    while True:
        found = _status(folder)
        is_home = bool(found and home and os.path.samestat(found, home))
        if (is_home and folder != first) or (found and device not in (None, found.st_dev)):
            return
        yield folder
        if is_home or os.path.lexists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
            return
        folder, device = os.path.dirname(folder), found.st_dev if found else device


def _stranger(candidate: str, owners: Collection[int]) -> str:
    """The reason not to take a folder of memories: which folder or link on the way belongs to another user."""
    project = os.path.dirname(candidate)
    around = os.path.dirname(project) if candidate.endswith(PROJECT_FOLDER) else project
    real = os.path.realpath(candidate)
    for path in (around, project, candidate, os.path.dirname(real)):
        for found in (os.lstat(path), os.stat(path)):
            if found.st_uid not in owners:
                return f"{path} belongs to another user (number {found.st_uid})"
    return ""


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _own_folder(environ: Mapping[str, str], kind: str) -> str:
    """The folder of memsift's own files of a kind. A relative XDG folder is ignored, as the specification asks."""
    given = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if os.path.isabs(given):
        return os.path.join(given, "memsift")
    if os.name == "nt":
        return _windows_folder(environ, kind)
    return os.path.join(_home(environ), _PLACES[kind], "memsift")


def _windows_folder(environ: Mapping[str, str], kind: str) -> str:
    """As `_own_folder`, in `AppData`: only settings lie where they follow the user to other machines."""
    variable, place = ("APPDATA", "Roaming") if kind == CONFIG else ("LOCALAPPDATA", "Local")
    base = environ.get(variable) or os.path.join(_home(environ), "AppData", place)
    return os.path.join(base, "memsift", *(() if kind == CONFIG else (kind,)))


def _home(environ: Mapping[str, str]) -> str:
    """The home folder. On Windows, HOME may be that of a Unix shell, and the client does not look at it."""
    given = environ.get("USERPROFILE") if os.name == "nt" else ""
    return given or environ.get("HOME") or os.path.expanduser("~")
