"""memsift serve: the app behind a token, for this machine alone."""

import asyncio
import contextlib
import gc
import re
import shlex
import socket
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.engine.curation.roots import document, write_documents
from tui.cli.app import app_command, made_server

aiohttp = pytest.importorskip("aiohttp")
web = pytest.importorskip("aiohttp.web")
pytest.importorskip("textual_serve")

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOKEN = "a-token"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.asynccontextmanager
async def serving(command: str) -> Any:
    """The address of a server with its token."""
    port = free_port()
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
            page = await answer.text()
            assert f"/{TOKEN}/ws" in page
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")
            scripts = re.findall(r'\bsrc="([^"]+)"', page)
            assert scripts
            assert [one for one in scripts if not one.startswith(f"{address}/{TOKEN}/")] == [], "the policy forbids it"


async def test_the_app_is_painted_over_the_socket_and_a_key_ends_it(tmp_path: Path) -> None:
    root = write_documents(tmp_path / "root", [document("alpha", title="A note about queues")])
    command = app_command("--root", str(root), "--no-judge")
    async with (
        serving(shlex.join(command)) as (address, client),
        client.ws_connect(f"{address}/{TOKEN}/ws?width=80&height=24") as socket_,
    ):
        painted = b""
        while b"queues" not in painted:
            message = await socket_.receive(timeout=20)
            assert message.data, painted
            painted += message.data if isinstance(message.data, bytes) else message.data.encode()
        await socket_.send_json(["stdin", "q"])
        while (await socket_.receive(timeout=20)).type is not aiohttp.WSMsgType.CLOSED:
            pass


def test_no_request_makes_the_server_print_a_traceback_or_its_token(private_home: Path) -> None:
    port = free_port()
    command = app_command("serve", "--port", str(port), "--root", str(private_home))
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stderr
        address = server.stderr.readline().split()[2]
        path = address.removeprefix(f"http://127.0.0.1:{port}")
        for request in (f"GET {path} HTTP/1.1", f"GET {path} HTTP/1.0", f"GET http://[{path} HTTP/1.1"):
            assert b" 40" in answer_to(port, f"{request}\r\n\r\n")
        server.terminate()
        stdout, stderr = server.communicate()
    assert stdout == ""
    assert "Traceback" not in stderr
    assert path.strip("/") not in stderr


def answer_to(port: int, request: str) -> bytes:
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(request.encode())
                return connection.recv(200)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
