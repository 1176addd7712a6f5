"""JSON without the `json` package.

Importing `json` loads `re` and 23 modules: 8 ms in a cold process that needs 10 for an empty interpreter. The scanner
and the encoder below are the C functions that `json` itself calls; alone they load in 0.4 ms. What the scanner refuses
goes to `json`, as does everything where there is no `_json`: values and errors are those of `json.loads`.
"""

from __future__ import annotations

import sys

try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    make_encoder = make_scanner = None  # type: ignore[assignment,misc]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHITE_SPACE = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


_Namespace: Any = type(sys.implementation)
_SETTINGS = _Namespace(
    strict=True,
    object_hook=None,
    object_pairs_hook=None,
    parse_float=float,
    parse_int=int,
    parse_constant=_CONSTANTS.__getitem__,
)
"""What the scanner wants to know: the defaults of `json.JSONDecoder`. A class of ours would cost more to make."""


def loads(text: str) -> Any:
    """The value that *text* spells. ValueError for what is not JSON, RecursionError for what is nested too deeply."""
    stripped = text.strip(_WHITE_SPACE)
    try:
        value, end = make_scanner(_SETTINGS)(stripped, 0)
        if end == len(stripped):
            return value
    except Exception:  # noqa: BLE001 - without `json` loaded the scanner has no proper error to raise
        pass
    import json

    return json.loads(text)


def dumps(value: object, *, ascii_only: bool = True, space: str = " ") -> str:
    """*value* (of dict with text keys, list, tuple, str, int, float, bool and None) as `json.dumps` spells it.

    *space* stands after each comma and colon.
    """
    if make_encoder is None:
        import json

        return json.dumps(value, ensure_ascii=ascii_only, separators=(f",{space}", f":{space}"))
    spelled = encode_basestring_ascii if ascii_only else encode_basestring
    encode = make_encoder(None, _refuse, spelled, None, f":{space}", f",{space}", False, False, True)
    return "".join(encode(value, 0))


def without_lone_surrogates(text: str) -> str:
    """*text* with U+FFFD for each half of a surrogate pair that stands alone.

    JSON can spell such a half, and no file, terminal or database can hold it.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} has no spelling in JSON")
