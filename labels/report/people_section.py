"""What a report says of the people who label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.figures import counted, decimal, give_or_take, share, span
from labels.report.section import Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.people import Concord, People


def people_section(people: People) -> Section:
    """Each person twice, each two people, and all together."""
    head = ("", "same\nanswer", "where one\nsays yes", "where one\nsays no", "kappa", "AC1")
    rows = tuple(row_of(each) for each in (*people.selves, *people.others))
    return Section(
        "people",
        "People: how sure the labels themselves are",
        "Memories that came again unannounced (once the ranks of their prompt were shown, so this is at its best), and "
        "memories that two people labelled. No judge can be expected to agree with them more. Kappa (± its standard "
        "error) and AC1 are agreement beyond chance: 0 is chance, 1 perfect.",
        Table(head, rows),
        tuple(lines_of(people)),
    )


def row_of(each: Concord) -> tuple[str, ...]:
    who = f"{each.first}, again" if each.first == each.second else f"{each.first} and {each.second}"
    kappa = give_or_take(each.kappa, each.kappa_se)
    shares = (share(each.same), decimal(each.if_relevant), decimal(each.if_not))
    return who, *shares, kappa, decimal(each.ac1)


def lines_of(people: People) -> Iterator[str]:
    if people.alpha:
        interval = f" (95 % interval {span(people.alpha.interval)})" if people.alpha.interval else ""
        memories = counted(people.alpha.memories, "memory", "memories")
        yield f"All together, on {memories}: Krippendorff's alpha {decimal(people.alpha.value)}{interval}."
