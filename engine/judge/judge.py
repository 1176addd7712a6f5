"""The judge: a verdict for every candidate of a prompt, and never an exception."""

from __future__ import annotations

from engine.judge.answer import failure, outcome_of
from engine.judge.asker import Asker
from engine.judge.prompts import request_text, shuffled, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engine.config import JudgeConfig
    from engine.judge.prompts import JudgeTemplate
    from engine.judge.provider import Completion, Provider, Question
    from engine.judge.verdict import CallOutcome, Judgement
    from engine.memory import MemorySummary
    from engine.prompt import Prompt, Turn


class Judge(Asker):
    """Asks which candidates to keep. Raises ConfigError for a prompt in *config* without its placeholder."""

    def __init__(self, provider: Provider, config: JudgeConfig, *asked: Any, **named: Any) -> None:
        super().__init__(provider, config, *asked, **named)
        self._templates = templates(config)

    def identity(self, mode: str) -> tuple[str, str, str]:
        """(provider, model, template hash). Judgements that differ in one of them come from different judges."""
        return self._provider.name, self._provider.model, self._templates[mode].hash

    def calls(self, candidates: int) -> int:
        """The largest number of calls for one judgement of this number of candidates."""
        return self.samples * (2 if 0 < self._config.split_over < candidates else 1)

    def most_usd(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> float | None:
        """The largest possible cost of a judgement, in US dollars; None where no price is known."""
        most = self._most_usd(self._question(self._templates[mode], prompt, candidates))
        return None if most is None else most * self.calls(len(candidates))

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:
        """A verdict on each of *candidates*, in their order. Without candidates no call is made.

        Mode "search" asks leniently, "auto" strictly. Never raises: an error becomes the judgement's status and detail,
        and every candidate is flagged with that status.
        """
        template = self._templates[mode]

        def sampled(sample: int) -> CallOutcome:
            return self._sampled(template, prompt, candidates, sample)

        return self._judgement(candidates, template.hash, template.depth, sampled)

    def _sampled(
        self, template: JudgeTemplate, prompt: Prompt, candidates: Sequence[MemorySummary], sample: int
    ) -> CallOutcome:
        def ask(shown: tuple[int, ...], timeout_s: float) -> CallOutcome:
            memories = [candidates[position] for position in shown]
            try:
                question = self._question(template, prompt, memories)
            except Exception as error:  # noqa: BLE001 - a candidate that cannot be shown is a status, too
                return failure(error)

            def call() -> CallOutcome:
                def complete() -> Completion:
                    return self._provider.complete(question, timeout_s)

                return outcome_of(complete, shown, template.depth, self._provider.hide)

            if self._cache is None:
                return call()
            from engine.judge.cache import cache_key

            digests = [memory.digest for memory in memories]
            return self._cache.outcome(cache_key(self._provider, template.hash, question, sample, digests), shown, call)

        shown = shuffled(prompt, len(candidates), sample)
        if 0 < self._config.split_over < len(candidates):
            from engine.judge.voting import asked_in_halves

            return asked_in_halves(ask, shown, self._timeout_s)
        return ask(shown, self._timeout_s)

    def _question(self, template: JudgeTemplate, prompt: Prompt, memories: Sequence[MemorySummary]) -> Question:
        return self._limited(template.question(request_text(prompt, memories, self._turns(prompt))))

    def _turns(self, prompt: Prompt) -> Sequence[Turn]:
        wanted = self._config.context_turns if self._config.include_conversation_context else 0
        return prompt.turns[-wanted:] if wanted > 0 else ()
