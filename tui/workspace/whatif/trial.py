"""The settings that a person tries in What-if: their steps and values, the draft, and saving it."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.config import CHOICES, LIMITS, MEMSIFT, OFF, THRESHOLDS, Config
from engine.cutoff import chosen_cutoff
from engine.errors import ConfigError
from engine.lean.record import Record, replace
from engine.paths import state_dir
from engine.settings.keys import SECTION
from engine.settings.roots import is_own_root, trust_in
from engine.settings.sources import read_config, trust_command
from engine.settings.trust import is_trusted, keeping_trust
from engine.settings.values import threshold_text, write_settings
from tui.workspace.whatif.sample import effect_of, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.settings.values import Key
    from tui.workspace.whatif.sample import Injected, SettingsNumbers, WhatIfEffect, WhatIfSample
    from tui.workspace.workspace import Workspace

DIGITS = 2
"""Decimals of a value, so that steps do not pile up rounding errors."""


MOST_COMPARED, STEPS_COMPARED = 8, 20
"""Largest `max_inject` in a comparison of values, and the number of steps between the ends of the other numbers."""


STRONG = 10.0
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
    "A less likely memory is not injected. strict, balanced and generous are steps, too.",
    0.01,
)
CUTOFF = Knob(
    ("cutoff",),
    "Cutoff",
    "The model that drops unlikely memories: tuned to your labels, the default one, or off.",
)
MAX_INJECT = Knob(("max_inject",), "Most memories", "A prompt gets no more memories than this. Lower is stricter.", 1)
NOISE_FLOOR = Knob(
    ("noise_floor",),
    "Noise floor",
    "A memory needs this part of the best memory's strength. Higher is stricter.",
    0.02,
)
MIN_STRENGTH = Knob(
    ("min_strength",), "Least strength", "A memory needs this strength, in rare words. Higher is stricter.", 0.25
)
JUDGE = Knob(("judge", "enabled"), "Judge", "A model has the last word. Here it is never asked: kept verdicts count.")
KNOBS = (THRESHOLD, CUTOFF, MAX_INJECT, NOISE_FLOOR, MIN_STRENGTH, JUDGE)


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
    if knob is THRESHOLD and cutoff:
        stops = with_names([round(number * knob.step, DIGITS) for number in range(round(1 / knob.step) + 1)], cutoff)
        near = bisect_right([*stops], now) - 1 if steps > 0 else bisect_left([*stops], now)
        return with_value(config, knob, [*stops.values()][max(0, min(near + steps, len(stops) - 1))])
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


def with_names(numbers: Iterable[float], cutoff: Cutoff) -> dict[float, float | str]:
    """Number -> threshold, rising: the *numbers*, and the thresholds that have a name in the model of *cutoff*."""
    named = {number: name for name, number in cutoff.model.named.items()}
    return dict(sorted([*({number: number for number in numbers} | named).items()]))


def values_of(knob: Knob, cutoff: Cutoff | None, used: Mapping[float, object] = {}) -> tuple[object, ...]:
    """Values from one end to the other, to compare the setting at all of them. *used*: number -> value in use."""
    if knob is JUDGE:
        return (False, True)
    if knob is CUTOFF:
        return CHOICES["cutoff"]
    top = STRONG if knob is MIN_STRENGTH else 1.0
    numbers: Iterable[float] = (round(number * top / STEPS_COMPARED, DIGITS) for number in range(STEPS_COMPARED + 1))
    if knob is MAX_INJECT:
        numbers = range(MOST_COMPARED + 1)
    found = with_names(numbers, cutoff) if knob is THRESHOLD and cutoff else {number: number for number in numbers}
    return tuple(value for _, value in sorted({**found, **used}.items(), key=lambda one: one[0]))


def value_text(config: Config, knob: Knob, cutoff: Cutoff | None) -> str:
    """The value in words, for a row of at most 20 cells."""
    if knob is JUDGE:
        return "on" if config.judge.enabled else "off"
    if knob is CUTOFF:
        is_other = cutoff is not None and config.cutoff not in (OFF, cutoff.kind)
        return f"{cutoff.kind}, untuned" if cutoff and is_other else config.cutoff
    now = in_use(config, knob, cutoff)
    if now is None:
        return "no cutoff"
    digits = DIGITS if abs(now - round(now, DIGITS)) < 5 * 10 ** -(DIGITS + 2) else DIGITS + 1
    if isinstance(value_of(config, knob), str):
        return f"{now:.{digits}f} {value_of(config, knob)}"
    text = f"{now:.0f}" if knob is MAX_INJECT else f"{now:.{digits}f}"
    return text if value_of(config, knob) is not None else f"{text} (default)"


def changes(saved: Config, draft: Config) -> dict[Key, object]:
    """The settings of *draft* that differ from *saved*, by key."""
    return {knob.key: value_of(draft, knob) for knob in KNOBS if value_of(draft, knob) != value_of(saved, knob)}


class Trial:
    """A draft of the settings of a root, which begins with the saved ones.

    *given*: the environment and the flags of this start, as for `read_config`. *is_trusted*: all of the root's settings
    count. *roots*: all open roots, for the tuned cutoff. *has_phrases*: their memories are found by phrases, too.
    """

    def __init__(
        self,
        root: str,
        given: Mapping[str, str],
        *,
        is_trusted: bool = False,
        roots: Sequence[str] = (),
        has_phrases: bool = False,
    ) -> None:
        self.root, self._roots, self._has_phrases = root, roots or (root,), has_phrases
        self._given = given
        self._is_trusted = is_trusted
        self.saved = self.draft = self._read()

    @classmethod
    def of(cls, workspace: Workspace) -> Trial:
        """A trial of the settings that count for all open roots."""
        sources, joint = workspace.sources, workspace.joint
        root, roots = (joint.main, joint.paths) if joint else (workspace.root, ())
        if sources is None:
            return cls(root, os.environ, roots=roots, has_phrases=workspace.has_phrases)
        given = {**sources.environ, **sources.judge.flags}
        return cls(root, given, is_trusted=sources.is_trusted, roots=roots, has_phrases=workspace.has_phrases)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The knobs that do something with the saved strategy."""
        return tuple(knob for knob in KNOBS if knob is not MIN_STRENGTH or self.saved.match_strategy == MEMSIFT)

    @property
    def changes(self) -> dict[Key, object]:
        """The settings that differ from the saved ones."""
        return changes(self.saved, self.draft)

    @property
    def ignored(self) -> str:
        """The reason why a tuned cutoff is not used with the draft, or empty."""
        return self._cutoff(self.draft)[1]

    def about(self, knob: Knob) -> str:
        """The meaning of a setting, or of the name that it has as its value."""
        cutoff, _ = self._cutoff(self.draft)
        named = threshold_text(self.draft.cutoff_threshold, cutoff) if cutoff and knob is THRESHOLD else ""
        return named or knob.about

    def read_saved(self) -> None:
        """Take over the settings as they are saved now, and keep the moves of the draft."""
        moved, draft = self.changes, self.draft
        self.saved = self.draft = self._read()
        for knob in KNOBS:
            if knob.key in moved:
                self.draft = with_value(self.draft, knob, value_of(draft, knob))

    def _read(self) -> Config:
        return read_config(self.root, self._given, is_trusted=self._is_trusted).config

    @property
    def warning(self) -> str:
        """The moved settings that will not count after they are saved, and why; empty if all of them will."""
        moved = self.changes
        if not moved:
            return ""
        root = os.path.realpath(self.root)
        command = trust_command(root)
        if len(self._roots) > 1 and not self._is_trusted and not is_own_root(root, self._given):
            return f"Settings of this root count for its own memories only, until you trust it: `{command}`."
        reading = read_config(self.root, self._given, is_trusted=self._stays_trusted, changes=moved)
        ignored = {".".join(key) for key in changes(reading.config, self.draft) if key in moved}
        untrusted = {key.removeprefix(f"{SECTION}.") for key, _ in reading.untrusted}
        reasons = (
            (ignored & untrusted, "count", "counts", f"only after `{command}`: this root is not trusted."),
            (ignored - untrusted, "have", "has", "another value from a variable, a flag or config.toml."),
        )
        return " ".join(
            f"{', '.join(sorted(names))} {single if len(names) == 1 else several} {reason}"
            for names, several, single, reason in reasons
            if names
        )

    @property
    def _stays_trusted(self) -> bool:
        """Whether all settings count. A root that is trusted now stays so after a person has saved."""
        with suppress(ConfigError):
            return self._is_trusted or is_trusted(self.root, self._given)
        return False

    def save(self) -> str:
        """Write the moved settings into the root's file, and give its path.

        Raises ConfigError and CurationError; then nothing is written.
        """
        path = keeping_trust(self.root, self._given, lambda: write_settings(self.root, self.changes))
        self.draft = self.saved
        self.read_saved()
        return path

    def move(self, knob: Knob, steps: int) -> None:
        self.draft = moved(self.draft, knob, steps, self._cutoff(self.draft)[0])

    def take_named(self) -> None:
        """Let the draft have the next threshold with a name, and the first after the last; nothing without a cutoff."""
        if self._cutoff(self.draft)[0]:
            now = self.draft.cutoff_threshold
            place = THRESHOLDS.index(now) + 1 if now in THRESHOLDS else 0
            self.draft = with_value(self.draft, THRESHOLD, THRESHOLDS[place % len(THRESHOLDS)])

    def text(self, knob: Knob, config: Config) -> str:
        """The value in the draft or in the saved settings, in words."""
        return value_text(config, knob, self._cutoff(config)[0])

    # Over the labelled prompts

    def injected(self, sample: WhatIfSample, is_stale: Callable[[], bool]) -> Sequence[Injected | None]:
        """The injected sets of the saved settings."""
        return sample.injected(self.saved, self._cutoff(self.saved)[0], is_stale)

    def effect(self, sample: WhatIfSample, sets: Sequence[Injected | None], draft: Config) -> WhatIfEffect:
        """The effect of *draft*; *sets* are the injected sets of the saved settings."""
        return effect_of(sample, (self.saved, sets), (draft, sample.injected(draft, self._cutoff(draft)[0])))

    def compared(
        self, sample: WhatIfSample, knob: Knob, draft: Config, is_stale: Callable[[], bool]
    ) -> Iterator[tuple[str, SettingsNumbers | None]]:
        """The numbers of *draft* at each value of a setting; None if a verdict of the judge is missing for a prompt.

        The values in use, saved and in *draft*, are among them, also between two steps.
        """
        used = {
            now: value_of(config, knob)
            for config in (self.saved, draft)
            if knob not in (JUDGE, CUTOFF) and (now := in_use(config, knob, self._cutoff(config)[0])) is not None
        }
        for value in values_of(knob, self._cutoff(draft)[0], used):
            config = with_value(draft, knob, value)
            cutoff, _ = self._cutoff(config)
            sets = sample.injected(config, cutoff, is_stale)
            if is_stale():
                return
            rows = [
                (labelled.prompt, found)
                for labelled, found in zip(sample.prompts, sets, strict=True)
                if found is not None
            ]
            yield value_text(config, knob, cutoff), numbers(sample, rows, config) if len(rows) == len(sets) else None

    def _cutoff(self, config: Config) -> tuple[Cutoff | None, str]:
        """The cutoff that *config* chooses, and the reason why a tuned one is not used, or empty."""
        places = [(state_dir(root, self._given), root) for root in self._roots]
        cutoff, problem = chosen_cutoff(places, config, trust_in(self._given))
        return cutoff and cutoff.of(has_phrases=self._has_phrases and config.phrases), problem
