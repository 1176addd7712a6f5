"""Which words of a prompt are names although they look like words without content: Go, `make`, C, R.

What shows a name: backticks around it, a capital inside a sentence, an option or a bracket behind it, C's ++ or #.
"""

from __future__ import annotations

ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
QUOTES = "\"'()[]{}<>*_,.;:!?…«»“”‘’-#>"
MOST_CAPITALS = 0.5
"""Share of words with a capital, abbreviations aside, from which on a capital says nothing: a title."""


def names(text: str) -> set[str]:
    """The words of *text*, in their own case, that something shows to be names."""
    return _in_code(text) | _with_capital(text) | _commands(text) | _signed(text)


def _in_code(text: str) -> set[str]:
    """What stands between backticks. Three backticks open as one does."""
    if "`" not in text:
        return set()
    return {word.strip(QUOTES) for piece in text.split("`")[1::2] for word in piece.split()}


def _with_capital(text: str) -> set[str]:
    """Words with one capital, their first letter, that begin no sentence."""
    found, capitals, count = set(), 0, 0
    for line in text.splitlines():
        begins = True
        for raw in line.split():
            word = raw.strip(QUOTES)
            if word and not begins and (len(word) == 1 or not word.isupper()):
                count += 1
                capitals += word[0].isupper()
                if word[0].isupper() and word not in ("I", "A") and (len(word) == 1 or word[1:].islower()):
                    found.add(word)
            begins = raw.endswith(ENDS) if word else begins
    return found if capitals <= MOST_CAPITALS * count else set()


def _commands(text: str) -> set[str]:
    """Words before an option, as in `make -j4`, or before a bracket, as in get()."""
    words = text.split()
    options = {words[i - 1] for i in range(1, len(words)) if _is_option(words[i])}
    return options | {word.partition("(")[0] for word in words if "(" in word[1:]}


def _signed(text: str) -> set[str]:
    """C of C++ and C#."""
    return {word[0] for raw in text.split() if (word := raw.strip("\"'().,;:!?"))[1:] in ("++", "#")}


def _is_option(word: str) -> bool:
    return (word[:1] == "-" and word[1:2].isalnum()) or (word[:2] == "--" and word[2:3].isalnum())
