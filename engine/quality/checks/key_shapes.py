"""What keys and passwords look like, as plugins and a filter of detect-secrets, for what the library does not know.

Names of variables, placeholders, references and prose are no secrets. The library is imported by the check alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detect_secrets.plugins.base import RegexBasedDetector

from engine.lean.sections import read_sections

if TYPE_CHECKING:
    from collections.abc import Generator

REPLACED = ("AWSKeyDetector", "GitHubTokenDetector", "KeywordDetector", "NpmDetector", "OpenAIDetector")
"""Plugins of the library whose part is done here: these name a part of a key, miss newer ones, or take prose."""

SERVICES, PASSWORDS, KEYS, STAND_INS = ("|".join(lines) for _, lines in read_sections(__file__, "key_shapes.txt"))
NAMED = re.compile(
    rf"(?:(?P<password>{PASSWORDS})|(?P<key>{KEYS}))(?:[_-](?:base|value|prod|production|staging|dev|test|\d))?"
    r"""["'`\])*_]{0,4}\s*(?P<sign>:=|=>|={1,3}|:|\|)[*_]{0,2}\s*"""
    r"""(?:(?P<quote>["'`])(?P<quoted>[^\s"'`]{6,})(?P=quote)|(?P<bare>[^\s"'`,;&|]{6,}))""",
    re.IGNORECASE,
)
"""A name, a sign and a value: `DB_PASSWORD=...`, `"apiKey": "..."`, `**Password:** ...`, a row of a table."""

LEAST_KEY = 12
"""Characters of a key or token; passwords may have fewer."""

STAND_IN = re.compile(STAND_INS, re.IGNORECASE)
NAME = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,}-\d+|[A-Za-z_.:-]+|(?:[a-z]+\d{0,2}|v?\d{1,4})(?:[-_./:](?:[a-z]+\d{0,2}|v?\d{1,4}))+"
)
"""The name of something: `DEPLOY_USER`, `OPS-151`, `settings.token`, `prod-db-v2`."""


def is_stand_in(secret: str) -> bool:
    """The filter of detect-secrets: whether a text only stands for a secret, or is one character over and over."""
    return bool(STAND_IN.search(secret)) or len(set(secret)) < min(len(secret), 5)


class ServiceKey(RegexBasedDetector):
    """The keys of services, each whole."""

    secret_type = "key of a service"
    denylist = (re.compile(rf"(?<![A-Za-z0-9])(?:{SERVICES})"),)

    def analyze_string(self, string: str) -> Generator[str, None, None]:
        """Yield the keys. Words with hyphens after the first letters are a placeholder."""
        yield from (found for found in super().analyze_string(string) if re.search(r"\d|[a-z][A-Z]", found[6:]))


class SignIn(RegexBasedDetector):
    """What a request or a command carries to sign in: a header, or `curl -u name:password`."""

    secret_type = "sign-in of a request"
    denylist = (
        re.compile(r"(?ai)\b(?:bearer|authorization\W{1,4}(?:basic|token))\s+([\w.~+/-]{16,}=*)"),
        re.compile(r"\bcurl\b.*?\s(?:-u|--user)[\s=]*[\"']?[\w.@-]+:([^\s\"']{6,})"),
        re.compile(r"\bsshpass\s+-p\s*[\"']?([^\s\"']{6,})"),
    )

    def analyze_string(self, string: str) -> Generator[str, None, None]:
        """Yield the passwords and tokens, without names."""
        yield from (found for found in super().analyze_string(string) if not NAME.fullmatch(found))


class NamedSecret(RegexBasedDetector):
    """The value that follows the name of a password, a token or a key, in quotes or not."""

    secret_type = "value of a password, token or key"
    denylist = (NAMED,)

    def analyze_string(self, string: str) -> Generator[str, None, None]:
        """Yield the values. The end of a sentence belongs to no value without quotes."""
        for found in NAMED.finditer(string):
            value = found["quoted"] or found["bare"].rstrip(".:!?)]}")
            is_mixed = any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
            is_key = len(value) >= LEAST_KEY and is_mixed and not NAME.fullmatch(value)
            if _is_password(found, value) if found["password"] else is_key:
                yield value


def _is_password(found: re.Match[str], value: str) -> bool:
    """Whether a value is a password: a word of letters is one only where a variable is set to it.

    `PASS:` before a value is the result of a test.
    """
    if found["password"] == "PASS" and found["sign"] in ":|":
        return False
    if found["sign"] == "=" and (found["password"].isupper() or found["quote"] in ('"', "'")):
        return not re.fullmatch(r"[A-Z_]+", value)
    return not NAME.fullmatch(value) or bool(re.search(r"[a-z]\d", value))
