"""Claude Code's auto memory: a Markdown file with front matter per memory, and a MEMORY.md that lists them.

It lies outside the project, so a memory's path is absolute: the model must be able to open it.
"""

from __future__ import annotations

import os

from engine.lean.json_text import without_lone_surrogates
from engine.memory import Memory, MemorySummary, Skipped, content_digest
from engine.stores.doubles import original_stem
from engine.stores.files import UnreadableFileError, read_text
from engine.stores.markdown_text import first, first_words, front_matter, sections
from engine.stores.registry import Listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.stores.markdown_text import FrontMatter

INDEX_FILE = "MEMORY.md"
TYPES = ("user", "feedback", "project", "reference")
DEFAULT_TYPE = "project"
LOADED_LINES, LOADED_BYTES = 200, 25_000
"""The part of MEMORY.md that Claude Code loads at the start of a session."""

COPY = f"is a copy of {INDEX_FILE}"
MOST_DEAD_LINKS = 20
"""Dead links that are listed. MEMORY.md can hold thousands."""


def listing(root: str) -> Listing:
    """The Markdown files in *root* itself, and the problems of MEMORY.md as notices. Raises OSError."""
    found = {name for name in os.listdir(root) if name.endswith(".md") and not name.startswith(".")}
    stem = INDEX_FILE.removesuffix(".md")
    lists = {name for name in found if original_stem(name.removesuffix(".md"), stem) == stem}
    copies = tuple(Skipped(without_lone_surrogates(name), COPY) for name in sorted(lists - {INDEX_FILE}))
    return Listing(found - lists, ("", INDEX_FILE), copies, tuple(_index_notices(root)))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> list[Memory]:  # noqa: ARG001 - see `Store`
    """The memory in a file. Raises UnreadableFileError."""
    return [read_file(root, relative)]


def read_file(root: str, relative: str) -> Memory:
    """The memory in a file. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    lines = read_text(root, path).splitlines()
    front, skip = front_matter(lines)
    body = sections(lines, skip)
    shown = without_lone_surrogates(relative)
    stem = os.path.splitext(os.path.basename(shown))[0]
    name = first(front, "name") or stem
    title = " ".join((first(front, "description") or first_words(lines[skip:]) or name).split())
    category, tags = _type(front, stem), (name,)
    modified = first(front, "modified")
    summary = MemorySummary(
        id=original_stem(stem, first(front, "name")),
        category=category,
        title=title,
        tags=tags,
        path=without_lone_surrogates(path),
        file=path,
        status=_status(front),
        created_at=first(front, "created") or modified,
        updated_at=modified,
        digest=content_digest(category, title, tags, body),
    )
    return Memory(summary, body)


def _type(front: FrontMatter, stem: str) -> str:
    """The memory's type by its front matter, else by a file name such as `feedback_tests.md`."""
    given = first(front, "type").lower()
    prefix = stem.replace("-", "_").split("_", 1)[0].lower()
    return next((kind for kind in (given, prefix) if kind in TYPES), DEFAULT_TYPE)


def _status(front: FrontMatter) -> str:
    """The status that memsift wrote. The client knows none: it loads what MEMORY.md lists."""
    given = first(front, "record_status").lower()
    return given if given in ("retired", "archived") else "active"


def _index_notices(root: str) -> list[Skipped]:
    """What of MEMORY.md the client does not load, and the links in it that lead nowhere."""
    try:
        text = read_text(root, os.path.join(root, INDEX_FILE))
    except UnreadableFileError as error:
        exists = os.path.lexists(os.path.join(root, INDEX_FILE))
        return [Skipped(INDEX_FILE, str(error))] if exists else []
    lines, size = text.splitlines(), len(text.encode("utf-8"))
    notices = []
    if len(lines) > LOADED_LINES or size > LOADED_BYTES:
        loaded = f"Claude Code loads the first {LOADED_LINES} lines or {LOADED_BYTES // 1000} kB only"
        notices.append(Skipped(INDEX_FILE, f"has {len(lines):,} lines and {size / 1000:,.1f} kB; {loaded}"))
    dead = [
        (number, link) for number, line in enumerate(lines, start=1) for link in _links(line) if _is_dead(root, link)
    ]
    listed = (
        Skipped(f"{INDEX_FILE}:{number}", f"links to {link[:200]}, which does not exist") for number, link in dead
    )
    notices += [*listed][:MOST_DEAD_LINKS]
    if len(dead) > MOST_DEAD_LINKS:
        notices.append(Skipped(INDEX_FILE, f"has {len(dead) - MOST_DEAD_LINKS:,} more dead links"))
    return notices


def _links(line: str) -> Iterator[str]:
    """The Markdown files that a line links to, wherever in it: `[text](file.md)`."""
    for part in line.split("](")[1:]:
        target = part.partition(")")[0].strip().removeprefix("<").partition(">")[0].partition("#")[0]
        if target.endswith(".md") and "://" not in target:
            yield target.replace("%20", " ")


def _is_dead(root: str, link: str) -> bool:
    try:
        return not os.path.exists(os.path.join(root, link))
    except ValueError:
        return True
