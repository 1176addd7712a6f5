"""Hidden repeats: cards that are shown a second time without saying so, to see how far a person agrees with themselves.

Agreement with oneself is the ceiling of every other agreement, so a share of the cards comes back. A card's turn comes
when a number of others have been labelled since, far enough for it to be out of sight and mostly out of mind. The
prompt's ranks have been revealed by then, so what is measured is at best what a person without that hint would reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.pooling import random_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.records import Label

SHARE = 0.1
"""Of all cards, how many come back."""

LEAST_GAP, GAP_SPREAD = 10, 20
"""A card comes back after at least LEAST_GAP others, and after fewer than GAP_SPREAD more, at the next new prompt."""

REACH = 200
"""A card whose turn was missed for this many others does not come back."""


def due(recent: Sequence[Label], seed: int) -> tuple[Label, ...]:
    """Those of a person's latest labels, newest first, whose turn has come or is over, the longest waiting first.

    Only what was labelled blind and by a key press can be said again under the same conditions.
    """
    return tuple(
        label
        for later, label in reversed(list(enumerate(recent)))
        if label.blind and not label.source and is_chosen(label, seed) and later >= gap(label, seed)
    )


def is_chosen(label: Label, seed: int) -> bool:
    return fraction(label, seed, "repeat") < SHARE


def gap(label: Label, seed: int) -> int:
    """How many other cards must have been labelled since."""
    return LEAST_GAP + int(GAP_SPREAD * fraction(label, seed, "gap"))


def fraction(label: Label, seed: int, salt: str) -> float:
    """A number in [0, 1) that is as good as random, and the same whenever it is asked for."""
    key = random_key(str(seed), salt, label.annotator, label.prompt_id, *label.pair)
    return int.from_bytes(key[:6]) / 2**48
