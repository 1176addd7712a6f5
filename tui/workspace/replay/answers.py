"""How a judge fared in a run: a fallback is not evidence about it, and a run without any answer has failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import MemsiftError
from engine.judge.verdict import MAX_UNANSWERED, OK
from engine.quality.judging.rating import RULE
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui.workspace.stderr import Judged


@dataclass(frozen=True)
class Answers:
    """How a judge fared: the questions that it was asked, and how many had each status of an error.

    `detail` is the text of the first error.
    """

    asked: int = 0
    failures: tuple[tuple[str, int], ...] = ()
    detail: str = ""

    @classmethod
    def of(cls, results: Iterable[Judged]) -> Answers:
        """Of *results*; those of a rule, and those for which nobody was asked, do not count."""
        found = [result.judgement for result in results if result.judgement and result.judgement.provider != RULE]
        failed = [judgement for judgement in found if judgement.status != OK]
        counts = Counter(judgement.status for judgement in failed)
        return cls(len(found), tuple(counts.items()), failed[0].detail if failed else "")

    def plus(self, other: Answers) -> Answers:
        counts = Counter(dict(self.failures)) + Counter(dict(other.failures))
        return Answers(self.asked + other.asked, tuple(counts.items()), self.detail or other.detail)

    def report(self) -> None:
        """Tell if more than MAX_UNANSWERED had no answer. Raise MemsiftError if nothing had: that is no evidence."""
        failed = sum(count for _, count in self.failures)
        if not failed or failed <= MAX_UNANSWERED * self.asked:
            return
        kinds = ", ".join(f"{status} {count:,}" for status, count in self.failures)
        if failed == self.asked:
            raise MemsiftError(f"The judge answered none of {self.asked:,} questions ({kinds}): {self.detail}")
        tell(
            f"{failed:,} of {self.asked:,} questions have no answer of the judge ({kinds}): {self.detail} Give the "
            "same command again: the others are in the cache."
        )
