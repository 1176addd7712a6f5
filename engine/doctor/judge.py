"""The judge: whether it is on, has a key, and can be reached. It is asked for its models only, which costs nothing."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from engine.doctor import note, ok, problem
from engine.errors import ProviderError
from engine.judge.providers import credentials, openai
from engine.judge.providers.anthropic import API_VERSION, DEFAULT_URL
from engine.judge.providers.chat_server import HEADERS
from engine.judge.providers.http import post
from engine.judge.providers.registry import HTTP, NO_JUDGE, SCRIPTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.config import JudgeConfig
    from engine.doctor import DoctorFinding

CHECK = "judge"
SECONDS = 5.0


def finding(config: JudgeConfig, environ: Mapping[str, str]) -> DoctorFinding:
    """How the judge of the settings *config* is. No message holds a key, or a part of it."""
    name = config.provider or HTTP
    if not config.enabled or name == NO_JUDGE:
        return ok(CHECK, "off: no text leaves this machine")
    if name == "claude-cli":
        found = shutil.which("claude", path=environ.get("PATH"))
        text = f"claude-cli runs {found}" if found else "claude-cli finds no program claude on the PATH"
        return note(CHECK, f"{text}; the hook never asks it", "For the hook, set judge.provider to anthropic-http.")
    if name.partition(":")[0] == SCRIPTED:
        return note(CHECK, f"{name} answers from a file; the hook never asks it", "It is for tests and demos.")
    try:
        return _answer(*_request(name, environ), f"{name}, {config.model}")
    except ProviderError as error:
        fix = "Check the key and the network, or switch the judge off: memsift config set judge.enabled false"
        return problem(CHECK, str(error).rstrip("."), fix)


def _request(name: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The address of the list of models, and the headers with the key. Raises MissingKeyError."""
    if name == "openai":
        openai.OpenAiProvider("", environ).prepare()
        key = environ.get(openai.KEY, "")
        base = environ.get(openai.BASE_URL) or openai.DEFAULT_URL
        return f"{base.rstrip('/')}/models", {**HEADERS, **({"authorization": f"Bearer {key}"} if key else {})}
    base = environ.get(credentials.BASE_URL) or DEFAULT_URL
    if name != HTTP:
        credentials.check_key(environ)
    headers = {**HEADERS, "anthropic-version": API_VERSION, **credentials.auth_headers(environ)}
    return f"{base.rstrip('/')}/v1/models", headers


def _answer(url: str, headers: Mapping[str, str], name: str) -> DoctorFinding:
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    status = post(url, headers, None, SECONDS).status
    if status in (401, 403):
        return problem(CHECK, f"{name}: {host} refuses the key (HTTP {status})", "Set a key that is valid there.")
    if status >= 500:
        fix = "Try again later. Until then the hook injects without the judge."
        return problem(CHECK, f"{name}: {host} is out of order (HTTP {status})", fix)
    if status != 200:
        fix = f"Check {os.path.basename(url)} in its manual, or the base URL."
        return note(CHECK, f"{name}: {host} answers, but lists no models (HTTP {status})", fix)
    return ok(CHECK, f"{name}: {host} answers and takes the key")
