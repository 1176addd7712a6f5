"""A tuning as text or JSON. Control characters of prompts and titles never reach the terminal."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import fill
from typing import TYPE_CHECKING

from engine.lean.json_text import printed_json
from engine.wording import aligned, counted
from labels.tuning.curve import MIN_GROUPS
from labels.tuning.first_lines import first_lines, next_step, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.tuning.curve import ThresholdPoint
    from labels.tuning.tuning import ChangedExample, Tuning

UNKNOWN = "-"
EVERY = 5
"""The text shows every fifth point of the curve, and the chosen one."""

MOST_CHANGES = 10
MAX_WIDTH = 60
HEAD = ("P at least", "injected", "precision", "at least*", "recall", "fires", "false fires", "unjudged")


MORE = "More: --full shows every threshold, how right P is, and the changed injections."
WIDTH = 80


def format_text(tuning: Tuning, width: int = WIDTH, *, is_full: bool = False, is_applied: bool = False) -> str:
    """The first lines and the next step, with *is_full* the curve, the reliability and the changes between them."""
    first = "\n".join(fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in first_lines(tuning))
    step = fill(next_step(tuning, is_applied=is_applied), width, subsequent_indent="  ", break_on_hyphens=False)
    parts = [_start(tuning), _curve(tuning), _elsewhere(tuning), _judge(tuning), _reliability(tuning), _changes(tuning)]
    return "\n\n".join([first, *(filter(None, parts) if is_full else [MORE]), step]) + "\n"


def format_json(tuning: Tuning) -> str:
    """Every number of the tuning; `at` is null where no threshold reaches the target."""
    return printed_json(asdict(tuning), indent=2) + "\n"


def _start(tuning: Tuning) -> str:
    start = "the default model, and moves as far as the labels say" if tuning.is_from_default else "nothing"
    return f"P is the estimated probability that a memory is relevant. The fit starts from {start}."


def _curve(tuning: Tuning) -> str:
    chosen = tuning.at.threshold if tuning.at else None
    shown = [point for place, point in enumerate(tuning.points) if point.threshold == chosen or not place % EVERY]
    while len(shown) > 1 and not shown[-1].injected and not shown[-2].injected:
        shown.pop()
    rows = [HEAD, _row(tuning.today, "today"), *(_row(point, f"{point.threshold:.2f}") for point in shown)]
    if not any(point.unjudged for point in (tuning.today, *shown)):
        rows = [row[:-1] for row in rows]
    marks = ["", "", *("  <" if point.threshold == chosen else "" for point in shown)]
    lines = [f"{line}{mark}" for line, mark in zip(aligned(rows, right=True), marks, strict=True)]
    sure = f"{percent(tuning.confidence)} confidence"
    note = f"* with {sure}, on prompts like these; unjudged memories count as not relevant."
    fires = "Fires: share of prompts with an injection. False fires: the same where nothing is relevant."
    return "\n".join([*lines, note, fires])


def _row(point: ThresholdPoint, threshold: str) -> tuple[str, ...]:
    shares = (point.precision, point.low, point.recall, point.fire_rate, point.false_fire_rate)
    return (threshold, f"{point.injected:,}", *map(_share, shares), f"{point.unjudged:,}")


def _elsewhere(tuning: Tuning) -> str:
    """The promise for a root without labels."""
    if tuning.groups < MIN_GROUPS:
        return (
            f"For a root without labels nothing can be promised: that takes labels of {MIN_GROUPS} roots, and these "
            f"are of {tuning.groups}."
        )
    if tuning.elsewhere is None:
        return f"For a root without labels, {percent(tuning.target)} cannot be promised."
    return (
        f"For a root without labels (--to ROOT), P >= {tuning.elsewhere.threshold:.2f} keeps {percent(tuning.target)}: "
        f"the {tuning.groups} roots differ, and the bound allows for it."
    )


def _judge(tuning: Tuning) -> str:
    at = tuning.at
    if at is None:
        return ""
    return (
        f"With a judge, it is asked only about P from {tuning.doubt:.2f} to {at.threshold:.2f}. Memories above are "
        f"injected without it, memories below are dropped. That is a call for {tuning.asked[0]:,} of these prompts "
        f"instead of {tuning.asked[1]:,}; {_share(at.precision)} of the memories above are relevant."
    )


def _reliability(tuning: Tuning) -> str:
    blind = tuning.base_rate * (1 - tuning.base_rate)
    lines = [
        "Reliability of P, on prompts that it was not fitted to",
        *(
            f"  P {bucket.predicted:.2f}: {bucket.observed:.2f} of {counted(bucket.count, 'memory')} relevant"
            for bucket in tuning.reliability
        ),
        f"  Brier score {tuning.brier:.3f} (lower is better; a constant P of {tuning.base_rate:.2f} has {blind:.3f})",
    ]
    return "\n".join(lines)


def _changes(tuning: Tuning) -> str:
    if not tuning.changes:
        return ""
    before = [change for change in tuning.changes if change.before]
    after = [change for change in tuning.changes if change.after]
    lost = [change for change in before if change.is_relevant and not change.after]
    kept = [change for change in after if change.is_relevant is False]
    gone = len(before) - sum(change.after for change in before)
    lines = [f"It would inject {len(after):,} memories in place of today's {len(before):,}: {gone:,} would be gone."]
    lines += _listed(f"{len(lost):,} relevant memories would be lost", lost)
    lines += _listed(f"{len(kept):,} irrelevant memories would stay", kept)
    return "\n".join(lines)


def _listed(what: str, changes: Sequence[ChangedExample]) -> list[str]:
    likeliest = sorted(changes, key=lambda change: -change.probability)[:MOST_CHANGES]
    shown = [f"  {change.probability:.2f}  {_cut(change.prompt)}  ->  {_cut(change.title)}" for change in likeliest]
    more = [f"  and {len(changes) - MOST_CHANGES:,} more"] if len(changes) > MOST_CHANGES else []
    return [f"{what}{':' if shown else '.'}", *shown, *more]


def _cut(text: str) -> str:
    line = "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 1]}…"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"
