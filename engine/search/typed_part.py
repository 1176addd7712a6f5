"""The part of a prompt that a person typed, without the code, logs and texts that were pasted beside it.

A question beside a long paste must find the same memories as the question alone. Most clients do not mark a paste, so
the rules look at its form. Pasted are fenced and tagged blocks, lines of code and logs, and the inner paragraphs of a
long prompt.
"""

from __future__ import annotations

MOST_TYPED_WORDS = 200
"""A prompt of at most MOST_TYPED_WORDS words counts whole if no line of it looks pasted."""

MOST_QUESTION_WORDS, MOST_REMARK_WORDS = 60, 15
"""Most words of a typed paragraph at the beginning or with a question, and of a remark at the end."""

BLOCKS = (("```", "```"), ("~~~", "~~~"), ("<pasted_content", "</pasted_content"))
"""Beginnings of the first and the last line of a block. The tags are the client's, around a pasted text."""

LEVELS = frozenset("CRITICAL DEBUG ERROR FATAL INFO NOTICE TRACE WARN WARNING".split())
CODE_STARTS = (" ", "\t", ">", "$", "|", "+", "@", "<", "at ", "#!", "//", "/*")
CODE_ENDS = ("{", "}", ";", "(", "[", "\\", "):", "->", "=>")
PROSE_SIGNS = frozenset("'\"`,.?!-–—:()…。、？！「」")
MOST_SIGNS = 0.08
"""The largest share of other signs in a line of prose. Code has more."""

QUESTION_MARKS = ("?", "？")


def typed_part(text: str) -> str:
    """The first and the last paragraph that were typed; *text* itself if it is not long and nothing looks pasted.

    A long paragraph is a paste: at the beginning it makes way for a question at the end, at the end it does not count.
    """
    lines = text.strip().splitlines()
    outside = _outside_blocks(lines)
    if _count(text) <= MOST_TYPED_WORDS and outside == lines and not any(map(_is_pasted, lines)):
        return text
    beginning = _until_paste(outside)
    first, last = _first_words(beginning), _last_words(_until_paste(outside[::-1])[::-1])
    is_question = _asks(last) and _count(last) <= MOST_QUESTION_WORDS
    # A last paragraph without a question may be typed if it is short, and no list item or quoted text.
    is_remark = last[:1].isalpha() and _count(last) <= MOST_REMARK_WORDS
    if first == last or not (is_question or is_remark):
        return first
    is_paste = _asks(last) and not _asks(first) and _count(" ".join(beginning)) > MOST_QUESTION_WORDS
    return last if is_paste else f"{first}\n{last}"


def _outside_blocks(lines: list[str]) -> list[str]:
    """The lines, with an empty line in place of each line of a fenced or tagged block."""
    kept, end = [], ""
    for line in lines:
        start = line.lstrip()
        if end:
            kept.append("")
            end = "" if start.startswith(end) else end
        else:
            end = next((closes for opens, closes in BLOCKS if start.startswith(opens)), "")
            kept.append("" if end else line)
    return kept


def _until_paste(lines: list[str]) -> list[str]:
    """The first paragraph, up to a line that looks pasted."""
    found: list[str] = []
    for line in lines:
        if (found and not line.strip()) or _is_pasted(line):
            break
        if line.strip():
            found.append(line)
    return found


def _first_words(lines: list[str]) -> str:
    """The beginning of a paragraph: up to its first line that asks, else its first words if it is long.

    Of a long line that asks, only the question counts.
    """
    asking = [place for place, line in enumerate(lines) if _asks(line)]
    if asking:
        line = lines[asking[0]]
        end = max(map(line.rfind, QUESTION_MARKS)) + 1 if _count(line) > MOST_QUESTION_WORDS else len(line)
        return "\n".join([*lines[: asking[0]], line[:end]])
    text = "\n".join(lines)
    return text if _count(text) <= MOST_QUESTION_WORDS else " ".join(lines[0].split()[:MOST_QUESTION_WORDS])


def _last_words(lines: list[str]) -> str:
    """A paragraph from its first question on."""
    asking = [place for place, line in enumerate(lines) if _asks(line)]
    return "\n".join(lines[asking[0] :] if asking else lines)


def _is_pasted(line: str) -> bool:
    """Whether a line looks like code or like a line of a log."""
    if not line.strip():
        return False
    if line.startswith(CODE_STARTS) or line.rstrip().endswith(CODE_ENDS):
        return True
    beginning = line[:24]
    if sum(map(str.isdecimal, beginning)) > 5 and ":" in beginning:  # a time of day
        return True
    signs = {sign for sign in {*line} if not (sign.isalnum() or sign in PROSE_SIGNS or sign.isspace())}
    if sum(map(line.count, signs)) > MOST_SIGNS * len(line):
        return True
    return not LEVELS.isdisjoint(word.strip("[]():") for word in line.split(None, 5)[:5])


def _asks(text: str) -> bool:
    return any(mark in text for mark in QUESTION_MARKS)


def _count(text: str) -> int:
    return len(text.split())
