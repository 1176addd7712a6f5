"""The rule that finds headings and other texts about a text, so that no model is paid to reject them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.memory import Memory

HEADINGS = frozenset(
    """abstract
    acknowledgements
    appendix
    background
    closing remarks
    closing thoughts
    conclusion
    conclusions
    contents
    executive summary
    final thoughts
    foreword
    further reading
    glossary
    index
    introduction
    key findings
    key takeaways
    next steps
    notes
    outline
    overview
    preamble
    preface
    recommendations
    references
    summary
    table of contents
    takeaways
    tl dr
    untitled""".replace("    ", "").splitlines()
)
"""Titles of the parts of a document. A title like these says nothing about the text below it."""

OPENINGS = (
    *("executive summary ", "table of contents ", "here are ", "here is a ", "as an ai "),
    *("this document ", "this section ", "this report "),
)
"""The first words of titles that announce a text instead of being one."""

TITLE_LIMIT = 200
"""Characters of a title that are looked at."""

_NOT_WORDS = re.compile(r"[\W\d_]+")
_MARKUP = re.compile(r"\s{0,3}(?:#{1,6}(?:\s|$)|[-=*_]{3,}\s*$|\*\*[^*]*\*\*:?\s*$)")


def meta_reason(memory: Memory) -> str:
    """Why *memory* is meta-content, as a sentence for people; empty if the rule finds nothing."""
    title = memory.summary.title
    words = _NOT_WORDS.sub(" ", title[:TITLE_LIMIT].casefold()).strip()
    if words in HEADINGS:
        return f"Meta-content: {title!r} is the heading of a part of a document. A title says what the memory says."
    if f"{words} ".startswith(OPENINGS) and memory.summary.category != "session_summary":
        return f"Meta-content: the title {title!r} announces or sums up a text instead of saying something."
    if not _says_something(memory, words):
        return "Meta-content: there is a heading, and no text below it."
    return ""


def _says_something(memory: Memory, title: str) -> bool:
    """Whether a line of the body is neither empty, nor a heading, nor the title again.

    Without a body the title alone may say something, unless it is marked as a heading.
    """
    lines = [line for line in memory.body.splitlines() if line.strip()]
    if not lines:
        return bool(title) and not memory.summary.title.lstrip().startswith("#")
    return any(not _MARKUP.match(line) and _NOT_WORDS.sub(" ", line.casefold()).strip() != title for line in lines)
