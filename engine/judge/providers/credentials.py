"""Anthropic's credentials: whether the SDK will find any, and those that can be sent without it.

The first is known before the SDK is imported, which takes 1.6 s, or asked, which ends in a bare TypeError.
"""

from __future__ import annotations

import os.path

from engine.errors import MissingKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

API_KEY, AUTH_TOKEN, BASE_URL = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"
CUSTOM_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
AUTH_HEADERS = ("authorization", "x-api-key")

MISSING_KEY = (
    "The judge needs an API key: set ANTHROPIC_API_KEY. Create one at https://platform.claude.com under Settings, "
    "API keys; the API is billed apart from a Claude subscription."
)

NO_SDK = (
    "The judge anthropic-http reads no profile and no workload identity, which only the app and the commands do, with "
    "the judge anthropic: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN. The API is billed apart from a Claude "
    "subscription."
)


def auth_headers(environ: Mapping[str, str], api_key: str | None = None) -> dict[str, str]:
    """The headers that carry credentials, and the user's custom ones, which come last. Names are in lower case.

    As in the SDK *api_key* comes before the key of *environ*, and that before its token. Raises MissingKeyError.
    """
    key = api_key or environ.get(API_KEY) or environ.get(AUTH_TOKEN)
    headers = {**({"authorization": f"Bearer {key}"} if key else {}), **_custom_headers(environ)}
    if not any(name in headers for name in AUTH_HEADERS):
        check_key(environ)
        raise MissingKeyError(NO_SDK)
    return headers


def known_secrets(environ: Mapping[str, str], api_key: str | None = None) -> tuple[str, ...]:
    """What no message may show."""
    custom = _custom_headers(environ)
    carried = [custom[name] for name in AUTH_HEADERS if name in custom]
    keys = (api_key or "", environ.get(API_KEY, ""), environ.get(AUTH_TOKEN, ""))
    return (*keys, *carried, *(value.removeprefix("Bearer ") for value in carried))


def check_key(environ: Mapping[str, str]) -> None:
    """Raise MissingKeyError unless *environ* leads the SDK to credentials.

    The SDK's order (2.12): key, token, named profile, workload identity, active profile on disk; and a custom header
    that carries them.
    """
    found = (
        any(environ.get(name) for name in (API_KEY, AUTH_TOKEN, "ANTHROPIC_PROFILE"))
        or _has_workload_identity(environ)
        or _has_header(environ)
        or _has_profile_on_disk(environ)
    )
    if not found:
        raise MissingKeyError(MISSING_KEY)


def _has_workload_identity(environ: Mapping[str, str]) -> bool:
    rule = environ.get("ANTHROPIC_FEDERATION_RULE_ID") and environ.get("ANTHROPIC_ORGANIZATION_ID")
    token = environ.get("ANTHROPIC_IDENTITY_TOKEN") or environ.get("ANTHROPIC_IDENTITY_TOKEN_FILE")
    return bool(rule and token)


def _has_header(environ: Mapping[str, str]) -> bool:
    custom = _custom_headers(environ)
    return any(name in custom for name in AUTH_HEADERS)


def _custom_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """A line of the variable is a header, `Name: value`; a line without a colon is none."""
    lines = (line.partition(":") for line in environ.get(CUSTOM_HEADERS, "").split("\n"))
    return {name.strip().lower(): value.strip() for name, colon, value in lines if colon}


def _has_profile_on_disk(environ: Mapping[str, str]) -> bool:
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("ANTHROPIC_CONFIG_DIR") or os.path.join(home, ".config", "anthropic")
    names = ("active_config", os.path.join("configs", "default.json"))
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)
