"""When the gamblers of the live interval have become rich: who looks after every prompt stops there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.sequences import as_array, capitals

if TYPE_CHECKING:
    from labels.measure.intervals import PerPrompt


def rich_after(per_prompt: PerPrompt, most: float, rich: float, p: float) -> int | None:
    """After how many prompts those who bet that precision is above *p*, in 0..1, have made 1 into *rich*.

    None if they never have.
    """
    is_rich = capitals(as_array(per_prompt), most, p) >= rich
    return int(is_rich.argmax()) + 1 if is_rich.any() else None
