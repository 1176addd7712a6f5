"""The claude-memory format: a JSON file per memory in six folders, and an index.md beside them."""

from __future__ import annotations

import os

from engine.lean.json_text import clean_text, loads, without_lone_surrogates
from engine.memory import Memory, MemorySummary, Section, Skipped, content_digest
from engine.stores.files import LargeFileError, UnreadableFileError, is_inside, read_text
from engine.stores.registry import Listing
from engine.stores.roots import original_stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

FOLDERS = {
    "sessions": "session_summary",
    "decisions": "decision",
    "runbooks": "runbook",
    "constraints": "constraint",
    "tech-debt": "tech_debt",
    "preferences": "preference",
}
INDEX_FILE = "index.md"
PROJECT_PREFIX = ".claude/memory/"
MAX_DEPTH = 6


def listing(root: str) -> Listing:
    """The JSON files in the category folders and those that index.md names."""
    skipped: list[Skipped] = []
    in_folders = _folder_files(root, skipped)
    names = {*in_folders, *_indexed_files(root, in_folders, skipped)}
    places = sorted({INDEX_FILE, *FOLDERS, *(name.rpartition("/")[0] for name in names)})
    return Listing(names, tuple(places), tuple(skipped))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> list[Memory]:  # noqa: ARG001 - see `Store`
    """The memory in a file. Raises UnreadableFileError."""
    return [read_file(root, relative)]


def read_file(root: str, relative: str) -> Memory:
    """The memory in a file. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    try:
        content = loads(read_text(root, path))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise UnreadableFileError(f"is not valid JSON ({reason})") from None
    if not isinstance(content, dict):
        raise UnreadableFileError("holds no JSON object")
    return _memory(content, relative, path)


def _memory(content: dict[str, Any], relative: str, path: str) -> Memory:
    shown = without_lone_surrogates(relative)
    stem = os.path.splitext(os.path.basename(shown))[0]
    folder = shown.split("/", 1)[0]
    category = clean_text(content.get("category")).lower() or FOLDERS.get(folder, folder)
    title = " ".join(clean_text(content.get("title")).split()) or stem
    tags = _tags(content.get("tags"))
    sections = sections_of(content.get("content"))
    summary = MemorySummary(
        id=clean_text(content.get("id")) or original_stem(stem),
        category=category,
        title=title,
        tags=tags,
        path=PROJECT_PREFIX + shown,
        file=path,
        status=clean_text(content.get("record_status")).lower() or "active",
        created_at=clean_text(content.get("created_at")),
        updated_at=clean_text(content.get("updated_at")),
        digest=content_digest(category, title, tags, sections),
    )
    return Memory(summary, sections)


def sections_of(content: object) -> tuple[Section, ...]:
    """A section for each field of `content`; a text is a single section without a heading."""
    if not isinstance(content, dict):
        lines = tuple(_lines(content, 0))
        return (Section("", lines),) if lines else ()
    pairs = ((_heading(name), tuple(_lines(value, 0))) for name, value in content.items())
    return tuple(Section(heading, lines) for heading, lines in pairs if lines)


def _lines(value: object, depth: int) -> list[str]:
    if value is None or depth > MAX_DEPTH:
        return []
    if isinstance(value, list):
        return [line for item in value for line in _item_lines(item, depth)]
    if isinstance(value, dict):
        return [f"{_heading(key)}: {text}" for key, text in _flat_items(value, depth)]
    return without_lone_surrogates(str(value)).splitlines()


def _item_lines(item: object, depth: int) -> list[str]:
    if isinstance(item, dict):
        text = " — ".join(text for _, text in _flat_items(item, depth))
        return [f"- {text}"] if text else []
    first, *rest = _lines(item, depth + 1) or [""]
    return [f"- {first}", *(f"  {line}" for line in rest)] if first else []


def _flat_items(value: dict[str, Any], depth: int) -> list[tuple[str, str]]:
    """The lines of each value joined to one; a semicolon stands between the items of a list."""
    found = []
    for key, inner in value.items():
        lines = _lines(inner, depth + 1)
        is_list = all(line.startswith(("- ", "  ")) for line in lines)
        text = "; ".join(line.removeprefix("- ").strip() for line in lines) if is_list else " ".join(lines)
        found += [(str(key), text)] if text else []
    return found


def _heading(name: str) -> str:
    return " ".join(without_lone_surrogates(name).replace("_", " ").split()).capitalize()


def _tags(value: object) -> tuple[str, ...]:
    texts = (" ".join(clean_text(tag).split()) for tag in value) if isinstance(value, list) else ()
    return tuple(dict.fromkeys(text for text in texts if text))


def _folder_files(root: str, skipped: list[Skipped]) -> dict[str, bool]:
    """JSON file in one of the six folders, relative to the root -> whether it is a link."""
    found: dict[str, bool] = {}
    for folder in FOLDERS:
        path = os.path.join(root, folder)
        if not os.path.lexists(path):
            continue
        if not is_inside(root, path):
            skipped.append(Skipped(folder, "points outside the root"))
            continue
        try:
            with os.scandir(path) as entries:
                files = [entry for entry in entries if entry.name.endswith(".json") and entry.name[0] != "."]
                found |= {f"{folder}/{entry.name}": entry.is_symlink() for entry in files}
        except OSError as error:
            skipped.append(Skipped(folder, f"cannot be listed ({error.strerror})"))
    return found


def _indexed_files(root: str, in_folders: dict[str, bool], skipped: list[Skipped]) -> list[str]:
    """The files that index.md names beside *in_folders*, relative to the root. Other lines are skipped."""
    try:
        text = read_text(root, os.path.join(root, INDEX_FILE))
    except LargeFileError:  # it lists very many memories, which are in their folders; the check `drift` says it
        return []
    except UnreadableFileError as error:
        if os.path.lexists(os.path.join(root, INDEX_FILE)):
            skipped.append(Skipped(INDEX_FILE, str(error)))
        return []
    found: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        target = index_target(line)
        if not target or in_folders.get(target.removeprefix(PROJECT_PREFIX)) is False:
            continue
        path = os.path.join(root, target.removeprefix(PROJECT_PREFIX))
        relative = os.path.relpath(path, root).replace(os.sep, "/")
        if not is_inside(root, path):
            skipped.append(Skipped(f"{INDEX_FILE}:{number}", f"points outside the root: {target[:200]}"))
        elif "/" not in relative:
            skipped.append(Skipped(f"{INDEX_FILE}:{number}", f"names no file in a category folder: {target[:200]}"))
        else:
            found.append(relative)
    return found


def index_target(line: str) -> str:
    """The path in an index line `- [CATEGORY] title -> path #tags:a,b`; empty for any other line."""
    if not line.startswith("- [") or " -> " not in line:
        return ""
    return line.rsplit(" -> ", 1)[1].split(" #tags:", 1)[0].strip()
