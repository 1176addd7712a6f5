"""A deadline: how much time is left of what one call may take."""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Deadline:
    """*seconds* from now on. *clock* is in seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._ends = clock() + seconds

    def left_s(self) -> float:
        """Seconds that are left; 0 or less when it has passed."""
        return self._ends - self._clock()

    def check(self) -> float:
        """Seconds that are left; TimeoutError when none are."""
        left = self.left_s()
        if left <= 0:
            raise TimeoutError
        return left
