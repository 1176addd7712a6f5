"""A tuning as text or JSON. Control characters of prompts and titles never reach the terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from engine.lean.json_text import printed_json
from labels.tuning.curve import MIN_FIRED, MIN_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.tuning.curve import Point
    from labels.tuning.tuning import Change, Tuning

UNKNOWN = "-"
EVERY = 5
"""The text shows every fifth point of the curve, and the chosen one."""

MOST_CHANGES = 10
MAX_WIDTH = 60
HEAD = ("P at least", "injected", "precision", "at least*", "recall", "fires", "false fires", "unjudged")


def format_text(tuning: Tuning) -> str:
    """For a terminal: the labels, the curve, the threshold, the reliability of P, and the changed injections."""
    parts = [_labels(tuning), _curve(tuning), _choice(tuning), _reliability(tuning), _changes(tuning)]
    return "\n\n".join(filter(None, parts)) + "\n"


def format_json(tuning: Tuning) -> str:
    """Every number of the tuning; `at` is null where no threshold reaches the target."""
    return printed_json(asdict(tuning), indent=2) + "\n"


def _labels(tuning: Tuning) -> str:
    return (
        f"From {tuning.prompts:,} labelled prompts: of the memories that reach the cutoff, {tuning.relevant:,} are "
        f"relevant and {tuning.not_relevant:,} are not.\nP is the estimated probability that a memory is relevant."
    )


def _curve(tuning: Tuning) -> str:
    chosen = tuning.at.threshold if tuning.at else None
    shown = [one for place, one in enumerate(tuning.points) if one.threshold == chosen or not place % EVERY]
    while len(shown) > 1 and not shown[-1].injected and not shown[-2].injected:
        shown.pop()
    rows = [HEAD, *(_row(one) for one in shown)]
    if not any(one.unjudged for one in shown):
        rows = [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    marks = ["", *("  <" if one.threshold == chosen else "" for one in shown)]
    table = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    lines = [f"{line}{mark}" for line, mark in zip(table, marks, strict=True)]
    about = "another root than these" if tuning.groups >= MIN_GROUPS else "prompts like these"
    note = f"* with {_percent(tuning.confidence)} confidence, for {about}; unjudged memories count as not relevant."
    fires = "Fires: share of prompts with an injection. False fires: the same where nothing is relevant."
    return "\n".join([*lines, note, fires])


def _row(one: Point) -> tuple[str, ...]:
    shares = (one.precision, one.low, one.recall, one.fire_rate, one.false_fire_rate)
    threshold = f"{one.threshold:.2f}" if one.threshold else "no cutoff"
    return (threshold, f"{one.injected:,}", *map(_share, shares), f"{one.unjudged:,}")


def _choice(tuning: Tuning) -> str:
    at, sure = tuning.at, f"with {_percent(tuning.confidence)} confidence"
    if at:
        return (
            f"With P >= {at.threshold:.2f}, at least {_percent(tuning.target)} of what is injected is relevant, {sure}."
            f"\nWith a judge, it is asked only about P from {tuning.doubt:.2f} to {at.threshold:.2f}. Memories above "
            f"are injected without it, memories below are dropped. That is a call for {tuning.asked[0]:,} of these "
            f"prompts instead of {tuning.asked[1]:,}; {_share(at.precision)} of the memories above are relevant."
        )
    reachable = tuning.reachable
    if reachable is None or reachable.low is None:
        return f"No threshold injects anything for {MIN_FIRED} of these prompts, so no precision can be promised."
    return (
        f"No threshold reaches {_percent(tuning.target)} {sure}. The best promise is "
        f"--target-precision {int(reachable.low * 100) / 100:.2f}, at P >= {reachable.threshold:.2f}. More labels make "
        "the bound closer to the precision."
    )


def _reliability(tuning: Tuning) -> str:
    blind = tuning.base_rate * (1 - tuning.base_rate)
    lines = [
        "Reliability of P, on prompts that it was not fitted to",
        *(
            f"  P {one.predicted:.2f}: {one.observed:.2f} of {one.count:,} "
            f"{'memory' if one.count == 1 else 'memories'} relevant"
            for one in tuning.reliability
        ),
        f"  Brier score {tuning.brier:.3f} (lower is better; a constant P of {tuning.base_rate:.2f} has {blind:.3f})",
    ]
    return "\n".join(lines)


def _changes(tuning: Tuning) -> str:
    if not tuning.changes:
        return ""
    before = [one for one in tuning.changes if one.before]
    after = [one for one in tuning.changes if one.after]
    lost = [one for one in before if one.is_relevant and not one.after]
    kept = [one for one in after if one.is_relevant is False]
    gone = len(before) - sum(one.after for one in before)
    lines = [f"It would have injected {len(after):,} memories in place of {len(before):,}: {gone:,} would be gone."]
    lines += _listed(f"{len(lost):,} relevant memories would be lost", lost)
    lines += _listed(f"{len(kept):,} irrelevant memories would stay", kept)
    return "\n".join(lines)


def _listed(what: str, changes: Sequence[Change]) -> list[str]:
    likeliest = sorted(changes, key=lambda one: -one.probability)[:MOST_CHANGES]
    shown = [f"  {one.probability:.2f}  {_cut(one.prompt)}  ->  {_cut(one.title)}" for one in likeliest]
    more = [f"  and {len(changes) - MOST_CHANGES:,} more"] if len(changes) > MOST_CHANGES else []
    return [f"{what}{':' if shown else '.'}", *shown, *more]


def _cut(text: str) -> str:
    line = "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 1]}…"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _percent(value: float) -> str:
    return f"{value * 100:.4g} %"
