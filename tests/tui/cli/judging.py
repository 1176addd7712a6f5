"""A root, and an API that answers about it: what the judge's command-line tests have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.builders import memory
from tests.engine.judge.api_server import KEY, kept_titles

if TYPE_CHECKING:
    import pytest

    from tests.engine.judge.api_server import ApiServer

ASK = "how do we handle the cache rule"
RULES = [memory(f"cache rule {number}", "cache", body="the cache is cold") for number in range(5)]
HTTP = ("--judge", "anthropic-http")
KEEP = kept_titles("cache rule 1", "cache rule 3")


def ask(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the judges of Anthropic ask *server*."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
