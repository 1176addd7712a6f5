"""What the hook's path needs of `math`, which lies in a module of its own: 0.2 ms of a cold process."""

from __future__ import annotations

E = 2.718281828459045
LN_2 = 0.6931471805599453


def log(x: float) -> float:
    """The natural logarithm of a number from 1 on, off by 4e-16 at most, or by two units in the last place.

    By Halley's method on exp, from what the number of bits says; each step triples the digits that are right.
    """
    found = (int(x).bit_length() - 0.5) * LN_2
    for _ in range(3):
        power = E**found
        found += 2 * (x - power) / (x + power)
    return found


def sqrt(x: float) -> float:
    """The square root of a number from 0 on."""
    return float(x**0.5)
