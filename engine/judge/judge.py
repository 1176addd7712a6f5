"""The judges' core, and the judge of candidates: a question becomes a judgement, never an exception."""

from __future__ import annotations

from collections import Counter
from copy import copy
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, perf_counter

from engine.config import JudgeConfig
from engine.judge.answer import UnreadableAnswerError, failure, opinions, opinions_of_text, opinions_text, unreadable
from engine.judge.prices import BYTES_A_TOKEN, cost_usd, most_usd, outcome_usd
from engine.judge.prompts import request_text, shuffled, templates
from engine.judge.provider import REFUSAL
from engine.judge.verdict import (
    CACHE,
    DECISIONS,
    FLAGGED,
    KEEP,
    OK,
    PARSE_ERROR,
    REFUSED,
    TIMEOUT,
    CallOutcome,
    Judgement,
    Opinion,
    Verdict,
)
from engine.lean.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self

    from engine.judge.cache import Cache
    from engine.judge.prompts import JudgeTemplate
    from engine.judge.provider import Completion, Provider, Question
    from engine.memory import MemorySummary
    from engine.prompt import Prompt

    Ask = Callable[[tuple[int, ...], float], CallOutcome]
    """Asks about the candidates at these positions, within a time in seconds. Never raises."""


class AnswerForm(Record):
    """How an answer is read, and how it is kept in the cache.

    `wanted` names it for people. `read` raises UnreadableAnswerError. `of_text` is the opposite of `text`, and gives
    None for any other text.
    """

    wanted: str
    read: Callable[[Completion], Any]
    text: Callable[[Any], str]
    of_text: Callable[[str], Any]


class Asker:
    """Asks *provider*. Its only state is the *cache*, if there is one. Safe for threads.

    Of several *samples*, asked in turn, the majority decides. *timeout_s*, else that of *config*, holds for each of
    them.
    """

    def __init__(
        self,
        provider: Provider,
        config: JudgeConfig = JudgeConfig(),  # noqa: B008 - it cannot be changed
        clock: Callable[[], float] = perf_counter,
        cache: Cache | None = None,
        samples: int = 1,
        timeout_s: float | None = None,
    ) -> None:
        self.samples = samples
        self._provider = provider
        self._config = config
        self._clock = clock
        self._cache = cache
        self._timeout_s = timeout_s or config.timeout_per_call

    def from_cache(self) -> Self:
        """This judge, which answers from its cache alone. Without an answer there, the status is REFUSED."""
        from engine.judge.limits import Limits

        found = copy(self)
        found._provider = Limits(is_cached_only=True).around(self._provider)
        return found

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
        return most_usd(self._provider.name, self._provider.model, question)

    def _costs(
        self, asked: Iterable[tuple[int, Question, AnswerForm, tuple[str, Sequence[str]]]], usual_answer: int
    ) -> tuple[int, float | None, float | None]:
        """How many of the *asked* memories have an answer in the cache, and the usual and the largest cost of others.

        *asked*: the number of memories in each question, and the arguments of `_kept`. *usual_answer*: tokens for a
        memory. The usual number of samples is a majority of them. Costs are in US dollars, None without a known price.
        """
        name = self._provider.name, self._provider.model
        known, quorum = 0, self.samples // 2 + 1
        usual = most = None if cost_usd(*name, 1, 1) is None else 0.0
        for count, question, form, about in asked:
            if self._kept(question, form, about, 0):
                known += count
            elif usual is not None and most is not None:
                tokens = len((question.system + question.user).encode("utf-8", "replace")) // BYTES_A_TOKEN
                usual += quorum * (cost_usd(*name, tokens, usual_answer * count) or 0.0)
                most += self.samples * (self._most_usd(question) or 0.0)
        return known, usual, most

    def _judgement(
        self, memories: Sequence[MemorySummary], template_hash: str, depth: str, sampled: Callable[[int], CallOutcome]
    ) -> Judgement:
        """The judgement on *memories*. *sampled* gives the outcome of a sample, counted from 0, and never raises.

        Without memories nobody is asked.
        """
        settled = None if memories else CallOutcome(OK)
        try:
            if memories:
                self._provider.prepare()
        except Exception as error:  # noqa: BLE001 - the hook must not die of a provider's bug
            settled = failure(error)
        started = self._clock()
        outcome = settled or (sampled(0) if self.samples == 1 else voted(sampled, self.samples))
        verdicts = []
        for position, memory in enumerate(memories):  # an error has no samples, and so no agreement
            opinion = outcome.opinions.get(position, Opinion(FLAGGED, samples=0, agreement=0.0))
            judged = (opinion.reasoning, opinion.confidence, opinion.samples, opinion.agreement)
            verdicts.append(Verdict(memory.id, opinion.decision, outcome.status, *judged, outcome.source))
        return Judgement(
            status=outcome.status,
            verdicts=tuple(verdicts),
            provider=self._provider.name,
            model=self._provider.model,
            template_hash=template_hash,
            elapsed_ms=(self._clock() - started) * 1000,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            detail=outcome.detail,
            depth=depth,
            cost_usd=outcome_usd(self._provider.name, self._provider.model, outcome),
        )

    def _asked(
        self,
        ask: Callable[[], Question],
        form: AnswerForm,
        about: tuple[str, Sequence[str]],
        sample: int,
        timeout_s: float,
    ) -> tuple[CallOutcome, Any]:
        """The outcome of a question, without opinions, and what the answer says: None without an answer. Never raises.

        *about*: the hash of the template, and the digests of the memories. An answer is kept, an error never is.
        """
        try:
            question = ask()
            kept = self._kept(question, form, about, sample)
            if kept is not None:
                return CallOutcome(OK, source=CACHE), kept
            completion = self._provider.complete(question, timeout_s)
            outcome = CallOutcome(
                OK,
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                source=completion.source,
                searches=completion.searches,
            )
            if completion.stop_reason == REFUSAL:
                return replace(outcome, status=REFUSED, detail="The model refused to answer."), None
            try:
                found = form.read(completion)
            except UnreadableAnswerError:
                detail = unreadable(completion, form.wanted, self._provider.hide)
                return replace(outcome, status=PARSE_ERROR, detail=detail), None
            if self._cache:
                self._cache.keep(self._key(question, about, sample), form.text(found))
        except Exception as error:  # noqa: BLE001 - the hook must not die of a bug in a provider, or of a strange memory
            return failure(error), None
        return outcome, found

    def _kept(self, question: Question, form: AnswerForm, about: tuple[str, Sequence[str]], sample: int) -> Any:
        """What the answer in the cache says; None without one."""
        text = self._cache.text(self._key(question, about, sample)) if self._cache else None
        return form.of_text(text) if text else None

    def _key(self, question: Question, about: tuple[str, Sequence[str]], sample: int) -> str:
        from engine.judge.cache import cache_key

        return cache_key(self._provider, about[0], question, sample, about[1])


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
            form = AnswerForm(
                "keep-list" if template.depth == KEEP else "verdicts",
                lambda completion: opinions(completion.text, len(shown), template.depth, self._provider.hide),
                opinions_text,
                lambda text: opinions_of_text(text, len(shown)),
            )
            about = template.hash, [memory.digest for memory in memories]
            outcome, found = self._asked(
                lambda: self._question(template, prompt, memories), form, about, sample, timeout_s
            )
            return outcome if found is None else replace(outcome, opinions=dict(zip(shown, found, strict=True)))

        shown = shuffled(prompt, len(candidates), sample)
        if 0 < self._config.split_over < len(candidates):
            return asked_in_halves(ask, shown, self._timeout_s)
        return ask(shown, self._timeout_s)

    def _question(self, template: JudgeTemplate, prompt: Prompt, memories: Sequence[MemorySummary]) -> Question:
        wanted = self._config.context_turns if self._config.include_conversation_context else 0
        turns = prompt.turns[-wanted:] if wanted > 0 else ()
        return self._limited(template.question(request_text(prompt, memories, turns)))


LEAST_S = 0.25
"""With less time left no second attempt is made: no model answers so quickly, and the call would be paid for."""


def voted(ask: Callable[[int], CallOutcome], samples: int) -> CallOutcome:
    """The outcome of up to *samples* answers. *ask* gets the number of a sample, from 0; they are asked in turn.

    A decision needs more than half of the votes; without one the candidate is flagged. An error is no vote. Without
    votes from a majority of the samples the outcome is the last error. Asking stops early when no further answer can
    change a decision, or when too many have failed.
    """
    votes: list[CallOutcome] = []
    failures: list[CallOutcome] = []
    quorum = samples // 2 + 1
    for number in range(samples):
        outcome = ask(number)
        (votes if outcome.status == OK else failures).append(outcome)
        if len(failures) > samples - quorum:
            return failures[-1].after(*votes, *failures[:-1])
        if len(votes) < quorum:
            continue
        left = samples - number - 1
        half = (len(votes) + left) / 2
        leads = [_lead(column)[1] for column in _columns(votes).values()]
        if all(lead > half or lead + left <= half for lead in leads):
            break  # no further vote can change a decision
    opinions = {position: _majority(column) for position, column in _columns(votes).items()}
    return CallOutcome(OK, opinions, source=CACHE).after(*votes, *failures)


def asked_in_halves(ask: Ask, shown: tuple[int, ...], timeout_s: float) -> CallOutcome:
    """The outcome of two calls at once, for the first and the second half of *shown*, under one deadline.

    As soon as a half fails, one call asks about everything with the time that is left. If that is less than LEAST_S,
    the failure is the outcome. A half still under way ends at its own deadline, and nothing waits for it.
    """
    ends = monotonic() + timeout_s
    middle = (len(shown) + 1) // 2
    arrived: SimpleQueue[CallOutcome] = SimpleQueue()
    for half in (shown[:middle], shown[middle:]):
        Thread(target=lambda half=half: arrived.put(ask(half, timeout_s)), daemon=True).start()
    outcomes: list[CallOutcome] = []
    while len(outcomes) < 2 and all(outcome.status == OK for outcome in outcomes):
        try:
            outcomes.append(arrived.get(timeout=max(0, ends - monotonic())))
        except Empty:
            outcomes.append(CallOutcome(TIMEOUT, detail=f"No answer within {timeout_s:g} s."))
    *earlier, last = outcomes
    if last.status == OK:
        opinions = {position: opinion for half in outcomes for position, opinion in half.opinions.items()}
        return CallOutcome(OK, opinions, source=CACHE).after(*outcomes)
    left_s = ends - monotonic()
    return last.after(*earlier) if left_s < LEAST_S else ask(shown, left_s).after(*outcomes)


def _columns(votes: Sequence[CallOutcome]) -> dict[int, list[Opinion]]:
    """The opinions on each candidate, by its position."""
    return {position: [vote.opinions[position] for vote in votes] for position in votes[0].opinions}


def _lead(opinions: Sequence[Opinion]) -> tuple[str, int]:
    """The commonest decision, and its number of votes."""
    return Counter(opinion.decision for opinion in opinions).most_common(1)[0]


def _majority(opinions: Sequence[Opinion]) -> Opinion:
    """One opinion for all, with the mean confidence of the majority and the reasoning of its first member."""
    decision, count = _lead(opinions)
    agreement = count / len(opinions)
    if agreement <= 1 / 2:
        votes = Counter(opinion.decision for opinion in opinions)
        counts = ", ".join(f"{votes[decision]} {decision}" for decision in DECISIONS if decision in votes)
        return Opinion(FLAGGED, None, f"The samples disagree: {counts}.", len(opinions), agreement)
    majority = [opinion for opinion in opinions if opinion.decision == decision]
    confidences = [opinion.confidence for opinion in majority if opinion.confidence is not None]
    confidence = sum(confidences) / len(confidences) if confidences else None
    return Opinion(decision, confidence, majority[0].reasoning, len(opinions), agreement)
