"""The core of both judges: a question is asked with votes, a cache and the user's limits, and becomes a judgement."""

from __future__ import annotations

from time import perf_counter

from engine.config import JudgeConfig
from engine.judge.answer import unready
from engine.judge.prices import outcome_usd
from engine.judge.verdict import FLAGGED, OK, CallOutcome, Judgement, Opinion, Verdict
from engine.lean.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.judge.cache import Cache
    from engine.judge.provider import Provider, Question
    from engine.memory import MemorySummary


class Asker:
    """Asks *provider*. Its only state is the *cache*, if there is one. Safe for threads.

    Of several *samples*, asked in turn, the majority decides. *timeout_s*, else that of *config*, holds for each of
    them. *price_share* is the paid part of the provider's price, 0..1.
    """

    def __init__(
        self,
        provider: Provider,
        config: JudgeConfig = JudgeConfig(),  # noqa: B008 - it cannot be changed
        clock: Callable[[], float] = perf_counter,
        cache: Cache | None = None,
        samples: int = 1,
        price_share: float = 1.0,
        timeout_s: float | None = None,
    ) -> None:
        self.samples = samples
        self._provider = provider
        self._config = config
        self._clock = clock
        self._cache = cache
        self._price_share = price_share
        self._timeout_s = timeout_s or config.timeout_per_call

    def prepare(self) -> None:
        """See `Provider.prepare`: raises an error that would make every answer fail, such as MissingKeyError."""
        self._provider.prepare()

    def close(self) -> None:
        """Close the provider and the cache."""
        self._provider.close()
        if self._cache:
            self._cache.close()

    def _limited(self, question: Question) -> Question:
        """*question* with the temperature and the largest answer that the user chose."""
        most = self._config.max_tokens
        return replace(
            question,
            max_tokens=most or question.max_tokens,
            temperature=self._config.temperature,
            is_limited=most > 0,
        )

    def _most_usd(self, question: Question) -> float | None:
        """The largest possible cost of one call, in US dollars; None where no price is known."""
        from engine.judge.bulk.cost_cap import most_usd

        most = most_usd(self._provider.name, self._provider.model, question)
        return None if most is None else most * self._price_share

    def _judgement(
        self, memories: Sequence[MemorySummary], template_hash: str, depth: str, sampled: Callable[[int], CallOutcome]
    ) -> Judgement:
        """The judgement on *memories*. *sampled* gives the outcome of a sample, counted from 0, and never raises.

        Without memories nobody is asked. Time counts from the moment when the provider is loaded.
        """
        settled = unready(self._provider) if memories else CallOutcome(OK)
        started = self._clock()
        outcome = settled or self._voted(sampled)
        return Judgement(
            status=outcome.status,
            verdicts=tuple(_verdict(memory, position, outcome) for position, memory in enumerate(memories)),
            provider=self._provider.name,
            model=self._provider.model,
            template_hash=template_hash,
            elapsed_ms=(self._clock() - started) * 1000,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            detail=outcome.detail,
            depth=depth,
            cost_usd=outcome_usd(self._provider.name, self._provider.model, outcome, self._price_share),
        )

    def _voted(self, sampled: Callable[[int], CallOutcome]) -> CallOutcome:
        if self.samples == 1:
            return sampled(0)
        from engine.judge.voting import voted

        return voted(sampled, self.samples)


def _verdict(memory: MemorySummary, position: int, outcome: CallOutcome) -> Verdict:
    """An error has no samples, and so no agreement."""
    opinion = outcome.opinions.get(position, Opinion(FLAGGED, samples=0, agreement=0.0))
    judged = (opinion.reasoning, opinion.confidence, opinion.samples, opinion.agreement)
    return Verdict(memory.id, opinion.decision, outcome.status, *judged, outcome.source)
