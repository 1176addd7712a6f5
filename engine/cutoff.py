"""The cutoff: P(relevant) of a candidate from features that cost nothing in the hook, and the thresholds.

    P(relevant) = 1 / (1 + exp(-(intercept + sum of weight x feature)))

A model is a few numbers of JSON that `memsift tune` fits to labels. It is used only with the configuration that it was
made for, because another configuration gives other features of the same memories.
"""

from __future__ import annotations

from math import exp, log, sqrt

from engine.config import FTS5_BM25, MEMSIFT
from engine.lean.json_text import loads
from engine.lean.record import Record, fields, replace
from engine.paths import cutoff_file
from engine.retrieval import HIGH, LOW, MEDIUM
from engine.search.stopwords import names
from engine.search.strategies.memsift import MAX_ASKED
from engine.search.tokens import tokens
from engine.stores.files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from engine.config import Config
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate
    from engine.search.ranking import Asked, Pool

    Features = dict[str, float]

MAX_BYTES = 100_000

VERSION = 1
"""Version of the features below. A model of another version is not used."""

RISING, FALLING, FREE = 1, -1, 0
DIRECTIONS = {
    "strength": RISING,
    "lead": RISING,
    "rivals": FALLING,
    "share": RISING,
    "rarest": RISING,
    "missing": FALLING,
    "tag": RISING,
    "title": RISING,
    "names": FALLING,
    "asked": FREE,
    "age": FREE,
}
"""Feature -> direction in which P(relevant) may move with it: more of the prompt in a memory never lowers P.

strength    sqrt(score / weight of the rarest possible word); with `fts5_bm25`, sqrt(score)
lead        ln(score / best other score), -MAX_LEAD..MAX_LEAD; MAX_LEAD if there is no other candidate
rivals      ln(number of candidates with at least NEAR of the score), the candidate itself included
share       part of the prompt's idf mass that the memory holds, 0..1; a prompt of more than MAX_ASKED words counts as
            one of MAX_ASKED words
rarest      idf of the rarest word of the prompt in the memory, 0..1, in units of the rarest possible word
missing     the same for the words of the prompt that are not in the memory
tag         1 if a tag holds a word of the prompt, else 0
title       part of the prompt's idf mass that the title holds, 0..1
names       number of names in the prompt that the memory does not hold, at most MAX_NAMES; 0 for a paste
asked       ln(number of words and phrases in the prompt, at most MAX_ASKED)
age         years between the memory's update and the newest candidate's, 0..1; 0 if unknown. The clock is not used, so
            that a model gives the same answer next year

Each category is a feature as well, such as `category:decision`: 1 or 0.
"""

CATEGORY = "category:"
MAX_LEAD = 1.0
MAX_NAMES = 3
NEAR = 0.8

HIGH_PROBABILITY, MEDIUM_PROBABILITY = 0.75, 0.40
"""Least P(relevant) of high and of medium confidence."""


class Fit(Record):
    """The part of the configuration that decides which candidates reach the cutoff. A model is made for one Fit."""

    match_strategy: str
    candidate_pool_size: int
    noise_floor: float
    min_strength: float
    max_inject: int


class Model(Record):
    """Weights by feature, and thresholds of P(relevant), 0..1.

    Without a judge, candidates below `threshold` are dropped. With a judge, candidates below `doubt` are dropped, and
    the judge is asked about those between `doubt` and `threshold`.
    """

    fit: Fit
    intercept: float
    weights: Mapping[str, float]
    threshold: float
    doubt: float

    def probability(self, features: Mapping[str, float]) -> float:
        """P(relevant), 0..1, of a candidate with these features."""
        z = self.intercept + sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + exp(-z)) if z > 0 else exp(z) / (1 + exp(z))


class UnusableModelError(Exception):
    """The reason why a model is ignored, in words that follow "it"."""


class Cutoff:
    """The stage of the pipeline that drops candidates whose P(relevant) is too low."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.strategy = model.fit.match_strategy

    def weigh(self, text: str, candidates: Sequence[Candidate], pool: Pool) -> list[Candidate]:
        """The candidates. Those that are not dropped yet get P(relevant), and the confidence that follows from it."""
        found = features(text, candidates, pool)
        return [self._weighed(one, found[one.memory.id]) if one.injected else one for one in candidates]

    def drop(self, candidates: Sequence[Candidate], *, has_judge: bool) -> list[Candidate]:
        """The candidates, with those below the threshold dropped."""
        least = self.least(has_judge=has_judge)
        weak = {one.memory.id for one in candidates if one.injected and (one.probability or 0.0) < least}
        return [_dropped(one, least) if one.memory.id in weak else one for one in candidates]

    def least(self, *, has_judge: bool) -> float:
        """The least P(relevant) that passes."""
        return self.model.doubt if has_judge else self.model.threshold

    def is_sure(self, candidate: Candidate) -> bool:
        """Whether the candidate passes without a judge."""
        return candidate.probability is not None and candidate.probability >= self.model.threshold

    def _weighed(self, candidate: Candidate, found: Features) -> Candidate:
        probability = self.model.probability(found)
        return replace(candidate, probability=probability, confidence=_confidence(probability))


def features(text: str, candidates: Sequence[Candidate], pool: Pool) -> dict[str, Features]:
    """Memory id -> features, for the candidates that are not dropped yet.

    They are compared with all active candidates, also with those that were dropped for being weak.
    """
    prompt = _prompt(text, pool, {word for one in candidates if one.injected for word in one.matched})
    active = [one for one in candidates if one.dropped_by != "status"]
    scores = [-one.score for one in active]
    newest = max((_year(one.memory) for one in active), default=0.0)
    return {one.memory.id: _features(one, prompt, scores, newest) for one in candidates if one.injected}


def load_cutoff(folder: str, config: Config) -> Cutoff | None:
    """The cutoff in a root's state folder; None if there is none. Raises UnusableModelError."""
    try:
        model = model_of(loads(read_regular(cutoff_file(folder), MAX_BYTES).decode("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableModelError(f"cannot be read ({error})") from None
    made_for, now = fields(model.fit), fields(fit_of(config))
    changed = [f"{name} was {value!r}, is {now[name]!r}" for name, value in made_for.items() if value != now[name]]
    if changed:
        raise UnusableModelError(f"was made for another configuration: {'; '.join(changed)}")
    return Cutoff(model)


def fit_of(config: Config) -> Fit:
    """The Fit of a configuration. `min_strength` is 0 for strategies that do not use it."""
    least = config.min_strength if config.match_strategy == MEMSIFT else 0.0
    strategy, size = config.match_strategy, config.judge.candidate_pool_size
    return Fit(strategy, size, float(config.floor), float(least), config.max_inject)


def model_of(content: Any) -> Model:
    """The model in the JSON of a file. Raises UnusableModelError for a broken model and for another version."""
    try:
        if content["features"] != VERSION:
            raise UnusableModelError(f"is of features {content['features']!r}, not {VERSION}: run `memsift tune` again")
        weights = {name: _number(value) for name, value in content["weights"].items()}
        thresholds = _number(content["threshold"]), _number(content["doubt"])
        model = Model(_fit_in(content["fit"]), _number(content["intercept"]), weights, *thresholds)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnusableModelError(f"makes no sense ({type(error).__name__}: {error})") from None
    are_known = all(name in DIRECTIONS or name.startswith(CATEGORY) for name in weights)
    if not (0 <= model.doubt <= model.threshold <= 1 and are_known):
        raise UnusableModelError("makes no sense (thresholds or names of features)")
    return model


def _fit_in(content: Any) -> Fit:
    if content["match_strategy"] not in (MEMSIFT, FTS5_BM25):
        raise ValueError(f"no model is made for {content['match_strategy']!r}")
    return Fit(**content)


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, (bool, str)) or not abs(number) < 1e9:
        raise ValueError(f"{value!r} is no number")
    return number


class _Prompt(Record):
    """The words and phrases of a prompt.

    `weights`: text -> idf in units of `rare`, the weight of the rarest possible word. `heaviest` are the texts by
    weight, `mass` is the sum of the weights. `words`: text -> the sets of tokens that match it, for texts that any
    candidate holds.
    """

    weights: Mapping[str, float]
    heaviest: Sequence[str]
    mass: float
    words: Mapping[str, Sequence[frozenset[str]]]
    names: set[str]
    rare: float


def _prompt(text: str, pool: Pool, found: set[str]) -> _Prompt:
    """Limited for a paste, so that it neither hides the question beside it nor costs more than the search itself."""
    rare, asked = pool.rare or 1.0, pool.asked
    idf = pool.idf or [rare] * len(asked)
    weights = {one.text: weight / rare for one, weight in zip(asked, idf, strict=True)}
    is_paste = len(asked) > MAX_ASKED
    return _Prompt(
        weights=weights,
        heaviest=sorted(weights, key=lambda word: -weights[word]),
        mass=sum(weights.values()) * min(1.0, MAX_ASKED / max(1, len(asked))) or 1.0,
        words={one.text: _words(one) for one in asked if one.text in found},
        names=set() if is_paste else names(text) & weights.keys(),
        rare=rare,
    )


def _words(asked: Asked) -> list[frozenset[str]]:
    """The sets of tokens that match a word or phrase of the prompt; any of them is enough."""
    longer = [(word,) for word in getattr(asked, "longer", ())]
    return [frozenset(phrase) for phrase in (*asked.phrases, *longer)]


def _features(one: Candidate, prompt: _Prompt, scores: Sequence[float], newest: float) -> Features:
    """Features of a candidate. *scores* are those of all active candidates, positive; *newest* is the latest year."""
    weights, matched, strength = prompt.weights, one.matched, -one.score
    missing = next((word for word in prompt.heaviest if word not in matched), "")
    in_title = _held(matched, prompt, set(tokens(one.memory.title)))
    in_tags = _held(matched, prompt, set(tokens(" ".join(one.memory.tags))))
    return {
        "strength": sqrt(max(0.0, strength) / prompt.rare),
        "lead": _lead(strength, scores),
        "rivals": log(max(1, sum(score >= NEAR * strength for score in scores))),
        "share": min(1.0, sum(weights[text] for text in matched) / prompt.mass),
        "rarest": max((weights[text] for text in matched), default=0.0),
        "missing": weights.get(missing, 0.0),
        "tag": 1.0 if in_tags else 0.0,
        "title": min(1.0, sum(weights[text] for text in in_title) / prompt.mass),
        "names": float(min(MAX_NAMES, len(prompt.names.difference(matched)))),
        "asked": log(max(1, min(MAX_ASKED, len(weights)))),
        "age": max(0.0, min(1.0, newest - (_year(one.memory) or newest))),
        f"{CATEGORY}{one.memory.category}": 1.0,
    }


def _held(matched: Sequence[str], prompt: _Prompt, held: set[str]) -> list[str]:
    """The matched texts with a set of tokens that is all in *held*."""
    return [text for text in matched if any(words <= held for words in prompt.words[text])]


def _lead(strength: float, scores: Sequence[float]) -> float:
    """ln(strength / best other score). *scores* hold *strength* itself once."""
    best, *others = sorted(scores, reverse=True)[:2]
    rival = (others[0] if others else 0.0) if strength >= best else best
    if rival <= 0 or strength <= 0:
        return MAX_LEAD if rival <= 0 else -MAX_LEAD
    return max(-MAX_LEAD, min(MAX_LEAD, log(strength / rival)))


def _year(memory: MemorySummary) -> float:
    """The year of the last update, with months as fraction, such as 2024.5; 0 if unknown.

    Without `datetime`, which is slow to import: see `engine/lean`.
    """
    year, _, rest = memory.updated_at.partition("-")
    month = rest[:2]
    is_known = len(year) == 4 and year.isdecimal() and month.isdecimal()
    return int(year) + int(month) / 12 if is_known else 0.0


def _confidence(probability: float) -> str:
    if probability >= HIGH_PROBABILITY:
        return HIGH
    return MEDIUM if probability >= MEDIUM_PROBABILITY else LOW


def _dropped(candidate: Candidate, least: float) -> Candidate:
    reason = f"it is relevant with probability {candidate.probability:.3f}, and it takes {least:.3f}"
    return replace(candidate, dropped_by="cutoff", reason=reason)
