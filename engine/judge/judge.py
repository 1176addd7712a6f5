"""The judge: one call per prompt, a verdict for every candidate, and never an exception."""

from __future__ import annotations

from time import perf_counter

from engine.config import SEARCH
from engine.errors import ProviderError
from engine.judge.answer import UnreadableAnswerError, kept_indices
from engine.judge.prompts import LENIENT, SCHEMA, STRICT, cut, request_text, shuffled, template_hash
from engine.judge.provider import MAX_TOKENS, REFUSAL
from engine.judge.verdict import (
    APPROVED,
    FLAGGED,
    HTTP_ERROR,
    OK,
    PARSE_ERROR,
    REFUSED,
    REJECTED,
    Judgement,
    Verdict,
)
from engine.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from engine.config import JudgeConfig
    from engine.judge.provider import Completion, Provider
    from engine.memory import MemorySummary
    from engine.prompt import Prompt, Turn

EXCERPT_LIMIT = 80
"""Characters of an unreadable answer that are shown to people."""


@record
class _Outcome:
    """What came of one call: `kept` are positions in the candidates, meaningful only if `status` is ok."""

    status: str
    kept: Collection[int] = ()
    detail: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


class Judge:
    """Asks *provider* which candidates to keep. Holds no state between calls; may be shared between threads."""

    def __init__(self, provider: Provider, config: JudgeConfig, clock: Callable[[], float] = perf_counter) -> None:
        self._provider = provider
        self._config = config
        self._clock = clock

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:
        """A verdict on each of *candidates*, in their order, from one call; no call for no candidates.

        Mode "search" asks leniently, every other strictly. Never raises: on any error the judgement has its status
        and detail, and every candidate is flagged with that status.
        """
        system = LENIENT if mode == SEARCH else STRICT
        started = self._clock()
        outcome = self._outcome(system, prompt, candidates) if candidates else _Outcome(OK)
        return Judgement(
            status=outcome.status,
            verdicts=_verdicts(candidates, outcome),
            provider=self._provider.name,
            model=self._provider.model,
            template_hash=template_hash(system),
            elapsed_ms=(self._clock() - started) * 1000,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            detail=outcome.detail,
        )

    def _outcome(self, system: str, prompt: Prompt, candidates: Sequence[MemorySummary]) -> _Outcome:
        try:
            order = shuffled(prompt, len(candidates))
            user = request_text(prompt, [candidates[position] for position in order], self._turns(prompt))
            completion = self._provider.complete(system, user, SCHEMA, self._config.timeout_per_call)
            return _read(completion, order)
        except ProviderError as error:
            return _Outcome(error.status, detail=str(error))
        except Exception as error:  # noqa: BLE001 - the hook must not die of a provider's bug
            return _Outcome(HTTP_ERROR, detail=f"The judge failed: {type(error).__name__}.")

    def _turns(self, prompt: Prompt) -> Sequence[Turn]:
        wanted = self._config.context_turns if self._config.include_conversation_context else 0
        return prompt.turns[-wanted:] if wanted > 0 else ()


def _read(completion: Completion, order: Sequence[int]) -> _Outcome:
    """What *completion* says of the candidates that were shown in *order*, and what it cost."""
    outcome = _decided(completion, order)
    return replace(outcome, input_tokens=completion.input_tokens, output_tokens=completion.output_tokens)


def _decided(completion: Completion, order: Sequence[int]) -> _Outcome:
    if completion.stop_reason == REFUSAL:
        return _Outcome(REFUSED, detail="The model refused to answer.")
    try:
        kept = kept_indices(completion.text, len(order))
    except UnreadableAnswerError:
        return _Outcome(PARSE_ERROR, detail=_unreadable(completion))
    return _Outcome(OK, kept=frozenset(order[index] for index in kept))


def _unreadable(completion: Completion) -> str:
    if completion.stop_reason == MAX_TOKENS:
        return "The answer was cut off before it was complete."
    excerpt = cut(completion.text, EXCERPT_LIMIT)
    return f"The answer holds no keep-list: {excerpt}" if excerpt else "The answer is empty."


def _verdicts(candidates: Sequence[MemorySummary], outcome: _Outcome) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(memory_id=memory.id, decision=_decision(position, outcome), status=outcome.status)
        for position, memory in enumerate(candidates)
    )


def _decision(position: int, outcome: _Outcome) -> str:
    if outcome.status != OK:
        return FLAGGED
    return APPROVED if position in outcome.kept else REJECTED
