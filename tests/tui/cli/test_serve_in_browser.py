"""memsift serve in a real browser: the app is shown, a key acts, and without the token nothing is."""

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

from tests.engine.curation.roots import document, write_documents
from tests.tui.cli.browser import opened
from tests.tui.cli.test_serve import TOKEN, serving

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

IS_PAINTED = "document.body && document.body.classList.contains('-first-byte')"


async def test_the_app_is_shown_and_a_key_retires_a_memory_but_not_without_the_token(tmp_path: Path) -> None:
    root = write_documents(tmp_path / "root", [document("alpha", title="A note about queues"), document("beta")])
    file = root / "decisions" / "alpha.json"
    command = [sys.executable, "-c", "from tui.cli import main; main()", "--root", str(root), "--no-judge"]
    async with serving(shlex.join(command)) as (address, _), opened(tmp_path / "profile") as page:
        await page.go(f"{address}/")
        await page.until("document.body && document.body.innerText.includes('403')")
        assert not await page.value(IS_PAINTED)
        await page.go(f"{address}/{TOKEN}/")
        await page.until(IS_PAINTED)
        before = await page.picture()
        async with asyncio.timeout(60):
            while json.loads(file.read_text("utf-8")).get("record_status") != "retired":
                await page.click(200, 300)  # as a person does, so that the keys go to the page
                await page.press("x")
                await asyncio.sleep(0.5)
                await page.press("1")
                await asyncio.sleep(0.5)
            while await page.picture() == before:
                await asyncio.sleep(0.1)
        await page.press("q")
        await page.until("document.body.classList.contains('-closed')")
