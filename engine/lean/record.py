"""Immutable records without `dataclasses`.

Importing `dataclasses` pulls in `inspect` and costs a cold process more than the whole retrieval does (16 ms against
the 10 ms of an empty interpreter). The hook runs on every prompt, so the engine's records are made from this small
class; for the type checker each is a frozen dataclass.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    class Record:
        """Makes a class an immutable record of its annotated fields, in order; class attributes are the defaults."""

    def replace(instance: T, **changes: object) -> T:
        """A copy of *instance* with the fields in *changes* set anew; TypeError for a field it does not have."""

    def fields(instance: object) -> dict[str, object]:
        """The fields of a record and their values, in the order of declaration."""

else:

    class Record:
        # Inherited, because to set six special methods on each class takes three times what it takes to make one.

        def __init_subclass__(cls):
            own = cls.__dict__
            cls.__match_args__ = names = tuple(own.get("__annotations__", ()))
            cls._names = frozenset(names)
            cls._defaults = {name: own[name] for name in names if name in own}

        def __init__(self, *values, **named):
            # A prompt makes hundreds of records, nearly all in one of the first two ways: half the time of the third.
            names = self.__match_args__
            if not named and len(values) == len(names):
                self.__dict__.update(zip(names, values, strict=True))
            elif not values and named.keys() == self._names:
                self.__dict__.update(named)
            else:
                self.__dict__.update(_arranged(type(self), values, named))

        def __setattr__(self, name, value):
            raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

        def __delattr__(self, name):
            raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

        def __eq__(self, other):
            return fields(self) == fields(other) if type(self) is type(other) else NotImplemented

        def __hash__(self):
            return hash((type(self), *fields(self).values()))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields(self).items())})"

    def _arranged(cls, values, named):
        """Field -> value for the arguments of a record; TypeError if they do not fit."""
        names = cls.__match_args__
        placed = dict(zip(names, values, strict=False))
        given = {**cls._defaults, **placed, **named}
        if len(values) > len(names) or given.keys() != cls._names or not named.keys().isdisjoint(placed):
            raise TypeError(f"{cls.__name__}{_mistake(names, values, named, given)}")
        return given

    def _mistake(names, values, named, given):
        if len(values) > len(names):
            return f" takes {len(names)} fields, got {len(values)}"
        wrong = [name for name in named if name not in names or name in names[: len(values)]]
        if wrong:
            return f": field {wrong[0]!r} is unknown or given twice"
        return f": field {next(name for name in names if name not in given)!r} is missing"

    def replace(instance, **changes):
        return type(instance)(**{**fields(instance), **changes})

    def fields(instance):
        values = instance.__dict__
        return {name: values[name] for name in instance.__match_args__}
