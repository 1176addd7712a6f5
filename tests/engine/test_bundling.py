"""What the bundle leaves out of a module is nothing that a hook can see."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from engine import lean_os, record
from engine.bundle import LOADED
from engine.bundling import compiled
from tests.engine.hook_world import PROJECT

if TYPE_CHECKING:
    from types import CodeType

SOURCE = b'''"""A module."""
from __future__ import annotations

from engine import lean_os as os
from engine.record import Record, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    import nothing_of_this_name
else:
    SEEN = "at run time"

LIMIT: nothing_of_this_name.Limit = 3


class Point(Record):
    """A point."""

    x: nothing_of_this_name.Number
    y: int = 0

    def moved(self, by: nothing_of_this_name.Number, *more: int, **named: int) -> nothing_of_this_name.Number:
        """Moved."""
        total: nothing_of_this_name.Number = self.x + by
        return total + sum(more)


def fails() -> None:
    raise ValueError("what happened")
'''


def made() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "made", LOADED: sys.modules}
    exec(compiled(SOURCE, "made.py"), names)
    return names


def codes(code: CodeType) -> list[CodeType]:
    return [code, *(found for one in code.co_consts if isinstance(one, type(code)) for found in codes(one))]


def test_a_record_keeps_its_fields_and_functions_lose_their_annotations() -> None:
    names = made()
    point = names["Point"](1, y=2)
    assert names["fields"](point) == {"x": 1, "y": 2}
    assert point.moved(1, 2, 3) == 7
    assert names["Point"].moved.__annotations__ == names["fails"].__annotations__ == {}
    assert names["Point"].__doc__ is names["Point"].moved.__doc__ is None


def test_what_is_for_the_type_checker_is_gone_and_what_is_not_is_there() -> None:
    names = made()
    assert (names["SEEN"], names["LIMIT"]) == ("at run time", 3)
    assert "nothing_of_this_name" not in names
    assert "annotations" not in names


def test_what_is_imported_from_the_package_is_what_its_modules_have() -> None:
    names = made()
    assert names["os"] is lean_os
    assert names["fields"] is record.fields


def test_an_error_says_what_happened() -> None:
    try:
        made()["fails"]()
    except ValueError as error:
        assert str(error) == "what happened"
        assert error.__traceback__ is not None
        assert error.__traceback__.tb_next is not None
        assert error.__traceback__.tb_next.tb_frame.f_code.co_filename == "made.py"


def test_no_module_of_the_engine_is_refused() -> None:
    for path in (PROJECT / "engine").rglob("*.py"):
        source = path.read_bytes()
        whole = codes(compile(source, str(path), "exec", optimize=2))
        bare = codes(compiled(source, str(path)))
        assert {one.co_name for one in bare} <= {one.co_name for one in whole}
        assert all(one.co_linetable == b"" for one in bare)
