"""Settings written into memory-config.json: only the keys that change, and a whole file at any moment."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.settings.sources import read_config
from engine.settings.values import write_settings

OTHERS = """{
    "categories": {"decision": {"auto_capture": true}},
    "retrieval": {
        "max_inject":   3,
        "verification": {"kept": [1, 2.50]},
        "judge": {"enabled": false, "model": "claude-haiku-4-5"}
    },
    "delete": {"grace_period_days": 30}
}
"""


def write(root: Path, text: str) -> Path:
    file = root / "memory-config.json"
    file.write_text(text, encoding="utf-8")
    return file


def test_only_the_keys_that_change_are_written_and_none_takes_one_away(tmp_path: Path) -> None:
    file = write(tmp_path, OTHERS)
    file.chmod(0o640)
    path = write_settings(str(tmp_path), {("max_inject",): 2, ("judge", "enabled"): True, ("noise_floor",): 0.5})
    assert path == str(file)
    expected = OTHERS.replace("  3", "  2").replace("false", "true")
    judge = '"model": "claude-haiku-4-5"}'
    assert file.read_text() == expected.replace(judge, f'{judge},\n        "noise_floor":   0.5')
    assert file.stat().st_mode & 0o777 == 0o640
    assert not list(tmp_path.glob(".memory-config*"))
    file = write(tmp_path, '{"retrieval": {"cutoff_threshold": 0.5, "max_inject": 2}}')
    write_settings(str(tmp_path), {("cutoff_threshold",): None, ("judge", "enabled"): None})
    assert json.loads(file.read_text()) == {"retrieval": {"max_inject": 2}}


@pytest.mark.parametrize("text", [None, "", "\n", "{}", '{"retrieval": {}}', '{"other": 1}', "\ufeff{}"])
def test_a_file_without_settings_gets_them(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        write(tmp_path, text)
    write_settings(str(tmp_path), {("max_inject",): 1, ("judge", "enabled"): True})
    found: Any = json.loads((tmp_path / "memory-config.json").read_text().removeprefix("\ufeff"))
    assert found["retrieval"] == {"max_inject": 1, "judge": {"enabled": True}}
    assert found.get("other", 1) == 1
    assert read_config(str(tmp_path), {"HOME": str(tmp_path)}).config.max_inject == 1


@pytest.mark.parametrize("text", ["{", "[1]", '{"retrieval": 7}', "\x00"])
def test_a_file_that_cannot_be_understood_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError, match="nothing was changed"):
        write_settings(str(tmp_path), {("max_inject",): 1})
    assert file.read_text() == text


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=10)
@given(st.dictionaries(st.text(), values), st.sampled_from([None, 2, "\t"]))
def test_whatever_else_the_file_holds_stays(
    tmp_path_factory: pytest.TempPathFactory, content: Any, indent: Any
) -> None:
    content.pop("retrieval", None)
    root = tmp_path_factory.mktemp("root")
    file = write(root, json.dumps({**content, "retrieval": {"kept": [1]}}, indent=indent))
    write_settings(str(root), {("noise_floor",): 0.45})
    assert json.loads(file.read_text()) == {**content, "retrieval": {"kept": [1], "noise_floor": 0.45}}


@pytest.mark.parametrize("text", ["", "{}", OTHERS, '{"retrieval": {"judge": 1}}'])
def test_settings_can_be_read_as_if_changes_were_written(tmp_path: Path, text: str) -> None:
    if text:
        write(tmp_path, text)
    changes = {("max_inject",): 7, ("cutoff",): None, ("noise_floor",): 0.5}
    foreseen = read_config(str(tmp_path), {}, changes=changes)
    write_settings(str(tmp_path), changes)
    assert foreseen == read_config(str(tmp_path), {})
    assert ("retrieval.max_inject", 7) in foreseen.untrusted
