"""Reading a model's answer about a memory: a JSON object, or the Markdown form. And ratings in the cache."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.judge.answer import UnreadableAnswerError, objects, read_part
from engine.judge.prompts import cut
from engine.judge.provider import WebSource
from engine.lean.record import fields, replace
from engine.quality.judging.markdown_form import parse_entries
from engine.quality.judging.rating import BEST, Rating, with_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engine.judge.provider import Completion

MOST_POINTS, MOST_TAGS, MOST_SOURCES = 5, 8, 10
POINT_LIMIT, TITLE_LIMIT, TAG_LIMIT = 400, 200, 40
"""Characters of a point or reason, of a suggested title, and of a suggested tag."""


def read_completion(completion: Completion, criteria: Collection[str], hide: Callable[[str], str]) -> Rating:
    """The rating in an answer, with the pages that the model found. Raises UnreadableAnswerError.

    *hide* takes the secrets out of every text.
    """
    rating = read_rating(completion.text, criteria, hide)
    pages = tuple(WebSource(hide(page.url), hide(page.title)) for page in completion.pages)[:MOST_SOURCES]
    return replace(rating, sources=pages or rating.sources)


def read_rating(text: str, criteria: Collection[str], hide: Callable[[str], str] = str) -> Rating:
    """The rating in *text*: the last JSON object with an overall score of 0 to 10, else the last Markdown entry.

    Texts are cut, lists shortened, and scores of other criteria left out. Raises UnreadableAnswerError for no rating.
    """
    part = read_part(text)
    ratings = [rating for rated in objects(part, "overall", object) if (rating := rating_of(rated))]
    ratings = ratings or [entry.rating for entry in parse_entries(part)]
    if not ratings:
        raise UnreadableAnswerError("no rating in the answer")
    return _tidied(ratings[-1], criteria, hide)


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
    return Rating(
        overall=overall,
        scores=tuple((name, score) for name, score in found if score is not None),
        key_points=_texts(value.get("key_points")),
        reasons=_texts(value.get("rejection_reasons")),
        title=title if isinstance(title, str) else "",
        tags=_texts(value.get("suggested_tags")),
        sources=_sources(value.get("sources")),
        why=tuple(
            (str(name), text) for name, text in (why.items() if isinstance(why, dict) else ()) if isinstance(text, str)
        ),
        research=_texts(value.get("research_validation")),
    )


def _score(value: object) -> float | None:
    """A score in tenths; None unless it is a number from 0 to 10."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(float(value), 1) if is_number and 0 <= value <= BEST else None  # type: ignore[arg-type,operator]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _sources(value: object) -> tuple[WebSource, ...]:
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    pairs = [(entry.get("url"), entry.get("title")) for entry in entries]
    return tuple(WebSource(url, title) for url, title in pairs if isinstance(url, str) and isinstance(title, str))


def _tidied(rating: Rating, criteria: Collection[str], hide: Callable[[str], str]) -> Rating:
    """*rating* with texts on one line, of a bounded length and number, without secrets."""

    def tidy(texts: tuple[str, ...], most: int, limit: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (cut(hide(text), limit) for text in texts))))[:most]

    tags = tuple(tag.replace(",", " ").lower() for tag in rating.tags)
    scores = {name: score for name, score in rating.scores if name in criteria}
    why = {name: cut(hide(text), POINT_LIMIT) for name, text in rating.why if name in scores}
    tidied = Rating(
        overall=rating.overall,
        scores=tuple(scores.items()),
        key_points=tidy(rating.key_points, MOST_POINTS, POINT_LIMIT),
        reasons=tidy(rating.reasons, MOST_POINTS, POINT_LIMIT),
        title=cut(hide(rating.title), TITLE_LIMIT),
        tags=tidy(tags, MOST_TAGS, TAG_LIMIT),
        why=tuple((name, text) for name, text in why.items() if text),
        research=tidy(rating.research, MOST_POINTS, POINT_LIMIT),
    )
    return with_mean(tidied, criteria)
