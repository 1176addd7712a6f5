"""Claude Code's auto memory: a Markdown file with front matter per memory, and a MEMORY.md that lists them.

It lies outside the project, so a memory's path is absolute: the model must be able to open it.
"""

from __future__ import annotations

import os

from engine.lean.json_text import without_lone_surrogates
from engine.memory import Memory, MemorySummary, Section, Skipped, content_digest
from engine.stores.files import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

INDEX_FILE = "MEMORY.md"
TYPES = ("user", "feedback", "project", "reference")
DEFAULT_TYPE = "project"
FENCE = "---"
BLOCK_SCALARS = ("|", "|-", "|+", ">", ">-", ">+")
"""YAML's marks for a text on the following lines. Such a text is not read: the body repeats it."""


def listing(root: str) -> tuple[set[str], list[Skipped]]:
    """The files of *root* that may be memories, relative to it. Nothing is skipped. Raises OSError."""
    names = (name for name in os.listdir(root) if name.endswith(".md") and not name.startswith("."))
    return {name for name in names if name != INDEX_FILE}, []


def places(names: Iterable[str]) -> list[str]:  # noqa: ARG001 - see `engine.stores.registry.Store`
    """The root itself: its time changes when a file comes or goes."""
    return [""]


def read_file(root: str, relative: str) -> Memory:
    """The memory in a file. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    front, body = _split(read_text(root, path).splitlines())
    shown = without_lone_surrogates(relative)
    stem = os.path.splitext(os.path.basename(shown))[0]
    name = front.get("name") or stem
    title = " ".join((front.get("description") or _first_words(body) or name).split())
    category, tags, sections = _type(front, stem), (name,), _sections(body)
    modified = front.get("modified", "")
    summary = MemorySummary(
        id=stem,
        category=category,
        title=title,
        tags=tags,
        path=without_lone_surrogates(path),
        file=path,
        status=_status(front),
        created_at=front.get("created", modified),
        updated_at=modified,
        digest=content_digest(category, title, tags, sections),
    )
    return Memory(summary, sections)


def _split(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Front matter as a flat mapping, and the lines after it. Without a closing fence all lines are the body."""
    if not lines or lines[0].strip() != FENCE:
        return {}, lines
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.strip() == FENCE), 0)
    if not end:
        return {}, lines
    return dict(pair for line in lines[1:end] if (pair := _pair(line))), lines[end + 1 :]


def _pair(line: str) -> tuple[str, str] | None:
    """`key: value` at any indentation. Nesting is ignored: clients write `type` at the top or under `metadata`."""
    key, colon, value = line.strip().partition(":")
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].replace('\\"', '"')
    return (key.strip(), value) if colon and value and value not in BLOCK_SCALARS else None


def _type(front: dict[str, str], stem: str) -> str:
    """The memory's type by its front matter, else by a file name such as `feedback_tests.md`."""
    given = front.get("type", "").lower()
    prefix = stem.replace("-", "_").split("_", 1)[0].lower()
    return next((kind for kind in (given, prefix) if kind in TYPES), DEFAULT_TYPE)


def _status(front: dict[str, str]) -> str:
    """The status that memsift wrote. The client knows none: it loads what MEMORY.md lists."""
    given = front.get("record_status", "").lower()
    return given if given in ("retired", "archived") else "active"


def _first_words(body: list[str]) -> str:
    return next((line.strip().lstrip("#").strip()[:120] for line in body if line.strip()), "")


def _sections(body: list[str]) -> tuple[Section, ...]:
    """A section for each heading of the Markdown body. A `#` inside a code block is no heading."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    in_code = False
    for line in body:
        in_code ^= line.lstrip().startswith("```")
        if not in_code and line.startswith("#") and line.lstrip("#").startswith(" "):
            parts.append((line.lstrip("#").strip(), []))
        else:
            parts[-1][1].append(line)
    sections = (Section(heading, _trimmed(lines)) for heading, lines in parts)
    return tuple(section for section in sections if section.heading or section.lines)


def _trimmed(lines: list[str]) -> tuple[str, ...]:
    return tuple("\n".join(lines).strip("\n").splitlines())
