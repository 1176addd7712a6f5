"""Write the table of common words, engine/search/common_words.txt, from the word frequencies of wordfreq.

    pip install wordfreq
    python -m tests.benchmarks.common_words

wordfreq (R. Speer, 2022) counts words of subtitles, news, encyclopaedias, books and web pages; its data are under
CC BY-SA 4.0. The most common words of English and, fewer, of other languages are taken. A word of several languages
counts as common as in the language where it is most common.
"""

import math
from pathlib import Path

from engine.search.commonness import FILE, LEAST_ZIPF, MOST_ZIPF, OTHERS
from engine.search.tokens import fold

ENGLISH, EACH = 4000, 500
"""Words of English, and of each other language."""

LANGUAGES = "de fr es pt it nl ru zh pl cs vi ja ko sv tr id".split()
STEP = 0.25

HEAD = """# Words with their Zipf frequency in general text: see commonness.py and tests/benchmarks/common_words.py.
# From wordfreq (Robyn Speer), https://github.com/rspeer/wordfreq.
# The data of this file are under CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/
"""


def zipf_frequencies(language: str, most: int) -> dict[str, float]:
    import wordfreq

    found = sorted(wordfreq.get_frequency_dict(language, wordlist="small").items(), key=lambda item: -item[1])
    return {folded: math.log10(frequency) + 9 for word, frequency in found[:most] if (folded := fold(word)).isalnum()}


def main() -> None:
    commonest: dict[str, float] = {}
    for language in ("en", *LANGUAGES):
        for word, zipf in zipf_frequencies(language, ENGLISH if language == "en" else EACH).items():
            commonest[word] = max(zipf, commonest.get(word, 0.0))
    lines: dict[str, list[str]] = {}
    for word, zipf in sorted(commonest.items()):
        level = round(min(max(zipf, LEAST_ZIPF), MOST_ZIPF) / STEP) * STEP
        lines.setdefault(word[0] if "a" <= word[0] <= "z" else OTHERS, []).append(f"{word}:{level:.2f}")
    rows = (f"{letter} {' '.join(words)} \n" for letter, words in sorted(lines.items()))
    Path(FILE).write_text(HEAD + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
