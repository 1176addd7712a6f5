"""Text -> tokens, the same for memories and prompts, in any language.

A token is a lower-case run of letters and digits without accents. Identifiers are found by their parts: `user_id`,
`user-id` and `userId` all give the neighbours user and id, and userid as a whole. In scripts without spaces (Han, Kana,
Thai and others) each character is a token, so that any part of a run is found. FTS5 gets these tokens, not the text:
its own tokenizer (unicode61) has nothing left to decide.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache  # it is loaded anyway, by SQLite's module

from engine.lean.sections import read_sections

JOINERS = "_.-"
"""Characters that hold a compound identifier together: user_id, react.fc, rate-limiting, v2.0."""

MOST_KNOWN = 50_000
"""Words whose tokens and stems are kept: the same come again and again."""

MAX_WHOLE = 40
"""Characters of a compound that also counts as a whole. Longer compounds are names of files made from sentences."""

BARRED = {**str.maketrans("łøđðħŧı", "loddhti", "ـ"), ord("æ"): "ae", ord("œ"): "oe"}
"""Letters with a stroke or joined letters, which Unicode does not take apart, and the Arabic stretching sign, which has
no meaning."""

WORDS = {name: " ".join(lines).split() for name, lines in read_sections(__file__, "words.txt")}
"""The lists of words.txt by their headings."""

ONE_WORD = frozenset(WORDS["one word"])
SYLLABLES = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer: a letter and the vowel signs and tones on it are a token together."""

UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF), *SYLLABLES)
"""These, and Hiragana, Katakana and Han: scripts written without spaces between words."""

HANGUL = "가", "힣"
HANGUL_BLOCKS = (HANGUL, ("\u1100", "\u11ff"))
"""Syllables, and the letters that they are made of."""


class _Separators(dict[int, str]):
    """A translation table that keeps letters, digits, marks and *kept*, and turns other characters into spaces."""

    def __init__(self, kept: str = "") -> None:
        super().__init__({code: chr(code) if chr(code).isalnum() or chr(code) in kept else " " for code in range(128)})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        keep = character.isalnum() or unicodedata.category(character)[0] == "M"
        self[code] = character if keep else " "
        return self[code]


_WORDS = _Separators()
_CHUNKS = _Separators(JOINERS)


GAP = "\ue000"
"""A token that is in no text. It stands before the wholes, so that no phrase ends in them."""


def tokens(text: str) -> list[str]:
    """All tokens of *text*, as the index holds them: in order, then a GAP and the compounds as wholes.

    So the parts of neighbours stay neighbours: `UserService.get_user` gives user, service, get, user, GAP, userservice,
    getuser, and the phrase of userService.getUser finds it.
    """
    found: list[str] = []
    wholes: list[str] = []
    for parts, whole in map(_tokens_of_run, text.translate(_CHUNKS).split()):
        found += parts
        if whole:
            wholes += whole.split()
    return [*found, GAP, *wholes] if wholes else found


@lru_cache(MOST_KNOWN)
def _tokens_of_run(run: str) -> tuple[tuple[str, ...], str]:
    """The tokens of a run without spaces, and its whole if that is another token."""
    parts = [chunk for piece in part_hangul(run) if (chunk := piece.strip(JOINERS))]
    found = tuple(token for chunk in parts for word in words(chunk) for token in word_tokens(word))
    return found, " ".join(filter(None, map(joined, parts)))


def placed_tokens(text: str) -> list[tuple[str, int, int]]:
    """`tokens` with their places in *text* as character offsets (start, end); a GAP has none: (GAP, 0, 0)."""
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
    runs_of_text = text.translate(_CHUNKS).split()
    pieces = runs_of_text if text.isascii() else [piece for run in runs_of_text for piece in part_hangul(run)]
    return [chunk for piece in pieces if (chunk := piece.strip(JOINERS))]


def part_hangul(run: str) -> list[str]:
    """A run without spaces, parted where Hangul is glued to other letters or digits: axiosInstance에서 and 401일."""
    if run.isascii() or not any(map(_is_hangul, run)):
        return [run]
    starts, last = [0], ""
    for place, character in enumerate(run):
        if character.isalnum():
            if last and _is_hangul(last) != _is_hangul(character):
                starts.append(place)
            last = character
        elif unicodedata.category(character)[0] != "M":  # a mark may be left out when it is folded
            last = ""
    return [run[i:j] for i, j in zip(starts, [*starts[1:], len(run)], strict=True)]


def is_plain(chunk: str) -> bool:
    """Whether a chunk is a single word of ASCII without inner capitals, and so its own token: nearly every chunk is."""
    return chunk.isascii() and chunk.isalnum() and (chunk[1:] == chunk[1:].lower() or chunk.isupper())


def words(text: str) -> list[str]:
    """The words of a text or of a compound identifier, in their own case."""
    return text.translate(_WORDS).split()


def word_tokens(word: str) -> tuple[str, ...]:
    """The tokens of a word without separators: its parts, its single characters, or itself."""
    if is_plain(word):
        return (word.lower(),)
    whole = fold(word)
    if not whole:
        return ()
    if has_unspaced(whole):
        return tuple(token for run in runs(whole) for token in (clusters(run) if is_unspaced(run[0]) else [run]))
    return tuple(filter(None, map(fold, camel_parts(word))))


def is_camel(word: str) -> bool:
    """Whether a word has inner capitals, and so is found by its parts and as a whole."""
    return len(camel_parts(word)) > 1 and not has_unspaced(fold(word))


def joined(chunk: str) -> str:
    """A compound as a whole: userid for user_id, user-id and userId. Empty for other words, numbers and sentences.

    In a name with dots each part is a compound of its own: `UserService.get_user` gives "userservice getuser".
    """
    return " ".join(filter(None, map(_whole, chunk.split("."))))


def _whole(name: str) -> str:
    whole = fold(name.replace("_", "").replace("-", ""))
    is_compound = (len(words(name)) > 1 and len(name) <= MAX_WHOLE) or is_camel(name)
    is_word = not (whole.isdecimal() or has_unspaced(whole) or len(part_hangul(whole)) > 1)
    return whole if is_compound and is_word else ""


def camel_parts(word: str) -> list[str]:
    """getUserName -> get, User, Name; HTTPServer -> HTTP, Server; FastAPI -> FastAPI, as it is in ONE_WORD."""
    if word.isupper() or word[1:] == word[1:].lower() or word in ONE_WORD:
        return [word]
    # A part begins with a capital after a small letter or digit, or the last capital of a run before a small letter.
    capitals = [i for i in range(1, len(word)) if word[i].isupper()]
    starts = [i for i in capitals if not word[i - 1].isupper() or word[i + 1 : i + 2].islower()]
    return [word[i:j] for i, j in zip([0, *starts], [*starts, len(word)], strict=True)]


def fold(text: str) -> str:
    """Lower case without accents and points; empty for text without a letter or digit.

    Marks that are part of the spelling stay: vowel signs of India and Thailand, voicing marks of Kana.
    """
    if text.isascii():
        return text.lower()
    # `casefold` makes capitals of Cherokee.
    decomposed = unicodedata.normalize("NFKD", text).casefold().lower().translate(BARRED)
    bare = unicodedata.normalize("NFC", "".join(c for c in decomposed if c.isalnum() or spells(c)))
    is_syllabic = any(first <= ord(character) <= last for character in bare for first, last in SYLLABLES)
    is_spelled = any(map(str.isalnum, bare)) and (is_syllabic or not has_unspaced(bare))
    return bare if is_spelled else "".join(filter(str.isalnum, bare))


def runs(text: str) -> list[str]:
    """Runs of unspaced and of other characters, alternating. *text* is not empty."""
    starts = [0, *(i for i in range(1, len(text)) if is_unspaced(text[i]) != is_unspaced(text[i - 1]))]
    return [text[i:j] for i, j in zip(starts, [*starts[1:], len(text)], strict=True)]


def clusters(run: str) -> list[str]:
    """The characters of an unspaced run, each with the marks on it. A mark behind no character is left out."""
    found: list[str] = []
    for character in run:
        if character.isalnum():
            found.append(character)
        elif found:
            found[-1] += character
    return found


def is_unspaced(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in UNSPACED)


def _is_hangul(character: str) -> bool:
    return any(first <= character <= last for first, last in HANGUL_BLOCKS)


def has_unspaced(text: str) -> bool:
    return not text.isascii() and any(map(is_unspaced, text))


def spells(character: str) -> bool:
    """Whether a mark is part of the spelling, by its combining class (Unicode 15, section 4.3).

    0 and 7-9 are vowel signs, nukta, voicing and virama, 37-199 the vowels and tones of South and East Asia. 1, 10-36
    and 200 on are strokes, points and accents. Joiners and variation selectors are of class 0, but invisible.
    """
    if unicodedata.category(character) not in ("Mn", "Mc"):
        return False
    order = unicodedata.combining(character)
    if order == 0:
        return "VARIATION SELECTOR" not in unicodedata.name(character, "") and character != "\u034f"
    return 7 <= order <= 9 or 36 < order < 200


def _pieces(word: str) -> list[str]:
    """The substrings of a word that stand for its tokens; the word itself, if it cannot be folded piece by piece."""
    pieces = _characters(word) if has_unspaced(word) else camel_parts(word)
    piecewise = tuple(token for piece in pieces for token in word_tokens(piece))
    return pieces if piecewise == word_tokens(word) else [word]


def _characters(word: str) -> list[str]:
    """Single characters of Han and Kana with their marks, and the runs between them."""
    from itertools import pairwise  # the hook needs no places

    pieces = [word[0]]
    for previous, character in pairwise(word):
        is_mark = unicodedata.category(character)[0] == "M"
        if is_mark or not (is_unspaced(previous) or is_unspaced(character)):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
