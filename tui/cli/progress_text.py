"""The progress of labelling, for a person and for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from labels.orders import ALL

if TYPE_CHECKING:
    from labels.progress import Person, Progress

WORDS = {"relevant": "relevant", "not": "not", "unsure": "unsure", "unrateable": "cannot be rated"}


def progress_row(progress: Progress) -> dict[str, Any]:
    """As JSON; ratios are left to the reader, as counts."""
    people = [{**asdict(person), "labels": person.labels} for person in progress.people]
    return {**asdict(progress), "people": people}


def progress_text(progress: Progress) -> str:
    lines = [*strata_lines(progress), *people_lines(progress), *people_differ_lines(progress)]
    return "".join(f"{line}\n" for line in lines)


def strata_lines(progress: Progress) -> list[str]:
    prompts, done = (sum(getattr(one, name) for one in progress.strata) for name in ("prompts", "done"))
    lines = [f"{done:,} of {plural(prompts, 'prompt')} done by {progress.annotator}, in {progress.order} order"]
    if [one.name for one in progress.strata] != [ALL]:
        lines += [f"  {one.name}: {one.done:,} of {one.prompts:,}" for one in progress.strata]
    if progress.seconds_per_card is not None:
        lines.append(f"{max(1, round(progress.seconds_per_card))} s a card")
    return lines


def people_lines(progress: Progress) -> list[str]:
    if not progress.people:
        return ["no labels yet: `memsift` and F4 start labelling"]
    return [line for person in progress.people for line in person_lines(person)]


def person_lines(person: Person) -> list[str]:
    said = ", ".join(f"{count:,} {WORDS[verdict]}" for verdict, count in person.verdicts.items() if count)
    imported = f", {person.imported:,} imported" if person.imported else ""
    lines = [f"{person.annotator}: {plural(person.labels, 'label')} ({said}), {person.blind:,} given blind{imported}"]
    if person.repeated:
        kappa = f", kappa {person.kappa:.2f}" if person.kappa is not None else ""
        lines.append(f"  said the same again of {person.same:,} of {plural(person.repeated, 'repeated card')}{kappa}")
    return lines


def people_differ_lines(progress: Progress) -> list[str]:
    lines = []
    if progress.disputed:
        lines.append(
            f"people differ on {plural(progress.disputed, 'memory')}: `memsift label --adjudicate` settles them"
        )
    if progress.settled:
        lines.append(f"{progress.settled:,} settled")
    if progress.stale:
        lines.append(f"{plural(progress.stale, 'label')} of memories that were edited since: they do not count")
    return lines


def plural(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"
