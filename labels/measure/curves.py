"""What the charts of one system are drawn from, beside its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.coverage import Coverage, coverage
from labels.measure.history import Moment, history
from labels.measure.reliability import Reliability, reliability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.basis import Basis
    from labels.measure.gate.decision import Sample
    from labels.records import Outcome


@dataclass(frozen=True)
class Curves:
    """Precision against coverage, whether the probabilities are true, and how the precision became known.

    None or empty where nothing is known: no scores, no probabilities, no order of the labels.
    """

    coverage: Coverage | None
    reliability: Reliability | None
    history: tuple[Moment, ...]


def curves(rows: Sequence[Outcome], basis: Basis, sample: Sample | None) -> Curves:
    """The curves of one system's *rows*, one for each prompt; *sample* is None where no order is known."""
    return Curves(
        coverage(rows, basis.judgements, basis.weights),
        reliability(rows, basis.judgements),
        history(sample) if sample else (),
    )
