"""An answer through every provider: secrets are hidden only from people, parts are read, and sizes are bounded."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tracemalloc
import zlib
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.cache import Cache
from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from engine.judge.providers.claude_cli import ClaudeCliProvider
from engine.judge.providers.http import ANSWER_BYTES
from engine.judge.providers.openai import OpenAiProvider
from tests.engine.judge.api_server import Reply, at, chatted, failed, message
from tests.engine.judge.cases import MODEL, PROMPT, approved, assert_flagged, pool, shown_at
from tests.engine.judge.providers.test_claude_cli import Client, result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.judge.provider import Provider
    from engine.judge.verdict import Judgement
    from tests.engine.judge.api_server import ApiServer

    Content = str | list[object]

SECRET = "a-secret-of-nobody"
NETWORKED = ["sdk", "http", "openai"]
THOUGHT = {"type": "thinking", "thinking": '{"keep": [0]}', "text": '{"keep": [0]}', "signature": "s"}
HIDDEN_THOUGHT = {"type": "redacted_thinking", "data": '{"keep": [0]}'}


def text(said: str, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "text": said}


class Asked:
    """Providers of one kind, each with *key*, that get an answer from a server or from a stand-in for the client."""

    def __init__(self, kind: str, server: ApiServer, folder: Path) -> None:
        self.kind = kind
        self._server = server
        self._folder = folder

    def reply(self, content: Content) -> Reply:
        return chatted(content) if self.kind == "openai" else message(content)  # type: ignore[arg-type]

    def judged(self, content: Content, key: str = SECRET, cache: Cache | None = None, depth: str = "keep") -> Judgement:
        if self.kind == "claude-cli":
            client = Client(self._folder, result(content))  # type: ignore[arg-type]
            provider: Provider = ClaudeCliProvider(MODEL, {**client.environ, "ANTHROPIC_API_KEY": key})
            return _judgement(provider, cache, depth)
        return self.served(self.reply(content), key, cache, depth)

    def served(self, reply: Reply, key: str = SECRET, cache: Cache | None = None, depth: str = "keep") -> Judgement:
        self._server.answers.append(reply)
        return _judgement(self._provider(key), cache, depth)

    def _provider(self, key: str) -> Provider:
        if self.kind == "openai":
            return OpenAiProvider("local", {"OPENAI_BASE_URL": f"{self._server.url}/v1", "OPENAI_API_KEY": key})
        kind = AnthropicProvider if self.kind == "sdk" else AnthropicHttpProvider
        return kind(MODEL, at(self._server.url, key))


def _judgement(provider: Provider, cache: Cache | None, depth: str) -> Judgement:
    with closing(Judge(provider, JudgeConfig(timeout_per_call=10.0, depth=depth), cache=cache)) as judge:
        return judge.evaluate(PROMPT, pool(4), "auto")


@pytest.fixture(params=[*NETWORKED, "claude-cli"])
def asked(request: pytest.FixtureRequest, server: ApiServer, tmp_path: Path) -> Asked:
    return Asked(request.param, server, tmp_path)


@pytest.fixture(params=NETWORKED)
def networked(request: pytest.FixtureRequest, server: ApiServer, tmp_path: Path) -> Asked:
    return Asked(request.param, server, tmp_path)


def test_a_key_in_an_answer_does_not_change_it_and_is_hidden_from_people_and_the_cache(
    asked: Asked, tmp_path: Path
) -> None:
    for key in ["1", "keep", '"', "[", "e", "x"]:
        judgement = asked.judged('{"keep": [1]}', key)
        assert (judgement.status, judgement.detail) == ("ok", ""), key
        assert approved(judgement) == shown_at(1), key
    path = tmp_path / "judge.db"
    entry = {"index": 1, "decision": "approved", "confidence": 1, "reasoning": f"it names {SECRET} and more"}
    judgement = asked.judged(json.dumps({"verdicts": [entry]}), cache=Cache(str(path)), depth="explained")
    assert judgement.status == "ok"
    assert {one.reasoning for one in judgement.verdicts if one.decision == "approved"} == {"it names [hidden] and more"}
    with closing(sqlite3.connect(path)) as db:
        (row,) = db.execute("select opinions from answer").fetchone()
    assert "it names [hidden] and more" in row
    assert SECRET not in path.read_bytes().decode("latin-1")
    judgement = asked.judged("x" * 70 + SECRET)
    assert_flagged(judgement, "parse_error")
    assert judgement.detail == f"The answer holds no keep-list: {'x' * 70}[hidden]"
    if asked.kind in NETWORKED:
        judgement = asked.served(failed(401, f"the key {SECRET} is not known"))
        assert judgement.detail.endswith(" answered 401: the key [hidden] is not known")


def test_a_provider_within_limits_hides_its_keys() -> None:
    provider = AnthropicHttpProvider(MODEL, {**at("http://127.0.0.1:1", SECRET), "ANTHROPIC_AUTH_TOKEN": "a-token"})
    assert Limits(limit_usd=9.0).around(provider).hide(f"{SECRET} and a-token") == "[hidden] and [hidden]"


def test_content_is_read_as_a_text_and_as_a_list_of_parts(asked: Asked) -> None:
    for content in [
        '{"keep": [1]}',
        [text('{"keep": [1]}')],
        [text('{"keep": [1]}', "output_text")],
        [THOUGHT, HIDDEN_THOUGHT, text('{"keep":'), {"type": "image", "text": "{"}, text(" [1]}")],
        ['{"keep": ', {"text": "[1]}"}, 7, None, {"type": ["text"], "text": "{"}, {"type": "text", "text": None}],
        [text("I keep the second."), text('{"keep": [1]}'), {"type": "tool_use", "input": {"keep": [0]}}],
    ]:
        judgement = asked.judged(content)
        assert (judgement.status, judgement.detail) == ("ok", ""), content
        assert approved(judgement) == shown_at(1), content
    judgement = asked.judged([THOUGHT, HIDDEN_THOUGHT])
    assert_flagged(judgement, "parse_error")
    assert judgement.detail == "The answer is empty."
    if asked.kind == "openai":
        assert_flagged(asked.judged([{"type": "refusal", "refusal": "No."}]), "refused")


def packed(reply: Reply, pack: Callable[[bytes], bytes], encoding: str) -> Reply:
    return replace(reply, body=pack(reply.body), headers={"content-encoding": encoding})


def test_a_compressed_answer_is_read_and_one_that_cannot_be_unpacked_is_an_error(networked: Asked) -> None:
    for encoding, pack in [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("identity", bytes),
    ]:
        judgement = networked.served(packed(networked.reply('{"keep": [1]}'), pack, encoding))
        assert (judgement.status, approved(judgement)) == ("ok", shown_at(1)), encoding
    for encoding, pack, detail in [
        ("br", bytes, "compressed in a way not known here: 'br'"),
        ("gzip, gzip", gzip.compress, "compressed in a way not known here: 'gzip, gzip'"),
        ("gzip", bytes, "it is not the gzip data that it says"),
        ("gzip", lambda body: gzip.compress(body)[:-20], "it is not the gzip data that it says"),
        ("deflate", gzip.compress, "it is not the deflate data that it says"),
    ]:
        judgement = networked.served(packed(networked.reply('{"keep": [1]}'), pack, encoding))
        assert_flagged(judgement, "http_error")
        assert detail in judgement.detail, encoding


def test_an_answer_that_unpacks_to_too_much_is_an_error_before_it_is_unpacked(networked: Asked) -> None:
    bomb = gzip.compress(b" " * 100 * ANSWER_BYTES)
    assert len(bomb) < ANSWER_BYTES / 5
    networked.judged('{"keep": [1]}')  # loads all modules
    for status in (200, 500):
        tracemalloc.start()
        judgement = networked.served(Reply(bomb, status, headers={"content-encoding": "gzip"}))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert_flagged(judgement, "http_error")
        assert judgement.detail == "The API's answer is larger than 1,000 kB."
        assert peak < 10 * ANSWER_BYTES
