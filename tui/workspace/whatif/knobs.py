"""The settings that What-if can move: their names, their steps, and their values in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.config import CHOICES, LIMITS, MEMSIFT, OFF, Config
from engine.lean.record import Record, replace

if TYPE_CHECKING:
    from engine.cutoff import Cutoff
    from engine.settings.writing import Key

DIGITS = 2
"""Decimals of a value, so that steps do not pile up rounding errors."""


MOST_COMPARED, STEPS_COMPARED = 8, 20
"""Largest `max_inject` in a comparison of values, and the number of steps between the ends of the other numbers."""


STRONG = 4.0
"""Largest `min_strength` in a comparison: few memories are as strong."""


class Knob(Record):
    """A setting: `key` is its place in the configuration, `step` the size of a step, 0 for words and switches.

    `about`: a sentence for people.
    """

    key: Key
    name: str
    about: str
    step: float = 0


THRESHOLD = Knob(
    ("cutoff_threshold",),
    "Least probability",
    "A memory that is relevant with less probability is not injected. Higher is stricter.",
    0.01,
)
CUTOFF = Knob(
    ("cutoff",),
    "Cutoff",
    "The model that drops unlikely memories: tuned to your labels, the default one, or off.",
)
MAX_INJECT = Knob(("max_inject",), "Most memories", "At most so many memories for a prompt. Lower is stricter.", 1)
NOISE_FLOOR = Knob(
    ("noise_floor",),
    "Noise floor",
    "A memory needs this part of the best memory's strength. Higher is stricter.",
    0.02,
)
MIN_STRENGTH = Knob(
    ("min_strength",), "Least strength", "A memory needs this strength, in rare words. Higher is stricter.", 0.05
)
JUDGE = Knob(("judge", "enabled"), "Judge", "A model has the last word. Here it is never asked: kept verdicts count.")
KNOBS = (THRESHOLD, CUTOFF, MAX_INJECT, NOISE_FLOOR, MIN_STRENGTH, JUDGE)


def knobs_of(config: Config) -> tuple[Knob, ...]:
    """The knobs that do something with the strategy of *config*."""
    return tuple(knob for knob in KNOBS if knob is not MIN_STRENGTH or config.match_strategy == MEMSIFT)


def value_of(config: Config, knob: Knob) -> Any:
    """The value as it is configured. It may be None where the strategy or the model decides."""
    value: Any = config
    for name in knob.key:
        value = getattr(value, name)
    return value


def with_value(config: Config, knob: Knob, value: object) -> Config:
    if knob is JUDGE:
        return replace(config, judge=replace(config.judge, enabled=value))
    return replace(config, **{knob.key[0]: value})


def moved(config: Config, knob: Knob, steps: int, cutoff: Cutoff | None) -> Config:
    """*config* with the knob moved by *steps*, within its limits. *cutoff* is the one in use with *config*."""
    if knob is JUDGE:
        return with_value(config, knob, not config.judge.enabled)
    if knob is CUTOFF:
        words = CHOICES["cutoff"]
        place = words.index(config.cutoff) + steps
        return with_value(config, knob, words[max(0, min(place, len(words) - 1))])
    now = in_use(config, knob, cutoff)
    if now is None:
        return config
    least, most = LIMITS[knob.key[0]]
    value = max(least, min(most, round(now + steps * knob.step, DIGITS)))
    return with_value(config, knob, int(value) if knob is MAX_INJECT else float(value))


def in_use(config: Config, knob: Knob, cutoff: Cutoff | None) -> float | None:
    """The number that acts: the configured one, or that of the strategy or the model; None without a cutoff."""
    if knob is NOISE_FLOOR:
        return config.floor
    if knob is THRESHOLD:
        return cutoff.threshold if cutoff else None
    return float(value_of(config, knob))


def values_of(knob: Knob) -> tuple[object, ...]:
    """Values from one end to the other, to compare the setting at all of them."""
    if knob is JUDGE:
        return (False, True)
    if knob is CUTOFF:
        return CHOICES["cutoff"]
    if knob is MAX_INJECT:
        return tuple(range(MOST_COMPARED + 1))
    top = STRONG if knob is MIN_STRENGTH else 1.0
    return tuple(round(number * top / STEPS_COMPARED, DIGITS) for number in range(STEPS_COMPARED + 1))


def value_text(config: Config, knob: Knob, cutoff: Cutoff | None) -> str:
    """The value in words, for a row of at most 20 cells."""
    if knob is JUDGE:
        return "on" if config.judge.enabled else "off"
    if knob is CUTOFF:
        is_other = cutoff is not None and config.cutoff not in (OFF, cutoff.kind)
        return f"{config.cutoff} (now {cutoff.kind})" if cutoff and is_other else config.cutoff
    now = in_use(config, knob, cutoff)
    if now is None:
        return "no cutoff"
    text = f"{now:.0f}" if knob is MAX_INJECT else f"{now:.{DIGITS}f}"
    return text if value_of(config, knob) is not None else f"{text} (default)"


def changes(saved: Config, draft: Config) -> dict[Key, object]:
    """The settings of *draft* that differ from *saved*, by key."""
    return {knob.key: value_of(draft, knob) for knob in KNOBS if value_of(draft, knob) != value_of(saved, knob)}
