"""The first lines of a tuning and the next step, for a person who knows no statistics."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from engine.config import DEFAULT, OFF, TUNED
from engine.wording import counted
from labels.tuning.curve import MIN_FIRED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.tuning.curve import ThresholdPoint
    from labels.tuning.tuning import Tuning

TODAY = {
    TUNED: "Today, with the tuned cutoff",
    DEFAULT: "Today, with the default cutoff",
    OFF: "Today, without a cutoff",
}
MOST_MORE = 1_000
"""The number of further prompts above which no number is said."""


def first_lines(tuning: Tuning) -> Iterator[str]:
    """At most five sentences: the labels, the injections today and with the new cutoff, false fires, the promise."""
    yield labels_line(tuning)
    yield f"{TODAY.get(tuning.today_cutoff, 'Today')}: {injected_text(tuning.today)}."
    if tuning.at:
        yield f"Tuned, P >= {tuning.at.threshold:.2f}: {injected_text(tuning.at)}; {lost_text(tuning)}."
        if tuning.silent:
            yield false_fires_line(tuning, tuning.at)
    yield promise_line(tuning)


def labels_line(tuning: Tuning) -> str:
    number = tuning.relevant + tuning.not_relevant
    prompts = counted(tuning.prompts, "prompt")
    roots = f" of {tuning.groups:,} roots" if tuning.groups > 1 else ""
    kinds = f"{tuning.relevant:,} relevant, {tuning.not_relevant:,} not"
    return f"{counted(number, 'label')} on {prompts}{roots} count: {kinds}."


def injected_text(at: ThresholdPoint) -> str:
    unjudged = f", {at.unjudged:,} unlabelled" if at.unjudged else ""
    return f"{counted(at.injected, 'memory')} injected, {at.relevant:,} relevant{unjudged}"


def lost_text(tuning: Tuning) -> str:
    """The relevant memories of today that are lost, and the new ones."""
    lost = sum(change.is_relevant is True and change.before and not change.after for change in tuning.changes)
    found = sum(change.is_relevant is True and change.after and not change.before for change in tuning.changes)
    return f"{lost:,} of {tuning.today.relevant:,} lost{f', {found:,} new' if found else ''}"


def false_fires_line(tuning: Tuning, at: ThresholdPoint) -> str:
    today, then = (round((point.false_fire_rate or 0.0) * tuning.silent) for point in (tuning.today, at))
    return f"Prompts with nothing relevant that get an injection: {today:,} of {tuning.silent:,} today, {then:,} then."


def promise_line(tuning: Tuning) -> str:
    """The promise, or the best one that the labels carry."""
    if tuning.at:
        return f"Promise: at least {percent(tuning.target)} relevant, {sureness(tuning)}."
    if best := best_promise(tuning):
        return f"{percent(tuning.target)} cannot be promised; {percent(best)} can, {sureness(tuning)}."
    if tuning.reachable is None:
        return f"Nothing can be promised: every threshold injects for fewer than {MIN_FIRED} prompts."
    return f"{percent(tuning.target)} cannot be promised from these labels, and nothing above 0 %."


def sureness(tuning: Tuning) -> str:
    """kept 9 times in 10, on prompts like these."""
    share = round(tuning.confidence * 100)
    times = f"{share // 10} times in 10" if share % 10 == 0 else f"{share} times in 100"
    return f"kept {times}, on prompts like these"


def best_promise(tuning: Tuning) -> float:
    """The highest target that can be promised, in whole hundredths; 0 for none."""
    low = tuning.reachable.low if tuning.reachable else None
    return int((low or 0.0) * 100) / 100


def next_step(tuning: Tuning, *, is_applied: bool = False) -> str:
    """The most useful next step, with its command."""
    if tuning.at and is_applied:
        return "Next: label new prompts now and then, and tune again: memsift, then F4."
    if tuning.at:
        return f"Next: use it: memsift tune --target-precision {tuning.target:g} --apply."
    more = more_prompts(tuning)
    label = f"label about {more:,} more prompts" if more else "label more prompts"
    if best := best_promise(tuning):
        return f"Next: ask for less (memsift tune --target-precision {best:g}), or {label}: memsift, then F4."
    return f"Next: {label}: memsift, then F4."


def more_prompts(tuning: Tuning) -> int:
    """The number of further labelled prompts that would carry the target, if precision stays; 0 if none would.

    The distance between precision and its bound shrinks with the square root of the number of prompts.
    """
    best = tuning.reachable
    if best is None or best.precision is None or best.low is None or best.precision <= tuning.target:
        return 0
    more = ceil(tuning.prompts * (((best.precision - best.low) / (best.precision - tuning.target)) ** 2 - 1))
    return more if more <= MOST_MORE else 0


def percent(value: float) -> str:
    return f"{value * 100:.4g} %"
