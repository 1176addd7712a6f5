"""JSON without the `json` package.

Importing `json` loads `re` and 23 modules: 8 ms in a cold process that needs 10 for an empty interpreter. The scanner
and the string encoders below are the C functions that `json` itself calls; alone they load in 0.4 ms. Whatever they
refuse goes to `json`, as does everything where there is no `_json`: values and errors are those of `json.loads`.
"""

from __future__ import annotations

try:
    from _json import encode_basestring, encode_basestring_ascii, make_scanner
except ImportError:
    from json.encoder import py_encode_basestring as encode_basestring
    from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii

    make_scanner = None  # type: ignore[assignment,misc]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHITE_SPACE = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Settings:
    """What the scanner wants to know: the defaults of `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__


def loads(text: str) -> Any:
    """The value that *text* spells. ValueError for what is not JSON, RecursionError for what is nested too deeply."""
    stripped = text.strip(_WHITE_SPACE)
    try:
        value, end = make_scanner(_Settings)(stripped, 0)  # type: ignore[arg-type]
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
    if isinstance(value, str):
        return encode_basestring_ascii(value) if ascii_only else encode_basestring(value)
    if not isinstance(value, dict | list | tuple):
        return _scalar(value)

    def inner(item: object) -> str:
        return dumps(item, ascii_only=ascii_only, space=space)

    if isinstance(value, dict):
        return "{" + f",{space}".join([f"{inner(name)}:{space}{inner(item)}" for name, item in value.items()]) + "}"
    return "[" + f",{space}".join([inner(item) for item in value]) + "]"


def _scalar(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and (value != value or value in _CONSTANTS.values()):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no spelling in JSON")
