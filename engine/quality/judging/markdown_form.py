"""Ratings as Markdown: `### IDEA:` or `### REJECTED:`, and below it a field a line. Read and written.

Reading looks at each line once, and takes whatever a model makes of the form: other levels of headings, other bullets,
a colon inside or outside of the asterisks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.judge.prompts import one_line
from engine.judge.provider import WebSource
from engine.lean.record import Record
from engine.quality.judging.rating import BEST, Rating

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

IDEA, REJECTED = "IDEA", "REJECTED"
SCORE, CRITERIA, POINTS, REASONS = "quality score", "criteria", "key points", "rejection reasons"
TITLE, TAGS, SOURCES, NAME = "suggested title", "suggested tags", "sources", "memory"
BREAKDOWN, RESEARCH = "evaluation breakdown", "research validation"
FIELDS = (SCORE, CRITERIA, BREAKDOWN, POINTS, REASONS, TITLE, TAGS, RESEARCH, SOURCES, NAME)
LISTS = (BREAKDOWN, POINTS, REASONS, RESEARCH, SOURCES)

MOST_LINE = 2_000
"""Characters of a line that are read."""

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?:\*\*)?(\w{1,20})(?:\*\*)?:(.*)")
_FIELD = re.compile(r"\s{0,3}\*{0,2}([A-Za-z][A-Za-z ]{2,30})(?::\*{0,2}|\*{0,2}:)(.*)")
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+(.*)")
_PART = re.compile(
    r"\**([A-Za-z][\w ]{0,39})\**\s*[:(]\**\s*(\d{1,2}(?:\.\d{1,6})?)(?!\d)(?:\s*/\s*10)?\)?\**(?:\s*[-–—:]\s+|\s*)(.*)"
)
"""A part of a breakdown, such as "**Still true**: 7/10 - it names its version"."""

_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,6})?")


class RatingEntry(Record):
    """A rating under its heading. `memory_id` is empty where a model wrote the entry."""

    is_rejected: bool
    title: str
    rating: Rating
    memory_id: str = ""


def print_entries(entries: Iterable[RatingEntry]) -> str:
    """The entries as Markdown, with an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in _printed(entry)) for entry in entries)


def parse_entries(text: str) -> tuple[RatingEntry, ...]:
    """The entries in *text* that have a score of 0 to 10. Other headings, fields and text are skipped."""
    return tuple(entry for block in _blocks(text) if (entry := _entry(block)))


class _Block:
    """A heading and the fields below it, as they are read."""

    def __init__(self, kind: str, title: str) -> None:
        self.kind = kind
        self.title = title
        self.fields: dict[str, list[str]] = {}

    def __getitem__(self, field: str) -> str:
        """The text of a field, empty if there is none."""
        return " ".join(self.fields.get(field, ()))


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    field = ""
    for line in text.splitlines():
        short = line[:MOST_LINE]
        if heading := _HEADING.match(short):
            if block:
                yield block
            block, field = _Block(heading[1].upper(), one_line(heading[2])), ""
        elif block and short.lstrip().startswith("#"):
            yield block
            block = None
        elif block:
            field = _added(block, field, short)
    if block:
        yield block


def _added(block: _Block, field: str, line: str) -> str:
    """Add a line to *block*. Returns the field to which the next line may belong, or an empty text."""
    bullet = _BULLET.match(line)
    if bullet and field in LISTS:
        block.fields[field].append(one_line(bullet[1]))
        return field
    found = _FIELD.match(bullet[1] if bullet else line)
    name = found[1].strip().lower() if found else ""
    if found and name in FIELDS:
        rest = one_line(found[2])
        block.fields.setdefault(name, []).extend([rest] if rest else [])
        return name
    if field == RESEARCH and line.strip():
        block.fields[field].append(one_line(line))
    return field if field in LISTS else ""


def _entry(block: _Block) -> RatingEntry | None:
    overall = _score(block[SCORE])
    if block.kind not in (IDEA, REJECTED) or overall is None:
        return None
    parts = [part for text in block.fields.get(BREAKDOWN, ()) if (part := _PART.match(text))]
    scored = [(_criterion(part[1]), _score(part[2]), part[3].strip()) for part in parts]
    broken_down = {name: score for name, score, _ in scored if score is not None}
    rating = Rating(
        overall=overall,
        scores=tuple({**dict(_scores(block[CRITERIA])), **broken_down}.items()),
        key_points=tuple(filter(None, block.fields.get(POINTS, ()))),
        reasons=tuple(filter(None, block.fields.get(REASONS, ()))),
        title=block[TITLE],
        tags=tuple(filter(None, map(str.strip, block[TAGS].split(",")))),
        sources=tuple(map(_source, block.fields.get(SOURCES, ()))),
        why=tuple({name: reason for name, _, reason in scored if name in broken_down and reason}.items()),
        research=tuple(filter(None, block.fields.get(RESEARCH, ()))),
    )
    return RatingEntry(block.kind == REJECTED, block.title, rating, block[NAME])


def _score(text: str) -> float | None:
    """The first number of a text such as "7.5/10" or "**8**", in tenths; None unless it is 0..10."""
    found = _NUMBER.search(text[:20])
    is_negative = bool(found) and "-" in text[: found.start() if found else 0]
    value = round(float(found[0]), 1) if found and not is_negative else -1.0
    return value if 0 <= value <= BEST else None


def _scores(text: str) -> Iterator[tuple[str, float]]:
    """The scores in a text such as "specific 7.0, still_true 8.0"."""
    for part in text.split(","):
        name, _, number = part.strip().rpartition(" ")
        score = _score(number)
        if name and score is not None:
            yield name.strip(" :*"), score


def _criterion(text: str) -> str:
    """The name of a criterion, as rubrics write it: "Still true" is still_true."""
    return "_".join(text.lower().split())


def _source(text: str) -> WebSource:
    url, _, title = text.partition(" ")
    return WebSource(url.strip("<>"), title)


def _printed(entry: RatingEntry) -> Iterator[str]:
    rating = entry.rating
    yield f"### {REJECTED if entry.is_rejected else IDEA}: {entry.title}".rstrip()
    yield f"**Quality Score**: {rating.overall:.1f}/10"
    if entry.memory_id:
        yield f"**Memory**: {entry.memory_id}"
    why = dict(rating.why)
    parts = (f"{name}: {score:.1f}/10{f' - {why[name]}' if name in why else ''}" for name, score in rating.scores)
    yield from _list("Evaluation Breakdown", parts)
    yield from _list("Key Points", rating.key_points)
    yield from _list("Rejection Reasons", rating.reasons)
    if rating.title:
        yield f"**Suggested Title**: {rating.title}"
    if rating.tags:
        yield f"**Suggested Tags**: {', '.join(rating.tags)}"
    yield from _list("Research Validation", rating.research)
    yield from _list("Sources", [f"<{source.url}> {source.title}".rstrip() for source in rating.sources])


def _list(name: str, texts: Iterable[str]) -> Iterator[str]:
    lines = [f"- {text}" for text in texts]
    if lines:
        yield from (f"**{name}**:", *lines)
