"""C modules that are loaded directly are those that `import` finds; what cannot be is left to it."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import extensions, lean_unicode
from tests.engine.hook_world import PROJECT

HERE = f"import sys; sys.path.append({str(PROJECT)!r}); from engine import extensions; "


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-S", "-c", HERE + code], capture_output=True, timeout=60, check=True)
    return done.stdout.decode().strip()


@pytest.mark.parametrize("name", ["math", "_json", "binascii", "unicodedata"])
def test_a_module_is_the_one_that_import_finds(name: str) -> None:
    show = f"import {name} as m; print(sorted(vars(m)), m.__name__, getattr(m, '__file__', ''), m.__spec__.name)"
    assert said(f"extensions.load({name!r}); {show}") == said(show)


def test_a_module_that_is_loaded_already_stays() -> None:
    assert said("import math; extensions.load('math'); print(sys.modules['math'] is math)") == "True"


@pytest.mark.parametrize("name", ["no_such_module", "re", "sys", "../math"])
def test_what_is_no_module_of_its_own_file_is_left_to_import(name: str) -> None:
    before = sys.modules.get(name)
    extensions.load(name)
    assert sys.modules.get(name) is before


@given(st.text())
def test_text_is_normalised_as_unicodedata_does(text: str) -> None:
    for form in ("NFC", "NFKD"):
        assert lean_unicode.normalize(form, text) == unicodedata.normalize(form, text)


def test_unicode_is_not_loaded_for_ascii() -> None:
    ask = "from engine import lean_unicode as u; print(u.normalize('NFC', {!r}) == {!r}, 'unicodedata' in sys.modules)"
    assert said(ask.format("plain", "plain")) == "True False"
    assert said(ask.format("e\u0301", "\xe9")) == "True True"
