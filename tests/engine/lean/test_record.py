"""Records are immutable, compare by value and say what is wrong with a call."""

import copy
import pickle

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


def test_fields_are_set_by_place_by_name_and_by_default() -> None:
    assert fields(Point(1, label="there")) == {"x": 1, "y": 0, "label": "there"}
    assert Point(1, 2).total == 3


def test_a_record_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot set 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot set 'z'"):
        point.z = 2  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="cannot delete 'x'"):
        del point.x
    assert point == Point(1)


def test_records_are_equal_and_hash_by_type_and_value() -> None:
    assert Point(1) == Point(1, 0, "here")
    assert hash(Point(1)) == hash(Point(1, 0, "here"))
    assert Point(1) != Point(2)
    others: list[object] = [Twin(1), (1, 0, "here"), None]
    assert all(Point(1) != other for other in others)
    assert len({Point(1), Point(1), Twin(1)}) == 2


def test_a_missing_field_is_named() -> None:
    with pytest.raises(TypeError, match="Point: field 'x' is missing"):
        Point()  # type: ignore[call-arg]


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(TypeError, match="field 'z' is unknown or given twice"):
        Point(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="field 'z' is unknown"):
        replace(Point(1), z=2)


def test_an_unknown_field_does_not_make_up_for_a_missing_one() -> None:
    with pytest.raises(TypeError, match="field 'z' is unknown"):
        Point(z=2)  # type: ignore[call-arg]


def test_a_field_cannot_be_given_twice_nor_one_too_many() -> None:
    with pytest.raises(TypeError, match="field 'x' is unknown or given twice"):
        Point(1, x=1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="takes 3 fields, got 4"):
        Point(1, 2, "a", "b")  # type: ignore[call-arg]


def test_replace_makes_a_copy_and_leaves_the_original() -> None:
    point = Point(1)
    assert replace(point, y=5) == Point(1, 5)
    assert point == Point(1)


def test_a_record_shows_its_fields() -> None:
    assert repr(Point(1, label="a'b")) == 'Point(x=1, y=0, label="a\'b")'


def test_records_can_be_matched_by_position() -> None:
    match Point(1, 2):
        case Point(x, y, label):
            assert (x, y, label) == (1, 2, "here")


def test_records_survive_copying_and_pickling() -> None:
    point = Point(1, 2, "a")
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
