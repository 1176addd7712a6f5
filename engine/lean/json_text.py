"""JSON by the C functions that the `json` package calls: the package is slow to import, see README.md beside this file.

Values, spelling and errors are those of `json`, which is imported for texts that are not JSON.
"""

from __future__ import annotations

import sys
from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_Namespace: Any = type(sys.implementation)
_DECODER = _Namespace(
    strict=True,
    object_hook=None,
    object_pairs_hook=None,
    parse_float=float,
    parse_int=int,
    parse_constant={"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__,
)
"""The attributes of a `json.JSONDecoder` that the scanner reads, with their defaults."""

_UNPRINTED = r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""DEL and C1 controls, marks of direction with the separators of lines and paragraphs beside them, and surrogates.

JSON itself escapes C0 controls. Outside of texts it has none of these characters.
"""


def loads(text: str) -> Any:
    """The value that *text* spells. ValueError for a text that is not JSON, RecursionError for too deep nesting."""
    stripped = text.strip(" \t\n\r")
    try:
        value, end = make_scanner(_DECODER)(stripped, 0)
        if end == len(stripped):
            return value
    except Exception:  # noqa: BLE001 - the scanner needs `json` to raise a proper error
        pass
    import json

    return json.loads(text)


def value_at(content: object, *path: str) -> Any:
    """The value at a path of keys in objects that stand in each other; None where there is none."""
    for key in path:
        content = content.get(key) if isinstance(content, dict) else None
    return content


def dumps(value: object, *, ascii_only: bool = True, space: str = " ") -> str:
    """*value* as `json.dumps` spells it: a dict with text keys, list, tuple, str, int, float, bool or None.

    *space* stands after each comma and colon. TypeError for any other value.
    """
    spelled = encode_basestring_ascii if ascii_only else encode_basestring
    encode = make_encoder(None, _refuse, spelled, None, f":{space}", f",{space}", False, False, True)
    return "".join(encode(value, 0))


def printed_json(value: object, *, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """*value* as JSON for stdout and for files of a person. *indent* and *default* are those of `json.dumps`.

    Letters of every language stay as they are. Escaped are control characters, characters that change the direction of
    text, and lone surrogates: printed as they are, the first two could command a terminal or show another text.
    """
    import json
    import re

    text = json.dumps(value, ensure_ascii=False, indent=indent, default=default)
    return re.sub(_UNPRINTED, lambda found: f"\\u{ord(found[0]):04x}", text)


def clean_text(value: object) -> str:
    """A text of a file, without white space around it and without lone surrogates; empty for another value."""
    return without_lone_surrogates(value).strip() if isinstance(value, str) else ""


def without_lone_surrogates(text: str) -> str:
    """*text* with U+FFFD for each half of a surrogate pair that stands alone.

    JSON can spell such a half, and no file, terminal or database can hold it.
    """
    try:
        text.isascii() or text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} has no spelling in JSON")
