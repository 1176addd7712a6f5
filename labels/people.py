"""The consensus of several annotators, and the pairs on which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.records import ADJUDICATED, MAJORITY, NOT_RELEVANT, RELEVANT, SINGLE, Dispute, Gold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.records import Label

    Key = tuple[str, str, str]
    """(prompt id, memory id, digest)."""


def shared_verdict(verdicts: Sequence[str]) -> str | None:
    """The consensus of the verdicts on one pair; None if there is none.

    The majority of relevant against not. Unsure and unrateable have no vote, unless all verdicts are the same.
    """
    balance = verdicts.count(RELEVANT) - verdicts.count(NOT_RELEVANT)
    if balance:
        return RELEVANT if balance > 0 else NOT_RELEVANT
    return verdicts[0] if len(set(verdicts)) == 1 else None


def gold(labels: Iterable[Label], adjudications: Iterable[Label]) -> tuple[Gold, ...]:
    """The consensus on each pair, sorted by pair. An adjudication decides alone; a tie has no gold."""
    found = {key_of(label): Gold(*key_of(label), label.verdict, ADJUDICATED, 1) for label in adjudications}
    for key, own in by_pair(labels).items():
        verdict = shared_verdict([label.verdict for label in own])
        if verdict and key not in found:
            found[key] = Gold(*key, verdict, SINGLE if len(own) == 1 else MAJORITY, len(own))
    return tuple(found[key] for key in sorted(found))


def disputes(labels: Iterable[Label], adjudications: Iterable[Label]) -> tuple[Dispute, ...]:
    """The pairs with different verdicts and no adjudication, sorted by pair."""
    settled = {key_of(label) for label in adjudications}
    pairs = by_pair(labels)
    return tuple(
        Dispute(*key, tuple(pairs[key]))
        for key in sorted(pairs.keys() - settled)
        if len({label.verdict for label in pairs[key]}) > 1
    )


def by_pair(labels: Iterable[Label]) -> dict[Key, list[Label]]:
    pairs: dict[Key, list[Label]] = {}
    for label in labels:
        pairs.setdefault(key_of(label), []).append(label)
    return pairs


def key_of(label: Label) -> Key:
    return label.prompt_id, label.memory_id, label.digest
