"""Folders of Markdown notes, and single Markdown files such as CLAUDE.md.

`markdown_parts` and `codex` split a file into memories.
"""

from __future__ import annotations

import os

from engine.lean.json_text import without_lone_surrogates
from engine.memory import Memory, MemorySummary, Skipped, content_digest
from engine.stores.doubles import original_stem
from engine.stores.files import read_text
from engine.stores.markdown_parts import INSTRUCTION_FILES, MarkdownText, daily, instructions, is_daily, note
from engine.stores.markdown_text import first, front_matter
from engine.stores.registry import Listing, name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.stores.markdown_parts import MarkdownPart

SUFFIXES = (".md", ".markdown")
MOST_FILES, MOST_FOLDERS, MOST_DEPTH = 50_000, 5_000, 12
LEFT_OUT = ("node_modules", "__pycache__")
"""Folders of packages. Hidden folders are left out as well."""


def listing(root: str) -> Listing:
    """The notes of a folder and of the folders in it, or the file that *root* is. Raises OSError."""
    if not os.path.isdir(root):
        return Listing({root}, (root,))
    os.listdir(root)
    walk = _Walk(root)
    walk.through()
    return Listing(walk.names, tuple(walk.places), tuple(walk.skipped))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> Iterator[Memory]:  # noqa: ARG001 - see `Store`
    """The memories in a file. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    lines = read_text(root, path).splitlines()
    folder, own = os.path.split(name_in(root, relative))
    stem, ending = os.path.splitext(own)
    stem = original_stem(stem, _own_name(lines))
    name = without_lone_surrogates(os.path.join(folder, stem))
    for part in _parts_of(MarkdownText(stem + ending, lines)):
        yield _memory(part, name, path)


def _parts_of(text: MarkdownText) -> Iterator[MarkdownPart]:
    """The memories of a file, in their order in it."""
    if not any(line.strip() for line in text.lines):
        return iter(())
    if text.name in INSTRUCTION_FILES:
        return instructions(text)
    if is_daily(text):
        return daily(text)
    from engine.stores import codex

    return codex.parts(text) if codex.fits(text) else note(text)


def _own_name(lines: list[str]) -> str:
    """The name that a note gives itself. Many notes may have one title, but not in basic-memory: see `permalink`."""
    front, _ = front_matter(lines)
    return first(front, "name", "id") or (first(front, "title") if first(front, "permalink") else "")


def _memory(part: MarkdownPart, name: str, path: str) -> Memory:
    shown = without_lone_surrogates(path)
    summary = MemorySummary(
        id=f"{name}#{part.key}" if part.key else name,
        category=part.category,
        title=part.title,
        tags=part.tags,
        path=f"{shown}:{part.line}" if part.line else shown,
        file=path,
        status=part.status,
        created_at=part.created_at,
        updated_at=part.updated_at,
        digest=content_digest(part.category, part.title, part.tags, part.sections),
    )
    return Memory(summary, part.sections)


class _Walk:
    """The notes below a folder, in the order of their paths, up to the bounds. Links to folders are not followed."""

    def __init__(self, root: str) -> None:
        self.names: set[str] = set()
        self.places: list[str] = []
        self.skipped: list[Skipped] = []
        self._root = root

    def through(self) -> None:
        folders = [""]
        while folders:
            if len(self.places) == MOST_FOLDERS or len(self.names) >= MOST_FILES:
                self._skip(
                    "", f"holds more than {MOST_FILES:,} notes or {MOST_FOLDERS:,} folders; the rest is not read"
                )
                return
            folder = folders.pop()
            self.places.append(folder)
            folders += reversed(self._inside(folder))

    def _inside(self, folder: str) -> list[str]:
        """The folders in *folder*. Its notes are added to `names`."""
        below = []
        try:
            with os.scandir(os.path.join(self._root, folder)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(folder, f"cannot be listed ({error.strerror})")
            return []
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or entry.name in LEFT_OUT:
                continue
            if entry.name.lower().endswith(SUFFIXES) and len(self.names) < MOST_FILES:
                self.names.add(name)
            elif entry.is_dir():
                below += self._below(name, is_link=entry.is_symlink())
        return below

    def _below(self, name: str, *, is_link: bool) -> list[str]:
        if is_link:
            self._skip(name, "is a link to a folder; name that folder with --root to read it")
        elif name.count("/") >= MOST_DEPTH:
            self._skip(name, f"lies more than {MOST_DEPTH} folders deep")
        else:
            return [name]
        return []

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append(Skipped(without_lone_surrogates(name) or "the root", reason))
