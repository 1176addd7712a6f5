"""The memories in a Markdown file: the whole note, a memory for each section, or one for each bullet.

`store` decides which by the file's name and its lines. LOADED is the table of files that clients load by themselves.
"""

from __future__ import annotations

import os

from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.memory import Section, Skipped
from engine.stores.files import GUIDANCE
from engine.stores.markdown.front_matter import Front, first, pairs
from engine.stores.markdown.text import (
    as_words,
    body_lines,
    bullets,
    first_words,
    grouped,
    heading_text,
    inline_tags,
    note_links,
    sections,
    short,
    trimmed,
)
from engine.stores.registry import NOTES_LIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import MemorySummary
    from engine.stores.markdown.text import BodyLine

INDEX_FILE = NOTES_LIST
"""It holds facts of its own as well."""

LOADED = (
    ("Claude Code", ("CLAUDE.md", "CLAUDE.local.md", ".claude/rules/*.md")),
    ("Codex", ("AGENTS.md", "AGENTS.override.md")),
    ("Gemini CLI", ("GEMINI.md",)),
    ("Qwen Code", ("QWEN.md",)),
    ("Copilot", ("copilot-instructions.md", ".github/instructions/*.md")),
    ("Cursor", ("*.mdc", ".cursorrules")),
    ("Windsurf", (".windsurf/rules/*.md", ".windsurfrules")),
    ("Cline", (".clinerules/*.md", ".clinerules")),
)
"""A client -> the files that it loads into every conversation by itself. Claude Code also loads the beginning of the
INDEX_FILE of a project's auto memory: see LOADED_LINES."""

LOADED_LINES, LOADED_BYTES = 200, 25_000
"""The part of INDEX_FILE that Claude Code loads."""

CONDITIONS = ("globs", "paths", "applyTo")
"""Keys of a rule's front matter that say for which files it is loaded."""

TYPES = ("user", "feedback", "project", "reference")
DEFAULT_TYPE = "project"
"""Categories of auto memory."""

PREFACE = "This file provides guidance to "
"""The beginning of a paragraph that a client writes into a new file of instructions."""

STATUSES = {
    "archived": "archived",
    **dict.fromkeys(("retired", "superseded", "rejected", "deprecated"), "retired"),
}
"""A note's `status` -> the status of its memory. Any other note is active."""

MOST_TAGS = 20
KEY_CHARACTERS = 80

CODEX_SUMMARY, CODEX_RAW = "memory_summary.md", "raw_memories.md"
"""Codex's summary, which begins with the line `v1`, and its list of bullets by task and thread."""

TASK_GROUP, THREAD = "Task Group:", "Thread "
FILES, KEYWORDS = "rollout_summary_files", "keywords"
CATEGORIES = (("preference", "preference"), ("failure", "feedback"))
"""A word in the name of a list of Codex -> the category of its bullets. All others are of `reference`."""


class MarkdownPart(Record):
    """A memory in a Markdown file. `key` is empty for the whole file, else it names the part.

    `line` and `end` are its first and last line, from 1; 0 for the whole file.
    """

    key: str
    line: int
    category: str
    title: str
    tags: tuple[str, ...]
    sections: tuple[Section, ...]
    created_at: str = ""
    updated_at: str = ""
    status: str = "active"
    end: int = 0


class MarkdownText(Record):
    """A Markdown file: its path, which need not exist, all its lines, and the front matter in them."""

    path: str
    lines: list[str]
    front: Front = Front({}, 0)

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def body(self) -> Iterator[BodyLine]:
        """The lines below the front matter."""
        return body_lines(self.lines, self.front.lines)


def client_of(path: str) -> str:
    """The client that loads a file by itself; empty for other files."""
    return next((client for client, files in LOADED if any(_is_named(path, file) for file in files)), "")


def _is_named(path: str, file: str) -> bool:
    folder, star, ending = file.rpartition("*")
    if star:
        return path.endswith(ending) and (not folder or f"/{folder}" in path)
    return os.path.basename(path) == file


def loading(memory: MemorySummary) -> str:
    """Which client loads a memory by itself, in words; empty for a memory that no client may load."""
    client = client_of(memory.file)
    if is_part(memory):
        does, where = ("loads", "in") if memory.is_loaded else ("does not load", "behind")
        cut = f"the first {LOADED_LINES} lines or 25 kB of {INDEX_FILE}"
        return f"Claude Code {does} it by itself: it stands {where} {cut}."
    return f"{client} loads it by itself, so the hook does not repeat it." if memory.is_loaded and client else ""


def is_part(memory: MemorySummary) -> bool:
    """Whether a memory is a fact in MEMORY.md, of which memsift changes only the links."""
    return "#" in memory.id and os.path.basename(memory.file) == INDEX_FILE


def loaded_lines(text: MarkdownText) -> int:
    """The number of lines at the beginning of a file that a client may load by itself."""
    if text.name == INDEX_FILE:
        left = LOADED_BYTES
        for number, line in enumerate(text.lines[:LOADED_LINES]):
            left -= len(line.encode("utf-8", "replace")) + 1
            if left < 0:
                return number
        return min(len(text.lines), LOADED_LINES)
    front = text.front.values
    is_always = first(front, "alwaysApply").lower() == "true"
    is_for_some = text.name.endswith(".mdc") or first(front, *CONDITIONS) not in ("", "**", "**/*")
    return len(text.lines) if client_of(text.path) and (is_always or not is_for_some) else 0


def note(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A whole file as a memory: a plain note, or a note of basic-memory with observations and relations."""
    front, lines = text.front.values, [*text.body]
    if not (any(line.text.strip() for line in lines) or first(front, "title", "description")):
        return
    top = next((line for line in lines if line.text.strip()), None)
    heading = heading_text(top.text) if top and top.level else ""
    written = [tag for line in lines if not (line.level or line.is_code) for tag in inline_tags(line.text)]
    created = first(front, "created", "created_at", "date")
    yield MarkdownPart(
        key="",
        line=0,
        category=first(front, "category", "type").lower() or "note",
        title=short(first(front, "title") or heading or first(front, "description")) or text.stem,
        tags=tuple(dict.fromkeys((*as_words(front.get("tags", ())), *written)))[:MOST_TAGS],
        sections=sections(lines),
        created_at=created,
        updated_at=first(front, "modified", "updated", "updated_at") or created,
        status=STATUSES.get(first(front, "status").lower(), "active"),
    )


def instructions(text: MarkdownText) -> Iterator[MarkdownPart | Skipped]:
    """A memory for each section that has a text of its own. Its title is the headings above it, but not the file's."""
    used: dict[str, int] = {}
    for above, lines in _sections(text.body):
        texts = [line.text for line in lines]
        start = next((number for number, text in enumerate(texts) if text.startswith(PREFACE)), None)
        if start is not None:
            end = next((number for number in range(start, len(texts)) if not texts[number].strip()), len(texts))
            texts = texts[:start] + texts[end:]
        if len(texts) < len(lines):
            yield Skipped(f"{text.name}:{lines[0].number}", GUIDANCE)
        if not any(map(str.strip, texts)):
            continue
        title = short(" > ".join(filter(None, above)) or first(text.front.values, "description") or first_words(texts))
        title = title or text.stem
        # as it stands in an anchor: letters and digits in lower case, with dashes between them
        words = "".join(character if character.isalnum() else " " for character in title.lower()).split()
        key = "-".join(words)[:KEY_CHARACTERS] or "section"
        used[key] = used.get(key, 0) + 1
        yield MarkdownPart(
            key=key if used[key] == 1 else f"{key}-{used[key]}",
            line=max(1, lines[0].number - bool(above)),
            category="instruction",
            title=title,
            tags=(),
            sections=(Section(above[-1] if above else "", trimmed(texts)),),
            end=lines[-1].number,
        )


def facts(text: MarkdownText) -> Iterator[MarkdownPart]:
    """The facts in INDEX_FILE itself: a memory for each bullet and each stretch of text that leads to no note.

    The heading above it is its context.
    """
    for above, lines in _sections(text.body):
        heading = above[-1] if above else ""
        kind = next((kind for kind in TYPES if kind in heading.lower()), DEFAULT_TYPE)
        for block in _blocks(lines):
            if own := _own_lines(block):
                yield bullet_part(own, kind, heading, (), "", f"{heading}: " if heading else "")


def _blocks(lines: list[BodyLine]) -> Iterator[list[BodyLine]]:
    """The bullets with the lines that continue them, and the stretches of other lines between them."""

    def begins(held: list[BodyLine], line: BodyLine) -> bool:
        is_apart = held[0].is_bullet and not held[-1].text.strip() and line.text[:1].strip() != ""
        return line.is_bullet or (is_apart and not line.is_code)

    return grouped(lines, begins)


def _own_lines(block: list[BodyLine]) -> list[BodyLine]:
    """The lines of a block that lead to no note; empty if the block is an entry of the list or says nothing."""
    pairs = [(line, bool(note_links(line.text))) for line in block]
    is_table = any(is_link and line.text.lstrip().startswith("|") for line, is_link in pairs)
    own = [
        line
        for line, is_link in pairs
        if line.text.strip() and not (is_link or line.text.startswith("<!--") or (is_table and "|" in line.text))
    ]
    words = " ".join(line.text for line in own).strip("-*+ `")
    is_entry = pairs[0][1] or words.startswith("[[") or words.split(" ", 1)[0].rstrip(":`*").endswith(".md")
    is_heading = len(own) < len([line for line in block if line.text.strip()]) and words.endswith(":")
    return own if any(map(str.isalnum, words)) and not (is_entry or is_heading) else []


def daily(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A memory for each bullet of a day's file of memsearch. Its time is in the heading above it."""
    clock = ""
    for lines in bullets(body_lines(text.lines, 0)):
        if lines[0].level:
            times = (word for word in lines[0].text.split() if word[2:3] == ":" and len(word) == len("00:00"))
            clock = next((word for word in times if (word[:2] + word[3:]).isdigit()), "")
        elif lines[0].is_bullet:
            moment = f"{text.stem}T{clock}:00" if clock else text.stem
            yield bullet_part(lines, "session_summary", "", (), moment)


def bullet_part(
    lines: list[BodyLine], category: str, heading: str, tags: tuple[str, ...], moment: str, start: str = ""
) -> MarkdownPart:
    """The memory in the lines of a bullet, or of a paragraph. *start* begins its title.

    Its key is a hash of its text, so bullets beside it may come and go.
    """
    texts = [lines[0].text[2:] if lines[0].is_bullet else lines[0].text, *(line.text for line in lines[1:])]
    whole = " ".join(" ".join(texts).split())
    title = short(start + whole)
    body = trimmed(texts) if title != start + whole or len(texts) > 1 else ()
    parts = (Section(heading, body),) if heading or body else ()
    return MarkdownPart(
        key=hex_digest(whole)[:12],
        line=lines[0].number,
        category=category,
        title=title,
        tags=tags,
        sections=parts,
        created_at=moment,
        updated_at=moment,
        end=lines[-1].number,
    )


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


def is_daily(text: MarkdownText) -> bool:
    """Whether it is a file of memsearch: named by a day, with the marks that memsearch writes."""
    parts = text.stem.split("-")
    is_day = [len(part) for part in parts] == [4, 2, 2] and all(part.isdigit() for part in parts)
    return is_day and any(line.startswith("<!-- session:") for line in text.lines)


def codex_summary(text: MarkdownText) -> Iterator[MarkdownPart | Skipped]:
    """A memory for each section of the summary of Codex's memories."""
    return instructions(MarkdownText(text.path, ["", *text.lines[1:]]))


def is_codex(text: MarkdownText) -> bool:
    """Whether it is a list of Codex. Claude Code's auto memory has a file of the same name."""
    is_own = text.name == INDEX_FILE and any(line.startswith(f"# {TASK_GROUP}") for line in text.lines)
    return is_own or text.name == CODEX_RAW


def read_codex(text: MarkdownText) -> Iterator[MarkdownPart]:
    """A memory for each bullet, with its list, the tags of its task, and the time of its thread.

    Keys of a task stand between two lines of `---`, and may be indented. A line such as `Reusable knowledge:` names the
    list below it. Lists of files and of keywords are no memories.
    """
    kind, moment = "", ""
    tags: tuple[str, ...] = ()
    block: list[str] | None = None
    for lines in bullets(body_lines(text.lines, 0)):
        start, words = lines[0], lines[0].text.strip()
        if words == "---":
            if block is not None:
                front = pairs(block)
                tags = as_words((first(front, "task_group"), *front.get("keywords", ())))
            block = [] if block is None else None
        elif block is not None:
            block += [line.text for line in lines]
        elif start.level:
            kind = heading_text(start.text)
            if kind.startswith(TASK_GROUP):
                tags = as_words((kind.removeprefix(TASK_GROUP),))
            elif kind.startswith(THREAD):
                tags, moment = (), ""
        elif kind == KEYWORDS:
            tags = tuple(dict.fromkeys((*tags, *as_words((words.removeprefix("- "),)))))
        elif not start.is_bullet:
            if words.startswith("updated_at:"):
                moment = words.partition(":")[2].strip()
            elif words.endswith(":"):
                kind = words[:-1]
        elif kind != FILES:
            category = next((category for word, category in CATEGORIES if word in kind.lower()), "reference")
            yield bullet_part(lines, category, kind, tags[:MOST_TAGS], moment)
