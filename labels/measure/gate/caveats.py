"""Why the gate will not decide, and what to keep in mind where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.metrics import Ratio, judge_failures, precision_bounds, tally, unjudged_share
from labels.measure.notes import FEW_PROMPTS, MAX_FALLBACKS, MAX_UNJUDGED, MIN_BLIND, with_other_settings
from labels.report.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labels.measure.gate.evidence import Evidence
    from labels.records import Outcome

NAMED = 3
"""How many of the prompts that are to be finished are named."""


def refusals(evidence: Evidence, system: str) -> tuple[str, ...]:
    """Reasons for which any answer would be about something else than what was asked; each says what to do."""
    return (*on_settings(evidence, system), *on_sight(evidence), *on_gaps(evidence, system))


def warnings(evidence: Evidence, system: str) -> tuple[str, ...]:
    """What bears on the answer without forbidding it."""
    return (
        *on_few(evidence, system),
        *on_failures(evidence, system),
        *on_lost_labels(evidence),
        *on_unsure(evidence, system),
        *on_assumptions(evidence, system),
        *on_frame(evidence, system),
    )


def on_settings(evidence: Evidence, system: str) -> Iterator[str]:
    if outdated := with_other_settings(evidence.of(system), evidence.changed):
        yield outdated


def on_sight(evidence: Evidence) -> Iterator[str]:
    seen = evidence.blind.whole - evidence.blind.part
    if evidence.blind.part < MIN_BLIND * evidence.blind.whole:
        yield (
            f"{part(seen, evidence.blind.whole, 'labels')} were given with rank, score or verdict in view, which pulls "
            "answers towards what is shown. Label those prompts again without looking."
        )


def on_gaps(evidence: Evidence, system: str) -> Iterator[str]:
    begun = begun_rows(evidence, system)
    left = {row.prompt_id: number for row in begun if (number := left_of(evidence, row))}
    missing, whole = sum(left.values()), sum(len(row.injected) for row in begun)
    if missing > MAX_UNJUDGED * whole:
        yield (
            f"{part(missing, whole, 'injected memories')} on prompts that were begun are not judged: what was left out "
            f"may be what is hard to judge. {finishing(evidence, left)}"
        )


def on_few(evidence: Evidence, system: str) -> Iterator[str]:
    number = len(evidence.sample(system).judged)
    if 0 < number < FEW_PROMPTS:
        prompts = counted(number, "prompt counts", "prompts count")
        yield f"Only {prompts}: below {FEW_PROMPTS}, a few odd ones weigh much."


def on_failures(evidence: Evidence, system: str) -> Iterator[str]:
    failures = judge_failures(evidence.of(system))
    if failures.part > MAX_FALLBACKS * failures.whole:
        yield (
            f"The judge failed on {part(failures.part, failures.whole, 'prompts')} on which it was asked; what was "
            "injected instead, without it, is what is measured."
        )


def on_lost_labels(evidence: Evidence) -> Iterator[str]:
    if evidence.stale:
        labels = counted(evidence.stale, "label does", "labels do")
        yield f"{labels} not count: the memory was edited or removed since."
    if evidence.disputed:
        memories = counted(evidence.disputed, "memory", "memories")
        yield f"People are evenly split on {memories}; those prompts do not count until somebody settles that."


def on_unsure(evidence: Evidence, system: str) -> Iterator[str]:
    unsure = undecidable(evidence, system)
    if unsure.part > MAX_UNJUDGED * unsure.whole:
        yield f"{part(unsure.part, unsure.whole, 'memories')} were labelled unsure or unrateable, and count nowhere."


def on_assumptions(evidence: Evidence, system: str) -> Iterator[str]:
    if evidence.explicit is None:
        return
    tallies = [tally(row, evidence.explicit) for row in evidence.of(system)]
    assumed, bounds = unjudged_share(tallies), precision_bounds(tallies)
    if bounds and assumed.part > MAX_UNJUDGED * assumed.whole:
        yield (
            f"{part(assumed.part, assumed.whole, 'injected memories')} are not in the qrels and are taken as not "
            f"relevant: if all were, precision would be {bounds.high:.2f}. With --unjudged exclude, only prompts count "
            "of which all is in them."
        )


def on_frame(evidence: Evidence, system: str) -> Iterator[str]:
    outside = sum(bool(row.injected) for row in evidence.of(system)) - len(evidence.injecting(system))
    if outside:
        prompts = counted(outside, "prompt does", "prompts do")
        yield f"{prompts} not count, having come after the order of labelling was made."
    for stratum in sorted(unseen_strata(evidence, system)):
        yield f"No prompt of the kind {stratum!r} is judged yet, so nothing is known of that part."


def unseen_strata(evidence: Evidence, system: str) -> set[str]:
    if not evidence.is_chosen:
        return set()
    there = {evidence.strata[row.prompt_id] for row in evidence.injecting(system)}
    return there - {evidence.strata[prompt_id] for prompt_id in evidence.sample(system).judged}


def begun_rows(evidence: Evidence, system: str) -> list[Outcome]:
    """The prompts on which somebody began, without those that are open because somebody stopped there."""
    stopped_at = evidence.underway or ()
    rows = [row for row in evidence.injecting(system) if left_of(evidence, row) < len(row.injected)]
    return [row for row in rows if row.prompt_id not in stopped_at or evidence.is_finished(row)]


def left_of(evidence: Evidence, row: Outcome) -> int:
    """How many of the injected memories nobody dealt with."""
    return len(set(row.injected) - evidence.settled.get(row.prompt_id, {}).keys())


def finishing(evidence: Evidence, left: Mapping[str, int]) -> str:
    """Which prompts to finish, and how."""
    most = sorted(left, key=lambda name: (-left[name], name))
    named = [f"{name} ({left[name]:,} left)" for name in most[:NAMED]]
    more = [counted(len(most) - NAMED, "other", "others")] if len(most) > NAMED else []
    which = f"Finish {listed([*named, *more])}"
    if evidence.underway is None:
        return f"{which} in the qrels."
    settle = " What people are split on, memsift label --adjudicate settles." if evidence.disputed else ""
    return f"{which}: memsift and F4 ask for the open labels, F3 for those that were skipped twice.{settle}"


def undecidable(evidence: Evidence, system: str) -> Ratio:
    """Injected memories that people dealt with and could not judge, of all in the prompts that count."""
    tallies = [tally(row, evidence.judgements) for row in evidence.injecting(system) if evidence.is_finished(row)]
    return Ratio(sum(each.unjudged for each in tallies), sum(each.injected for each in tallies))


def part(number: int, whole: int, things: str) -> str:
    return f"{number:,} of {whole:,} {things}"


def listed(things: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))
