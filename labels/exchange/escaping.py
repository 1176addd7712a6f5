"""Ids as one word: TREC's files are split at white space and know no quotes."""

from __future__ import annotations

from urllib.parse import quote, unquote

from engine.errors import ExchangeError


def word(name: str) -> str:
    """*name* with `%` and whatever could end a word or a line as `%XX` of its UTF-8 bytes.

    `plain` undoes it. Raises ExchangeError for the empty name, which no such file can hold.
    """
    if not name:
        raise ExchangeError("A prompt or memory has an empty id, which TREC's files cannot hold. Use another format.")
    return "".join(escaped(letter) if is_unsafe(letter) else letter for letter in name)


def is_unsafe(letter: str) -> bool:
    return letter == "%" or letter.isspace() or not letter.isprintable()


def escaped(letter: str) -> str:
    return quote(letter, safe="", errors="surrogatepass")


def plain(name: str) -> str:
    """What `word` made *name* of. A name that it cannot have made, such as `50%` or `%41`, is what it is."""
    if "%" not in name:
        return name
    try:
        before = unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        return name
    return before if before and word(before) == name else name
