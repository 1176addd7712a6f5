"""What a report needs to know of the sampling frame and of the prompts in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labels.database import LabelDatabase


def prompt_texts(db: LabelDatabase) -> dict[str, str]:
    """What every prompt says, by id."""
    return dict(db.tuples("SELECT prompt_id, text FROM prompt"))


def inclusion(db: LabelDatabase) -> dict[str, dict[str, float]]:
    """The probability (0..1] with which each memory came into the newest pool that it was in: prompt id -> memory id.

    Only of the prompts in whose pools there was ever a sample.
    """
    rows = db.tuples(
        """SELECT prompt_id, memory_id, inclusion_probability FROM frame WHERE prompt_id IN
           (SELECT prompt_id FROM frame WHERE inclusion_probability < 1) ORDER BY ts"""
    )
    found: dict[str, dict[str, float]] = {}
    for prompt_id, memory_id, probability in rows:
        found.setdefault(prompt_id, {})[memory_id] = probability
    return found
