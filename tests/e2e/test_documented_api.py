"""The requests of the judges, against a server that is as strict as the documented API."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from engine.judge.verdict import DEPTHS
from tests.e2e.coding_agents import serving
from tests.engine.judge.api_server import at
from tests.engine.judge.cases import HOSTILE_TEXTS, MODEL, PROMPT, memory, pool


@dataclass(frozen=True)
class Documented:
    """A server at `url`, and the requests that it got so far."""

    url: str
    log: Path

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]


@pytest.fixture
def documented(shared_data: Path, tmp_path: Path) -> Iterator[Documented]:
    fake, log = shared_data.parent / "tools/real_client/fake_anthropic.py", tmp_path / "requests.jsonl"
    if not fake.is_file():
        pytest.skip(f"the server is not there: {fake}")
    with serving(str(fake), log) as url:
        yield Documented(url, log)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [AnthropicProvider, AnthropicHttpProvider])
def test_the_documented_api_takes_what_the_judges_send(
    documented: Documented, kind: type[AnthropicProvider | AnthropicHttpProvider]
) -> None:
    hostile = [memory(text, tags=(text,)) for text in HOSTILE_TEXTS]
    for depth, memories, mode in product(DEPTHS, (pool(4), hostile), ("auto", "search")):
        with closing(kind(MODEL, at(documented.url))) as provider:
            judge = Judge(provider, JudgeConfig(depth=depth, timeout_per_call=20))
            found = judge.evaluate(PROMPT, memories, mode)
        assert (found.status, found.detail) == ("ok", ""), (depth, mode)
    assert {row["path"] for row in documented.requests} == {"/v1/messages"}
