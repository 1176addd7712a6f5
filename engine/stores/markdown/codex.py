"""The memories that Codex writes: a summary by sections, and lists of bullets by task and thread."""

from __future__ import annotations

from engine.stores.markdown.front_matter import first, pairs
from engine.stores.markdown.parts import INDEX_FILE, MOST_TAGS, MarkdownPart, MarkdownText, bullet_part, instructions
from engine.stores.markdown.text import as_words, body_lines, bullets, heading_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Skipped

SUMMARY, RAW = "memory_summary.md", "raw_memories.md"
VERSION = "v1"
GROUP = "Task Group:"
THREAD = "Thread "

CATEGORIES = (("preference", "preference"), ("failure", "feedback"))
"""A word in the name of a list -> the category of its bullets. All others are of REFERENCE."""

REFERENCE = "reference"
FILES, KEYWORDS = "rollout_summary_files", "keywords"


def is_codex_summary(text: MarkdownText) -> bool:
    """Whether it is the summary of Codex's memories."""
    return text.name == SUMMARY and text.lines[0].strip() == VERSION


def codex_summary(text: MarkdownText) -> Iterator[MarkdownPart | Skipped]:
    """A memory for each section of the summary."""
    return instructions(MarkdownText(text.path, ["", *text.lines[1:]]))


def is_codex(text: MarkdownText) -> bool:
    """Whether it is a list of Codex. Claude Code's auto memory has a file of the same name."""
    return text.name == RAW or (text.name == INDEX_FILE and any(line.startswith(f"# {GROUP}") for line in text.lines))


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
            if kind.startswith(GROUP):
                tags = as_words((kind.removeprefix(GROUP),))
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
            category = next((category for word, category in CATEGORIES if word in kind.lower()), REFERENCE)
            yield bullet_part(lines, category, kind, tags[:MOST_TAGS], moment)
