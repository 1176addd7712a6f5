"""The judge: a verdict for every candidate of a prompt, and never an exception."""

from __future__ import annotations

from time import perf_counter

from engine.judge.answer import failure, outcome_of, unready
from engine.judge.prices import outcome_usd
from engine.judge.prompts import request_text, shuffled, templates
from engine.judge.verdict import FLAGGED, OK, Judgement, Opinion, Outcome, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.config import JudgeConfig
    from engine.judge.cache import Cache
    from engine.judge.prompts import Template
    from engine.judge.provider import Completion, Provider
    from engine.memory import MemorySummary
    from engine.prompt import Prompt, Turn


class Judge:
    """Asks *provider* which candidates to keep. Its only state is the *cache*, if there is one. Safe for threads.

    Of several *samples*, asked in turn, the majority decides. The configured timeout holds for each sample.
    *price_share* is the paid part of the provider's price, 0..1. Raises ConfigError for a prompt in *config* without
    its placeholder.
    """

    def __init__(
        self,
        provider: Provider,
        config: JudgeConfig,
        clock: Callable[[], float] = perf_counter,
        cache: Cache | None = None,
        samples: int = 1,
        price_share: float = 1.0,
    ) -> None:
        self._provider = provider
        self._config = config
        self._clock = clock
        self._cache = cache
        self.samples = samples
        self._price_share = price_share
        self._templates = templates(config)

    def prepare(self) -> None:
        """See `Provider.prepare`: raises an error that would make every judgement fail, such as MissingKeyError."""
        self._provider.prepare()

    def identity(self, mode: str) -> tuple[str, str, str]:
        """(provider, model, template hash). Judgements that differ in one of them come from different judges."""
        return self._provider.name, self._provider.model, self._templates[mode].hash

    def calls(self, candidates: int) -> int:
        """The largest number of calls for one judgement of this number of candidates."""
        return self.samples * (2 if 0 < self._config.split_over < candidates else 1)

    def most_usd(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> float | None:
        """The largest possible cost of a judgement, in US dollars; None where no price is known."""
        from engine.judge.bulk.cost_cap import most_usd

        question = self._templates[mode].question(request_text(prompt, candidates, self._turns(prompt)))
        most = most_usd(self._provider.name, self._provider.model, question)
        return None if most is None else most * self.calls(len(candidates)) * self._price_share

    def close(self) -> None:
        """Close the provider and the cache."""
        self._provider.close()
        if self._cache:
            self._cache.close()

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:
        """A verdict on each of *candidates*, in their order. Without candidates no call is made.

        Mode "search" asks leniently, "auto" strictly. Never raises: an error becomes the judgement's status and detail,
        and every candidate is flagged with that status. Time counts from the moment when the provider is loaded.
        """
        template = self._templates[mode]
        settled = unready(self._provider) if candidates else Outcome(OK)
        started = self._clock()
        outcome = settled or self._voted(template, prompt, candidates)
        return Judgement(
            status=outcome.status,
            verdicts=tuple(_verdict(memory, position, outcome) for position, memory in enumerate(candidates)),
            provider=self._provider.name,
            model=self._provider.model,
            template_hash=template.hash,
            elapsed_ms=(self._clock() - started) * 1000,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            detail=outcome.detail,
            depth=template.depth,
            cost_usd=outcome_usd(self._provider.name, self._provider.model, outcome, self._price_share),
        )

    def _voted(self, template: Template, prompt: Prompt, candidates: Sequence[MemorySummary]) -> Outcome:
        if self.samples == 1:
            return self._sampled(template, prompt, candidates, 0)
        from engine.judge.voting import voted

        return voted(lambda sample: self._sampled(template, prompt, candidates, sample), self.samples)

    def _sampled(self, template: Template, prompt: Prompt, candidates: Sequence[MemorySummary], sample: int) -> Outcome:
        def ask(shown: tuple[int, ...], timeout_s: float) -> Outcome:
            memories = [candidates[position] for position in shown]
            try:
                question = template.question(request_text(prompt, memories, self._turns(prompt)))
            except Exception as error:  # noqa: BLE001 - a candidate that cannot be shown is a status, too
                return failure(error)

            def call() -> Outcome:
                def complete() -> Completion:
                    return self._provider.complete(question, timeout_s)

                return outcome_of(complete, shown, template.depth, self._provider.hide)

            if self._cache is None:
                return call()
            from engine.judge.cache import cache_key

            digests = [memory.digest for memory in memories]
            return self._cache.outcome(cache_key(self._provider, template.hash, question, sample, digests), shown, call)

        shown, timeout_s = shuffled(prompt, len(candidates), sample), self._config.timeout_per_call
        if 0 < self._config.split_over < len(candidates):
            from engine.judge.voting import asked_in_halves

            return asked_in_halves(ask, shown, timeout_s)
        return ask(shown, timeout_s)

    def _turns(self, prompt: Prompt) -> Sequence[Turn]:
        wanted = self._config.context_turns if self._config.include_conversation_context else 0
        return prompt.turns[-wanted:] if wanted > 0 else ()


def _verdict(memory: MemorySummary, position: int, outcome: Outcome) -> Verdict:
    """An error has no samples, and so no agreement."""
    opinion = outcome.opinions.get(position, Opinion(FLAGGED, samples=0, agreement=0.0))
    judged = (opinion.reasoning, opinion.confidence, opinion.samples, opinion.agreement)
    return Verdict(memory.id, opinion.decision, outcome.status, *judged, outcome.source)
