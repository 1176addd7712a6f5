"""The parts of a Markdown text that the stores read: headings, bullets and tags. Nothing here is a file."""

from __future__ import annotations

from engine.lean.record import Record
from engine.memory import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FENCES = ("```", "~~~")
MOST_HEADING_LEVELS = 6
BULLETS, EMPTY_BULLETS = ("- ", "* ", "+ "), ("-", "*", "+")
NO_TAGS = ("[ ]", "[x]", "[X]")
"""Beginnings of a bullet that are a check box, not a category."""

TITLE_CHARACTERS = 120


class BodyLine(Record):
    """A line of a body. `level` is 1 to 6 for a heading, else 0. `number` counts from 1 in the file."""

    number: int
    level: int
    text: str
    is_code: bool

    @property
    def is_bullet(self) -> bool:
        """Whether it begins a bullet that is not nested in another."""
        return self.text.startswith(BULLETS) and not self.is_code


def as_words(values: tuple[str, ...]) -> tuple[str, ...]:
    """Tags as the front matter has them, `a, b` and `#a` included. Each occurs once."""
    words = (" ".join(word.strip().lstrip("#").split()) for value in values for word in value.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def body_lines(lines: list[str], skip: int) -> Iterator[BodyLine]:
    """The lines after the first *skip*. A `#` inside a code block is no heading."""
    fence = ""
    for number, line in enumerate(lines[skip:], start=skip + 1):
        mark = line.lstrip()[:3]
        is_fence = mark in FENCES and fence in ("", mark)
        if is_fence:
            fence = "" if fence else mark
        is_code = bool(fence) or is_fence
        yield BodyLine(number, 0 if is_code else heading_level(line), line, is_code)


def heading_level(line: str) -> int:
    """1 to 6 for `# Heading`, else 0."""
    text = line.lstrip("#")
    level = len(line) - len(text)
    return level if 0 < level <= MOST_HEADING_LEVELS and text.startswith((" ", "\t")) else 0


def heading_text(line: str) -> str:
    return line.strip().strip("#").strip()


def sections(lines: Iterable[BodyLine]) -> tuple[Section, ...]:
    """A section for each heading of the lines of a body."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if line.level:
            parts.append((line.text.lstrip("#").strip(), []))
        else:
            parts[-1][1].append(line.text)
    found = (Section(heading, trimmed(texts)) for heading, texts in parts)
    return tuple(section for section in found if section.heading or section.lines)


def trimmed(lines: list[str]) -> tuple[str, ...]:
    """*lines* without blank lines at both ends."""
    return tuple("\n".join(lines).strip("\n").splitlines())


def first_words(lines: list[str]) -> str:
    """The beginning of the first line that holds text."""
    return next((text[:TITLE_CHARACTERS] for line in lines if (text := line.strip().lstrip("#").strip())), "")


def short(text: str) -> str:
    """*text* on one line, cut behind a word if it is too long for a title."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    end = line.rfind(" ", TITLE_CHARACTERS // 2, TITLE_CHARACTERS)
    return line[: end if end > 0 else TITLE_CHARACTERS - 1].rstrip() + "…"


def bullets(lines: Iterator[BodyLine]) -> Iterator[list[BodyLine]]:
    """Each bullet with the lines that continue it, and each other line by itself.

    An indented line continues the bullet above it, also behind blank lines. Blank lines and empty bullets are left out.
    """
    said = (line for line in lines if line.text.strip() not in ("", *EMPTY_BULLETS))
    return grouped(said, lambda held, line: not held[0].is_bullet or bool(line.level) or line.text[0] not in " \t")


def grouped(lines: Iterable[BodyLine], begins: Callable[[list[BodyLine], BodyLine], bool]) -> Iterator[list[BodyLine]]:
    """*lines* in groups. *begins*: whether a line begins a new group behind the lines of the group before it."""
    held: list[BodyLine] = []
    for line in lines:
        if held and begins(held, line):
            yield held
            held = []
        held.append(line)
    if held:
        yield held


def note_links(line: str) -> list[str]:
    """The notes that a line links to, wherever in it: `[text](file.md)`."""
    found = []
    for part in line.split("](")[1:]:
        target = part.partition(")")[0].strip().removeprefix("<").partition(">")[0].partition("#")[0]
        if target.endswith(".md") and "://" not in target:
            found.append(target.replace("%20", " "))
    return found


def inline_tags(line: str) -> list[str]:
    """The `#tags` in a line, and the category of an observation: `- [category] text #tag`. No check box, no link."""
    words = line.split() if "#" in line else ()
    found = [word[1:].rstrip(".,;:!?)") for word in words if word[:1] == "#" and word[1:2].isalpha()]
    text = line[2:].lstrip() if line.startswith(BULLETS) else ""
    category, closing, rest = text[1:].partition("]")
    if text.startswith("[") and closing and rest.startswith(" ") and not text.startswith((*NO_TAGS, "[[")):
        return [category.strip(), *found]
    return found
