"""An oracle for the live interval: the betting test looked at after every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.intervals import STAKES, factors_at

if TYPE_CHECKING:
    from labels.measure.intervals import PerPrompt


def mirrored(per_prompt: PerPrompt) -> PerPrompt:
    """(irrelevant, judged) of each prompt."""
    return [(m - x, m) for x, m in per_prompt]


def rejected_after(per_prompt: PerPrompt, most: float, threshold: float, p: float) -> int | None:
    """The number of prompts after which the betting test rejects all precisions up to *p*; None if it never does."""
    factors, capital = factors_at(set(per_prompt), most, p), [1.0] * len(STAKES)
    for number, counts in enumerate(per_prompt, start=1):
        capital = [own * factor for own, factor in zip(capital, factors[counts], strict=True)]
        if sum(capital) / len(STAKES) >= threshold:
            return number
    return None
