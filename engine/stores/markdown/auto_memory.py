"""Claude Code's auto memory: a Markdown file with front matter per memory, and a MEMORY.md that lists them.

It lies outside the project, so a memory's path is absolute: the model must be able to open it.
"""

from __future__ import annotations

import os

from engine.lean.json_text import without_lone_surrogates
from engine.memory import Memory, Skipped
from engine.stores.files import EMPTY, UnreadableFileError, read_text
from engine.stores.markdown import store
from engine.stores.markdown.front_matter import first
from engine.stores.markdown.parts import (
    DEFAULT_TYPE,
    INDEX_FILE,
    LOADED_BYTES,
    LOADED_LINES,
    TYPES,
    MarkdownPart,
    MarkdownText,
    facts,
)
from engine.stores.markdown.text import first_words, note_links, sections
from engine.stores.registry import Listing
from engine.stores.roots import original_stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.stores.markdown.front_matter import FrontMatter

COPY = f"is a copy of {INDEX_FILE}"
PART = f"is a part of {INDEX_FILE}, of which memsift changes only the links: change it in an editor"
MOST_DEAD_LINKS = 20
"""Dead links that are listed. MEMORY.md can hold thousands."""


def listing(root: str) -> Listing:
    """The Markdown files in *root*, and the problems of MEMORY.md as notices. Raises OSError."""
    found = store.listing(root)
    stem = INDEX_FILE.removesuffix(".md")
    lists = {name for name in found.names if original_stem(name.removesuffix(".md"), stem) == stem} - {INDEX_FILE}
    copies = tuple(Skipped(without_lone_surrogates(name), COPY) for name in sorted(lists))
    holds_facts, notices = _of_index(root)
    names = found.names - lists - (set() if holds_facts else {INDEX_FILE})
    return Listing(names, (*found.places, INDEX_FILE), (*found.skipped, *copies), tuple(notices))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:
    """The memory in a file, and the facts in MEMORY.md. Raises UnreadableFileError."""
    return store.read(root, relative, wanted, note)


def read_file(root: str, relative: str) -> Memory:
    """The memory in a file. Raises UnreadableFileError."""
    if relative == INDEX_FILE:
        raise UnreadableFileError(PART)
    for part in read(root, relative):
        if not isinstance(part, Skipped):
            return part
    raise UnreadableFileError(EMPTY)


def note(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A whole file as a memory: its title is its description, its tag is its name."""
    front = text.front.values
    title = first(front, "description") or first_words(text.lines[text.front.lines :])
    if title:
        stem = without_lone_surrogates(text.stem)
        modified = first(front, "modified")
        status = first(front, "record_status").lower()  # memsift wrote it: the client loads what MEMORY.md lists
        yield MarkdownPart(
            key="",
            line=0,
            category=type_of(front, stem),
            title=" ".join(title.split()),
            tags=(first(front, "name") or stem,),
            sections=sections(text.body),
            created_at=first(front, "created") or modified,
            updated_at=modified,
            status=status if status in ("retired", "archived") else "active",
        )


def type_of(front: FrontMatter, stem: str) -> str:
    """The memory's type by its front matter, else by a file name such as `feedback_tests.md`."""
    given = first(front, "type").lower()
    prefix = stem.replace("-", "_").split("_", 1)[0].lower()
    return next((kind for kind in (given, prefix) if kind in TYPES), DEFAULT_TYPE)


def _of_index(root: str) -> tuple[bool, list[Skipped]]:
    """Whether MEMORY.md holds facts of its own; what of it the client does not load, and links that lead nowhere."""
    try:
        text = read_text(root, os.path.join(root, INDEX_FILE))
    except UnreadableFileError as error:
        exists = os.path.lexists(os.path.join(root, INDEX_FILE))
        return False, [Skipped(INDEX_FILE, str(error))] if exists else []
    notices = [Skipped(INDEX_FILE, said)] if (said := cut(text)) else []
    linked = [(number, link) for number, line in enumerate(text.splitlines(), start=1) for link in note_links(line)]
    dead = [(number, link) for number, link in linked if not os.path.exists(os.path.join(root, link))]
    notices += [
        Skipped(f"{INDEX_FILE}:{number}", f"links to {link[:200]}, which does not exist")
        for number, link in dead[:MOST_DEAD_LINKS]
    ]
    if len(dead) > MOST_DEAD_LINKS:
        notices.append(Skipped(INDEX_FILE, f"has {len(dead) - MOST_DEAD_LINKS:,} more dead links"))
    return any(facts(MarkdownText(INDEX_FILE, text.splitlines()))), notices


def cut(text: str) -> str:
    """How much of a MEMORY.md with this text the client leaves out; empty if it loads all of it."""
    lines, size = text.splitlines(), len(text.encode("utf-8", "replace"))
    if len(lines) <= LOADED_LINES and size <= LOADED_BYTES:
        return ""
    loaded = f"Claude Code loads the first {LOADED_LINES} lines or {LOADED_BYTES // 1000} kB only"
    return f"has {len(lines):,} lines and {size / 1000:,.1f} kB; {loaded}"
