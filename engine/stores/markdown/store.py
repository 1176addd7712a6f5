"""Folders of Markdown notes, and single Markdown files such as CLAUDE.md.

FORMS says what a file is cut into, by its name and its lines; the functions are in `parts`.
"""

from __future__ import annotations

import os

from engine.lean.json_text import without_lone_surrogates
from engine.memory import Memory, MemorySummary, Skipped, content_digest
from engine.stores.files import DRAWING, EMPTY, README, TEMPLATE, UnreadableFileError, read_text
from engine.stores.markdown import parts
from engine.stores.markdown.front_matter import first, front_matter
from engine.stores.markdown.parts import MarkdownText
from engine.stores.registry import NO_NOTES, NOTES, Listing, name_in
from engine.stores.roots import original_stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from engine.stores.markdown.front_matter import FrontMatter
    from engine.stores.markdown.parts import MarkdownPart

    Parts = Callable[[MarkdownText], Iterator[MarkdownPart | Skipped]]

SUFFIXES = tuple(sign[1:] for sign in NOTES)
MOST_FILES, MOST_FOLDERS, MOST_DEPTH = 50_000, 5_000, 12
LEFT_OUT = ("node_modules", "__pycache__")
"""Folders of packages. Hidden folders are left out as well."""

FORMS: tuple[tuple[Callable[[MarkdownText], bool], Parts], ...] = (
    (lambda text: bool(parts.client_of(text.path)), parts.instructions),
    (parts.is_daily, parts.daily),
    (lambda text: text.name == parts.CODEX_SUMMARY and text.lines[0].strip() == "v1", parts.codex_summary),
    (parts.is_codex, parts.read_codex),
    (lambda text: text.name == parts.INDEX_FILE, parts.facts),
)
"""Which files are cut up, and how. Any other file is a note."""

TEMPLATE_FOLDERS = ("templates", "template", "_templates")
TEMPLATE_MARKS = ("<% tp.", "<%* ", "{{title}}", "{{date}}", "{{date:")
DRAWING_ENDING, DRAWING_KEY = ".excalidraw.md", "excalidraw-plugin"


def listing(root: str) -> Listing:
    """The notes below a folder in the order of their paths, up to the bounds; or the file that *root* is.

    Links to folders are not followed. Raises OSError.
    """
    if not os.path.isdir(root):
        return Listing({root}, (root,))
    os.listdir(root)
    names: set[str] = set()
    places: list[str] = []
    skipped: list[Skipped] = []

    def skip(name: str, reason: str) -> None:
        skipped.append(Skipped(without_lone_surrogates(name) or "the root", reason))

    folders = [""]
    while folders:
        if len(places) == MOST_FOLDERS or len(names) >= MOST_FILES:
            skip("", f"holds more than {MOST_FILES:,} notes or {MOST_FOLDERS:,} folders; the rest is not read")
            break
        folder = folders.pop()
        places.append(folder)
        try:
            with os.scandir(os.path.join(root, folder)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            skip(folder, f"cannot be listed ({error.strerror})")
            continue
        below, notes = [], []
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or entry.name in LEFT_OUT:
                continue
            if entry.name.lower().endswith(SUFFIXES):
                notes.append(name)
            elif not os.path.isdir(entry.path):  # `entry.is_dir` raises where links form a circle
                continue
            elif entry.is_symlink():
                skip(name, "is a link to a folder; name that folder with --root to read it")
            elif name.count("/") >= MOST_DEPTH:
                skip(name, f"lies more than {MOST_DEPTH} folders deep")
            else:
                below.append(name)
        folders += reversed(below)
        about = [name for name in notes if os.path.basename(name).lower() == NO_NOTES and len(notes) > 1]
        for name in about:
            skip(name, README)
        names.update([name for name in notes if name not in about][: MOST_FILES - len(names)])
    else:
        if len(names) == 1 and min(names).lower() == NO_NOTES:
            skip(names.pop(), README)
    return Listing(names, tuple(places), tuple(skipped))


def read(
    root: str, relative: str, _wanted: Collection[str] = (), note: Parts = parts.note
) -> Iterator[Memory | Skipped]:
    """The memories in a file; *note* makes that of a whole file. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    content = read_text(root, path)
    lines = content.splitlines()
    front = front_matter(lines)
    if reason := _no_memory(name_in(root, relative), content, front.values):
        raise UnreadableFileError(reason)
    folder, own = os.path.split(name_in(root, relative))
    stem, ending = os.path.splitext(own)
    # Many notes may have one title, but not in basic-memory, which writes a permalink.
    own_name = first(front.values, "name", "id") or (first(front.values, "permalink") and first(front.values, "title"))
    stem = original_stem(stem, own_name)
    name = without_lone_surrogates(os.path.join(folder, stem))
    text = MarkdownText(os.path.join(os.path.dirname(path), stem + ending), lines, front)
    of_file = next((parts_of for fits, parts_of in FORMS if fits(text)), note)
    most = parts.loaded_lines(text) if of_file is not note else 0
    earlier = _earlier_digest(text, note) if of_file is note else ""
    for part in of_file(text):
        if isinstance(part, Skipped):
            yield part
        else:
            summary = _summary(part, name, path, is_loaded=0 < part.end <= most)
            is_other = earlier != summary.digest
            yield Memory(summary, part.sections, front.is_by_line, earlier if is_other else "")


def _earlier_digest(text: MarkdownText, note: Parts) -> str:
    """The digest that version 1.0.0 gave to a note; empty where its front matter was read alike, or by line now."""
    before = front_matter(text.lines, by_line=True)
    if before == text.front or text.front.is_by_line:
        return ""
    read_before = note(MarkdownText(text.path, text.lines, before))
    return next((_digest(part) for part in read_before if not isinstance(part, Skipped)), "")


def _no_memory(name: str, content: str, front: FrontMatter) -> str:
    """The reason why a file is no memory; empty for a file that may hold some."""
    *folders, own = name.lower().split("/")
    if not content.strip():
        return EMPTY
    if own.endswith(DRAWING_ENDING) or DRAWING_KEY in front:
        return DRAWING
    is_template = any(folder in TEMPLATE_FOLDERS for folder in folders)
    return TEMPLATE if is_template or any(mark in content for mark in TEMPLATE_MARKS) else ""


def _summary(part: MarkdownPart, name: str, path: str, *, is_loaded: bool) -> MemorySummary:
    shown = without_lone_surrogates(path)
    return MemorySummary(
        id=f"{name}#{part.key}" if part.key else name,
        category=part.category,
        title=part.title,
        tags=part.tags,
        path=f"{shown}:{part.line}" if part.line else shown,
        file=path,
        status=part.status,
        created_at=part.created_at,
        updated_at=part.updated_at,
        digest=_digest(part),
        is_loaded=is_loaded,
    )


def _digest(part: MarkdownPart) -> str:
    return content_digest(part.category, part.title, part.tags, part.sections)
