"""Where memsift keeps what is not a memory: derived data, state and labels, by the XDG rules."""

from __future__ import annotations

import os

from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def state_dir(root: str, environ: Mapping[str, str]) -> str:
    """The folder for the hook's log and what each session was given."""
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), "memsift", root_key(root))


def theme_file(environ: Mapping[str, str]) -> str:
    """The name of the theme that was chosen in the app, which is one for all roots."""
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), "memsift", "theme")


def cutoff_file(folder: str) -> str:
    """The model of a cutoff that was tuned for a root, in its state folder."""
    return os.path.join(folder, "cutoff.json")


def cache_dir(environ: Mapping[str, str]) -> str:
    """The folder for what can be made anew."""
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


def _base(environ: Mapping[str, str], variable: str, default: str) -> str:
    """An XDG folder; a relative value is ignored, as the specification asks."""
    given = environ.get(variable, "")
    return given if os.path.isabs(given) else os.path.join(environ.get("HOME") or os.path.expanduser("~"), default)
