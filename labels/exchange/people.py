"""Names for people whose e-mail address a file gives: an address goes neither into a store nor out of it."""

from __future__ import annotations

import hashlib
import re

DOMAIN = "memsift.invalid"
"""No mail is ever sent there: RFC 2606."""

CODE = re.compile(r"person-[0-9a-f]{12}")


def person(name: str) -> str:
    """`person-` and 12 hex digits of a hash of *name* in small letters; the code of a code is itself."""
    small = name.strip().lower().removesuffix(f"@{DOMAIN}")
    if CODE.fullmatch(small):
        return small
    return f"person-{hashlib.sha256(small.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def address(name: str) -> str:
    """What stands for *name* where a format wants an e-mail address."""
    return f"{person(name)}@{DOMAIN}"
