"""The memories that Codex writes: a summary by sections, and lists of bullets by task and thread."""

from __future__ import annotations

from engine.stores.markdown.front_matter import first, pairs
from engine.stores.markdown.parts import INDEX_FILE, MOST_TAGS, MarkdownPart, MarkdownText, bullet_part, instructions
from engine.stores.markdown.text import as_words, body_lines, bullets, heading_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Skipped
    from engine.stores.markdown.text import BodyLine

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


class CodexReader:
    """What stands above the next bullet: its list, the tags of its task, and the time of its thread."""

    def __init__(self) -> None:
        self._list = ""
        self._tags: tuple[str, ...] = ()
        self._moment = ""
        self._block: list[str] | None = None

    def read(self, text: MarkdownText) -> Iterator[MarkdownPart]:
        """A memory for each bullet. Keys may be indented, and lists of files and of keywords are no memories."""
        for lines in bullets(body_lines(text.lines, 0)):
            start = lines[0]
            if start.text.strip() == "---":
                self._fence()
            elif self._block is not None:
                self._block += [line.text for line in lines]
            elif start.level:
                self._heading(start)
            elif self._list == KEYWORDS:
                self._add_tags(as_words((start.text.strip().removeprefix("- "),)))
            elif not start.is_bullet:
                self._label(start.text.strip())
            elif self._list != FILES:
                name = self._list.lower()
                category = next((category for word, category in CATEGORIES if word in name), REFERENCE)
                yield bullet_part(lines, category, self._list, self._tags[:MOST_TAGS], self._moment)

    def _fence(self) -> None:
        """A `---` begins the keys of a task, the next one ends them."""
        if self._block is None:
            self._block = []
            return
        front = pairs(self._block)
        self._tags, self._block = (), None
        self._add_tags(as_words((first(front, "task_group"), *front.get("keywords", ()))))

    def _heading(self, line: BodyLine) -> None:
        name = heading_text(line.text)
        if name.startswith(GROUP):
            self._tags = ()
            self._add_tags(as_words((name.removeprefix(GROUP),)))
        elif name.startswith(THREAD):
            self._tags, self._moment = (), ""
        self._list = name

    def _label(self, text: str) -> None:
        """A line such as `Reusable knowledge:` names the list below it, and `updated_at: TIME` the time of a thread."""
        if text.startswith("updated_at:"):
            self._moment = text.partition(":")[2].strip()
        elif text.endswith(":"):
            self._list = text[:-1]

    def _add_tags(self, words: tuple[str, ...]) -> None:
        self._tags = tuple(dict.fromkeys((*self._tags, *words)))
