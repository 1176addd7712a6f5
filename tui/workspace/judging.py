"""The judge that a person chose, how it is made, what it may cost, and how it fared."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from dataclasses import replace as replace_dataclass
from typing import TYPE_CHECKING, Any

from engine.config import AUTO
from engine.errors import MemsiftError
from engine.judge.providers.registry import NO_JUDGE, SDK, make_provider
from engine.judge.verdict import MAX_UNANSWERED, OK
from engine.lean.record import replace
from engine.quality.judging.rating import RULE
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.judge.limits import Limits
    from engine.judge.provider import Provider
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.workspace.stderr import Judged

PATIENT_S = 60.0
"""The least time limit of a sample where nobody waits for each answer, as a person does at the hook."""

VARIABLE = "MEMSIFT_JUDGE"


@dataclass(frozen=True)
class JudgeOptions:
    """The judge's options; None where an option was not given.

    `is_off`: --no-judge. The name "none" is something else: the cached answers of a judge that is not asked.
    `is_patient`: no person waits for each answer, so a sample may take PATIENT_S.
    """

    name: str | None = None
    model: str | None = None
    timeout_s: float | None = None
    depth: str | None = None
    is_off: bool = False
    is_refreshing: bool = False
    samples: int | None = None
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


def make_means(
    options: JudgeOptions, config: Config, environ: Mapping[str, str], limits: Limits | None = None
) -> tuple[Provider, dict[str, Any]] | None:
    """The provider of the chosen judge, and how any judge asks it: the arguments `cache`, `samples` and `timeout_s`.
    None without a judge. *config* has the options applied.

    The provider is asked within *limits*. Raises ConfigError for an unknown name.
    """
    name = options.named(config, environ)
    if name == NO_JUDGE:
        return None
    from engine.judge.cache import Cache, cache_file
    from engine.judge.limits import Limits

    provider = make_provider(name, config.judge, environ)
    own = config.judge.timeout_per_call
    if options.is_cached_only:
        limits = Limits(is_cached_only=True)
    if limits:
        provider = limits.around(provider)
    return provider, {
        "cache": Cache(cache_file(environ), refresh=options.is_refreshing),
        "samples": options.samples or 1,
        "timeout_s": options.timeout_s or (max(PATIENT_S, own) if options.is_patient else own),
    }


def make_judge(
    options: JudgeOptions, config: Config, environ: Mapping[str, str], limits: Limits | None = None
) -> Judge | None:
    """The chosen judge, or None. Arguments as for `make_means`.

    Raises ConfigError for an unknown name, or for a prompt of the user's own without its placeholder.
    """
    means = make_means(options, config, environ, limits)
    if means is None:
        return None
    from engine.judge.judge import Judge

    provider, how = means
    return Judge(provider, config.judge, **how)


def opened_judge(
    options: JudgeOptions, config: Config, limits: Limits | None = None
) -> AbstractContextManager[Judge | None]:
    """The chosen judge, closed at the end of the `with` block. Raises as `make_judge` does."""
    judge = make_judge(options, config, os.environ, limits)
    return closing(judge) if judge else nullcontext()


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


def offer(judge: Judge, prompts: Sequence[Prompt], memories: Sequence[MemorySummary], size: int) -> Offer:
    """The offer to ask about *prompts* with up to *size* of *memories* each. The cost is an upper bound."""
    by_size = sorted(memories, key=lambda memory: -len(f"{memory.title}{memory.tags}{memory.category}"))
    largest = by_size[:size]
    longest = max(
        prompts, key=lambda prompt: len(prompt.text) + sum(len(turn.text) for turn in prompt.turns), default=None
    )
    provider, model, _ = judge.identity(AUTO)
    most = judge.most_usd(longest, largest, AUTO) if longest else None
    calls = judge.calls(len(largest)) * len(prompts)
    payment = UNPRICED.get(provider, NO_PRICE)
    return Offer(f"{provider} ({model})", len(prompts), calls, most and most * len(prompts), payment)


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
        again = "Give the same command again: the others are in the cache."
        tell(f"{failed:,} of {asked:,} questions have no answer of the judge ({kinds}): {self.detail} {again}")
