"""The records of the quality judge, and ratings as text.

A rating has two forms: JSON values, and Markdown with `### IDEA:` or `### REJECTED:` above fields and lists. A model
answers in one of the two. The cache keeps JSON, and commands print both.
"""

from __future__ import annotations

import json
import re
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from engine.judge.answer import UnreadableAnswerError, objects, read_part
from engine.judge.prompts import cut, one_line
from engine.judge.provider import WebSource
from engine.judge.verdict import APPROVED, FLAGGED, OK, REJECTED, Judgement, Verdict
from engine.lean.record import Record, fields, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from engine.judge.provider import Completion
    from engine.memory import MemorySummary

BEST = 10.0
THRESHOLD = 5.0
"""The least overall score of an accepted memory, unless a person chooses another."""

UNDECIDED, UNANSWERED = "undecided", "unanswered"
DECISIONS = {APPROVED: "accepted", REJECTED: "rejected", FLAGGED: UNDECIDED}
"""A verdict's decision -> its word for people. Undecided: the samples are split in halves."""

RULE = "rule"
"""The provider's name on an assessment for which no model was asked."""


class Rating(Record):
    """One answer about a memory, or several together.

    Scores are 0..10 in tenths; `scores` are (criterion, score), and `why` (criterion, reason) for some of them.
    `reasons` say why it deserves no more. `title` and `tags` are a suggestion, empty for none. `research` says what a
    search has shown.
    """

    overall: float
    scores: tuple[tuple[str, float], ...] = ()
    key_points: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    title: str = ""
    tags: tuple[str, ...] = ()
    sources: tuple[WebSource, ...] = ()
    why: tuple[tuple[str, str], ...] = ()
    research: tuple[str, ...] = ()


class Assessment(Record):
    """The quality judge's opinion of one memory: how it was asked, and the rating, None without an answer."""

    memory: MemorySummary
    judgement: Judgement
    rating: Rating | None = None

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdicts[0]

    @property
    def decision(self) -> str:
        """A word of DECISIONS, or UNANSWERED."""
        return DECISIONS[self.verdict.decision] if self.judgement.status == OK else UNANSWERED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the memory is rejected; empty if it is not."""
        if self.rating is None or self.verdict.decision != REJECTED:
            return ()
        return self.rating.reasons or (f"Its score is {self.rating.overall:.1f}, and the model gave no reason.",)


def with_mean(rating: Rating, criteria: Collection[str]) -> Rating:
    """*rating* with the mean of its scores as the overall score, if all *criteria* have one."""
    scores = dict(rating.scores)
    if not criteria or scores.keys() != set(criteria):
        return rating
    return replace(rating, overall=round(fmean(scores.values()), 1))


def decision_of(rating: Rating, threshold: float) -> str:
    return APPROVED if rating.overall >= threshold else REJECTED


def combine_ratings(ratings: Sequence[Rating], decision: str, threshold: float) -> Rating:
    """One rating for several: medians of the scores, and the texts of the rating nearest to the median score.

    Only the ratings that led to *decision* count; all of them if they are split in halves.
    """
    same = [rating for rating in ratings if decision_of(rating, threshold) == decision] or list(ratings)
    middle = round(median(rating.overall for rating in same), 1)
    nearest = min(same, key=lambda rating: abs(rating.overall - middle))
    names = [name for name, _ in nearest.scores]
    columns = {name: [score for rating in same for own, score in rating.scores if own == name] for name in names}
    sources = dict.fromkeys(source for rating in same for source in rating.sources)
    return replace(
        nearest,
        overall=middle,
        scores=tuple((name, round(median(scores), 1)) for name, scores in columns.items()),
        sources=tuple(sources),
    )


MOST_POINTS, MOST_TAGS, MOST_SOURCES = 5, 8, 10
POINT_LIMIT, TITLE_LIMIT, TAG_LIMIT = 400, 200, 40
"""Characters of a point or reason, of a suggested title, and of a suggested tag."""

IDEA, NO_IDEA = "IDEA", "REJECTED"
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


def read_completion(completion: Completion, criteria: Collection[str], hide: Callable[[str], str]) -> Rating:
    """The rating in an answer, with the pages that the model found. Raises UnreadableAnswerError.

    *hide* takes the secrets out of every text.
    """
    rating = read_rating(completion.text, criteria, hide)
    pages = tuple(WebSource(hide(page.url), hide(page.title)) for page in completion.pages)[:MOST_SOURCES]
    return replace(rating, sources=pages or rating.sources)


def read_rating(text: str, criteria: Collection[str], hide: Callable[[str], str] = str) -> Rating:
    """The rating in *text*: the last JSON object with an overall score of 0 to 10, else the last Markdown entry.

    Texts are cut and put on one line, lists shortened, and scores of other criteria left out. Raises
    UnreadableAnswerError for no rating.
    """
    part = read_part(text)
    ratings = [rating for rated in objects(part, "overall", object) if (rating := rating_of(rated))]
    ratings = ratings or [entry.rating for entry in parse_entries(part)]
    if not ratings:
        raise UnreadableAnswerError("no rating in the answer")
    rating = ratings[-1]

    def tidy(texts: Iterable[str], most: int, limit: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (cut(hide(text), limit) for text in texts))))[:most]

    scores = {name: score for name, score in rating.scores if name in criteria}
    why = {name: cut(hide(text), POINT_LIMIT) for name, text in rating.why if name in scores}
    tidied = Rating(
        overall=rating.overall,
        scores=tuple(scores.items()),
        key_points=tidy(rating.key_points, MOST_POINTS, POINT_LIMIT),
        reasons=tidy(rating.reasons, MOST_POINTS, POINT_LIMIT),
        title=cut(hide(rating.title), TITLE_LIMIT),
        tags=tidy((tag.replace(",", " ").lower() for tag in rating.tags), MOST_TAGS, TAG_LIMIT),
        why=tuple((name, text) for name, text in why.items() if text),
        research=tidy(rating.research, MOST_POINTS, POINT_LIMIT),
    )
    return with_mean(tidied, criteria)


# JSON


def rating_fields(rating: Rating) -> dict[str, Any]:
    """*rating* as JSON values."""
    texts = {"key_points": list(rating.key_points), "rejection_reasons": list(rating.reasons)}
    suggestion = {"suggested_title": rating.title, "suggested_tags": list(rating.tags)}
    sources = [fields(source) for source in rating.sources]
    scores = {"scores": dict(rating.scores), "score_reasons": dict(rating.why)}
    found = {"research_validation": list(rating.research), "sources": sources}
    return {"overall": rating.overall, **scores, **texts, **suggestion, **found}


def rating_text(rating: Rating) -> str:
    return json.dumps(rating_fields(rating))


def rating_of_text(text: str | None) -> Rating | None:
    """The rating in a text of `rating_text`; None for anything else."""
    try:
        return rating_of(json.loads(text or "null"))
    except (ValueError, RecursionError):
        return None


def rating_of(value: object) -> Rating | None:
    """The rating in JSON values, as `rating_fields` gives them; None for anything else."""
    if not isinstance(value, dict) or (overall := _score(value.get("overall"))) is None:
        return None
    scores, why, title = value.get("scores"), value.get("score_reasons"), value.get("suggested_title")
    found = [(str(name), _score(score)) for name, score in (scores.items() if isinstance(scores, dict) else ())]
    reasons = why.items() if isinstance(why, dict) else ()
    listed = value["sources"] if isinstance(value.get("sources"), list) else []
    pages = [(entry.get("url"), entry.get("title")) for entry in listed if isinstance(entry, dict)]
    return Rating(
        overall=overall,
        scores=tuple((name, score) for name, score in found if score is not None),
        key_points=_texts(value.get("key_points")),
        reasons=_texts(value.get("rejection_reasons")),
        title=title if isinstance(title, str) else "",
        tags=_texts(value.get("suggested_tags")),
        sources=tuple(WebSource(url, page) for url, page in pages if isinstance(url, str) and isinstance(page, str)),
        why=tuple((str(name), text) for name, text in reasons if isinstance(text, str)),
        research=_texts(value.get("research_validation")),
    )


def _score(value: object) -> float | None:
    """A score in tenths; None unless it is a number from 0 to 10."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(float(value), 1) if is_number and 0 <= value <= BEST else None  # type: ignore[arg-type,operator]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


# Markdown


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
    parts = [part for text in block.get(BREAKDOWN, ()) if (part := _PART.fullmatch(text))]
    pages = [text.partition(" ") for text in block.get(SOURCES, ())]
    texts = {name: list(filter(None, block.get(name, ()))) for name in (POINTS, REASONS, RESEARCH)}
    rating = rating_of(
        {
            "overall": float(score[1]) if score else None,
            "scores": {part[1]: float(part[2]) for part in parts},
            "score_reasons": {part[1]: part[3] for part in parts if part[3]},
            "key_points": texts[POINTS],
            "rejection_reasons": texts[REASONS],
            "suggested_title": " ".join(block.get(TITLE, ())),
            "suggested_tags": list(filter(None, map(str.strip, " ".join(block.get(TAGS, ())).split(",")))),
            "sources": [{"url": url.strip("<>"), "title": title} for url, _, title in pages],
            "research_validation": texts[RESEARCH],
        }
    )
    kind = NO_IDEA if NO_IDEA in block else IDEA
    return RatingEntry(kind == NO_IDEA, block[kind][0], rating, " ".join(block.get(NAME, ()))) if rating else None


def print_entries(entries: Iterable[RatingEntry]) -> str:
    """The entries as Markdown, with an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in _printed(entry)) for entry in entries)


def _printed(entry: RatingEntry) -> Iterator[str]:
    rating = entry.rating
    yield f"### {NO_IDEA if entry.is_rejected else IDEA}: {entry.title}".rstrip()
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
