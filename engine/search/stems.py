"""Words -> stems: what the forms of one word have in common, so that `caching` finds `cached`.

English by M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, in the variant of SQLite's tokenizer
`porter`, which the tests hold it against; but a y after a vowel stays (deploy, deployment), and what Porter would take
for forms of another word is kept APART. Korean by its commonest particles, Cyrillic by the endings that Slavic
languages share, Arabic without its article. Any other word is its own stem.
"""

from __future__ import annotations

MIN_LENGTH, MAX_LENGTH = 3, 64
"""Letters of an English word that has a stem."""

PARTICLES = """
    에서는 에서도 으로는 으로도 에게서 까지는 부터는 에서 에게 으로 까지 부터 처럼 보다 하고 이나 이랑 한테
    은 는 이 가 을 를 에 의 로 와 과 도 만 나
""".split()
"""Korean particles, the longest first. They end a noun: 토큰을, 토큰은 and 토큰에서 are all 토큰."""

MIN_NOUN = 2
HANGUL = "가", "힣"

ENDINGS = """
    иями иях ием иеи ами ями ого его ому ему ыми ими
    ах ях ов ев еи ои ыи ии ая яя ое ее ые ие ам ям ом ем ую юю ию ью ия ья ых их ів
    а я о е у ю ы и і ь
""".split()
"""Cyrillic endings, the longest first, as `fold` leaves them (й is и): сервера, серверов and сервере are all сервер."""

MIN_CYRILLIC = 3
CYRILLIC = "Ѐ", "ӿ"

APART = {
    "authoriti": "authority", "authorize": "authorize", "busi": "busy", "business": "business",
    "customer": "customer", "digital": "digital", "effective": "effective", "executive": "executive",
    "expression": "expression", "general": "general", "generalize": "general", "generic": "generic",
    "importance": "important", "important": "important", "internal": "internal", "internate": "international",
    "news": "news", "objective": "objective", "organize": "organize", "original": "original",
    "positive": "positive", "terminal": "terminal", "universe": "universe", "universiti": "university",
}  # fmt: skip
"""Words, as step 2 leaves them, whose stem would be that of a word that a developer never means by them: author,
custom, digit, effect, execute, express, generate, import, intern, new, object, organ, origin, position, terminate."""

ARTICLES = "وال", "بال", "كال", "فال", "ال", "لل"
"""The Arabic article with what is written onto it: الخادم is خادم."""

MIN_ARABIC = 3
ARABIC = "\u0620", "\u06ff"

STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a token as `tokens` gives it: lower case, without accents."""
    if not word.isascii():
        return _of_another_script(word)
    if not MIN_LENGTH <= len(word) <= MAX_LENGTH or not word.isalpha():
        return word
    start = _step_2(_step_1(word))
    return APART.get(word) or APART.get(start) or _step_5(_step_4(_step_3(start)))


def _of_another_script(word: str) -> str:
    if HANGUL[0] <= word[-1] <= HANGUL[1]:
        return _without(PARTICLES, word, MIN_NOUN)
    if CYRILLIC[0] <= word[-1] <= CYRILLIC[1]:
        return _without(ENDINGS, word, MIN_CYRILLIC)
    article = next(filter(word.startswith, ARTICLES), "") if ARABIC[0] <= word[0] <= ARABIC[1] else ""
    return word[len(article) :] if len(word) - len(article) >= MIN_ARABIC else word


def _without(endings: list[str], word: str, least: int) -> str:
    """*word* without the first of *endings* that leaves *least* characters of it."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


def _step_1(word: str) -> str:
    """Plurals and participles: ponies, agreed, hopping, filing, happy."""
    if word.endswith("s"):
        word = word[:-2] if word.endswith(("sses", "ies")) else word if word.endswith("ss") else word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) else word
    elif word.endswith("ed") and _has_vowel(word[:-2]):
        word = _mended(word[:-2])
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = _mended(word[:-3])
    return f"{word[:-1]}i" if _ends_in_y(word) and _has_vowel(word[:-1]) else word


def _ends_in_y(word: str) -> bool:
    """Whether it ends in a y that turns into i in other forms: policy, not deploy."""
    return word.endswith("y") and word[-2:-1] not in ("a", "e", "o", "u")


def _mended(word: str) -> str:
    """What a participle's ending left, as a word: hopp is hop, fil is file."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if word[-1:] == word[-2:-1] and _is_consonant(word, len(word) - 1) and word[-1] not in "lsz":
        return word[:-1]
    return f"{word}e" if _measure(word) == 1 and _ends_short(word) else word


def _step_2(word: str) -> str:
    return _replaced(word, STEP_2)


def _step_3(word: str) -> str:
    return _replaced(word, STEP_3)


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """*word* with the first of *endings* that it has replaced, if enough is left before it."""
    for ending, other in endings:
        if word.endswith(ending):
            start = word[: -len(ending)]
            return start + other if _measure(start) else word
    return word


def _step_4(word: str) -> str:
    for ending in STEP_4:
        if word.endswith(ending):
            start = word[: -len(ending)]
            is_whole = ending == "ion" and not start.endswith(("s", "t"))
            return word if is_whole or _measure(start) < 2 else start
    return word


def _step_5(word: str) -> str:
    """A last e, and one of two last ls."""
    if word.endswith("e"):
        size = _measure(word[:-1])
        if size > 1 or (size == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _is_consonant(word: str, i: int) -> bool:
    if word[i] == "y":
        return i == 0 or not _is_consonant(word, i - 1)
    return word[i] not in "aeiou"


def _measure(word: str) -> int:
    """How often consonants follow vowels: 0 for tree, 1 for trouble, 2 for private."""
    count, was_vowel = 0, False
    for i in range(len(word)):
        is_vowel = not _is_consonant(word, i)
        count += was_vowel and not is_vowel
        was_vowel = is_vowel
    return count


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, i) for i in range(len(word)))


def _ends_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant other than w, x, y: hop, fil."""
    last = len(word) - 1
    if last < 2 or word[last] in "wxy":
        return False
    return _is_consonant(word, last) and not _is_consonant(word, last - 1) and _is_consonant(word, last - 2)
