"""The memories in a Markdown file: the whole note, a memory for each section, or one for each bullet.

`engine.stores.markdown` decides which by the file's name and its lines.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.memory import Section
from engine.stores.markdown_text import (
    as_words,
    body_lines,
    bullets,
    first,
    first_words,
    front_matter,
    heading_text,
    inline_tags,
    sections,
    short,
    trimmed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.stores.markdown_text import BodyLine

INSTRUCTION_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")

STATUSES = {
    "archived": "archived",
    **dict.fromkeys(("retired", "superseded", "rejected", "deprecated"), "retired"),
}
"""A note's `status` -> the status of its memory. Any other note is active."""

MOST_TAGS = 20
KEY_CHARACTERS = 80


class MarkdownPart(Record):
    """A memory in a Markdown file. `key` is empty for the whole file, else it names the part. `line` counts from 1."""

    key: str
    line: int
    category: str
    title: str
    tags: tuple[str, ...]
    sections: tuple[Section, ...]
    created_at: str = ""
    updated_at: str = ""
    status: str = "active"


class MarkdownText(Record):
    """A Markdown file: its name without folders, and its lines."""

    name: str
    lines: list[str]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name


def note(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A whole file as a memory: a plain note, or a note of basic-memory with observations and relations."""
    front, skip = front_matter(text.lines)
    lines = [*body_lines(text.lines, skip)]
    written = [tag for line in lines if not (line.level or line.is_code) for tag in inline_tags(line.text)]
    created = first(front, "created", "created_at", "date")
    yield MarkdownPart(
        key="",
        line=0,
        category=first(front, "category", "type").lower() or "note",
        title=short(first(front, "title") or _heading_at_top(lines) or first(front, "description")) or text.stem,
        tags=tuple(dict.fromkeys((*as_words(front.get("tags", ())), *written)))[:MOST_TAGS],
        sections=sections(text.lines, skip),
        created_at=created,
        updated_at=first(front, "modified", "updated", "updated_at") or created,
        status=STATUSES.get(first(front, "status").lower(), "active"),
    )


def instructions(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A memory for each section that has a text of its own. Its title is the headings above it, but not the file's."""
    _, skip = front_matter(text.lines)
    used: dict[str, int] = {}
    for above, lines in _sections(body_lines(text.lines, skip)):
        texts = [line.text for line in lines]
        if not any(map(str.strip, texts)):
            continue
        title = short(" > ".join(filter(None, above))) or short(first_words(texts)) or text.stem
        key = _slug(title)
        used[key] = used.get(key, 0) + 1
        yield MarkdownPart(
            key=key if used[key] == 1 else f"{key}-{used[key]}",
            line=max(1, lines[0].number - bool(above)),
            category="instruction",
            title=title,
            tags=(),
            sections=(Section(above[-1] if above else "", trimmed(texts)),),
        )


def daily(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A memory for each bullet of a day's file of memsearch. Its time is in the heading above it."""
    clock = ""
    for lines in bullets(body_lines(text.lines, 0)):
        if lines[0].level:
            clock = next((word for word in lines[0].text.split() if _is_clock(word)), "")
        elif lines[0].is_bullet:
            moment = f"{text.stem}T{clock}:00" if clock else text.stem
            yield bullet_part(lines, "session_summary", "", (), moment)


def bullet_part(lines: list[BodyLine], category: str, heading: str, tags: tuple[str, ...], moment: str) -> MarkdownPart:
    """The memory in the lines of a bullet. Its key is a hash of its text, so bullets beside it may come and go."""
    texts = [lines[0].text[2:], *(line.text for line in lines[1:])]
    whole = " ".join(" ".join(texts).split())
    title = short(whole)
    body = trimmed(texts) if title != whole or len(texts) > 1 else ()
    parts = (Section(heading, body),) if heading or body else ()
    return MarkdownPart(hex_digest(whole)[:12], lines[0].number, category, title, tags, parts, moment, moment)


def _sections(lines: Iterator[BodyLine]) -> Iterator[tuple[list[str], list[BodyLine]]]:
    """The headings above each stretch of text, and its lines. The first heading of level 1 is the file's."""
    above: dict[int, str] = {}
    stretch: list[BodyLine] = []
    has_title = False
    for line in lines:
        if not line.level:
            stretch.append(line)
            continue
        if stretch:
            yield [*above.values()], stretch
        above = {level: name for level, name in above.items() if level < line.level}
        if line.level > 1 or has_title:
            above[line.level] = heading_text(line.text)
        has_title = True
        stretch = []
    if stretch:
        yield [*above.values()], stretch


def _heading_at_top(lines: list[BodyLine]) -> str:
    """The heading that a note begins with, else an empty text."""
    start = next((line for line in lines if line.text.strip()), None)
    return heading_text(start.text) if start and start.level else ""


def _slug(title: str) -> str:
    """*title* as it stands in an anchor: letters and digits in lower case, with dashes between them."""
    words = "".join(character if character.isalnum() else " " for character in title.lower()).split()
    return "-".join(words)[:KEY_CHARACTERS] or "section"


def is_daily(text: MarkdownText) -> bool:
    """Whether it is a file of memsearch: named by a day, with the marks that memsearch writes."""
    parts = text.stem.split("-")
    is_day = [len(part) for part in parts] == [4, 2, 2] and all(part.isdigit() for part in parts)
    return is_day and any(line.startswith("<!-- session:") for line in text.lines)


def _is_clock(word: str) -> bool:
    hour, colon, minute = word.partition(":")
    return bool(colon) and len(hour) == len(minute) == 2 and (hour + minute).isdigit()
