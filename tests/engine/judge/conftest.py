"""A server, and the two providers that talk to it in Anthropic's form."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.anthropic import AnthropicProvider
from engine.judge.providers.anthropic_http import AnthropicHttpProvider
from tests.engine.judge.api_server import KEY, ApiServer
from tests.engine.judge.cases import MODEL, PROMPT, pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.judge.verdict import Judgement
    from tests.engine.judge.api_server import Reply
    from tests.engine.judge.cases import Ask, Make

PROVIDERS = {"sdk": AnthropicProvider, "http": AnthropicHttpProvider}


@pytest.fixture(scope="module")
def running() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def server(running: ApiServer) -> ApiServer:
    running.answers.clear()
    running.requests.clear()
    running.answer = ApiServer.keep_nothing
    return running


@pytest.fixture(scope="module", params=PROVIDERS)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes providers of one kind, ready to be asked, and closes them in the end."""
    with ExitStack() as opened:

        def made(*arguments: object, **named: object) -> AnthropicProvider | AnthropicHttpProvider:
            return opened.enter_context(closing(PROVIDERS[request.param](*arguments, **named)))

        yield made


@pytest.fixture(scope="module")
def provider(running: ApiServer, make: Make) -> AnthropicProvider | AnthropicHttpProvider:
    return make(MODEL, KEY, running.url)


@pytest.fixture
def ask(server: ApiServer, provider: AnthropicProvider | AnthropicHttpProvider) -> Ask:
    """Asks about four memories, with the replies given as the server's next ones."""

    def asked(*replies: Reply, **config: object) -> Judgement:
        server.answers.extend(replies)
        judge = Judge(provider, JudgeConfig(**{"timeout_per_call": 10.0, **config}))
        return judge.evaluate(PROMPT, pool(4), "auto")

    return asked
