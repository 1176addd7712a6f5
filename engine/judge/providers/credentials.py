"""Whether the Anthropic SDK will find credentials, known before it is imported (1.6 s) or asked (a bare TypeError)."""

from __future__ import annotations

import os.path

from engine.errors import MissingKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

API_KEY, AUTH_TOKEN, BASE_URL = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"

MISSING_KEY = (
    "The judge needs an API key: set ANTHROPIC_API_KEY. Create one at https://platform.claude.com under Settings, "
    "API keys; the API is billed apart from a Claude subscription."
)


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
    lines = environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return any(line.partition(":")[0].strip().lower() in ("authorization", "x-api-key") for line in lines)


def _has_profile_on_disk(environ: Mapping[str, str]) -> bool:
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("ANTHROPIC_CONFIG_DIR") or os.path.join(home, ".config", "anthropic")
    names = ("active_config", os.path.join("configs", "default.json"))
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)
