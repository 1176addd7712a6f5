"""The guideline: the rule by which a person labels. It is the user's own file, or the text below.

Its hash goes with each label, so that labels by different rules can be told apart.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engine.paths import config_file
from engine.stores.files import UnreadableFileError, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "guideline.md"
HASH_DIGITS = 16

GUIDELINE = """\
Would you want the assistant to read this memory before it answers this prompt?

Relevant: it changes the answer, or prevents a mistake. It is enough if a part of the memory does so.

Not relevant: it shares words or a topic with the prompt, but the answer would be the same without it. A memory that is
out of date or wrong is not relevant; give a reason with the label.

Unsure: you do not know enough about the project to say. It is counted, and left out of precision.

No rating: the memory or the prompt cannot be understood at all.

Judge the memory by itself. Do not think of the other cards, or of how the memory was found.

Where grades are on: 0 is not relevant, 1 helps a little, 2 helps, 3 is needed for a right answer.\
"""


def guideline(environ: Mapping[str, str]) -> str:
    """The text of guideline.md beside config.toml; without such a file, or if it cannot be read, the usual text."""
    try:
        return text_of(str(Path(config_file(environ)).with_name(FILE))).strip() or GUIDELINE
    except UnreadableFileError:
        return GUIDELINE


def guideline_hash(environ: Mapping[str, str]) -> str:
    """The beginning of the guideline's SHA-256, in hex digits."""
    return sha256(guideline(environ).encode("utf-8", "replace")).hexdigest()[:HASH_DIGITS]
