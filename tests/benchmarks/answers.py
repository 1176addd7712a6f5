"""The time to read a judge's answer, for answers that are made to be slow.

    python -m tests.benchmarks.answers [--characters 25000] [--rounds 5]

Each answer repeats one text. It is read at its length, twice, four and eight times its length, without the usual limit.
Where the time is linear, each ratio is about 2; where it is quadratic, about 4. The last column is an answer of
the largest length that is read.
"""

import argparse
from itertools import pairwise
from time import perf_counter

from engine.judge.answer import ANSWER_LIMIT, lists
from tests.benchmarks.hook import table

UNITS = (
    *("{", "[", '"\\', '{"a":', '{"a":{', '{"', '{"{', '{":', "{}", "}{", '{"a\\\\"', '\\"{"'),
    *('{"keep": [', '{"keep": [0, ', '{"keep":1}', '{"keep":{}}', '{"a":[[{},', '{"verdicts": [{"index": 0, '),
)
DOUBLINGS = 3


def read_ms(text: str, rounds: int) -> float:
    """The shortest time of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        for _ in lists(text, "keep"):
            pass
        times.append((perf_counter() - started) * 1000)
    return min(times)


def row(unit: str, characters: int, rounds: int) -> list[object]:
    times = [read_ms(unit * (characters * 2**step // len(unit)), rounds) for step in range(DOUBLINGS + 1)]
    ratios = [f"{later / earlier:.2f}" for earlier, later in pairwise(times)]
    whole = read_ms(unit * (ANSWER_LIMIT // len(unit)), rounds)
    return [repr(unit), f"{times[0]:.2f}", *ratios, f"{whole:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--characters", type=int, default=25_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    steps = [f"x{2**step} / x{2 ** (step - 1)}" for step in range(1, DOUBLINGS + 1)]
    head = ["answer of", f"ms for {given.characters:,}", *steps, f"ms for {ANSWER_LIMIT:,}"]
    table(head, [row(unit, given.characters, given.rounds) for unit in UNITS])


if __name__ == "__main__":
    main()
