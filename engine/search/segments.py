"""Numbers of rows in segments, without a copy of them all in one: a hook would need a megabyte for half a million."""

from __future__ import annotations

from engine.search.postings import SEGMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Segments:
    """The number of a row, from one sequence for each SEGMENT rows. Raises IndexError for a row behind the last."""

    def __init__(self, segments: Sequence[Sequence[int]]) -> None:
        self._segments = segments

    def __getitem__(self, row: int) -> int:
        return self._segments[row // SEGMENT][row % SEGMENT]
