"""Immutable records without `dataclasses`, which is slow to import: see README.md beside this file.

For the type checker a record is a frozen dataclass: the annotated fields of its base and its own in order, with class
attributes as defaults.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    class Record:
        """Base class of the records: immutable, compared and hashed by type and values."""

    def replace(instance: T, **changes: object) -> T:
        """A copy of *instance* with other values for the fields in *changes*; TypeError for an unknown field."""

    def fields(instance: object) -> dict[str, object]:
        """The fields of a record and their values, in the order of declaration."""

else:

    class Record:
        __match_args__, _defaults = (), {}

        def __init_subclass__(cls):
            own = cls.__dict__
            cls.__match_args__ = names = (*cls.__match_args__, *own.get("__annotations__", ()))
            cls._names = frozenset(names)
            cls._defaults = {**cls._defaults, **{name: own[name] for name in names if name in own}}

        def __init__(self, *values, **named):
            names = self.__match_args__
            if not named and len(values) == len(names):
                given = zip(names, values, strict=True)
            elif not values and named.keys() == self._names:
                given = named
            else:
                given = {**self._defaults, **dict(zip(names, values, strict=False)), **named}
                is_double = not named.keys().isdisjoint(names[: len(values)])
                if is_double or len(values) > len(names) or given.keys() != self._names:
                    raise TypeError(_mistake(type(self), values, named))
            self.__dict__.update(given)

        def __setattr__(self, name, value):
            raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

        def __delattr__(self, name):
            raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

        def __eq__(self, other):
            return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

        def __hash__(self):
            return hash((type(self), *fields(self).values()))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields(self).items())})"

    def _mistake(cls, values, named):
        """What is wrong with arguments that do not fit."""
        names = cls.__match_args__
        wrong = [name for name in named if name not in names or name in names[: len(values)]]
        if len(values) > len(names):
            return f"{cls.__name__} takes {len(names)} fields, got {len(values)}"
        if wrong:
            return f"{cls.__name__}: field {wrong[0]!r} is unknown or given twice"
        missing = [name for name in names[len(values) :] if name not in (*named, *cls._defaults)]
        return f"{cls.__name__}: field {missing[0]!r} is missing"

    def replace(instance, **changes):
        return type(instance)(**{**instance.__dict__, **changes})

    def fields(instance):
        values = instance.__dict__
        return {name: values[name] for name in instance.__match_args__}
