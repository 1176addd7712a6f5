"""Changing a settings.json leaves everything else in it as it was written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as at_most
from hypothesis import strategies as st

from engine.agents.claude_code.agent import AGENT
from engine.agents.settings_files import parsed
from engine.errors import SettingsFileError
from engine.stores.json_members import with_item, with_value, without_value

LIST = ("hooks", "UserPromptSubmit")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": VALUES,
        "a": VALUES,
        "hooks": st.fixed_dictionaries({}, optional={"Stop": VALUES, "UserPromptSubmit": st.lists(VALUES)}),
        "b": VALUES,
    },
)
STYLES = st.sampled_from(
    [{}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}]
)


@at_most(max_examples=40)
@given(SETTINGS, STYLES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\ufeff"]), VALUES)
def test_an_item_is_added_and_taken_out_and_the_rest_stays(
    settings: dict[str, Any], style: dict[str, Any], newline: str, around: str, item: Any
) -> None:
    text = json.dumps(settings, **style).replace("\n", newline)
    text = around + text if around == "\ufeff" else text + around
    changed = with_item(text, LIST, item)
    before = settings.get("hooks", {}).get("UserPromptSubmit", [])
    hooks = {**settings.get("hooks", {}), "UserPromptSubmit": [*before, item]}
    assert parsed(changed, "", AGENT) == {**settings, "hooks": hooks}
    again = without_value(changed, (*LIST, len(before)), prunes=True)
    if before:
        assert again == text
    else:
        rest = {key: value for key, value in settings.get("hooks", {}).items() if key != "UserPromptSubmit"}
        expected = {**settings, "hooks": rest} if rest else {k: v for k, v in settings.items() if k != "hooks"}
        assert parsed(again, "", AGENT) == expected


@at_most(max_examples=40)
@given(SETTINGS, STYLES, VALUES)
def test_a_value_is_set_and_changed_at_its_place(settings: dict[str, Any], style: dict[str, Any], value: Any) -> None:
    text = with_value(json.dumps(settings, **style), ("plugins", "one"), 1)
    assert with_value(with_value(text, ("plugins", "one"), value), ("plugins", "one"), 1) == text
    assert parsed(text, "", AGENT) == {**settings, "plugins": {"one": 1}}
    assert parsed(without_value(text, ("plugins", "one"), prunes=True), "", AGENT) == settings


def test_the_style_of_the_file_is_kept() -> None:
    tabs = '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}'
    assert with_item(tabs, LIST, {"a": [1]}) == (
        '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": [],\r\n\t\t"UserPromptSubmit": [\r\n\t\t\t{\r\n'
        '\t\t\t\t"a": [\r\n\t\t\t\t\t1\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}'
    )
    assert with_item('{"a":1,"hooks":{}}', LIST, 2) == '{"a":1,"hooks":{"UserPromptSubmit":[2]}}'
    assert with_value("", ("a", "b"), True) == '{\n  "a": {\n    "b": true\n  }\n}\n'
    assert with_value("\n", ("a",), "é") == '\n{\n  "a": "é"\n}\n'


def test_a_file_that_the_client_would_not_read_is_refused_with_its_line() -> None:
    for text, line, reason in [
        ('{\n  // mine\n  "a": 1\n}', "line 2", "comment"),
        ('{\n  "a": 1 /* mine */\n}', "line 2", "comment"),
        ('{\n  "a": 1\n,}', "line 3", "not JSON"),
        ('{\n\n  "a": tru\n}', "line 3", "not JSON"),
        ('{"a": 1', "line 1", "not JSON"),
        ("[]", "line 1", "object"),
        ('{"a": NaN}', "", "NaN"),
        ('{"a": 1, "a": 2}', "", "twice"),
        ('{"a": ' + "[" * 100_000, "", "cannot be read"),
    ]:
        with pytest.raises(SettingsFileError) as error:
            parsed(text, "settings.json", AGENT)
        assert "settings.json" in str(error.value), text
        assert line in str(error.value), text
        assert reason in str(error.value), text
