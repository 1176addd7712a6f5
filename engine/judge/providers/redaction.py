"""Making a foreign message fit to show: short, on one line, without a key."""

from __future__ import annotations

import re

from engine.judge.prompts import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MESSAGE_LIMIT = 200
"""Characters of a server's message that are shown."""

HIDDEN = "[hidden]"

_KEY_LIKE = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}|(?<=Bearer )\S+")


def without(text: str, secrets: Iterable[str]) -> str:
    """*text* with every one of *secrets* hidden."""
    for secret in filter(None, secrets):
        text = text.replace(secret, HIDDEN)
    return text


def presentable(message: str, secrets: Iterable[str]) -> str:
    """*message* without any of *secrets* or anything that looks like a key, at most MESSAGE_LIMIT characters."""
    return one_line(_KEY_LIKE.sub(HIDDEN, without(message, secrets)))[:MESSAGE_LIMIT].rstrip()
