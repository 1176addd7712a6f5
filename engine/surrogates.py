"""Half surrogate pairs: JSON can spell them, and no file, terminal or database can hold them."""

from __future__ import annotations


def without_lone_surrogates(text: str) -> str:
    """*text* with each half of a surrogate pair that stands alone replaced by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
