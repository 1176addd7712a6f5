"""Ratings as Markdown: `### IDEA:` or `### REJECTED:`, and below it fields and their lists. Written and read."""

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
SCORE, TITLE, TAGS, NAME = "Quality Score", "Suggested Title", "Suggested Tags", "Memory"
LISTS = BREAKDOWN, POINTS, REASONS, RESEARCH, SOURCES = (
    "Evaluation Breakdown",
    "Key Points",
    "Rejection Reasons",
    "Research Validation",
    "Sources",
)
MOST_LINE = 2_000
"""Characters of a line that are read."""

_LINE = re.compile(r"[ \t]{0,3}(?:### (IDEA|REJECTED):|\*\*([A-Z][A-Za-z ]{2,30})\*\*:|[-*] )(.*)")
_PART = re.compile(r"([a-z][a-z0-9_]{0,39}): (\d{1,2}(?:\.\d{1,6})?)/10(?: - (.*))?")
"""A part of a breakdown, such as "still_true: 7/10 - it names its version"."""

_SCORE = re.compile(r"(\d{1,2}(?:\.\d{1,6})?)(?:/10)?(?!\S)")


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
    blocks: list[dict[str, list[str]]] = []
    field = ""
    for line in text.splitlines():
        found = _LINE.match(line[:MOST_LINE])
        kind, name, rest = found.groups() if found else (None, None, "")
        if kind:
            blocks.append({kind: [one_line(rest)]})
        if kind or line.startswith("#"):
            field = ""
        elif name and blocks:
            field = name
            blocks[-1][field] = [one_line(rest)] if rest.strip() else []
        elif found and field in LISTS:
            blocks[-1][field].append(one_line(rest))
    return tuple(entry for block in blocks if (entry := _entry(block)))


def _entry(block: dict[str, list[str]]) -> RatingEntry | None:
    """The entry of the fields below a heading; None without a score."""
    score = _SCORE.match(" ".join(block.get(SCORE, ())))
    if not score or float(score[1]) > BEST:
        return None
    parts = [part for text in block.get(BREAKDOWN, ()) if (part := _PART.fullmatch(text)) and float(part[2]) <= BEST]
    rating = Rating(
        overall=round(float(score[1]), 1),
        scores=tuple({part[1]: round(float(part[2]), 1) for part in parts}.items()),
        key_points=tuple(filter(None, block.get(POINTS, ()))),
        reasons=tuple(filter(None, block.get(REASONS, ()))),
        title=" ".join(block.get(TITLE, ())),
        tags=tuple(filter(None, map(str.strip, " ".join(block.get(TAGS, ())).split(",")))),
        sources=tuple(
            WebSource(url.strip("<>"), title)
            for url, _, title in (text.partition(" ") for text in block.get(SOURCES, ()))
        ),
        why=tuple({part[1]: part[3] for part in parts if part[3]}.items()),
        research=tuple(filter(None, block.get(RESEARCH, ()))),
    )
    is_rejected = REJECTED in block
    return RatingEntry(is_rejected, block[REJECTED if is_rejected else IDEA][0], rating, " ".join(block.get(NAME, ())))


def _printed(entry: RatingEntry) -> Iterator[str]:
    rating = entry.rating
    yield f"### {REJECTED if entry.is_rejected else IDEA}: {entry.title}".rstrip()
    yield f"**{SCORE}**: {rating.overall:.1f}/10"
    if entry.memory_id:
        yield f"**{NAME}**: {entry.memory_id}"
    why = dict(rating.why)
    parts = (f"{name}: {score:.1f}/10{f' - {why[name]}' if name in why else ''}" for name, score in rating.scores)
    yield from _list(BREAKDOWN, parts)
    yield from _list(POINTS, rating.key_points)
    yield from _list(REASONS, rating.reasons)
    if rating.title:
        yield f"**{TITLE}**: {rating.title}"
    if rating.tags:
        yield f"**{TAGS}**: {', '.join(rating.tags)}"
    yield from _list(RESEARCH, rating.research)
    yield from _list(SOURCES, [f"<{source.url}> {source.title}".rstrip() for source in rating.sources])


def _list(name: str, texts: Iterable[str]) -> Iterator[str]:
    lines = [f"- {text}" for text in texts]
    if lines:
        yield from (f"**{name}**:", *lines)
