"""`memsift gate`."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import MemsiftError
from engine.wording import counted
from tui.cli.declaring import command, option
from tui.cli.options import ABOVE_ZERO, SHARE, Full, MeasuredFiles, Roots, StoreFile, TextOrJson, opened_store
from tui.cli.output import text_width
from tui.workspace import opening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.evidence import Evidence
    from labels.measure.gate import Gate

STRICT = "Without effect: an undecided answer ends with 1 anyway. Older scripts name it."
NO_LABELS = "No label counts for {}, so nothing can be decided. To label prompts: memsift, then L."
NO_ANSWER = "The judge answered for none of {}, so {} cannot be measured. memsift judge PROMPT shows the reason."


@command()
@click.option("--strict", is_flag=True, hidden=True, expose_value=False, help=STRICT)
def gate(
    least: Annotated[float, option("--min-precision", type=SHARE, required=True, metavar="P")],
    least_served: Annotated[float | None, option("--min-served", type=SHARE, metavar="P")],
    system: Annotated[str | None, option("--system", metavar="NAME")],
    allow_undecided: Annotated[bool, option("--allow-undecided")],
    any_look: Annotated[bool, option("--any-look")],
    one_look: Annotated[bool, option("--one-look")],
    zone: Annotated[str | None, option("--indifference", metavar="ZONE")],
    worth: Annotated[float | None, option("--worth", type=ABOVE_ZERO, metavar="N")],
    max_unlabelled: Annotated[float, option("--max-unlabelled", type=click.FloatRange(0, 1), default=0.1, metavar="P")],
    files: MeasuredFiles,
    roots: Roots,
    db: StoreFile,
    is_full: Full,
    form: TextOrJson,
) -> None:
    """Decide whether precision reaches a target, and with --min-served whether enough prompts are served, too.

    The answer is pass (exit code 0), fail (1) or undecided (1). Without a label, or without an answer of the judge, the
    exit code is 2. The last line is the next step, such as the number of prompts to label. Precision is checked at 20,
    45, 70 and 100 labelled prompts; between two of these the answer stays, so you may ask as often as you like, and
    stop as soon as it is decided.

    \b
    Examples:
      memsift gate --min-precision 0.8
      memsift gate --min-precision 0.6 --min-served 0.5 --allow-undecided

    --min-precision: Precision to reach, between 0 and 1: relevant injected memories / injected memories.
    --min-served: Also reach this share of served prompts: of the prompts that need a memory, those that get it.
        Undecided below 30 prompts in need with a list card.
    --system: System to decide on. Default: the configured system.
    --any-look: Decide after any label, for a person who looks at the number all the time. It needs more prompts.
    --allow-undecided: Exit with 0 if the answer is undecided, too, unless too many memories have no label.
    --one-look: Decide with the narrower range for a person who asks once. If you ask again after more labels, it is
        wrong far more often than 1 time in 20.
    --indifference: Range of precision in which either answer is fine: LOW-HIGH, such as 0.75-0.85, or a width, such
        as 0.1.
    --max-unlabelled: Largest share of unlabelled memories among the injected memories of labelled prompts. Above it
        the answer is undecided, and the exit code 1 also with --allow-undecided.
    --worth: Number of irrelevant memories that a relevant memory is worth to you, to decide whether the judge pays.
    """
    from labels.measure.gate import PASS, UNDECIDED, gate_report
    from labels.measure.intervals import ANYTIME, ONCE, PLANNED
    from labels.report.gate_text import gate_json, gate_text

    if any_look and one_look:
        raise click.UsageError("--any-look and --one-look exclude each other: leave one out.")
    target = replace(gate_of(least, zone), looks=ONCE if one_look else ANYTIME if any_look else PLANNED)
    evidence = files.evidence() if files.are_given else evidence_of_labels(roots, db)
    report = gate_report(evidence, system_to_decide(system, evidence), target, worth, least_served, max_unlabelled)
    if not report.labels:
        raise MemsiftError(NO_LABELS.format(report.system))
    if report.failures.whole and report.failures.part == report.failures.whole:
        raise MemsiftError(NO_ANSWER.format(counted(report.failures.whole, "prompt"), report.system))
    write = partial(gate_text, width=text_width(), is_full=is_full) if form == "text" else gate_json
    click.echo(write(report), nl=False)
    is_allowed = allow_undecided and report.verdict == UNDECIDED and not report.caveats.gaps
    if report.verdict != PASS and not is_allowed:
        click.get_current_context().exit(1)


def gate_of(least: float, zone: str | None) -> Gate:
    """The gate. *zone* is LOW-HIGH, or a width around *least*, cut to 0..1.

    Raises click.UsageError if it is malformed or does not contain *least*.
    """
    from labels.measure.gate import Gate
    from labels.measure.intervals import Interval

    first, dash, last = (zone or "0").partition("-")
    try:
        low, high = (float(first), float(last)) if dash else (least - float(first) / 2, least + float(first) / 2)
    except ValueError:
        raise click.UsageError(f"--indifference is LOW-HIGH or a width, not {zone!r}.") from None
    if not dash and high - low <= 1:
        low, high = max(0.0, low), min(1.0, high)
    if not 0 <= low <= least <= high <= 1:
        raise click.UsageError(f"--indifference {zone} must lie between 0 and 1 and contain --min-precision {least:g}.")
    return Gate(least, Interval(low, high))


def evidence_of_labels(roots: Sequence[str], db: str | None) -> Evidence:
    """The evidence in the labels of one or several roots."""
    from labels.measure.evidence import evidence_from_store
    from tui.workspace.root_labels import let_labels_follow, present_digests, present_phrases

    found = opening.open_roots(roots, os.environ)
    with opened_store(db) as store, opening.opened_roots(found.paths) as index:
        let_labels_follow(store, index)
        digests, phrases = present_digests(store, index), present_phrases(index)
        return evidence_from_store(store, index.root, digests, found.config, found.cutoff, phrases)


def system_to_decide(name: str | None, evidence: Evidence) -> str:
    """The system to decide on: the named one, else the configured one, else the only one without a judge.

    Raises MemsiftError if nothing was replayed, and click.UsageError if the system was not, or if none can be chosen.
    """
    systems = evidence.systems
    if not systems:
        raise MemsiftError("No prompt was replayed here. Run memsift replay --save, or replay in the app, then label.")
    if name:
        if name not in systems:
            raise click.UsageError(f"The system {name!r} was not replayed. Choose from {', '.join(systems)}.")
        return name
    plain = [system for system in systems if not system.endswith("+judge")]
    if evidence.configured in systems:
        return evidence.configured
    if len(plain) == 1 or len(systems) == 1:
        return (plain or list(systems))[0]
    raise click.UsageError(f"Name a system with --system: {', '.join(systems)}.")
