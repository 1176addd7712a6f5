"""Changing a member of a JSON object leaves all other text as it was written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.stores.json_members import with_value, without_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=6)
STYLES = st.sampled_from(
    [
        *({"indent": indent} for indent in (None, 2, 4, "\t")),
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)
UGLY = '{ "b" :1.50 , "unknown":[1,2 ,  3],\r\n\t"a": {"x":"\\u00e9", "x2": 1E3},"b":2e0 }\n\n'


@given(OBJECTS, STYLES, st.text(max_size=8), VALUES)
def test_the_value_is_set_and_every_other_member_and_the_order_stay(
    document: dict[str, Any], style: dict[str, Any], key: str, value: Any
) -> None:
    text = json.dumps(document, **style)
    changed = with_value(text, (key,), value)
    assert list(json.loads(changed).items()) == list({**document, key: value}.items())
    removed = without_value(changed, (key,))
    assert list(json.loads(removed).items()) == [pair for pair in document.items() if pair[0] != key]


def test_spelling_stays_and_new_members_are_written_as_the_others_are() -> None:
    assert with_value(UGLY, ("unknown",), [4]) == UGLY.replace("[1,2 ,  3]", "[4]")
    assert with_value(UGLY, ("b",), 7) == UGLY.replace("2e0", "7")
    assert without_value(UGLY, ("a", "x2")) == UGLY.replace(', "x2": 1E3', "")
    assert json.loads(without_value(UGLY, ("b",))) == {"unknown": [1, 2, 3], "a": {"x": "é", "x2": 1000.0}}
    text = '{\n    "a": 1,\n    "c": [\n        1\n    ]\n}\n'
    assert with_value(text, ("b",), ["x"], after="a") == text.replace(
        '"a": 1,', '"a": 1,\n    "b": [\n        "x"\n    ],'
    )
    nested = '{\n  "content": {\n    "a": "x"\n  }\n}'
    assert with_value(nested, ("content", "l"), ["y"]) == nested.replace('"x"', '"x",\n    "l": [\n      "y"\n    ]')
    windows = '{\r\n  "a": 1\r\n}\r\n'
    assert with_value(windows, ("b",), [1]) == '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}\r\n'
    assert with_value('{"a": "é"}', ("b",), "\ud800ü") == '{"a": "é", "b": "\\ud800ü"}'
    assert with_value('{"a": "\\u00e9"}', ("b",), "ü") == '{"a": "\\u00e9", "b": "\\u00fc"}'
