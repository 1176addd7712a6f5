"""Changing a member of a JSON object leaves all other text as it was written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import settings as at_most
from hypothesis import strategies as st

from engine.stores.json_members import with_item, with_value, without_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=6)
LIST = ("hooks", "UserPromptSubmit")
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": VALUES,
        "hooks": st.fixed_dictionaries({}, optional={"Stop": VALUES, "UserPromptSubmit": st.lists(VALUES)}),
        "b": VALUES,
    },
)
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
    inside = ("a new object", "one")
    longer = with_value(text, inside, 1)
    assert json.loads(longer) == {**document, "a new object": {"one": 1}}
    assert with_value(with_value(longer, inside, value), inside, 1) == longer
    assert json.loads(without_value(longer, inside, prunes=True)) == document


@at_most(max_examples=40)
@given(SETTINGS, STYLES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\ufeff"]), VALUES)
def test_an_item_is_added_and_taken_out_and_the_rest_stays(
    settings: dict[str, Any], style: dict[str, Any], newline: str, around: str, item: Any
) -> None:
    text = json.dumps(settings, **style).replace("\n", newline)
    text = around + text if around == "\ufeff" else text + around
    changed = with_item(text, LIST, item)
    hooks = settings.get("hooks", {})
    before = hooks.get("UserPromptSubmit", [])
    expected = {**settings, "hooks": {**hooks, "UserPromptSubmit": [*before, item]}}
    assert json.loads(changed.removeprefix("\ufeff")) == expected
    again = without_value(changed, (*LIST, len(before)), prunes=True)
    if before:
        assert again == text
    else:
        rest = {key: value for key, value in hooks.items() if key != "UserPromptSubmit"}
        expected = {**settings, "hooks": rest} if rest else {k: v for k, v in settings.items() if k != "hooks"}
        assert json.loads(again.removeprefix("\ufeff")) == expected


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
    windows = '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}'
    assert with_item(windows, LIST, {"a": [1]}) == (
        '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"UserPromptSubmit": [\r\n\t\t\t{\r\n'
        '\t\t\t\t"a": [\r\n\t\t\t\t\t1\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}'
    )
    assert with_item('{"a":1,"hooks":{}}', LIST, 2) == '{"a":1,"hooks":{"UserPromptSubmit":[2]}}'
    assert with_value("", ("a", "b"), True) == '{\n  "a": {\n    "b": true\n  }\n}\n'
    assert with_value("\n", ("a",), "é") == '\n{\n  "a": "é"\n}\n'
    assert with_value('{"a": "é"}', ("b",), "\ud800ü") == '{"a": "é", "b": "\\ud800ü"}'
    assert with_value('{"a": "\\u00e9"}', ("b",), "ü") == '{"a": "\\u00e9", "b": "\\u00fc"}'
