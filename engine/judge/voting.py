"""Several calls for one outcome: samples that vote on each candidate, and the halves of a large pool."""

from __future__ import annotations

from collections import Counter
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

from engine.judge.verdict import CACHE, DECISIONS, FLAGGED, OK, TIMEOUT, CallOutcome, Opinion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Ask = Callable[[tuple[int, ...], float], CallOutcome]
    """Asks about the candidates at these positions, within a time in seconds. Never raises."""

LEAST_S = 0.25
"""With less time left no second attempt is made: no model answers so quickly, and the call would be paid for."""


def voted(ask: Callable[[int], CallOutcome], samples: int) -> CallOutcome:
    """The outcome of up to *samples* answers. *ask* gets the number of a sample, from 0; they are asked in turn.

    A decision needs more than half of the votes; without one the candidate is flagged. An error is no vote. Without
    votes from a majority of the samples the outcome is the last error. Asking stops early when no further answer can
    change a decision, or when too many have failed.
    """
    votes: list[CallOutcome] = []
    failures: list[CallOutcome] = []
    quorum = samples // 2 + 1
    for number in range(samples):
        outcome = ask(number)
        (votes if outcome.status == OK else failures).append(outcome)
        if len(failures) > samples - quorum:
            return failures[-1].after(*votes, *failures[:-1])
        if len(votes) >= quorum and _is_settled(votes, samples - number - 1):
            break
    opinions = {position: _majority(column) for position, column in _columns(votes).items()}
    return CallOutcome(OK, opinions, source=CACHE).after(*votes, *failures)


def asked_in_halves(ask: Ask, shown: tuple[int, ...], timeout_s: float) -> CallOutcome:
    """The outcome of two calls at once, for the first and the second half of *shown*, under one deadline.

    As soon as a half fails, one call asks about everything with the time that is left. If that is less than LEAST_S,
    the failure is the outcome. A half still under way ends at its own deadline, and nothing waits for it.
    """
    ends = monotonic() + timeout_s
    middle = (len(shown) + 1) // 2
    arrived: SimpleQueue[CallOutcome] = SimpleQueue()
    for half in (shown[:middle], shown[middle:]):
        Thread(target=lambda half=half: arrived.put(ask(half, timeout_s)), daemon=True).start()
    outcomes: list[CallOutcome] = []
    while len(outcomes) < 2 and all(outcome.status == OK for outcome in outcomes):
        try:
            outcomes.append(arrived.get(timeout=max(0, ends - monotonic())))
        except Empty:
            outcomes.append(CallOutcome(TIMEOUT, detail=f"No answer within {timeout_s:g} s."))
    *earlier, last = outcomes
    if last.status == OK:
        opinions = {position: opinion for half in outcomes for position, opinion in half.opinions.items()}
        return CallOutcome(OK, opinions, source=CACHE).after(*outcomes)
    left_s = ends - monotonic()
    return last.after(*earlier) if left_s < LEAST_S else ask(shown, left_s).after(*outcomes)


def _columns(votes: Sequence[CallOutcome]) -> dict[int, list[Opinion]]:
    """The opinions on each candidate, by its position."""
    return {position: [vote.opinions[position] for vote in votes] for position in votes[0].opinions}


def _is_settled(votes: Sequence[CallOutcome], left: int) -> bool:
    """Whether *left* more votes cannot change any decision."""
    half = (len(votes) + left) / 2
    leads = (_lead(column)[1] for column in _columns(votes).values())
    return all(lead > half or lead + left <= half for lead in leads)


def _lead(opinions: Sequence[Opinion]) -> tuple[str, int]:
    """The commonest decision, and its number of votes."""
    return Counter(opinion.decision for opinion in opinions).most_common(1)[0]


def _majority(opinions: Sequence[Opinion]) -> Opinion:
    """One opinion for all, with the mean confidence of the majority and the reasoning of its first member."""
    decision, count = _lead(opinions)
    agreement = count / len(opinions)
    if agreement <= 1 / 2:
        return Opinion(FLAGGED, None, _disagreement(opinions), len(opinions), agreement)
    majority = [opinion for opinion in opinions if opinion.decision == decision]
    confidences = [opinion.confidence for opinion in majority if opinion.confidence is not None]
    confidence = sum(confidences) / len(confidences) if confidences else None
    return Opinion(decision, confidence, majority[0].reasoning, len(opinions), agreement)


def _disagreement(opinions: Sequence[Opinion]) -> str:
    votes = Counter(opinion.decision for opinion in opinions)
    counts = ", ".join(f"{votes[decision]} {decision}" for decision in DECISIONS if decision in votes)
    return f"The samples disagree: {counts}."
