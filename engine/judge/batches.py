"""Bulk judging through batches: collect the questions, submit them together, wait, and ask again with the answers."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING

from engine.errors import ConfigError, ProviderCancelledError, ProviderError, ProviderHttpError
from engine.judge.cache import locked
from engine.judge.provider import AroundProvider
from engine.judge.providers.messages_api import encoded, request_body
from engine.judge.providers.registry import SDK
from engine.judge.verdict import CACHE
from engine.lean.record import replace
from engine.lean.sha256 import digest
from engine.paths import cache_dir
from engine.stores.files import open_regular, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from engine.config import Config
    from engine.judge.provider import Completion, Provider, Question
    from engine.judge.providers.sdk_client import BatchApi

    Job = TypeVar("Job")
    Result = TypeVar("Result")
    Entries = dict[str, frozenset[str]]

MAX_REQUESTS = 10_000
"""In one batch. The API takes 100,000 or 256 MB; one of our requests has about 4 kB."""

NOT_FOUND = 404
NO_RESULT = "The batch has no result for this."


class Batches:
    """A judge that is asked in batches. Put `around` between the judge and its provider, then ask with `answers`.

    An unfinished batch is looked at every *poll_s* seconds. *tell* gets a line for people, *sleep* a time in seconds.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        poll_s: float,
        tell: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._environ = environ
        self._ledger = BatchLedger(os.path.join(cache_dir(environ), "batches.jsonl"))
        self._poll_s = poll_s
        self._tell = tell
        self._sleep = sleep
        self._provider: BatchedProvider | None = None
        self._fetched: set[str] = set()

    def around(self, provider: Provider) -> Provider:
        """*provider* with answers from batches. Raises ConfigError for any but Anthropic's API."""
        if provider.name != SDK:
            raise ConfigError(f"--batch asks Anthropic's API, not {provider.name}. Name the judge {SDK}.")
        self._provider = BatchedProvider(provider)
        return self._provider

    def answers(
        self, jobs: Sequence[Job], work: Callable[[Job], Result], together: Callable[[Result, Result], Result]
    ) -> list[Result]:
        """The result of *work*, which asks the judge, on each job. `together(now, before)` adds up two rounds of a job.

        In each round all open questions of the judge are one batch: with several samples, first those that may settle
        the vote. Raises ProviderError or ConfigError for an error that stops everything.
        """
        from engine.judge.providers.sdk_client import BatchApi

        assert self._provider is not None
        results: dict[int, Result] = {}
        unfinished = list(range(len(jobs)))
        with closing(BatchApi(self._environ)) as api:
            while unfinished:
                requests: dict[str, dict[str, Any]] = {}
                waiting = []
                for position in unfinished:
                    now = work(jobs[position])
                    results[position] = together(now, results[position]) if position in results else now
                    if unanswered := self._provider.take_unanswered():
                        requests |= unanswered
                        waiting.append(position)
                self._answer(api, requests)
                unfinished = waiting
        return [results[position] for position in range(len(jobs))]

    def done(self) -> None:
        """Forget the fetched batches, because their answers are written down elsewhere by now."""
        if self._fetched:
            self._ledger.forget(self._fetched)

    def _answer(self, api: BatchApi, requests: Mapping[str, dict[str, Any]]) -> None:
        """Give the provider an answer or an error for each of *requests*.

        They come from new batches, and from batches under way: of this process, or of an earlier one that died.
        """
        self._ledger.check()
        under_way = {name for names in self._unfetched().values() for name in names}
        new = [name for name in requests if name not in under_way]
        for start in range(0, len(new), MAX_REQUESTS):
            bodies = {name: requests[name] for name in new[start : start + MAX_REQUESTS]}
            self._ledger.add(api.submit(bodies), bodies)
        gone: set[str] = set()
        for batch_id, names in self._unfetched().items():
            if not requests.keys().isdisjoint(names) and not self._is_fetched(api, batch_id, names):
                gone |= names
        if gone:
            self._answer(api, {name: body for name, body in requests.items() if name in gone})

    def _unfetched(self) -> Entries:
        return {batch_id: names for batch_id, names in self._ledger.pending().items() if batch_id not in self._fetched}

    def _is_fetched(self, api: BatchApi, batch_id: str, names: frozenset[str]) -> bool:
        """Wait for a batch and take its results. False, and it is forgotten, if the API no longer knows it."""
        assert self._provider is not None
        try:
            self._wait_for(api, batch_id, len(names))
            results = api.results(batch_id, names)
        except ProviderHttpError as error:
            if error.http_status != NOT_FOUND:
                raise
            self._ledger.forget([batch_id])
            return False
        missing: dict[str, Completion | ProviderError] = {name: ProviderHttpError(NO_RESULT) for name in names}
        answers = missing | results
        self._provider.give(answers)
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


class BatchedProvider(AroundProvider):
    """Gives *provider*'s answers from batches. A request without an answer is collected, and its call is cancelled.

    A request is named after its contents (64 hex digits), so the next process gives it the same name. Its tokens count
    when the answer is first given; after that it is as from a cache.
    """

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self._lock = Lock()
        self._answers: dict[str, Completion | ProviderError] = {}
        self._unanswered: dict[str, dict[str, Any]] = {}

    def prepare(self) -> None:
        """Nothing has to be loaded."""

    def close(self) -> None:
        """Only answers are held."""

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        """See `Provider.complete`. Raises ProviderCancelledError for a collected request, or the batch's error."""
        body = request_body(self.model, question)
        name = digest(encoded(body)).hex()
        with self._lock:
            answer = self._answers.get(name)
            if answer is None:
                self._unanswered[name] = body
                raise ProviderCancelledError("This waits for its batch.")
            if not isinstance(answer, ProviderError):
                self._answers[name] = replace(answer, input_tokens=0, output_tokens=0, source=CACHE)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    def take_unanswered(self) -> dict[str, dict[str, Any]]:
        """The bodies of the requests collected since the last call, by name."""
        with self._lock:
            unanswered, self._unanswered = self._unanswered, {}
            return unanswered

    def give(self, answers: Mapping[str, Completion | ProviderError]) -> None:
        with self._lock:
            self._answers.update(answers)


class BatchLedger:
    """The submitted batches whose answers are not yet written down, as JSON lines at *path*. Safe for processes.

    The next process fetches the batches of one that died. Raises ConfigError where the file cannot be written, because
    an unrecorded batch would be paid for twice.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def pending(self) -> Entries:
        """The names of the requests of each batch, oldest first. An unreadable line is skipped."""
        try:
            with open_regular(self._path) as lines:
                return dict(filter(None, map(_entry, lines)))
        except OSError:
            return {}

    def add(self, batch_id: str, names: Iterable[str]) -> None:
        self._change(lambda entries: {**entries, batch_id: frozenset(names)})

    def forget(self, batch_ids: Collection[str]) -> None:
        self._change(
            lambda entries: {batch_id: names for batch_id, names in entries.items() if batch_id not in batch_ids}
        )

    def check(self) -> None:
        """Raise ConfigError now rather than after a batch was submitted."""
        self._change(lambda entries: entries)

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        try:
            with locked(f"{self._path}.lock"):
                text = "".join(map(_line, change(self.pending()).items()))
                write_whole(self._path, text.encode("utf-8"))
        except (OSError, sqlite3.Error) as error:
            kind = type(error).__name__
            raise ConfigError(f"{self._path} cannot be written ({kind}), which --batch needs.") from None


def without_split(config: Config) -> Config:
    """*config* with one call for each pool.

    While a batch is under way both halves of a split pool would count as failed, and the call in their place would be
    submitted, too.
    """
    return replace(config, judge=replace(config.judge, split_over=0))


def _line(entry: tuple[str, frozenset[str]]) -> str:
    return f"{json.dumps({'id': entry[0], 'names': sorted(entry[1])})}\n"


def _entry(line: bytes) -> tuple[str, frozenset[str]] | None:
    try:
        entry = json.loads(line)
        return str(entry["id"]), frozenset(map(str, entry["names"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
