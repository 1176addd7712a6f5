"""The guideline of labelling: the text that says when a memory counts as relevant."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engine.lean.sections import text_beside
from engine.paths import config_file
from engine.stores.files import UnreadableFileError, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "guideline.md"
HASH_DIGITS = 16

GUIDELINE = text_beside(__file__, FILE).removesuffix("\n")


def guideline(environ: Mapping[str, str]) -> str:
    """The text of guideline.md beside config.toml; without such a file, or if it cannot be read, the usual text."""
    with suppress(UnreadableFileError):
        return text_of(str(Path(config_file(environ)).with_name(FILE))).strip() or GUIDELINE
    return GUIDELINE


def guideline_hash(environ: Mapping[str, str]) -> str:
    """The beginning of the guideline's SHA-256, in hex digits."""
    return sha256(guideline(environ).encode("utf-8", "replace")).hexdigest()[:HASH_DIGITS]
