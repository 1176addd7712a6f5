"""The judge that a person chose, how it is made, and the limits on asking it.

The limits are the agreement of a person in the app, or the terms of a command.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from dataclasses import replace as replace_dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from engine.config import AUTO
from engine.errors import MemsiftError, ProviderCancelledError
from engine.judge.prices import CostCapProvider, cost_usd
from engine.judge.provider import AroundProvider
from engine.judge.providers.registry import NO_JUDGE, SCRIPTED, SDK, make_provider
from engine.judge.retries import Pace, RetryingProvider
from engine.judge.verdict import MAX_UNANSWERED, OK
from engine.lean.record import replace
from engine.quality.judging.rating import RULE
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.judge.provider import Completion, Provider, Question
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.workspace.stderr import Judged

    Around = Callable[[Provider], Provider]

PATIENT_S = 60.0
"""The least time limit of a sample where nobody waits for each answer, as a person does at the hook."""

VARIABLE = "MEMSIFT_JUDGE"


@dataclass(frozen=True)
class JudgeOptions:
    """The judge's options; None where an option was not given.

    `is_off`: --no-judge. The name "none" is something else: the cached answers of a judge that is not asked.
    `is_batched`: calls are paid for at the price of batches. `is_patient`: no person waits for each answer, so a sample
    may take PATIENT_S.
    """

    name: str | None = None
    model: str | None = None
    timeout_s: float | None = None
    depth: str | None = None
    is_off: bool = False
    is_refreshing: bool = False
    samples: int | None = None
    is_batched: bool = False
    is_patient: bool = False

    @property
    def is_cached_only(self) -> bool:
        return self.name == NO_JUDGE and not self.is_off

    @property
    def flags(self) -> dict[str, str]:
        """The flags that set a key of the configuration, with their texts."""
        name = None if self.is_off or self.is_cached_only else self.name
        given = {"--judge": name, "--judge-model": self.model, "--judge-depth": self.depth}
        timeout = {} if self.timeout_s is None else {"--judge-timeout": str(self.timeout_s)}
        return {flag: text for flag, text in given.items() if text} | timeout

    def time_limit_s(self, config: Config) -> float:
        """The time limit of a sample, in seconds."""
        own = config.judge.timeout_per_call
        return self.timeout_s or (max(PATIENT_S, own) if self.is_patient else own)

    def sampling(self, default: int) -> JudgeOptions:
        """These options, with *default* samples where no number was given."""
        return self if self.samples else replace_dataclass(self, samples=default)

    def named(self, config: Config, environ: Mapping[str, str]) -> str:
        """The judge's name: the flag, else MEMSIFT_JUDGE, else the root's configuration if it enables a judge."""
        if self.is_off:
            return NO_JUDGE
        given = [name for name in (self.name, environ.get(VARIABLE)) if name]
        if self.is_cached_only:
            return next((name for name in (*given, config.judge.provider) if name not in ("", NO_JUDGE)), SDK)
        default = (config.judge.provider or SDK) if config.judge.enabled else NO_JUDGE
        return given[0] if given else default

    def applied(self, config: Config, environ: Mapping[str, str]) -> Config:
        """*config*, which has environment and flags in it, with the judge that is asked as its provider."""
        name = self.named(config, environ)
        return config if name == NO_JUDGE else replace(config, judge=replace(config.judge, provider=name))

    def refuse_a_miss(self, retrieval: Retrieval) -> None:
        """Raise MemsiftError where only the cache may answer, and it has no answer."""
        judgement = retrieval.judgement
        if self.is_cached_only and judgement and judgement.status != OK:
            raise MemsiftError(judgement.detail)


@dataclass(frozen=True)
class Asking:
    """How a judge is asked. It finds its API key in the environment of the worker.

    `batch_poll_s` is the pause in seconds between two looks at a batch of questions; 0 for single calls, of which
    `concurrency` are made at once.
    """

    judge: JudgeOptions
    concurrency: int
    retries: int
    batch_poll_s: float

    def shared(self, workers: int) -> tuple[Asking, int]:
        """How each of *workers* asks, and how many of them may do so at once: together they make no more than
        `concurrency` calls. Of batches, each worker has one under way and one that waits."""
        own = max(1, self.concurrency // workers)
        return replace_dataclass(self, concurrency=own), 2 * workers if self.batch_poll_s else self.concurrency // own


def make_means(
    options: JudgeOptions, config: Config, environ: Mapping[str, str], around: Around | None = None
) -> tuple[Provider, dict[str, Any]] | None:
    """The provider of the chosen judge, and how any judge asks it: the arguments `cache`, `samples`, `timeout_s` and
    `price_share`. None without a judge. *config* has the options applied.

    *around* wraps the provider, unless the judge only reads its cache. Raises ConfigError for an unknown name.
    """
    name = options.named(config, environ)
    if name == NO_JUDGE:
        return None
    from engine.judge.cache import Cache, cache_file
    from engine.judge.prices import BATCH_SHARE
    from engine.judge.providers.registry import cache_only

    provider = make_provider(name, config.judge, environ)
    if options.is_cached_only:
        provider = cache_only(provider, name)
    elif around:
        provider = around(provider)
    return provider, {
        "cache": Cache(cache_file(environ), refresh=options.is_refreshing),
        "samples": options.samples or 1,
        "timeout_s": options.time_limit_s(config),
        "price_share": BATCH_SHARE if options.is_batched else 1.0,
    }


def make_judge(
    options: JudgeOptions, config: Config, environ: Mapping[str, str], around: Around | None = None
) -> Judge | None:
    """The chosen judge, or None. Arguments as for `make_means`.

    Raises ConfigError for an unknown name, or for a prompt of the user's own without its placeholder.
    """
    means = make_means(options, config, environ, around)
    if means is None:
        return None
    from engine.judge.judge import Judge

    provider, how = means
    return Judge(provider, config.judge, **how)


def opened_judge(
    options: JudgeOptions, config: Config, around: Around | None = None
) -> AbstractContextManager[Judge | None]:
    """The chosen judge, closed at the end of the `with` block. Raises as `make_judge` does."""
    judge = make_judge(options, config, os.environ, around)
    return closing(judge) if judge else nullcontext()


RETRIES, AT_ONCE = 4, 8
NOT_AGREED = "The judge was not asked: nobody has agreed to that in this start."
UNPRICED = {"claude-cli": "`claude -p` is paid for by your Claude subscription or its key; no price is known here."}
NO_PRICE = "No price of this model is known here; a model on your own machine costs nothing."


@dataclass(frozen=True)
class Offer:
    """What a person agrees to: about `prompts` at most `calls` calls of `judge`, for at most `most_usd` US dollars.

    `most_usd` is None where no price is known; `payment` says who pays then.
    """

    judge: str
    prompts: int
    calls: int
    most_usd: float | None
    payment: str


class Spending:
    """The agreement of a person, what the judge has cost since, and how many questions it gets at once. Safe for
    threads."""

    def __init__(self) -> None:
        self.pace = Pace(AT_ONCE)
        self._gate: GatedProvider | None = None

    def around(self, provider: Provider) -> Provider:
        """*provider*, asked only after `agree`, and again after errors that pass. A script needs no agreement."""
        if provider.name == SCRIPTED:
            return provider
        self._gate = GatedProvider(provider)
        return RetryingProvider(self._gate, RETRIES, pace=self.pace)

    @property
    def needs_agreement(self) -> bool:
        """Whether a judge is there that may not be asked: nobody agreed yet, or the limit is reached."""
        return self._gate is not None and self._gate.is_closed

    def agree(self, limit_usd: float | None) -> None:
        """Let the judge be asked until all calls of this start cost *limit_usd*; without a limit if that is None."""
        if self._gate:
            self._gate.open(limit_usd)

    @property
    def text(self) -> str:
        """The running total, for the top bar; empty before the first call."""
        return self._gate.text if self._gate else ""

    def offer(self, judge: Judge, prompts: Sequence[Prompt], memories: Sequence[MemorySummary], size: int) -> Offer:
        """The offer to ask about *prompts* with up to *size* of *memories* each. The cost is an upper bound."""
        largest = sorted(
            memories, key=lambda memory: len(f"{memory.title}{memory.tags}{memory.category}"), reverse=True
        )[:size]
        longest = max(
            prompts, key=lambda prompt: len(prompt.text) + sum(len(turn.text) for turn in prompt.turns), default=None
        )
        provider, model, _ = judge.identity(AUTO)
        most = judge.most_usd(longest, largest, AUTO) if longest else None
        calls = judge.calls(len(largest)) * len(prompts)
        payment = UNPRICED.get(provider, NO_PRICE)
        return Offer(f"{provider} ({model})", len(prompts), calls, most and most * len(prompts), payment)


class Terms:
    """How a command asks its judge: in single calls or in batches, for up to *most_usd* US dollars."""

    def __init__(self, asking: Asking, most_usd: float | None = None) -> None:
        from engine.judge.batches import Batches

        self.asking = asking
        self.pace = Pace(asking.concurrency)
        self.batches = Batches(os.environ, asking.batch_poll_s, tell) if asking.batch_poll_s else None
        self._most_usd = most_usd
        self._capped: CostCapProvider | None = None

    @property
    def is_spent(self) -> bool:
        return self._capped is not None and self._capped.is_spent

    @property
    def spent_usd(self) -> float:
        return self._capped.spent_usd if self._capped else 0.0

    def around(self, provider: Provider) -> Provider:
        """*provider* within these limits. Raises ConfigError for a cost limit and a model without a known price."""
        if self.batches:
            return self.batches.around(provider)
        if self._most_usd is not None:
            provider = self._capped = CostCapProvider(provider, self._most_usd)
        return RetryingProvider(provider, self.asking.retries, pace=self.pace)

    def applied(self, config: Config) -> Config:
        """*config* for these terms: in a batch, a pool of candidates is never split into two questions."""
        from engine.judge.batches import without_split

        return without_split(config) if self.batches else config


class GatedProvider(AroundProvider):
    """Asks *provider* while it is open, and counts calls and cost."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self.calls = 0
        self._asked: Provider | None = None
        self._capped: CostCapProvider | None = None
        self._spent_before = 0.0
        self._limit_usd: float | None = None
        self._lock = Lock()

    @property
    def is_closed(self) -> bool:
        return self._asked is None or (self._capped is not None and self._capped.is_spent)

    @property
    def spent_usd(self) -> float:
        return self._spent_before + (self._capped.spent_usd if self._capped else 0.0)

    @property
    def text(self) -> str:
        if not self.calls:
            return ""
        if self._limit_usd is None:
            return f"judge: {self.calls:,} calls"
        return f"judge: ${self.spent_usd:.4f} of ${self._limit_usd:,.2f}"

    def open(self, limit_usd: float | None) -> None:
        self._spent_before = self.spent_usd
        self._limit_usd = limit_usd
        has_price = cost_usd(self.name, self.model, 1, 1) is not None
        capped = has_price and limit_usd is not None
        self._capped = CostCapProvider(self._provider, limit_usd - self._spent_before) if capped and limit_usd else None
        self._asked = self._capped or self._provider

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises ProviderCancelledError while it is closed."""
        if self._asked is None:
            raise ProviderCancelledError(NOT_AGREED)
        with self._lock:
            self.calls += 1
        return self._asked.complete(question, timeout_s)


@dataclass(frozen=True)
class Answers:
    """How a judge fared: status -> the number of questions with it, and the text of the first error."""

    statuses: Counter[str] = field(default_factory=Counter)
    detail: str = ""

    @classmethod
    def of(cls, results: Iterable[Judged]) -> Answers:
        """Count *results*, without those that a rule decided and those for which no judge was asked."""
        found = [result.judgement for result in results if result.judgement and result.judgement.provider != RULE]
        details = (judgement.detail for judgement in found if judgement.status != OK)
        return cls(Counter(judgement.status for judgement in found), next(details, ""))

    def plus(self, other: Answers) -> Answers:
        return Answers(self.statuses + other.statuses, self.detail or other.detail)

    def report(self) -> None:
        """Tell if more than MAX_UNANSWERED of the questions had no answer. Raises MemsiftError if none had one."""
        asked, failed = self.statuses.total(), self.statuses.total() - self.statuses[OK]
        if not failed or failed <= MAX_UNANSWERED * asked:
            return
        kinds = ", ".join(f"{status} {count:,}" for status, count in self.statuses.items() if status != OK)
        if failed == asked:
            raise MemsiftError(f"The judge answered none of {asked:,} questions ({kinds}): {self.detail}")
        tell(
            f"{failed:,} of {asked:,} questions have no answer of the judge ({kinds}): {self.detail} Give the "
            "same command again: the others are in the cache."
        )
