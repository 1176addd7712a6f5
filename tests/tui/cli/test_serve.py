"""memsift serve: the app behind a token, for this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import shlex
import socket
import warnings
from typing import Any

import pytest

from tui.cli.serve import app_command, made_server

aiohttp = pytest.importorskip("aiohttp")
web = pytest.importorskip("aiohttp.web")
pytest.importorskip("textual_serve")
pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOKEN = "a-token"


@contextlib.asynccontextmanager
async def serving(command: str) -> Any:
    """The address of a server with its token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runner = web.AppRunner(await made_server(command, port, TOKEN)._make_app())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        async with aiohttp.ClientSession() as client:
            yield f"http://127.0.0.1:{port}", client
    finally:
        await runner.cleanup()
        await forget_processes()


async def forget_processes() -> None:
    """Let asyncio see the end of the apps here: textual-serve leaves their pipes open, which fails a later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for _ in range(5):
            await asyncio.sleep(0.05)
            gc.collect()


async def test_only_requests_with_the_token_and_of_this_host_are_answered() -> None:
    async with serving("true") as (address, client):
        refused = {
            "no token": ("/", {}),
            "another token": ("/b-token/", {}),
            "the socket without a token": ("/ws", {}),
            "the socket from another site": (f"/{TOKEN}/ws", {"Origin": "http://evil.example"}),
            "another name of this host": (f"/{TOKEN}/", {"Host": "evil.example"}),
        }
        for case, (path, headers) in refused.items():
            async with client.get(address + path, headers=headers) as answer:
                assert answer.status == 403, case
        async with client.get(f"{address}/{TOKEN}/") as answer:
            assert answer.status == 200
            assert f"/{TOKEN}/ws" in await answer.text()
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")


async def test_the_app_is_painted_over_the_socket(tmp_path: Any) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "note.md").write_text("# A note about queues\n\nText.\n", "utf-8")
    command = app_command("--root", str(root))
    async with (
        serving(shlex.join(command)) as (address, client),
        client.ws_connect(f"{address}/{TOKEN}/ws?width=80&height=24") as socket_,
    ):
        painted = b""
        while b"queues" not in painted:
            message = await socket_.receive(timeout=20)
            assert message.data, painted
            painted += message.data if isinstance(message.data, bytes) else message.data.encode()
