"""Folders that were moved: what belongs to the old path of a root is taken over by the new path.

The tuned cutoff, the operations in the journal, and phrases in the state folder belong to a path. The first commit of a
root's repository says which path a root had before. It is noted beside the cutoff, never by the hook.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from shlex import quote
from typing import TYPE_CHECKING

from engine.curation.journal import Journal
from engine.errors import JournalError, RootError
from engine.lean.json_text import dumps, loads
from engine.paths import cutoff_file, journal_file, project_of, state_dir, state_home
from engine.phrases.file import phrases_files, read_phrases
from engine.phrases.writing import change_phrases
from engine.quality.repository import git
from engine.stores.files import UnreadableFileError, text_of, write_whole
from engine.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTE = "root.json"


def note_first_commit(root: str, environ: Mapping[str, str]) -> None:
    """Note the path and the first commit of *root* in its state folder, once. Without a repository nothing is noted."""
    root = os.path.realpath(root)
    path = os.path.join(state_dir(root, environ), NOTE)
    if not os.path.exists(path) and (begun := _find_beginning(root)):
        with suppress(OSError):
            write_whole(path, dumps({"root": root, "begun": begun}).encode())


def describe_moves(root: str, environ: Mapping[str, str]) -> list[str]:
    """A sentence for each path that is gone and had the same first commit, with something that *root* may adopt."""
    gone = {old: begun for old, begun in _read_notes(environ) if not os.path.lexists(old)}
    begun = _find_beginning(os.path.realpath(root)) if gone else ""
    with suppress(JournalError):  # the next change says what is wrong with the journal
        return [
            f"{old} is gone and began with the same commit: memsift adopt {quote(old)} brings its {holdings} here"
            for old in gone
            if gone[old] == begun and (holdings := _describe_holdings(old, environ))
        ]
    return []


def adopt(old: str, root: str, environ: Mapping[str, str]) -> str:
    """Let *root* have the tuned cutoff of the path *old*, and let the journal's operations there be operations here.

    Phrases in the state folder come, too. A sentence on what came. Raises RootError, also if there is still
    something at *old*, JournalError and CurationError.
    """
    old, root = os.path.realpath(old), os.path.realpath(root)
    if os.path.lexists(old):
        raise RootError(f"{old} is still there, so its cutoff and its changes stay with it. Nothing was changed.")
    if not (holdings := _describe_holdings(old, environ)):
        raise RootError(f"memsift knows no cutoff and no change of {old}. Nothing was changed.")
    source, target = (cutoff_file(state_dir(path, environ)) for path in (old, root))
    if os.path.exists(source) and os.path.exists(target):
        raise RootError(f"{root} has a tuned cutoff already: memsift tune --undo removes it. Nothing was changed.")
    with closing(Journal(journal_file(environ))) as journal:
        journal.rename_root(old, root)
    if os.path.exists(source):
        try:
            write_whole(target, text_of(source).encode())
            os.unlink(source)
        except (OSError, UnreadableFileError) as error:
            raise RootError(f"The changes came, but not the cutoff {source} ({error}).") from None
    if rows := [*read_phrases(old, environ).rows.values()]:
        change_phrases(root, environ, lambda _: [row for own in rows for row in own])
        os.unlink(phrases_files(old, environ)[0])
    return holdings


def _find_beginning(root: str) -> str:
    """The first commits of the repository around *root*, and the place of *root* in it; empty without any."""
    project = project_of(root)
    commits = git(project, "rev-list", "--max-parents=0", "HEAD").split() if project else []
    return " ".join((*sorted(commits), os.path.relpath(root, project))) if commits else ""


def _read_notes(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The path and the beginning of each root that was noted."""
    found = []
    with suppress(OSError):
        for folder in sorted(os.listdir(state_home(environ))):
            with suppress(UnreadableFileError, ValueError, LookupError, TypeError):
                row = loads(text_of(os.path.join(state_home(environ), folder, NOTE)))
                found.append((str(row["root"]), str(row["begun"])))
    return found


def _describe_holdings(old: str, environ: Mapping[str, str]) -> str:
    """What belongs to a path, in words; empty for nothing."""
    count = 0
    if os.path.exists(journal_file(environ)):
        with closing(Journal(journal_file(environ))) as journal:
            count = len(journal.deeds(root=old))
    cutoff = "tuned cutoff" if os.path.exists(cutoff_file(state_dir(old, environ))) else ""
    phrases = sum(map(len, read_phrases(old, environ).rows.values()))
    parts = (cutoff, counted(count, "change") if count else "", counted(phrases, "phrase") if phrases else "")
    return listed([part for part in parts if part])
