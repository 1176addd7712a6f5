"""The cutoff: P(relevant) of a candidate from features that cost nothing in the hook, and the thresholds.

    P(relevant) = 1 / (1 + exp(-(intercept + sum of weight x feature)))

The weights come from a model that `memsift tune` fitted to labels of the root, the user's own or one that a trusted
root shares, or else from the default model (`engine.default_model`). A tuned model is a few numbers of JSON. It is used
only with the configuration that it was made for, because another one gives other features of the same memories.
"""

from __future__ import annotations

import os
from math import exp, log

from engine import default_model
from engine.config import DEFAULT, FTS5_BM25, MEMSIFT, OFF, SHARED_CUTOFF_FILE, THRESHOLDS, TUNED, Config
from engine.lean.json_text import loads
from engine.lean.record import Record, fields, replace
from engine.paths import cutoff_file
from engine.retrieval import HIGH, LOW, MEDIUM
from engine.search.commonness import names, rarity_of
from engine.search.stems import stem
from engine.search.tokens import has_unspaced, tokens
from engine.stores.files import is_inside, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from typing import Any

    from engine.retrieval import Candidate
    from engine.search.postings import Unit
    from engine.search.ranking import CandidatePool

    Features = dict[str, float]
    Limit = float | str | None

MAX_BYTES = 100_000

VERSION = 3
"""Version of the features below. A model of another version is not used.

It stays where only the search changes and the features keep their meaning: then tuned models still count.
"""

RISING, FALLING, FREE = 1, -1, 0
DIRECTIONS = {
    "strength": RISING,
    "short": FREE,
    "short_rivals": FALLING,
    "short_tag": RISING,
    "lead": RISING,
    "names": FALLING,
    "asked": FREE,
    "unknown": FALLING,
}
"""Feature -> direction in which P(relevant) may move with it: more of the prompt in a memory never lowers P.

strength      score / weight of the rarest possible word; with `fts5_bm25`, the score
short         1 for a memory of at most SHORT tokens, 0 for one of LONG or more, between them by the logarithm
short_rivals  short x ln(number of candidates with at least NEAR of the score), the candidate itself included
short_tag     short x 1 if a tag holds a word of the prompt, else 0. Of a memory without tags, the title counts. Of one
              with at most SHORT tokens, any word counts if it has no tags, or if the root has at most FEW memories
lead          ln(score / best other score), -MAX_LEAD..MAX_LEAD; MAX_LEAD if there is no other candidate
names         number of names in the prompt that the memory does not hold, at most MAX_NAMES; 0 for a paste
asked         ln(number of words and phrases in the prompt, at most MAX_ASKED)
unknown       part of the prompt's idf mass in words that no memory of the root holds, 0..1

The last three are about the prompt alone, without the turns before it.

The default model uses the first four: the others help where labels of the root tell how much. Among short facts many
are about the same words, so their number counts; a long note with the same words is about them.
`python -m tests.benchmarks.served` measures them.
"""

MAX_LEAD = 1.0
MAX_NAMES = 3
MAX_ASKED = 50
NEAR = 0.8
MOST_BESIDE = 2
"""Most common words of a prompt beside the identifier that it is about."""

SHORT, LONG, FEW = 20.0, 148.0, 3

FURTHER = 0.4
"""How much surer a memory behind the first must be, in logits: a prompt without any memory costs more than one of fewer
memories."""

HIGH_PROBABILITY, MEDIUM_PROBABILITY = 0.5, 0.3
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
    the judge is asked about those between `doubt` and `threshold`. `named` are the thresholds of the names in
    `engine.config.THRESHOLDS`; empty where the labels were too few to tell. `has_phrases`: it was tuned with phrases.
    """

    fit: Fit
    intercept: float
    weights: Mapping[str, float]
    threshold: float
    doubt: float
    named: Mapping[str, float] = {}
    has_phrases: bool = False

    def threshold_of(self, wanted: float | str | None) -> float:
        """The threshold of a name or number; the model's own for None, and for a name that it does not know."""
        if isinstance(wanted, str):
            return self.named.get(wanted, self.threshold)
        return self.threshold if wanted is None else wanted

    def probability(self, features: Mapping[str, float]) -> float:
        """P(relevant), 0..1, of a candidate with these features."""
        z = self.intercept + sum([weight * features.get(name, 0.0) for name, weight in self.weights.items()])
        return 1 / (1 + exp(-z)) if z > 0 else exp(z) / (1 + exp(z))


class UnusableModelError(Exception):
    """The reason why a model is ignored, in words that follow "it"."""


class Cutoff:
    """The stage of the pipeline that drops candidates whose P(relevant) is too low.

    *kind* is TUNED or DEFAULT. A *threshold* replaces the model's: a number, or a name that the model knows. *place* is
    the file of a tuned model.
    """

    def __init__(self, model: Model, kind: str = TUNED, threshold: float | str | None = None, place: str = "") -> None:
        self.model = model
        self.place = place
        self.strategy = model.fit.match_strategy
        self.kind = kind
        self.threshold = model.threshold_of(threshold)
        self._wanted = threshold

    def of(self, *, has_phrases: bool) -> Cutoff:
        """This cutoff, for a root with or without phrases: the default model has other thresholds for those with."""
        if not has_phrases or self.kind != DEFAULT:
            return self
        named = default_model.THRESHOLDS_WITH_PHRASES
        model = replace(self.model, named=named, threshold=named[default_model.BALANCED])
        return Cutoff(model, DEFAULT, self._wanted)

    def weigh(self, candidates: Sequence[Candidate], pool: CandidatePool) -> list[Candidate]:
        """The candidates. Those that are not dropped yet get P(relevant), and the confidence that follows from it."""
        found, named = features(candidates, pool), only_identifier(pool)
        result = []
        for candidate in candidates:
            if candidate.memory.id in found:
                probability = self.model.probability(found[candidate.memory.id])
                if named in candidate.matched:
                    probability = max(probability, HIGH_PROBABILITY, self.threshold)
                sure = HIGH if probability >= HIGH_PROBABILITY else MEDIUM if probability >= MEDIUM_PROBABILITY else LOW
                candidate = replace(candidate, probability=probability, confidence=sure)
            result.append(candidate)
        return result

    def drop(
        self,
        candidates: Sequence[Candidate],
        *,
        has_judge: bool,
        limits: Mapping[str, Limit] = {},
        unasked: Container[str] = (),
    ) -> list[Candidate]:
        """The candidates, with those below the threshold dropped.

        *limits*: root -> a threshold for its own memories; the higher one counts. *unasked*: roots whose memories no
        judge is asked about.
        """
        result, is_first = [], True
        for candidate in candidates:
            if candidate.injected:
                root = candidate.memory.root
                is_asked = has_judge and root not in unasked
                wanted = self.least(has_judge=is_asked)
                if limits.get(root) is not None:
                    wanted = max(wanted, self.model.threshold_of(limits[root]))
                wanted = wanted if is_first or is_asked else surer(wanted)
                candidate, found = replace(candidate, needs=wanted), candidate.probability or 0.0
                if found < wanted:
                    asker = "the judge" if is_asked else "it" if is_first else "a second memory"
                    share, needed = percents(found, wanted)
                    reason = f"{share} likely to be relevant; {asker} needs {needed}"
                    candidate = replace(candidate, dropped_by="cutoff", reason=reason)
                else:
                    is_first = False
            result.append(candidate)
        return result

    def least(self, *, has_judge: bool) -> float:
        """The least P(relevant) that passes."""
        return min(self.model.doubt, self.threshold) if has_judge else self.threshold

    def is_sure(self, candidate: Candidate) -> bool:
        """Whether the candidate passes without a judge. The default model promises no precision, and is never sure."""
        is_likely = candidate.probability is not None and candidate.probability >= self.threshold
        return is_likely and self.kind == TUNED


def percents(found: float, least: float) -> tuple[str, str]:
    """How likely a dropped memory is, and how likely it had to be: "28 %" and "33 %"; "32.8 %" and "33.4 %"."""
    digits = 1 if round(100 * found) == round(100 * least) else 0
    return f"{100 * found:.{digits}f} %", f"{100 * least:.{digits}f} %"


def surer(least: float) -> float:
    """The least P(relevant) of the memories behind the first, where the first needs *least*."""
    return least / (least + (1 - least) * exp(-FURTHER)) if least else 0.0


def features(candidates: Sequence[Candidate], pool: CandidatePool) -> dict[str, Features]:
    """Memory id -> features, for the candidates that are not dropped yet.

    They are compared with all active candidates, also with those that were dropped for being weak.
    """
    left = [candidate for candidate in candidates if candidate.injected]
    scores = [candidate.strength for candidate in candidates if candidate.dropped_by != "status"]
    texts = {unit.text for unit in pool.asked if unit.weight == 1}
    named = names(pool.searched) & texts if len(texts) <= MAX_ASKED else set()
    asked = log(max(1, min(MAX_ASKED, len(texts))))
    found = {word for candidate in left for word in candidate.matched}
    stems = {unit.text: [frozenset(phrase) for phrase in unit.phrases] for unit in pool.asked if unit.text in found}
    return {
        candidate.memory.id: {
            "strength": max(0.0, candidate.strength) / (pool.rare or 1.0),
            **_features_of_short(candidate, stems, scores, counts_whole=0 < pool.root_size <= FEW),
            "lead": _lead(candidate.strength, scores),
            "names": float(min(MAX_NAMES, len(named.difference(candidate.matched)))),
            "asked": asked,
            "unknown": pool.unknown,
        }
        for candidate in left
    }


def _features_of_short(
    candidate: Candidate, stems: Mapping[str, Sequence[frozenset[str]]], scores: Sequence[float], *, counts_whole: bool
) -> Features:
    """The features that count for a short memory. *scores* are those of all active candidates, positive.

    *stems*: word of the prompt -> sets of stems, of which one is enough to match it. *counts_whole*: any word of a
    short memory counts like a tag.
    """
    tags = set(map(stem, tokens(" ".join(candidate.memory.tags) or candidate.memory.title)))
    is_whole = (counts_whole or not candidate.memory.tags) and candidate.length <= SHORT
    has_tag = any(is_whole or words <= tags for text in candidate.matched for words in stems[text])
    short = max(0.0, min(1.0, log(LONG / max(1, candidate.length)) / log(LONG / SHORT)))
    rivals = sum(score >= NEAR * candidate.strength for score in scores)
    return {"short": short, "short_rivals": short * log(max(1, rivals)), "short_tag": short * has_tag}


def _lead(strength: float, scores: Sequence[float]) -> float:
    """ln(strength / best other score). *scores* hold *strength* itself once."""
    best, *others = sorted(scores, reverse=True)[:2]
    rival = (others[0] if others else 0.0) if strength >= best else best
    if rival <= 0 or strength <= 0:
        return MAX_LEAD if rival <= 0 else -MAX_LEAD
    return max(-MAX_LEAD, min(MAX_LEAD, log(strength / rival)))


def only_identifier(pool: CandidatePool) -> str:
    """The identifier that a prompt is about, if one memory holds it, and other words of the prompt say little; else "".

    "FNC-029" and "open game-clock.ts" mean a single memory, however weak one word makes it. An identifier is a word of
    letters and digits, or a compound; a common word such as YouTube is none.
    """

    def is_identifier(unit: Unit) -> bool:
        is_mixed = any(map(str.isdecimal, unit.text)) and any(map(str.isalpha, unit.text))
        return not has_unspaced(unit.text) and (is_mixed or (not unit.is_word and rarity_of(unit) == 1))

    own = [unit for unit in pool.asked if unit.weight == 1 and not unit.of_file]
    named = [unit for unit in own if is_identifier(unit)]
    is_alone = len(own) <= MOST_BESIDE + 1 and all(rarity_of(unit) < 1 for unit in own if unit not in named)
    return named[0].text if len(named) == 1 and named[0].memories == 1 and is_alone else ""


def chosen_cutoff(
    places: Iterable[tuple[str, str]], config: Config, trusts: Callable[[str], bool]
) -> tuple[Cutoff | None, str]:
    """The cutoff that *config* asks for, and the reason why no tuned model is used although there is one, or "".

    *places*: the state folder and the path of each root. The first tuned model that can be used is. *trusts*: whether
    the user trusts a root.
    """
    if config.cutoff == OFF:
        return None, ""
    problem = ""
    for folder, root in places if config.cutoff == TUNED else ():
        try:
            if found := load_cutoff(folder, config, root, trusts):
                return found, ""
        except UnusableModelError as error:
            problem = problem or str(error)
    return default_cutoff(config), problem


def default_cutoff(config: Config) -> Cutoff | None:
    """The cutoff with the default model; None for a strategy that it was not made for."""
    if config.match_strategy != MEMSIFT:
        return None
    return Cutoff(_default_model(config), DEFAULT, config.cutoff_threshold)


def load_cutoff(folder: str, config: Config, root: str, trusts: Callable[[str], bool]) -> Cutoff | None:
    """The tuned cutoff of *root*: the user's own in the state folder, else the one that the root shares, else None.

    Raises UnusableModelError, also for a shared one in a root that the user does not trust.
    """
    place = cutoff_file(folder)
    model = _model_in(place)
    if model is None and os.path.lexists(place := os.path.join(root, SHARED_CUTOFF_FILE)):
        if not trusts(root):
            raise UnusableModelError(f"is shared by {root}, which you have not trusted: memsift trust")
        if not is_inside(os.path.realpath(root), place):
            raise UnusableModelError("points outside the root")
        model = _model_in(place)
    if model is None:
        return None
    made_for, now = fields(model.fit), fields(fit_of(config))
    changed = [f"{name} was {value!r}, is {now[name]!r}" for name, value in made_for.items() if value != now[name]]
    if changed:
        raise UnusableModelError(f"was made for another configuration: {'; '.join(changed)}")
    return Cutoff(model, TUNED, config.cutoff_threshold, place)


def is_stricter(folder: str, wanted: float | str | None, own: float | str | None) -> bool:
    """Whether the `cutoff_threshold` *wanted* is at least *own*, with the default model and the user's tuned one."""
    try:
        tuned = _model_in(cutoff_file(folder))
    except UnusableModelError:
        tuned = None
    models = [_default_model(Config()), *([tuned] if tuned else [])]
    return all(model.threshold_of(wanted) >= model.threshold_of(own) for model in models)


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
        named = {name: _number(value) for name, value in content.get("thresholds", {}).items()}
        intercept, has_phrases = _number(content["intercept"]), content.get("phrases", False) is True
        model = Model(Fit(**content["fit"]), intercept, weights, *thresholds, named, has_phrases)
        if model.fit.match_strategy not in (MEMSIFT, FTS5_BM25):
            raise ValueError(f"no model is made for {model.fit.match_strategy!r}")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnusableModelError(f"makes no sense ({type(error).__name__}: {error})") from None
    is_named = {*named} <= {*THRESHOLDS} and all(0 <= least <= 1 for least in named.values())
    if not (is_named and 0 <= model.doubt <= model.threshold <= 1 and weights.keys() <= DIRECTIONS.keys()):
        raise UnusableModelError("makes no sense (thresholds or names of features)")
    return model


def _default_model(config: Config) -> Model:
    threshold = default_model.THRESHOLD
    limits = threshold, min(threshold, default_model.DOUBT), default_model.THRESHOLDS
    return Model(fit_of(config), default_model.INTERCEPT, default_model.WEIGHTS, *limits)


def _model_in(path: str) -> Model | None:
    """The model in a file; None if there is none. Raises UnusableModelError."""
    try:
        return model_of(loads(read_regular(path, MAX_BYTES).decode("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableModelError(f"cannot be read ({error})") from None


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, (bool, str)) or not abs(number) < 1e9:
        raise ValueError(f"{value!r} is no number")
    return number
