"""The judge: a verdict for every candidate of a prompt, and never an exception."""

from __future__ import annotations

from time import perf_counter

from engine.judge.outcome import Outcome, failure, outcome_of
from engine.judge.prices import cost_usd
from engine.judge.prompts import request_text, shuffled
from engine.judge.templates import templates
from engine.judge.verdict import FLAGGED, OK, Judgement, Opinion, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.config import JudgeConfig
    from engine.judge.provider import Completion, Provider
    from engine.judge.templates import Template
    from engine.memory import MemorySummary
    from engine.prompt import Prompt, Turn


class Judge:
    """Asks *provider* which candidates to keep. Holds no state between calls; may be shared between threads.

    Raises ConfigError for a prompt in *config* that does not hold what it needs.
    """

    def __init__(self, provider: Provider, config: JudgeConfig, clock: Callable[[], float] = perf_counter) -> None:
        self._provider = provider
        self._config = config
        self._clock = clock
        self._templates = templates(config)

    def prepare(self) -> None:
        """See `Provider.prepare`: raises what would make every judgement fail, such as MissingKeyError."""
        self._provider.prepare()

    def close(self) -> None:
        self._provider.close()

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:
        """A verdict on each of *candidates*, in their order; no call for no candidates.

        Mode "search" asks leniently, "auto" strictly. Never raises: on any error the judgement has its status and
        detail, and every candidate is flagged with that status. Time counts from when the provider is loaded.
        """
        template = self._templates[mode]
        settled = self._unready() if candidates else Outcome(OK)
        started = self._clock()
        outcome = settled or self._asked(template, prompt, candidates)
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
            cost_usd=cost_usd(self._provider.name, self._provider.model, outcome.input_tokens, outcome.output_tokens),
        )

    def _unready(self) -> Outcome | None:
        """Why the provider cannot be asked, if it cannot."""
        try:
            self._provider.prepare()
        except Exception as error:  # noqa: BLE001 - the hook must not die of a provider's bug
            return failure(error)
        return None

    def _asked(self, template: Template, prompt: Prompt, candidates: Sequence[MemorySummary]) -> Outcome:
        turns = self._turns(prompt)

        def ask(shown: tuple[int, ...], timeout_s: float) -> Outcome:
            def call() -> Completion:
                user = request_text(prompt, [candidates[position] for position in shown], turns)
                return self._provider.complete(template.question(user), timeout_s)

            return outcome_of(call, shown, template.depth)

        shown, timeout_s = shuffled(prompt, len(candidates)), self._config.timeout_per_call
        if 0 < self._config.split_over < len(candidates):
            from engine.judge.split import asked_in_two  # loads threads, which one call does not need

            return asked_in_two(ask, shown, timeout_s)
        return ask(shown, timeout_s)

    def _turns(self, prompt: Prompt) -> Sequence[Turn]:
        wanted = self._config.context_turns if self._config.include_conversation_context else 0
        return prompt.turns[-wanted:] if wanted > 0 else ()


def _verdict(memory: MemorySummary, position: int, outcome: Outcome) -> Verdict:
    """An answer is one sample, which agrees with itself; an error has none."""
    answers = 1 if outcome.status == OK else 0
    opinion = outcome.opinions.get(position, Opinion(FLAGGED))
    return Verdict(
        memory_id=memory.id,
        decision=opinion.decision,
        status=outcome.status,
        reasoning=opinion.reasoning,
        confidence=opinion.confidence,
        samples=answers,
        agreement=float(answers),
        source=outcome.source,
    )
