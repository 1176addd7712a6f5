"""SHA-256 by the interpreter's own module: `hashlib` loads OpenSSL, see README.md beside this file."""

from __future__ import annotations

import sys

try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha256


def digest(data: bytes) -> bytes:
    """32 bytes."""
    return bytes(sha256(data).digest())


def hex_digest(text: str) -> str:
    """64 hex digits for a text, which may hold half surrogate pairs."""
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
