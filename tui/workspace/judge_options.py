"""The judge that a person chose on the command line, and how it is made."""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replace_dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import MemsiftError
from engine.judge.providers.registry import NO_JUDGE, SDK, make_provider
from engine.judge.verdict import OK
from engine.lean.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.judge.provider import Provider
    from engine.retrieval import Retrieval

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
