"""Headless Chromium for tests, driven over its DevTools protocol."""

import asyncio
import base64
import itertools
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
DEADLINE_S = 60.0
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--window-size=900,600")


class Page:
    """The only page of a browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)

    async def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            answer = await self._socket.receive_json(timeout=DEADLINE_S)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    async def go(self, address: str) -> None:
        await self._call("Page.navigate", url=address)

    async def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = await self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        async with asyncio.timeout(DEADLINE_S):
            while not await self.value(expression):
                await asyncio.sleep(0.05)

    async def press(self, key: str) -> None:
        """Type a character."""
        await self._call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        await self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def click(self, x: int, y: int) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            await self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def picture(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode((await self._call("Page.captureScreenshot"))["data"])


@asynccontextmanager
async def opened(profile: Path) -> AsyncIterator[Page]:
    """An empty page of a new browser with its own *profile*. Skips the test where there is no browser."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    browser = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as client, client.ws_connect(await _address(profile, client)) as socket:
            yield Page(socket)
    finally:
        browser.kill()
        browser.wait()


async def _address(profile: Path, client: aiohttp.ClientSession) -> str:
    """The address of the page's socket, once the browser has written down its port."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(DEADLINE_S):
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.05)
        port = file.read_text().split()[0]
        while True:
            async with client.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.05)
