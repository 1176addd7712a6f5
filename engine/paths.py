"""Places of files: a project's memories, memsift's own files by the XDG rules, and Claude Code's transcripts."""

from __future__ import annotations

import os

from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_FOLDER = os.path.join(".claude", "memory")
_SLUG_CHARACTERS = 200


def find_root(start: str, environ: Mapping[str, str], transcript_path: str = "") -> str | None:
    """The nearest `.claude/memory` upwards from *start*, else `memory/` beside the project's transcripts, else None."""
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(folder, PROJECT_FOLDER)
        if os.path.isdir(candidate):
            return os.path.realpath(candidate)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    beside = os.path.dirname(transcript_path) if transcript_path else transcripts_dir(start, environ)
    candidate = os.path.join(beside, "memory")
    return os.path.realpath(candidate) if os.path.isdir(candidate) else None


def state_dir(root: str, environ: Mapping[str, str]) -> str:
    """The folder of a root's hook log, tuned cutoff and session files."""
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), "memsift", root_key(root))


def theme_file(environ: Mapping[str, str]) -> str:
    """The file with the name of the theme that was chosen in the app, for all roots."""
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), "memsift", "theme")


def cutoff_file(folder: str) -> str:
    """The file of a tuned cutoff in a root's state folder."""
    return os.path.join(folder, "cutoff.json")


def cache_dir(environ: Mapping[str, str]) -> str:
    """The folder for derived data, which can be deleted at any time."""
    return os.path.join(_base(environ, "XDG_CACHE_HOME", ".cache"), "memsift")


def labels_file(environ: Mapping[str, str]) -> str:
    """The label store: MEMSIFT_DB, else labels.db in the user's data folder."""
    return environ.get("MEMSIFT_DB") or os.path.join(
        _base(environ, "XDG_DATA_HOME", ".local/share"), "memsift", "labels.db"
    )


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
    return os.path.join(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(_home(environ), ".claude"), "projects")


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


def _base(environ: Mapping[str, str], variable: str, default: str) -> str:
    """An XDG folder; a relative value is ignored, as the specification asks."""
    given = environ.get(variable, "")
    return given if os.path.isabs(given) else os.path.join(_home(environ), default)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")
