"""A large pool in two calls at once, under one deadline."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread

from engine.judge.deadline import Deadline
from engine.judge.outcome import Outcome
from engine.judge.verdict import OK, TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[tuple[int, ...], float], Outcome]
    """Asks about the candidates at these positions, within so many seconds. Never raises."""

LEAST_S = 0.25
"""With less time left a second attempt is not made: no model answers in it, and the call would be paid for."""


def asked_in_two(ask: Ask, shown: tuple[int, ...], timeout_s: float) -> Outcome:
    """What two calls, each about half of *shown*, come to together.

    As soon as one fails, both are asked about in one call with the time that is left; if there is too little of it, the
    failure is what comes of it. A half that is still under way then ends at its own deadline, and nobody waits for it.
    """
    deadline = Deadline(timeout_s)
    middle = (len(shown) + 1) // 2
    halves = _both(ask, (shown[:middle], shown[middle:]), deadline)
    *earlier, last = halves
    if all(half.status == OK for half in halves):
        together = {position: opinion for half in halves for position, opinion in half.opinions.items()}
        return Outcome(OK, together, source=last.source).after(*halves)
    left = deadline.left_s()
    return last.after(*earlier) if left < LEAST_S else ask(shown, left).after(*halves)


def _both(ask: Ask, halves: tuple[tuple[int, ...], ...], deadline: Deadline) -> list[Outcome]:
    """The outcomes in the order in which they came, up to the first failure."""
    arrived: SimpleQueue[Outcome] = SimpleQueue()
    timeout_s = deadline.left_s()
    for half in halves:
        Thread(target=lambda half=half: arrived.put(ask(half, timeout_s)), daemon=True).start()
    outcomes: list[Outcome] = []
    while len(outcomes) < len(halves) and all(one.status == OK for one in outcomes):
        try:
            outcomes.append(arrived.get(timeout=max(0, deadline.left_s())))
        except Empty:
            outcomes.append(Outcome(TIMEOUT, detail=f"No answer within {timeout_s:g} s."))
    return outcomes
