"""Text -> tokens, the same for memories and prompts, in any language.

A token is a lower-case run of letters and digits without accents. Identifiers are found by their parts: `user_id`,
`user-id` and `userId` all hold the tokens user, id next to each other, and userid as well, for who writes it so.
Scripts without spaces (Han, Kana) become one token per character, so that any part of a run is found.
The tokens of a memory are what FTS5 gets, so its own tokenizer (unicode61) never has anything left to decide.
"""

from __future__ import annotations

import unicodedata

JOINERS = "_.-"
"""Characters that hold a compound identifier together: user_id, react.fc, rate-limiting, v2.0."""

MAX_WHOLE = 40
"""Characters of a compound that is a word: longer ones are the names of files made from sentences."""

BARRED = {**str.maketrans("łøđðħŧı", "loddhti", "ـ"), ord("æ"): "ae", ord("œ"): "oe"}
"""Letters that lose their stroke or their joint as others lose accents, though Unicode does not take them apart, and
the Arabic stretching sign, which means nothing."""

ONE_WORD = frozenset(
    """
    JavaScript TypeScript CoffeeScript GitHub GitLab BitBucket YouTube PayPal LinkedIn PowerShell OpenAI WordPress
    SharePoint OneDrive FastAPI OAuth DevOps
    """.split()
)
"""Names with inner capitals whose parts are something else: who asks about java does not mean JavaScript."""

UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
"""Hiragana, Katakana and Han: scripts written without spaces between words."""


class _Separators(dict[int, str]):
    """A translation table that keeps letters, digits, marks and *kept*, and makes everything else a space."""

    def __init__(self, kept: str = "") -> None:
        super().__init__({ord(character): character for character in kept})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        keep = character.isalnum() or (code > 127 and unicodedata.category(character)[0] == "M")
        self[code] = character if keep else " "
        return self[code]


_WORDS = _Separators()
_CHUNKS = _Separators(JOINERS)


class _Known(dict[str, tuple[tuple[str, ...], str]]):
    """Chunk -> its tokens, and its whole where that is one more. Building an index sees the same ones over and over."""

    MOST = 50_000

    def __missing__(self, chunk: str) -> tuple[tuple[str, ...], str]:
        if len(self) >= self.MOST:
            self.clear()
        self[chunk] = found = tuple(token for word in words(chunk) for token in word_tokens(word)), joined(chunk)
        return found


_KNOWN = _Known()

GAP = "\ue000"
"""A token that no text holds. It stands before the whole words, so that no phrase runs on into them."""


def tokens(text: str) -> list[str]:
    """All tokens of *text*, as the index holds them: in order, then a GAP and the compound words in one.

    The wholes stand apart so that the parts of neighbours stay neighbours: `UserService.get_user` is
    user, service, get, user, GAP, userservice, getuser, and so the phrase of userService.getUser finds it.
    """
    found: list[str] = []
    wholes: list[str] = []
    for chunk in chunks(text):
        parts, whole = _KNOWN[chunk]
        found += parts
        if whole:
            wholes += whole.split()
    return [*found, GAP, *wholes] if wholes else found


def placed_tokens(text: str) -> list[tuple[str, int, int]]:
    """`tokens` with the place of each in *text*, as character offsets (start, end); a GAP has none: (GAP, 0, 0)."""
    position = 0
    found, wholes = [], []
    for chunk in chunks(text):
        start = position = text.index(chunk, position)
        for word in words(chunk):
            position = text.index(word, position)
            for piece in _pieces(word):
                found += [(token, position, position + len(piece)) for token in word_tokens(piece)]
                position += len(piece)
        wholes += [(whole, start, start + len(chunk)) for whole in joined(chunk).split()]
    return [*found, (GAP, 0, 0), *wholes] if wholes else found


def chunks(text: str) -> list[str]:
    """The words of *text* with compound identifiers whole: `fix user_id.` gives fix, user_id."""
    return [chunk for raw in text.translate(_CHUNKS).split() if (chunk := raw.strip(JOINERS))]


def words(text: str) -> list[str]:
    """The words of a text or of a compound identifier, in their own case."""
    return text.translate(_WORDS).split()


def occurrences(text: str, phrase: str) -> int:
    """How often *phrase* stands in *text*, both tokens with one space between and around; overlaps count as well."""
    count, position = 0, text.find(phrase)
    while position >= 0:
        count, position = count + 1, text.find(phrase, position + 1)
    return count


def word_tokens(word: str) -> tuple[str, ...]:
    """The tokens of one word (no separators in it) in place: its parts, its single characters, or itself."""
    whole = fold(word)
    if not whole:
        return ()
    if has_unspaced(whole):
        return tuple(token for run in runs(whole) for token in _each(run))
    return tuple(filter(None, map(fold, camel_parts(word))))


def is_camel(word: str) -> bool:
    """Whether a word has inner capitals, and so is found by its parts and as a whole."""
    return len(camel_parts(word)) > 1 and not has_unspaced(fold(word))


def joined(chunk: str) -> str:
    """A compound in one: userid for user_id, user-id and userId; empty for what is none, is a number or a sentence.

    Of names with dots each part by itself: `UserService.get_user` gives "userservice getuser".
    """
    return " ".join(filter(None, map(_whole, chunk.split("."))))


def _whole(name: str) -> str:
    whole = fold(name.replace("_", "").replace("-", ""))
    is_compound = (len(words(name)) > 1 and len(name) <= MAX_WHOLE) or is_camel(name)
    return whole if is_compound and not whole.isdecimal() and not has_unspaced(whole) else ""


def camel_parts(word: str) -> list[str]:
    """getUserName -> get, User, Name; HTTPServer -> HTTP, Server; itself without inner capitals, and in ONE_WORD."""
    if word.isupper() or word[1:] == word[1:].lower() or word in ONE_WORD:
        return [word]
    starts = [i for i in range(1, len(word)) if _starts_part(word, i)]
    return [word[i:j] for i, j in zip([0, *starts], [*starts, len(word)], strict=True)]


def fold(text: str) -> str:
    """Lower case without accents and points. Marks that spell a word stay: vowel signs of India and Thailand, Kana's.

    Empty for text without a letter or digit. Kana with their voicing marks are single characters already.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold().translate(BARRED)
    bare = unicodedata.normalize("NFC", "".join(c for c in decomposed if c.isalnum() or _spells(c)))
    is_spelled = any(map(str.isalnum, bare)) and not has_unspaced(bare)
    return bare if is_spelled else "".join(filter(str.isalnum, bare))


def runs(text: str) -> list[str]:
    """Runs of unspaced and of other characters, alternating. *text* is not empty."""
    starts = [0, *(i for i in range(1, len(text)) if is_unspaced(text[i]) != is_unspaced(text[i - 1]))]
    return [text[i:j] for i, j in zip(starts, [*starts[1:], len(text)], strict=True)]


def is_unspaced(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in UNSPACED)


def has_unspaced(text: str) -> bool:
    return not text.isascii() and any(map(is_unspaced, text))


def _spells(character: str) -> bool:
    """Whether a mark is part of the spelling. By combining class (Unicode 15, 4.3): 0 and 7-9 are vowel signs, nukta,
    voicing and virama, 37-199 the vowels and tones of South and East Asia; 1, 10-36 and 200 on are strokes, points and
    accents. Of class 0 but invisible, and so left out: joiners and variation selectors.
    """
    if unicodedata.category(character) not in ("Mn", "Mc"):
        return False
    order = unicodedata.combining(character)
    if order == 0:
        return "VARIATION SELECTOR" not in unicodedata.name(character, "") and character != "\u034f"
    return 7 <= order <= 9 or 36 < order < 200


def _pieces(word: str) -> list[str]:
    """The substrings of a word that stand for its tokens; the word, where folding does not go piece by piece."""
    pieces = _characters(word) if has_unspaced(word) else camel_parts(word)
    piecewise = tuple(token for piece in pieces for token in word_tokens(piece))
    return pieces if piecewise == word_tokens(word) else [word]


def _characters(word: str) -> list[str]:
    """Single characters of Han and Kana, each with its marks, and the runs between them."""
    from itertools import pairwise  # 0.1 ms of a cold process

    pieces = [word[0]]
    for previous, character in pairwise(word):
        is_mark = unicodedata.category(character)[0] == "M"
        if is_mark or not (is_unspaced(previous) or is_unspaced(character)):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _starts_part(word: str, i: int) -> bool:
    """A capital after a small letter or digit, or the last capital of a run before a small letter."""
    if not word[i].isupper():
        return False
    return not word[i - 1].isupper() or (i + 1 < len(word) and word[i + 1].islower())


def _each(run: str) -> list[str]:
    return list(run) if is_unspaced(run[0]) else [run]
