"""The judge on the command line: the options that every command with a judge has, and what they come to."""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replace_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from engine.config import LIMITS
from engine.judge.providers.registry import KNOWN, NO_JUDGE, SDK, make_provider
from engine.judge.verdict import DEPTHS
from engine.lean.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.judge.provider import Provider

    Around = Callable[[Provider], Provider]

VARIABLE = "MEMSIFT_JUDGE"
REPLAY_SAMPLES = 3
"""A replay is measured, and one answer is a throw of dice; everywhere else somebody waits."""

OPTIONS = (
    click.option(
        "--judge", metavar="NAME", help=f"{', '.join(KNOWN)}, or {NO_JUDGE}: only what the cache holds of the judge."
    ),
    click.option("--no-judge", is_flag=True, help="Without a judge."),
    click.option("--judge-model", metavar="NAME", help="The model to ask."),
    click.option(
        "--judge-timeout",
        metavar="SECONDS",
        type=click.FloatRange(*LIMITS["timeout_per_call"]),
        help="For everything that one prompt asks, or each sample of it.",
    ),
    click.option(
        "--judge-depth",
        type=click.Choice(DEPTHS),
        help="Which memories to keep, or a decision, a confidence and a sentence for each.",
    ),
    click.option(
        "--judge-samples",
        metavar="K",
        type=click.IntRange(1, 15),
        envvar="MEMSIFT_JUDGE_SAMPLES",
        help=f"Ask K times and let the majority decide. Default: {REPLAY_SAMPLES} in replay, else 1.",
    ),
    click.option("--judge-refresh", is_flag=True, help="Ask anew, whatever the cache holds, and keep the answers."),
)


@dataclass(frozen=True)
class JudgeOptions:
    """What was said of the judge on the command line; None where nothing was. `is_batched`: at the price of batches.

    `is_off`: there is to be none. The name "none" means a judge that is not asked, whose answers the cache holds.
    """

    name: str | None = None
    model: str | None = None
    timeout_s: float | None = None
    depth: str | None = None
    is_off: bool = False
    is_refreshing: bool = False
    samples: int | None = None
    is_batched: bool = False

    @property
    def is_cached_only(self) -> bool:
        return self.name == NO_JUDGE and not self.is_off

    def sampling(self, default: int) -> JudgeOptions:
        """These options, with *default* samples where no number was given."""
        return self if self.samples else replace_dataclass(self, samples=default)

    def in_batches(self, max_cost: float | None) -> JudgeOptions:
        """These options for a judge that is asked in batches. Raises click.UsageError where it cannot be."""
        if max_cost is not None:
            raise click.UsageError("--max-cost cannot hold with --batch: a batch is paid for as a whole.")
        if self.is_cached_only:
            raise click.UsageError("--judge none asks nobody, so that there is nothing to --batch.")
        return replace_dataclass(self, is_batched=True)

    def named(self, config: Config, environ: Mapping[str, str]) -> str:
        """Which judge it is: flag, then MEMSIFT_JUDGE, then the root's where its configuration enables one."""
        if self.is_off:
            return NO_JUDGE
        given = [name for name in (self.name, environ.get(VARIABLE)) if name]
        if self.is_cached_only:
            return next((name for name in (*given, config.judge.provider) if name not in ("", NO_JUDGE)), SDK)
        default = (config.judge.provider or SDK) if config.judge.enabled else NO_JUDGE
        return given[0] if given else default

    def applied(self, config: Config, environ: Mapping[str, str]) -> Config:
        """*config*, which holds the environment's word already, with these over it."""
        given = {"model": self.model, "timeout_per_call": self.timeout_s, "depth": self.depth}
        changes = {name: value for name, value in given.items() if value is not None}
        name = self.named(config, environ)
        if name != NO_JUDGE:
            changes["provider"] = name
        return replace(config, judge=replace(config.judge, **changes))


def judge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command* the judge's options; it gets them as one JudgeOptions, named `judge`."""

    @wraps(command)
    def with_judge(
        *given: Any,
        judge: str | None,
        no_judge: bool,
        judge_model: str | None,
        judge_timeout: float | None,
        judge_depth: str | None,
        judge_refresh: bool,
        judge_samples: int | None,
        **others: Any,
    ) -> Any:
        if no_judge and judge is not None:
            raise click.UsageError(f"--no-judge and --judge {judge} contradict each other.")
        if judge == NO_JUDGE and judge_refresh:
            raise click.UsageError("--judge none asks nobody, so that --judge-refresh has nothing to refresh with.")
        options = JudgeOptions(judge, judge_model, judge_timeout, judge_depth, no_judge, judge_refresh, judge_samples)
        return command(*given, judge=options, **others)

    for option in reversed(OPTIONS):
        with_judge = option(with_judge)
    return with_judge


def make_judge(
    options: JudgeOptions, config: Config, environ: Mapping[str, str], around: Around | None = None
) -> Judge | None:
    """The judge that *options* and *config* (in which they are applied) come to, with the user's cache; None for none.

    *around* puts something between the judge and its provider, unless that is not asked at all. Raises ConfigError for
    a name that there is not, or a prompt that does not hold what it needs.
    """
    name = options.named(config, environ)
    if name == NO_JUDGE:
        return None
    from engine.judge.cache import Cache, cache_file
    from engine.judge.judge import Judge
    from engine.judge.prices import BATCH_SHARE
    from engine.judge.providers.cache_only import CacheOnlyProvider

    provider = make_provider(name, config.judge, environ)
    if options.is_cached_only:
        provider = CacheOnlyProvider(provider, name)
    elif around:
        provider = around(provider)
    cache = Cache(cache_file(environ), refresh=options.is_refreshing)
    share = BATCH_SHARE if options.is_batched else 1.0
    return Judge(provider, config.judge, cache=cache, samples=options.samples or 1, price_share=share)


def opened_judge(
    options: JudgeOptions, config: Config, around: Around | None = None
) -> AbstractContextManager[Judge | None]:
    """The judge for a command, which closes it. Raises as `make_judge` does."""
    judge = make_judge(options, config, os.environ, around)
    return closing(judge) if judge else nullcontext()
