"""JSON without `json`: the same values, the same spelling, the same errors."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lean.json_text import dumps, loads
from engine.lean.sha256 import hex_digest

PROJECT = Path(__file__).resolve().parents[3]
TEXT = st.text(alphabet=st.characters(), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
HARD = [
    *("", " ", "{", "[1,", '"a', "tru", "1 2", "nul", "{'a': 1}", '{"a" 1}', "[1,]", "01", "\ufeff1", '"\t"', "\x0b1"),
    *('{"a": 1, "a": 2}', '"\\ud800"', '"\\ud83d\\ude80"', '"\\u0000"', " \r\n\t[ 1 , -0.0, 1e400 ] ", "-Infinity"),
    *("9" * 5000, "[" * 100_000, '{"a":' * 100_000),
]


@given(VALUES)
def test_a_value_is_spelled_as_json_spells_it(value: object) -> None:
    assert dumps(value) == json.dumps(value)
    assert dumps(value, ascii_only=False) == json.dumps(value, ensure_ascii=False)
    assert dumps(value, space="") == json.dumps(value, separators=(",", ":"))


@given(VALUES, st.sampled_from([None, 0, 3]))
def test_what_json_spells_is_read_as_json_reads_it(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert repr(loads(text)) == repr(json.loads(text))


@given(st.text(alphabet='{}[]:,"\\u0dDnulltrue1.-eE \n', max_size=12))
def test_any_text_is_read_or_refused_as_json_does(text: str) -> None:
    assert outcome(loads, text) == outcome(json.loads, text)


def test_hard_texts_are_read_or_refused_as_json_does_and_what_it_cannot_spell_is_an_error() -> None:
    for text in HARD:
        assert outcome(loads, text) == outcome(json.loads, text), text
    with pytest.raises(TypeError, match="set has no spelling"):
        dumps([{1}])


def test_a_broken_text_is_refused_where_json_was_never_loaded() -> None:
    code = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from engine.lean.json_text import loads\n"
        "assert 'json' not in sys.modules\n"
        "for text in sys.argv[2:]:\n"
        "    try: print('read', loads(text))\n"
        "    except ValueError as error: print(type(error).__name__)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(PROJECT), "[1]", '{"a', "tru"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split("\n") == ["read [1]", "JSONDecodeError", "JSONDecodeError", ""]


@given(TEXT)
def test_a_digest_is_sha_256_of_the_text(text: str) -> None:
    assert hex_digest(text) == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def outcome(read: object, text: str) -> str:
    try:
        return repr(read(text))  # type: ignore[operator]
    except (ValueError, RecursionError) as error:
        return type(error).__name__
