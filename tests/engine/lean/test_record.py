"""Records are immutable, compare by value and say what is wrong with a call."""

import copy
import pickle
from collections.abc import Callable

import pytest

from engine.lean.record import Record, fields, replace


class Point(Record):
    """A record with a field that must be given and two that need not."""

    x: int
    y: int = 0
    label: str = "here"

    @property
    def total(self) -> int:
        return self.x + self.y


class Twin(Record):
    x: int
    y: int = 0
    label: str = "here"


def test_fields_are_set_by_place_name_and_default_shown_matched_and_copied() -> None:
    assert fields(Point(1, label="there")) == {"x": 1, "y": 0, "label": "there"}
    assert Point(1, 2).total == 3
    point = Point(1)
    assert (replace(point, y=5), point) == (Point(1, 5), Point(1))
    assert repr(Point(1, label="a'b")) == 'Point(x=1, y=0, label="a\'b")'
    match Point(1, 2):
        case Point(x, y, label):
            assert (x, y, label) == (1, 2, "here")
    point = Point(1, 2, "a")
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_a_record_cannot_be_changed_and_equals_and_hashes_by_type_and_value() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot set 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot set 'z'"):
        point.z = 2  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="cannot delete 'x'"):
        del point.x
    assert Point(1) == Point(1, 0, "here")
    assert hash(Point(1)) == hash(Point(1, 0, "here"))
    assert Point(1) != Point(2)
    others: list[object] = [Twin(1), (1, 0, "here"), None]
    assert all(Point(1) != other for other in others)
    assert len({Point(1), Point(1), Twin(1)}) == 2


MISTAKES: dict[str, Callable[[], object]] = {
    "Point: field 'x' is missing": lambda: Point(),  # type: ignore[call-arg]
    "field 'z' is unknown or given twice": lambda: Point(1, z=2),  # type: ignore[call-arg]
    "field 'z' is unknown": lambda: Point(z=2),  # type: ignore[call-arg]
    "field 'x' is unknown or given twice": lambda: Point(1, x=1),  # type: ignore[misc]
    "takes 3 fields, got 4": lambda: Point(1, 2, "a", "b"),  # type: ignore[call-arg]
    "Point: field 'y' is unknown or given twice": lambda: Point(1, 2, y=2),  # type: ignore[misc]
}


def test_a_mistake_in_the_fields_is_named() -> None:
    for message, make in MISTAKES.items():
        with pytest.raises(TypeError, match=message):
            make()
    with pytest.raises(TypeError, match="field 'z' is unknown"):
        replace(Point(1), z=2)
