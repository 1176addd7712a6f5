"""Anthropic's credentials: where they are found, which headers carry them, and how they are kept out of messages.

Whether the SDK will find any is checked here before it is loaded, because its own error is a bare TypeError.
"""

from __future__ import annotations

import os.path
import re

from engine.errors import MissingKeyError
from engine.judge.prompts import one_line
from engine.paths import home_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

API_KEY, AUTH_TOKEN, BASE_URL = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"
CUSTOM_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
AUTH_HEADERS = ("authorization", "x-api-key")
PROFILES = ("active_config", os.path.join("configs", "default.json"))
"""The files of the active profile, in the SDK's folder."""

MESSAGE_LIMIT = 200
"""Characters of a server's message that are shown."""

HIDDEN = "[hidden]"
_KEY_LIKE = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}|(?<=Bearer )\S+")

MISSING_KEY = (
    "The judge needs an API key: set ANTHROPIC_API_KEY. Create one at https://platform.claude.com under Settings, "
    "API keys; the API is billed apart from a Claude subscription."
)

NO_SDK = (
    "The judge anthropic-http reads no profile and no workload identity, which only the app and the commands do, with "
    "the judge anthropic: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN. The API is billed apart from a Claude "
    "subscription."
)


def auth_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """The headers that carry credentials, then the user's custom headers. Names are in lower case.

    As in the SDK, the key of *environ* comes before its token. Raises MissingKeyError.
    """
    key = environ.get(API_KEY) or environ.get(AUTH_TOKEN)
    headers = {**({"authorization": f"Bearer {key}"} if key else {}), **_custom_headers(environ)}
    if not any(name in headers for name in AUTH_HEADERS):
        check_key(environ)
        raise MissingKeyError(NO_SDK)
    return headers


def sdk_credentials(environ: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of the SDK's clients. None leaves it to the SDK to look further. Raises MissingKeyError."""
    check_key(environ)
    key = environ.get(API_KEY) or None
    token = None if key else environ.get(AUTH_TOKEN) or None
    return {"api_key": key, "auth_token": token, "base_url": environ.get(BASE_URL) or None}


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The texts that no message may show."""
    custom = _custom_headers(environ)
    carried = [custom[name] for name in AUTH_HEADERS if name in custom]
    keys = (environ.get(API_KEY, ""), environ.get(AUTH_TOKEN, ""))
    return (*keys, *carried, *(value.removeprefix("Bearer ") for value in carried))


def check_key(environ: Mapping[str, str]) -> None:
    """Raise MissingKeyError unless *environ* leads the SDK to credentials.

    The SDK (2.12) looks for a key, a token, a named profile, a workload identity and the active profile on disk.
    A custom header may carry credentials, too.
    """
    custom, get = _custom_headers(environ), environ.get
    has_rule = get("ANTHROPIC_FEDERATION_RULE_ID") and get("ANTHROPIC_ORGANIZATION_ID")
    has_token = get("ANTHROPIC_IDENTITY_TOKEN") or get("ANTHROPIC_IDENTITY_TOKEN_FILE")
    folder = get("ANTHROPIC_CONFIG_DIR") or os.path.join(home_dir(environ), ".config", "anthropic")
    found = (
        any(map(get, (API_KEY, AUTH_TOKEN, "ANTHROPIC_PROFILE")))
        or (has_rule and has_token)
        or any(name in custom for name in AUTH_HEADERS)
        or any(os.path.isfile(os.path.join(folder, name)) for name in PROFILES)
    )
    if not found:
        raise MissingKeyError(MISSING_KEY)


def without(text: str, secrets: Iterable[str]) -> str:
    """*text* with every one of *secrets* hidden. The longest go first, so that no end of a secret is left."""
    longest = sorted(filter(None, secrets), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest)), HIDDEN, text) if longest else text


def presentable(message: str, secrets: Iterable[str]) -> str:
    """*message* on one line, at most MESSAGE_LIMIT characters, without *secrets* or anything that looks like a key."""
    return one_line(_KEY_LIKE.sub(HIDDEN, without(message, secrets)))[:MESSAGE_LIMIT].rstrip()


def _custom_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """The variable holds a header on each line, as `Name: value`. Lines without a colon are skipped."""
    lines = (line.partition(":") for line in environ.get(CUSTOM_HEADERS, "").split("\n"))
    return {name.strip().lower(): value.strip() for name, colon, value in lines if colon}
