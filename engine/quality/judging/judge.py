"""The quality judge: an assessment of a memory by a rubric, and never an exception.

A rule finds headings and other texts about a text, so that no model is paid to reject them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.judge.judge import AnswerForm, Asker
from engine.judge.verdict import OK, REJECTED, CallOutcome, Judgement, Opinion, Verdict
from engine.lean.record import Record, replace
from engine.lean.sections import read_sections
from engine.quality.judging.rating import (
    RULE,
    THRESHOLD,
    Assessment,
    Rating,
    combine_ratings,
    decision_of,
    rating_of_text,
    rating_text,
    read_completion,
    with_mean,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engine.judge.provider import Provider, Question
    from engine.memory import Memory
    from engine.quality.judging.rubric import Rubric, RubricTemplate

USUAL_ANSWER = 350
"""Tokens of an answer, for an estimate of the cost."""


class CostEstimate(Record):
    """The cost of memories that are not yet rated. Costs are in US dollars, None where the price is not known.

    `by_rule` counts the memories for which no model is asked, `known` those with an answer in the cache.
    """

    memories: int
    by_rule: int
    known: int
    usual_usd: float | None
    most_usd: float | None

    @property
    def asked(self) -> int:
        """The memories that the model is asked about."""
        return self.memories - self.by_rule - self.known


class QualityJudge(Asker):
    """Asks for ratings of memories. A memory with a score of *threshold* or more is accepted."""

    def __init__(
        self,
        provider: Provider,
        rubric: Rubric,
        template: RubricTemplate,
        *,
        threshold: float = THRESHOLD,
        **asked: Any,
    ) -> None:
        super().__init__(provider, **asked)
        self._criteria = [name for name, _ in rubric.criteria]
        self._template = template
        self._threshold = threshold
        self._form = AnswerForm(
            "rating",
            lambda completion: read_completion(completion, self._criteria, provider.hide),
            rating_text,
            lambda text: (rating := rating_of_text(text)) and with_mean(rating, self._criteria),
        )

    @property
    def identity(self) -> tuple[str, str, str]:
        """(provider, model, template hash). Ratings that differ in one of them come from different judges."""
        return self._provider.name, self._provider.model, self._template.hash

    def estimate(self, memories: Sequence[Memory]) -> CostEstimate:
        """The cost of *memories*, before any is asked about."""
        left = [memory for memory in memories if not meta_reason(memory)]
        asked = ((1, self._question(memory), self._form, self._about(memory)) for memory in left)
        return CostEstimate(len(memories), len(memories) - len(left), *self._costs(asked, USUAL_ANSWER))

    def evaluate(self, memory: Memory) -> Assessment:
        """The assessment of *memory*. Never raises: an error becomes the judgement's status and detail.

        For meta-content no call is made: it is rejected by a rule.
        """
        if reason := meta_reason(memory):
            verdict = Verdict(memory.summary.id, REJECTED, OK, reason)
            judgement = Judgement(OK, (verdict,), RULE, "", self._template.hash, 0.0, depth="", cost_usd=0.0)
            return Assessment(memory.summary, judgement, Rating(0.0, reasons=(reason,)))
        ratings: list[Rating] = []
        judgement = self._judgement(
            [memory.summary], self._template.hash, "", lambda sample: self._sampled(memory, sample, ratings)
        )
        (verdict,) = judgement.verdicts
        rating = combine_ratings(ratings, verdict.decision, self._threshold) if judgement.is_answer else None
        reasoning = verdict.reasoning or (rating.reasons[0] if rating and rating.reasons else "")
        judgement = replace(judgement, verdicts=(replace(verdict, reasoning=reasoning),))
        return Assessment(memory.summary, judgement, rating)

    def _sampled(self, memory: Memory, sample: int, ratings: list[Rating]) -> CallOutcome:
        """The outcome of a sample. Its rating is added to *ratings*."""
        outcome, rating = self._asked(
            lambda: self._question(memory, sample), self._form, self._about(memory), sample, self._timeout_s
        )
        if rating is None:
            return outcome
        ratings.append(rating)
        return replace(outcome, opinions={0: Opinion(decision_of(rating, self._threshold))})

    def _about(self, memory: Memory) -> tuple[str, list[str]]:
        return self._template.hash, [memory.summary.digest]

    def _question(self, memory: Memory, sample: int = 0) -> Question:
        return self._limited(self._template.question(memory, sample))


_TITLES, _OPENINGS = (lines for _, lines in read_sections(__file__, "headings.txt"))
TITLE_LIMIT = 200
"""Characters of a title that are looked at."""

_NOT_WORDS = re.compile(r"[\W\d_]+")
_MARKUP = re.compile(r"\s{0,3}(?:#{1,6}(?:\s|$)|[-=*_]{3,}\s*$|\*\*[^*]*\*\*:?\s*$)")


def meta_reason(memory: Memory) -> str:
    """Why *memory* is meta-content, as a sentence for people; empty if the rule finds nothing."""
    title = memory.summary.title
    words = _NOT_WORDS.sub(" ", title[:TITLE_LIMIT].casefold()).strip()
    if words in _TITLES:
        return f"Meta-content: {title!r} is the heading of a part of a document. A title says what the memory says."
    if (
        f"{words} ".startswith(tuple(f"{opening} " for opening in _OPENINGS))
        and memory.summary.category != "session_summary"
    ):
        return f"Meta-content: the title {title!r} announces or sums up a text instead of saying something."
    # A line says something that is neither a heading nor the title again; without a body the title may, if no heading.
    lines = [line for line in memory.body.splitlines() if line.strip()]
    said = [line for line in lines if not _MARKUP.match(line) and _NOT_WORDS.sub(" ", line.casefold()).strip() != words]
    says_something = said if lines else words and not title.lstrip().startswith("#")
    return "" if says_something else "Meta-content: there is a heading, and no text below it."
