"""A tuning as text, as JSON, and as the file of a root's cutoff model.

The text is a few plain sentences, the next step, and with --full every number. Control characters of prompts and
titles never reach the terminal. The file lies in the state folder of a root, or is shared in the root itself.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from engine import __version__
from engine.config import DEFAULT, OFF, SHARED_CUTOFF_FILE, THRESHOLDS, TUNED
from engine.curation import files
from engine.cutoff import VERSION, fit_of
from engine.default_model import FALSE_FIRES
from engine.errors import TuningError
from engine.lean.json_text import printed_json
from engine.lean.record import fields
from engine.paths import cutoff_file
from engine.phrases.measuring import phrased_line
from engine.stores.files import write_whole
from engine.wording import aligned, counted, listed
from labels.records import picked
from labels.tuning.curve import MIN_FIRED, MIN_GROUPS, MIN_SILENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from engine.config import Config
    from labels.tuning.curve import ThresholdPoint
    from labels.tuning.tuning import ChangedExample, Tuning

UNKNOWN = "-"
EVERY = 5
"""The text shows every fifth point of the curve, and the chosen one."""

MOST_CHANGES = 10
MAX_WIDTH = 60
HEAD = ("P at least", "injected", "precision", "at least*", "recall", "fires", "false fires", "unjudged")


TODAY = {
    TUNED: "Today, with the tuned cutoff",
    DEFAULT: "Today, with the default cutoff",
    OFF: "Today, without a cutoff",
}
MOST_MORE = 1_000
"""The number of further prompts above which no number is said."""

STRICT = "memsift config set retrieval.cutoff_threshold strict"
MORE = "More: --full shows every threshold, how right P is, and the changed injections."
WIDTH = 80


def format_text(tuning: Tuning, width: int = WIDTH, *, is_full: bool = False, is_applied: bool = False) -> str:
    """The first lines and the next step, with *is_full* the curve, the reliability and the changes between them."""
    first = "\n".join(fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in first_lines(tuning))
    step = fill(next_step(tuning, is_applied=is_applied), width, subsequent_indent="  ", break_on_hyphens=False)
    kinds = (_curve, _names, _elsewhere, _judge, _reliability, _changes)
    parts = filter(None, (part(tuning) for part in kinds)) if is_full else [MORE]
    return "\n\n".join([first, *parts, step]) + "\n"


def format_json(tuning: Tuning) -> str:
    """Every number of the tuning; `at` is null where no threshold reaches the target."""
    return printed_json(asdict(tuning), indent=2) + "\n"


def _curve(tuning: Tuning) -> str:
    start = "the default model, and moves as far as the labels say" if tuning.is_from_default else "nothing"
    about = f"P is the estimated probability that a memory is relevant. The fit starts from {start}.\n"
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
    return "\n".join([about, *lines, note, fires])


def _row(point: ThresholdPoint, threshold: str) -> tuple[str, ...]:
    shares = (point.precision, point.low, point.recall, point.fire_rate, point.false_fire_rate)
    return (threshold, f"{point.injected:,}", *map(_share, shares), f"{point.unjudged:,}")


def _names(tuning: Tuning) -> str:
    """The thresholds that have a name."""
    if not tuning.thresholds:
        return (
            f"The names {listed(THRESHOLDS)} keep the tuned threshold: to know their false fires takes {MIN_SILENT} "
            f"labelled prompts that need nothing, and these are {tuning.silent}."
        )
    named = [f"{name} P >= {own:.2f} ({percent(FALSE_FIRES[name])})" for name, own in tuning.thresholds.items()]
    return f"By name, with the most false fires on these labels: {listed(named)}."


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
    lines = [
        f"  P {own.predicted:.2f}: {own.observed:.2f} of {counted(own.count, 'memory')} relevant"
        for own in tuning.reliability
    ]
    constant = f"a constant P of {tuning.base_rate:.2f} has {tuning.base_rate * (1 - tuning.base_rate):.3f}"
    brier = f"  Brier score {tuning.brier:.3f} (lower is better; {constant})"
    return "\n".join(["Reliability of P, on prompts that it was not fitted to", *lines, brier])


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


# The first lines and the next step, for a person who knows no statistics


def first_lines(tuning: Tuning) -> Iterator[str]:
    """At most six sentences: labels, prompts left out, injections today and with the cutoff, false fires, a promise."""
    prompts = counted(tuning.prompts, "prompt")
    roots = f" of {tuning.groups:,} roots" if tuning.groups > 1 else ""
    kinds = f"{tuning.relevant:,} relevant, {tuning.not_relevant:,} not"
    yield f"{counted(tuning.relevant + tuning.not_relevant, 'label')} on {prompts}{roots} count: {kinds}."
    yield from phrased_line(tuning.phrased)
    yield f"{TODAY.get(tuning.today_cutoff, 'Today')}: {injected_text(tuning.today)}."
    if tuning.at:
        good = [change for change in tuning.changes if change.is_relevant]
        lost = sum(change.before and not change.after for change in good)
        new = sum(change.after and not change.before for change in good)
        kept = f"{lost:,} of {tuning.today.relevant:,} lost{f', {new:,} new' if new else ''}"
        yield f"Tuned, P >= {tuning.at.threshold:.2f}: {injected_text(tuning.at)}; {kept}."
        if tuning.silent:
            today, then = (round((at.false_fire_rate or 0.0) * tuning.silent) for at in (tuning.today, tuning.at))
            of = f"{today:,} of {tuning.silent:,} today, {then:,} then"
            yield f"Prompts with nothing relevant that get an injection: {of}."
    yield promise_line(tuning)


def injected_text(at: ThresholdPoint) -> str:
    unjudged = f", {at.unjudged:,} unlabelled" if at.unjudged else ""
    return f"{counted(at.injected, 'memory')} injected, {at.relevant:,} relevant{unjudged}"


def promise_line(tuning: Tuning) -> str:
    """The promise, or the best promise that these labels allow."""
    sureness = f"kept {times_kept(tuning)}, on prompts like these"
    if tuning.at:
        return f"Promise: at least {percent(tuning.target)} relevant, {sureness}."
    # the bound of the safest point, in whole hundredths
    low = tuning.reachable.low if tuning.reachable else None
    if best := int((low or 0.0) * 100) / 100:
        return f"{percent(tuning.target)} cannot be promised; {percent(best)} can, {sureness}."
    if tuning.reachable is None:
        return f"Nothing can be promised: every threshold injects for fewer than {MIN_FIRED} prompts."
    return f"{percent(tuning.target)} cannot be promised from these labels, and nothing above 0 %."


def times_kept(tuning: Tuning) -> str:
    share = round(tuning.confidence * 100)
    return f"{share // 10} times in 10" if share % 10 == 0 else f"{share} times in 100"


def promise_elsewhere(tuning: Tuning, at: ThresholdPoint) -> str:
    """What *at* promises for a root without labels."""
    return (
        f"at least {percent(tuning.target)} relevant with P >= {at.threshold:.2f}, {times_kept(tuning)}, if it is like "
        f"the {tuning.groups} roots with labels. How many prompts it serves is not promised."
    )


def next_step(tuning: Tuning, *, is_applied: bool = False) -> str:
    """The most useful next step, with its command."""
    if tuning.at and is_applied:
        return "Next: label new prompts now and then, and tune again: memsift, then L."
    if tuning.at:
        return f"Next: use it: memsift tune --target-precision {tuning.target:g} --apply."
    return f"Next: {needed_labels(tuning)}. Until then: {STRICT}, which injects only the likeliest memories."


def needed_labels(tuning: Tuning) -> str:
    """The labels that bring the target nearer; or the sentence that none do."""
    at = tuning.reachable or tuning.today
    if at.unjudged:
        return f"label the {counted(at.unjudged, 'memory')} without a label, which would be injected: memsift, then L"
    if more := more_prompts(tuning):
        return f"label about {more:,} more prompts: memsift, then L"
    if tuning.reachable is None:
        return f"label more prompts, until {MIN_FIRED} of them get a memory: memsift, then L"
    return (
        f"more labels alone do not help: {round(100 * (at.precision or 0))} % of the likeliest memories are relevant. "
        "Improve the memories that are often injected and not relevant: memsift report --full names them"
    )


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


# The file of the model


def model_content(tuning: Tuning, config: Config, now: datetime, promise: str) -> dict[str, Any]:
    """The file's JSON, as `engine.cutoff` reads it. Raises TuningError for a tuning without a threshold."""
    at = tuning.point_for(promise)
    if at is None:
        raise TuningError("Nothing reaches the target, so there is nothing to write.")
    return {
        "features": VERSION,
        "fit": fields(fit_of(config)),
        "intercept": tuning.weights.intercept,
        "weights": dict(tuning.weights.by_feature),
        "threshold": at.threshold,
        "doubt": min(tuning.doubt, at.threshold),
        "thresholds": dict(tuning.thresholds),
        "phrases": tuning.has_phrases,
        "provenance": {
            "made_at": now.isoformat(timespec="seconds"),
            "memsift": __version__,
            "started_from": "the default model" if tuning.is_from_default else "nothing",
            "promise": promise,
            "roots": tuning.groups,
            "labels_sha256": tuning.labels_hash,
            **picked(tuning, ("prompts", "relevant", "not_relevant")),
            "target_precision": tuning.target,
            "confidence": tuning.confidence,
            "figures": {name: _rounded(value) for name, value in vars(at).items()},
            "brier": _rounded(tuning.brier),
        },
    }


def write_model(folder: str, made: dict[str, Any]) -> Path:
    """Write the model into a state folder, whole or not at all, in place of an earlier one. Raises TuningError."""
    path = Path(cutoff_file(folder))
    try:
        write_whole(str(path), model_text(made).encode())
    except OSError as error:
        raise TuningError(f"{path} cannot be written ({error.strerror or error}).") from None
    return path


def share_model(root: str, made: dict[str, Any] | None) -> Path | None:
    """Write the model into the root itself, or remove it where *made* is None; None if there was none.

    Raises TuningError, and CurationError as `engine.curation.files.write`.
    """
    path = Path(root, SHARED_CUTOFF_FILE)
    if not Path(root).is_dir():
        raise TuningError(f"{root} is a file, so it cannot hold {SHARED_CUTOFF_FILE}. Leave --shared out.")
    if made is None and not os.path.lexists(path):
        return None
    before = files.text_at(str(path))
    root = os.path.realpath(root)
    files.write(files.FileChange(root, SHARED_CUTOFF_FILE, before, None if made is None else model_text(made)))
    return path


def remove_model(folder: str) -> Path | None:
    """Remove the model from a state folder; None if there was none. Raises TuningError."""
    path = Path(cutoff_file(folder))
    try:
        path.unlink()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TuningError(f"{path} cannot be removed ({error.strerror or error}).") from None
    return path


def model_text(made: dict[str, Any]) -> str:
    return f"{json.dumps(made, indent=2)}\n"


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if isinstance(value, float) else value
