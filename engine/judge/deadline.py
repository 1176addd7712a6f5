"""A wall clock over a coroutine, kept even when a thread that it started hangs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    T = TypeVar("T")


class _Unawaited(ThreadPoolExecutor):
    """Threads that the event loop does not wait for when it closes."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        super().shutdown(wait=False, cancel_futures=True)


def run_within(timeout_s: float, work: Callable[[], Awaitable[T]]) -> T:
    """The result of `await work()` in an event loop of its own; TimeoutError after *timeout_s* seconds.

    Call it from a thread that runs no event loop.
    """

    async def bounded() -> T:
        # asyncio.run waits for the default executor, and a name lookup in it cannot be cancelled: on a network
        # without a name server it takes half a minute.
        asyncio.get_running_loop().set_default_executor(_Unawaited(thread_name_prefix="memsift-lookup"))
        async with asyncio.timeout(timeout_s):
            return await work()

    with closing(bounded()) as coroutine:
        return asyncio.run(coroutine)
