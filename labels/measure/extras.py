"""What a report holds only when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Extras:
    """`ranking` are the measures of TREC (which loads ir-measures), `comparing` the systems with each other (scipy),
    `curves` what charts are drawn from."""

    ranking: bool = False
    comparing: bool = False
    curves: bool = False


NONE = Extras()
