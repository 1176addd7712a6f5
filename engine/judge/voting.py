"""Several answers to one question: the majority decides, and where there is none the candidate is flagged."""

from __future__ import annotations

from engine.judge.outcome import Outcome
from engine.judge.verdict import CACHE, DECISIONS, FLAGGED, OK, Opinion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def voted(ask: Callable[[int], Outcome], samples: int) -> Outcome:
    """What up to *samples* answers come to together; *ask* gets their numbers, from 0, one after the other.

    A decision needs more than half of the votes, and an outcome as many votes as a majority of *samples*: an error is
    no vote, and with too few votes the last error is what comes of it. No more is asked when no further answer can
    change a decision, or too many have failed.
    """
    votes: list[Outcome] = []
    failures: list[Outcome] = []
    quorum = samples // 2 + 1
    for number in range(samples):
        outcome = ask(number)
        (votes if outcome.status == OK else failures).append(outcome)
        if len(failures) > samples - quorum:
            return failures[-1].after(*votes, *failures[:-1])
        if len(votes) >= quorum and _is_settled(votes, samples - number - 1):
            break
    opinions = {position: _together([vote.opinions[position] for vote in votes]) for position in votes[0].opinions}
    return Outcome(OK, opinions, source=CACHE).after(*votes, *failures)


def _is_settled(votes: Sequence[Outcome], left: int) -> bool:
    """Whether *left* more votes, or any of them, change no decision."""
    half = (len(votes) + left) / 2
    leads = (_lead([vote.opinions[position] for vote in votes])[1] for position in votes[0].opinions)
    return all(lead > half or lead + left <= half for lead in leads)


def _lead(opinions: Sequence[Opinion]) -> tuple[str, int]:
    """The decision that most of *opinions* say, and how many say it."""
    said = [one.decision for one in opinions]
    return max(((decision, said.count(decision)) for decision in DECISIONS), key=lambda pair: pair[1])


def _together(opinions: Sequence[Opinion]) -> Opinion:
    """One opinion for all: sure of it as the majority is on average, with the reasoning that its first gave."""
    decision, count = _lead(opinions)
    agreement = count / len(opinions)
    if agreement <= 1 / 2:
        return Opinion(FLAGGED, None, _disagreement(opinions), len(opinions), agreement)
    majority = [one for one in opinions if one.decision == decision]
    confidences = [one.confidence for one in majority if one.confidence is not None]
    sure = sum(confidences) / len(confidences) if confidences else None
    return Opinion(decision, sure, majority[0].reasoning, len(opinions), agreement)


def _disagreement(opinions: Sequence[Opinion]) -> str:
    said = [one.decision for one in opinions]
    counts = ", ".join(f"{said.count(decision)} {decision}" for decision in DECISIONS if decision in said)
    return f"The samples disagree: {counts}."
