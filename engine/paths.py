"""Places of files: memsift's own, and those of Claude Code.

memsift's own files lie where the XDG rules say, on macOS as on Linux. On Windows, the XDG variables count as well;
without them, the files lie in `AppData`.
"""

from __future__ import annotations

import os

from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG, DATA, CACHE, STATE = "config", "data", "cache", "state"
_PLACES = {CONFIG: ".config", DATA: ".local/share", CACHE: ".cache", STATE: ".local/state"}
"""Kind of memsift's own files -> the folder in the home folder, where `XDG_<KIND>_HOME` names no other."""
SESSION_FOLDER = "CLAUDE_PROJECT_DIR"
"""The variable in which Claude Code, and agents that follow it, name the folder where they were started.

`cwd` follows the model's `cd`.
"""

_SLUG_CHARACTERS, _MOST_NAME = 200, 64


def is_in_place(transcript_path: str, environ: Mapping[str, str], folder: str = "") -> bool:
    """Whether a path, after all links are followed, is a transcript in *folder*, or where Claude Code keeps them."""
    place = os.path.realpath(folder or projects_dir(environ)) + os.sep
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


def mute_file(folder: str) -> str:
    """The file in a root's state folder that says for which session, and until when, the hook injects nothing."""
    return os.path.join(folder, "muted.json")


def cache_dir(environ: Mapping[str, str]) -> str:
    """The folder for derived data, which can be deleted at any time."""
    return _own_folder(environ, CACHE)


def labels_file(environ: Mapping[str, str]) -> str:
    """The label store: MEMSIFT_DB, else labels.db in the user's data folder."""
    return environ.get("MEMSIFT_DB") or os.path.join(_own_folder(environ, DATA), "labels.db")


def decisions_file(environ: Mapping[str, str]) -> str:
    """The memories that the user accepted or rejected, dismissed findings, and ratings by a model, of all roots."""
    return os.path.join(_own_folder(environ, DATA), "decisions.db")


def journal_file(environ: Mapping[str, str]) -> str:
    """The journal of the changes to memories, of all roots."""
    return os.path.join(_own_folder(environ, DATA), "journal.db")


def root_key(root: str) -> str:
    """A folder name for a root: its project's name for people, and 12 hex digits of its path's SHA-256."""
    real = os.path.realpath(root)
    parts = [part for part in real.split(os.sep) if part not in ("", ".claude", "memory")]
    name = "".join([c if c.isalnum() or c in "-_." else "-" for c in parts[-1]])[:40] if parts else "root"
    return f"{name}-{hex_digest(real)[:12]}"


def transcripts_dir(cwd: str, environ: Mapping[str, str]) -> str:
    """The folder of a project's transcripts.

    CLAUDE_CODE_PROJECT_DIR_NAME names it, but for the client only where CLAUDE_CONFIG_DIR is set, too.
    """
    name = environ.get("CLAUDE_CODE_PROJECT_DIR_NAME", "") if environ.get("CLAUDE_CONFIG_DIR") else ""
    is_name = len(name) <= _MOST_NAME and name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return os.path.join(projects_dir(environ), name if is_name else project_slug(cwd))


def projects_dir(environ: Mapping[str, str]) -> str:
    """The folder in which Claude Code keeps the transcripts of all projects."""
    return os.path.join(claude_dir(environ), "projects")


def claude_dir(environ: Mapping[str, str]) -> str:
    """The folder of Claude Code's own files: settings, plugins, transcripts."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home_dir(environ), ".claude")


def hook_start_file(environ: Mapping[str, str]) -> str:
    """The file that tells the plugin how to start the hook: a line with the interpreter, a line with the launcher."""
    return os.path.join(state_home(environ), "hook-start")


def project_slug(cwd: str) -> str:
    """The name of a project's folder under `projects/`: every character but ASCII letters and digits becomes "-".

    A character outside the basic plane becomes two dashes, because the client counts UTF-16 units. The client cuts a
    name of more than 200 characters, and appends "-" and a hash of the path.
    """
    slug = "".join(
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in cwd
    )
    return slug if len(slug) <= _SLUG_CHARACTERS else f"{slug[:_SLUG_CHARACTERS]}-{_path_hash(cwd)}"


def project_of(root: str) -> str:
    """The folder of the repository around *root*; else the folder that holds its `.claude`; empty for none."""
    folder = os.path.realpath(root)
    while os.path.dirname(folder) != folder:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    around, _, inside = os.path.realpath(root).rpartition(f"{os.sep}.claude{os.sep}")
    return around if inside == "memory" else ""


def home_dir(environ: Mapping[str, str]) -> str:
    """The home folder. On Windows, HOME may be that of a Unix shell, and the client does not look at it.

    A relative one is ignored: memsift would write into the project.
    """
    given = environ.get("USERPROFILE", "") if os.name == "nt" else ""
    given = given or environ.get("HOME", "")
    if os.path.isabs(given):
        return given
    if os.name == "nt":
        return os.path.expanduser("~")
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def _path_hash(path: str) -> str:
    """The client's hash of a path: 31 x hash + unit over UTF-16 units, in 32 bits; its absolute value in base 36."""
    raw, number, digits = path.encode("utf-16-le", "surrogatepass"), 0, ""
    for low, high in zip(raw[::2], raw[1::2], strict=True):
        number = (number * 31 + low + (high << 8)) & 0xFFFFFFFF
    number = min(number, (1 << 32) - number)
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


def _own_folder(environ: Mapping[str, str], kind: str) -> str:
    """The folder of memsift's own files of a kind. A relative XDG folder is ignored, as the specification asks.

    On Windows only settings lie where they follow the user to other machines.
    """
    given = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if os.path.isabs(given):
        return os.path.join(given, "memsift")
    if os.name != "nt":
        return os.path.join(home_dir(environ), _PLACES[kind], "memsift")
    variable, place = ("APPDATA", "Roaming") if kind == CONFIG else ("LOCALAPPDATA", "Local")
    base = environ.get(variable) or os.path.join(home_dir(environ), "AppData", place)
    return os.path.join(base, "memsift", *(() if kind == CONFIG else (kind,)))
