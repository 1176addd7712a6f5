"""A memory: the document that a store holds, that is searched, judged, labelled and injected."""

from __future__ import annotations

import unicodedata

from engine.lean.json_text import dumps
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.paths import root_key

CATEGORY_PRIORITY = {
    "decision": 1,
    "constraint": 2,
    **dict.fromkeys(("preference", "feedback", "instruction", "user"), 3),
    **dict.fromkeys(("runbook", "project", "reference"), 4),
    "tech_debt": 5,
    "session_summary": 6,
}
"""Order among equal scores: lower comes first. The categories of claude-memory and the types of auto memory."""

LAST_PRIORITY = 7
NAMED = ("user", "feedback", "project", "reference")
"""The types of auto memory. The only tag of such a note is the name in its front matter, its title the description."""

UNSCANNED = 2.0
"""The risk of a memory that the safety scan has not read yet: more than any limit, so it cannot be injected."""

SOFT_RISK, HARD_RISK = 0.6, 0.9
"""The two risks of a text with signs of an attack, by its gravest sign: see `engine/quality/safety/rules.txt`."""


class MemorySummary(Record):
    """A memory without its body, as the index knows it.

    `path` is how the memory is named to people and models, `file` the absolute path inside the root. `status` is
    active, retired or archived. Times are ISO 8601 strings as the file gives them, or empty. `risk` is that of the
    safety scan, 0..1, or UNSCANNED. `is_loaded`: it stands in a part of a file that a client loads into every
    conversation by itself, wherever that file must lie for it. `root` is the root that holds it. Only the index knows
    `risk` and `root`; elsewhere they are 0 and empty. Where several roots are open together, and one before `root` has
    the same id, `id` is `ID@ROOT`.
    """

    id: str
    category: str
    title: str
    tags: tuple[str, ...]
    path: str
    file: str
    status: str
    created_at: str
    updated_at: str
    digest: str
    risk: float = 0.0
    is_loaded: bool = False
    root: str = ""

    @property
    def priority(self) -> int:
        return CATEGORY_PRIORITY.get(self.category, LAST_PRIORITY)

    @property
    def name(self) -> str:
        """What people call the memory: the name in its front matter where that is made of words, else its title."""
        words = self.tags[0].replace("_", " ").replace("-", " ").split() if self.has_name else []
        if len(words) < 2 and not (words and not words[0].isascii()):
            return self.title.replace("**", "")
        if " " in self.tags[0] or not self.tags[0].isascii():
            return self.tags[0]
        words = words[1:] if len(words) > 2 and words[0] == self.category else words
        name = " ".join(words)
        return name[:1].upper() + name[1:] if name.islower() else name

    @property
    def about(self) -> str:
        """The description of a memory whose name is not its title; else empty."""
        title = self.title.replace("**", "")
        return title if title != self.name else ""

    @property
    def has_name(self) -> bool:
        """Whether its tag is a name: its format has no tags."""
        return len(self.tags) == 1 and self.category in NAMED and self.file.endswith(".md") and "#" not in self.id

    @property
    def own(self) -> MemorySummary:
        """The memory with the id that it has in its root."""
        own_id = self.id.removesuffix(f"@{root_key(self.root)}") if self.root and "@" in self.id else self.id
        return self if own_id == self.id else replace(self, id=own_id)


class Section(Record):
    """A part of a memory's body: `heading` may be empty, `lines` are shown as they are."""

    heading: str
    lines: tuple[str, ...]


class Memory(Record):
    """A whole memory: its summary and its body.

    `is_by_line`: its front matter was read without a parser of YAML, so it may be wrong. `earlier_digest` is the digest
    that version 1.0.0 gave to the same text, if it read the front matter otherwise: labels and decisions may have it.
    """

    summary: MemorySummary
    sections: tuple[Section, ...]
    is_by_line: bool = False
    earlier_digest: str = ""

    @property
    def body(self) -> str:
        """The text of all sections. Headings are left out: they are words of the format, not of the author."""
        return "\n".join(line for section in self.sections for line in section.lines)


class Skipped(Record):
    """A file or index line that is not shown as a memory, and why. `where` is relative to the root where possible.

    `double_of`: the id of the memory, if another file with the same id is shown in place of this one.
    """

    where: str
    reason: str
    double_of: str = ""


class Corpus(Record):
    """All memories of a root at one moment, ordered by path, and the files that were skipped.

    `notices` are problems that cost no memory, such as a dead link in MEMORY.md.
    """

    root: str
    memories: tuple[Memory, ...]
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[Skipped, ...] = ()


def content_digest(category: str, title: str, tags: tuple[str, ...], sections: tuple[Section, ...]) -> str:
    """SHA-256 (64 hex digits) of the parts that people judge and models see; times and status do not change it."""
    parts = [category, title, sorted(tags), [[section.heading, *section.lines] for section in sections]]
    return hex_digest(unicodedata.normalize("NFC", dumps(parts, ascii_only=False)))
