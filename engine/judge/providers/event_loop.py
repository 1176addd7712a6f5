"""An event loop in a thread of its own, for callers that have none: a client lives in it from call to call."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDoneError
from threading import Lock, Thread

from engine.errors import ProviderCancelledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    T = TypeVar("T")

GRACE_S = 0.2
"""How long the loop may take beyond a deadline that it keeps itself, before it is no longer waited for."""

CANCELLED = "The judge was stopped before it answered."


class _Unawaited(ThreadPoolExecutor):
    """Threads that nobody waits for: a name lookup cannot be cancelled, and takes half a minute without a server."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        super().shutdown(wait=False, cancel_futures=True)


class EventLoop:
    """Runs coroutines for any thread. Starts with the first; `close` cancels those under way. May start again."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Callable[[], Awaitable[T]], timeout_s: float) -> T:
        """The result of `await work()`. TimeoutError after *timeout_s* seconds, ProviderCancelledError on `close`."""

        async def bounded() -> T:
            async with asyncio.timeout(timeout_s):
                return await work()

        with self._lock:
            future = asyncio.run_coroutine_threadsafe(bounded(), self._running())
        try:
            return future.result(timeout_s + GRACE_S)
        except NotDoneError:
            future.cancel()
            raise TimeoutError from None
        except CancelledError:
            raise ProviderCancelledError(CANCELLED) from None

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Cancel what runs, await *last* and end the thread. Nothing happens where nothing was run."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop and thread:
            asyncio.run_coroutine_threadsafe(_end(loop, last), loop)
            thread.join()
            loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(_Unawaited(thread_name_prefix="memsift-lookup"))
            self._thread = Thread(target=self._loop.run_forever, name="memsift-judge", daemon=True)
            self._thread.start()
        return self._loop


async def _end(loop: asyncio.AbstractEventLoop, last: Callable[[], Awaitable[None]]) -> None:
    try:
        running = asyncio.all_tasks(loop) - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        async with asyncio.timeout(GRACE_S):
            await last()
        await asyncio.sleep(0.01)  # connections are closed by callbacks, which need a round or two of the loop
    finally:
        loop.stop()
