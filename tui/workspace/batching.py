"""A replay whose judge is asked in batches: what it would ask is collected, answered together, and asked again."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from engine.errors import ConfigError, ProviderError, ProviderHttpError
from engine.judge.bulk.batched import BatchedProvider
from engine.judge.bulk.batches import Ledger, batches_file
from engine.judge.providers.registry import SDK
from engine.lean.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from engine.config import Config
    from engine.judge.bulk.batch_api import BatchApi
    from engine.judge.provider import Completion, Provider
    from engine.judge.verdict import Judgement
    from engine.retrieval import Retrieval
    from tui.workspace.replaying import Job, Work

MOST_REQUESTS = 10_000
"""In one batch. The API takes 100,000 or 256 MB; one of ours has about 4 kB."""

NOT_FOUND = 404
NO_RESULT = "The batch has no result for this."


class Batches:
    """Asks in batches and waits for them, looking every *poll_s* seconds. *tell* gets a line for people, *sleep*
    seconds."""

    def __init__(
        self, ledger: Ledger, poll_s: float, tell: Callable[[str], None], sleep: Callable[[float], None]
    ) -> None:
        self._ledger = ledger
        self._poll_s = poll_s
        self._tell = tell
        self._sleep = sleep
        self._batched: BatchedProvider | None = None
        self._fetched: set[str] = set()

    def around(self, provider: Provider) -> Provider:
        """Put between the judge and its provider. Raises ConfigError for another than Anthropic's API."""
        if provider.name != SDK:
            raise ConfigError(f"--batch asks Anthropic's API, not {provider.name}. Name the judge {SDK}.")
        self._batched = BatchedProvider(provider)
        return self._batched

    def answers(self, jobs: Sequence[Job], work: Work) -> list[list[Retrieval]]:
        """What comes of each job. In each round all that the judge still wants to know is one batch: with several
        samples, those that may settle the vote first. Raises ProviderError or ConfigError for what stops everything.
        """
        from engine.judge.bulk.batch_api import BatchApi

        assert self._batched is not None
        found: dict[int, list[Retrieval]] = {}
        left = list(range(len(jobs)))
        with closing(BatchApi()) as api:
            while left:
                wanted: dict[str, dict[str, Any]] = {}
                open_ones = []
                for position in left:
                    found[position] = paid_together(work(jobs[position]), found.get(position))
                    if more := self._batched.take_wanted():
                        wanted |= more
                        open_ones.append(position)
                self._answer(api, wanted)
                left = open_ones
        return [found[position] for position in range(len(jobs))]

    def done(self) -> None:
        """All that was fetched is written down elsewhere by now."""
        if self._fetched:
            self._ledger.forget(self._fetched)

    def _answer(self, api: BatchApi, wanted: dict[str, dict[str, Any]]) -> None:
        """Give the provider an answer, or an error, to each of *wanted*: from batches that are under way already, of
        this process or of one that died, and from new ones."""
        self._ledger.check()
        under_way = {name for names in self._unfetched().values() for name in names}
        names = [name for name in wanted if name not in under_way]
        for start in range(0, len(names), MOST_REQUESTS):
            bodies = {name: wanted[name] for name in names[start : start + MOST_REQUESTS]}
            self._ledger.add(api.submit(bodies), bodies)
        gone: set[str] = set()
        for batch_id, part in self._unfetched().items():
            if not wanted.keys().isdisjoint(part) and not self._is_fetched(api, batch_id, part):
                gone |= part
        if gone:
            self._answer(api, {name: body for name, body in wanted.items() if name in gone})

    def _unfetched(self) -> dict[str, frozenset[str]]:
        return {one: names for one, names in self._ledger.pending().items() if one not in self._fetched}

    def _is_fetched(self, api: BatchApi, batch_id: str, names: frozenset[str]) -> bool:
        """Wait for a batch and take its results; False, and it is forgotten, if the API does not know it any more."""
        assert self._batched is not None
        try:
            self._wait_for(api, batch_id, len(names))
            results = api.results(batch_id)
        except ProviderHttpError as error:
            if error.http_status != NOT_FOUND:
                raise
            self._ledger.forget([batch_id])
            return False
        missing: dict[str, Completion | ProviderError] = {name: ProviderHttpError(NO_RESULT) for name in names}
        answers = missing | results
        self._batched.give(answers)
        self._fetched.add(batch_id)
        if failed := [answer for answer in answers.values() if isinstance(answer, ProviderError)]:
            self._tell(f"{len(failed):,} of {len(answers):,} requests of batch {batch_id} failed. {failed[0]}")
        return True

    def _wait_for(self, api: BatchApi, batch_id: str, count: int) -> None:
        if api.is_ended(batch_id):
            return
        self._tell(f"Batch {batch_id} with {count:,} requests is under way; the same command fetches it if this ends.")
        while not api.is_ended(batch_id):
            self._sleep(self._poll_s)


def batches_of_user(environ: Mapping[str, str], poll_s: float, tell: Callable[[str], None]) -> Batches:
    return Batches(Ledger(batches_file(environ)), poll_s, tell, time.sleep)


def unsplit(config: Config) -> Config:
    """*config* without two calls about one pool: while their batch is under way, both would count as failed, and what
    is asked then instead would be submitted, too."""
    return replace(config, judge=replace(config.judge, split_over=0))


def paid_together(now: list[Retrieval], earlier: list[Retrieval] | None) -> list[Retrieval]:
    """What comes of a job, with the tokens and the cost of the rounds before: now the cache answers for nothing."""
    if earlier is None:
        return now
    return [
        replace(one, judgement=summed(one.judgement, before.judgement)) if one.judgement and before.judgement else one
        for one, before in zip(now, earlier, strict=True)
    ]


def summed(now: Judgement, before: Judgement) -> Judgement:
    costs = [cost for cost in (now.cost_usd, before.cost_usd) if cost is not None]
    return replace(
        now,
        input_tokens=now.input_tokens + before.input_tokens,
        output_tokens=now.output_tokens + before.output_tokens,
        cost_usd=sum(costs) if costs else None,
    )
