"""What keys and passwords look like, as plugins and a filter of detect-secrets, for what the library does not know.

Names of variables, placeholders, references and prose are no secrets. The library is imported by the check alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detect_secrets.plugins.base import RegexBasedDetector

if TYPE_CHECKING:
    from collections.abc import Generator

REPLACED = ("AWSKeyDetector", "GitHubTokenDetector", "KeywordDetector", "NpmDetector", "OpenAIDetector")
"""Plugins of the library whose part is done here: these name a part of a key, miss newer ones, or take prose."""

SERVICES = (
    r"sk-(?:ant|proj|svcacct|admin|or)-[\w-]{20,}",
    r"sk-[A-Za-z0-9]{32,}",
    r"AIza[\w-]{35}",
    r"GOCSPX-[\w-]{28}",
    r"ya29\.[\w-]{30,}",
    r"gh[pousr]_\w{36,}",
    r"github_pat_\w{36,}",
    r"glpat-[\w-]{20,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"npm_[A-Za-z0-9]{36}",
    r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}",
    r"(?:gsk_|r8_|xai-|pplx-|lin_api_|dop_v1_|shp(?:at|ss)_|sbp_|ntn_|rubygems_|phx_)[A-Za-z0-9]{28,}",
    r"(?:nvapi-|tvly-|dckr_pat_|figd_|sb_secret_|glsa_|glc_|sntry[su]_|whsec_)[\w=+/-]{24,}",
    r"(?:sk|rk)_(?:live|test)_\w{20,}",
    r"hv[sb]\.[\w-]{24,}",
    r"tskey-[\w-]{20,}",
    r"xapp-\d-\w+-\d+-\w{30,}",
    r"ATATT3[\w=-]{60,}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
)
"""The keys of services. Each begins with letters that no other text begins with, and goes on at random."""

PASSWORDS = r"pass(?:word|wd|phrase)|(?<![a-z])pass|pwd|contraseña|passwort|mot_de_passe"
KEYS = r"secret|token|(?:api|access|auth|account|private|client|service|secret|signing|encryption|master|db)[_-]?key"
NAMED = re.compile(
    rf"(?:(?P<password>{PASSWORDS})|(?P<key>{KEYS}))(?:[_-](?:base|value|prod|production|staging|dev|test|\d))?"
    r"""["'`\])*_]{0,4}\s*(?P<sign>:=|=>|={1,3}|:|\|)[*_]{0,2}\s*"""
    r"""(?:(?P<quote>["'`])(?P<quoted>[^\s"'`]{6,})(?P=quote)|(?P<bare>[^\s"'`,;&|]{6,}))""",
    re.IGNORECASE,
)
"""A name, a sign and a value: `DB_PASSWORD=...`, `"apiKey": "..."`, `**Password:** ...`, a row of a table."""

LEAST_KEY = 12
"""Characters of a key or token; passwords may have fewer."""

STAND_IN = re.compile(
    r"example|placeholder|change[-_]?me|redacted|dummy|(?:^|[^a-z])(?:your|my|the)(?:[-_]|$)|[-_]here$|x{4,}|\*{3}|\.{3}|…|"
    r"^(?:[a-z]+[-_])*(?:pass(?:word|wd)?|pwd|secret|token|key)\d{0,3}$|"
    r"^(?:true|false|none|null|string|required|optional|(?:en|dis)abled)$|"
    r"^(?:arn:|op:|vault:|\w+://|[a-z]:[\\/]|[$%<{(\[/~@!#&]|\.{1,2}/)|^[\w.]+[(\[{]|[>}]$|"
    r"\.(?:json|ya?ml|toml|env|txt|md|pem|key|ini|cfg|db|js|ts|py|sh)$|"
    r"^(?:argon2|bcrypt|scrypt|pbkdf2|sha-?\d|md5|base64|oauth2|aes-?\d|hs256|rs256)",
    re.IGNORECASE,
)
"""A placeholder, an example of a manual, a file or another place, a function's name: what stands for a secret."""

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
    denylist = (re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(SERVICES)})"),)

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
            if _is_password(found, value) if found["password"] else _is_key(value):
                yield value


def _is_key(value: str) -> bool:
    mixed = any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
    return len(value) >= LEAST_KEY and mixed and not NAME.fullmatch(value)


def _is_password(found: re.Match[str], value: str) -> bool:
    """Whether a value is a password: a word of letters is one only where a variable is set to it.

    `PASS:` before a value is the result of a test.
    """
    if found["password"] == "PASS" and found["sign"] in ":|":
        return False
    if found["sign"] == "=" and (found["password"].isupper() or found["quote"] in ('"', "'")):
        return not re.fullmatch(r"[A-Z_]+", value)
    return not NAME.fullmatch(value) or bool(re.search(r"[a-z]\d", value))
