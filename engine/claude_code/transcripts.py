"""Claude Code's transcripts as files: where they are, how large, their last lines, whether a compaction is in them."""

from __future__ import annotations

import os

from engine.stores.files import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

_BOUNDARY = b'"compact_boundary"'
_BOUNDARIES = (b'"subtype":' + _BOUNDARY, b'"subtype": ' + _BOUNDARY)
_BLOCK_BYTES = 1 << 20
_SLUG_CHARACTERS = 200
_END = 2
"""`os.SEEK_END`."""


def transcripts_dir(cwd: str, environ: Mapping[str, str]) -> str:
    """The folder of a project's transcripts; only a prefix of its name where `project_slug` is one."""
    return os.path.join(projects_dir(environ), project_slug(cwd))


def projects_dir(environ: Mapping[str, str]) -> str:
    """The folder in which Claude Code keeps the transcripts of all projects."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), "projects")


def project_slug(cwd: str) -> str:
    """The name of a project's folder under `projects/`: every character but ASCII letters and digits becomes "-".

    A character outside the basic plane is two for the client, and so two dashes here. Above 200 characters the client
    cuts there and appends "-" and a hash of 6 characters, which cannot be known: the result is then a prefix that
    ends in "-".
    """
    slug = "".join(
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in cwd
    )
    return slug if len(slug) <= _SLUG_CHARACTERS else slug[:_SLUG_CHARACTERS] + "-"


def transcript_size(transcript_path: str) -> int:
    """Bytes of a transcript; 0 for one that is not there."""
    try:
        return os.stat(transcript_path).st_size
    except (OSError, ValueError):
        return 0


def compacted(transcript_path: str, start: int) -> tuple[bool, int]:
    """Whether the conversation was compacted after byte *start* of its file, and the *start* for the next time.

    Scans bytes and parses nothing, at about 0.7 ms per MB. A file that became shorter holds another conversation, and
    counts as compacted; one that is not there, or no regular file, says nothing: (False, *start*).
    """
    try:
        with open_regular(transcript_path) as file:
            size = file.seek(0, _END)
            if size < start:
                return True, size
            file.seek(start)
            return _scan(file, start)
    except (OSError, ValueError):
        return False, start


def tail(path: str, max_bytes: int) -> list[bytes]:
    """The whole lines among the last *max_bytes* bytes of a file, in order."""
    try:
        with open_regular(path) as file:
            size = file.seek(0, _END)
            start = max(0, size - max(0, max_bytes))
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
    except (OSError, ValueError):
        return []
    return lines[1:] if start else lines


def _scan(file: BinaryIO, start: int) -> tuple[bool, int]:
    """Whether a boundary follows, and where the next scan must begin to see one that is half written now."""
    is_found, rest, end = False, b"", start
    while block := file.read(_BLOCK_BYTES):
        data, end = rest + block, end + len(block)
        last = max(_end_of(mark, data) for mark in _BOUNDARIES) if _BOUNDARY in data else 0
        is_found = is_found or last > 0
        rest = data[max(last, len(data) - len(_BOUNDARIES[-1]) + 1) :]
    return is_found, end - len(rest)


def _end_of(mark: bytes, data: bytes) -> int:
    position = data.rfind(mark)
    return position + len(mark) if position >= 0 else 0
