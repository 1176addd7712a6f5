"""The letters of other keyboards, by the key at the same place of a keyboard with Latin letters."""

from __future__ import annotations

from textual.events import Key
from textual.keys import _character_to_key

LATIN, SHIFTED = "qwertyuiop[]asdfghjkl;'zxcvbnm,.", 'QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>'
LAYOUTS = (
    "йцукенгшщзхъфывапролджэячсмитьбю",  # Russian
    "йцукенгшщзхїфівапролджєячсмитьбю",  # Ukrainian
    ";ςερτυθιοπ[]ασδφγηξκλ;'ζχψωβνμ,.",  # Greek
    "/'קראטוןםפ[]שדגכעיחלךף,זסבהנמצתץ",  # Hebrew
    "ضصثقفغعهخحجدشسيبلاتنمكطئءؤر?ىةوز",  # Arabic; the key of b types two letters
    "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ[]ㅁㄴㅇㄹㅎㅗㅓㅏㅣ;'ㅋㅌㅊㅍㅠㅜㅡ,.",  # Korean
)
"""What the keys of LATIN type. A script with several layouts has the one of most people."""


def _places() -> dict[str, str]:
    places = dict(zip("ㅃㅉㄸㄲㅆㅒㅖ", "QWERTOP", strict=True))
    for layout in LAYOUTS:
        for letter, latin, shifted in zip(layout, LATIN, SHIFTED, strict=True):
            if not letter.isascii():
                places.setdefault(letter, latin)
            if letter.upper().lower() == letter != letter.upper():
                places.setdefault(letter.upper(), shifted)
    return places


PLACES = _places()
"""A letter -> the character at its place of a Latin keyboard."""


def is_foreign(key: Key) -> bool:
    """Whether a key types a letter that is not Latin, or a Latin one with a mark."""
    return bool(key.character and key.character.isalpha() and not key.character.isascii())


def latin_key(key: Key) -> Key | None:
    """The key of a Latin keyboard at the place of *key*; None for a letter that has no known place."""
    latin = PLACES.get(key.character or "")
    return Key(_character_to_key(latin), latin) if latin else None
