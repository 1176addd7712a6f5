"""Simulated prompts with a known precision, to check the intervals; with fixed seeds.

    python -m tests.benchmarks.intervals [--draws 2000] [--runs 1000]

It prints three tables:
- how often the headline interval holds the truth, and its width;
- how often a person who looks after every prompt gets a wrong answer, and after how many prompts the gate decides;
- how often the intervals and the test of the difference of two systems are right.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median

from labels.measure.comparison import SystemComparison, compare
from labels.measure.intervals import LOOKS, Interval, betting_intervals, deciding_interval, headline_interval, wilson
from labels.records import Outcome
from tests.benchmarks.hook import table
from tests.labels.samples import Counts, World, known

GATE, ALPHA, CAP_PROMPTS = 0.8, 0.05, 300
REAL = {"alike": 0.475}
"""The correlation within prompts at which three memories have a design effect of 1.95, as on Haystack's labels."""

Decision = tuple[int, bool]
"""(number of prompts, whether precision is above the gate)."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draws", type=int, default=2000)
    arguments.add_argument("--runs", type=int, default=1000)
    given = arguments.parse_args()
    print("Headline interval: share of draws in which it holds the true precision (95 % promised), and its width")
    show(coverage_rows(given.draws))
    print(
        f"Gate {GATE}, looking after every prompt, at most {CAP_PROMPTS}: share decided / median prompts / share wrong"
    )
    show(stopping_rows(given.runs))
    print(
        "Two systems: share of draws in which the interval holds the true difference, and of equal ones with p < 0.05"
    )
    show(difference_rows(given.draws // 2))


def show(rows: list[tuple[str, ...]]) -> None:
    table(list(rows[0]), [list(row) for row in rows[1:]])


# Coverage


def coverage_rows(draws: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("memories", "prompts", "precision", "Wilson", "headline", "width")]
    for sizes, alike in (((3,), 0.5), ((1, 2, 3), 0.6)):
        for number in (10, 20, 45, 100):
            for precision in (0.6, 0.8, 0.9, 0.95):
                world = World(precision, alike, sizes)
                rows.append((str(sizes), str(number), str(precision), *coverage(world, number, draws)))
    return rows


def coverage(world: World, number: int, draws: int) -> tuple[str, str, str]:
    rng = random.Random(f"coverage {world} {number}")
    plain, headline, widths = [], [], []
    for _ in range(draws):
        prompts = world.prompts(rng, number)
        naive = known(wilson(sum(x for x, _ in prompts), sum(m for _, m in prompts)))
        interval = known(headline_interval(prompts))
        plain.append(holds(naive, world.precision))
        headline.append(holds(interval, world.precision))
        widths.append(interval.high - interval.low)
    return f"{mean(plain):.3f}", f"{mean(headline):.3f}", f"{mean(widths):.3f}"


def holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


# Stopping


def stopping_rows(runs: int) -> list[tuple[str, ...]]:
    methods: dict[str, Callable[[Sequence[Counts]], Decision | None]] = {
        "peeking Wilson": peeking,
        "planned looks": planned,
        "live interval, every fifth prompt": betting,
    }
    rows: list[tuple[str, ...]] = [("truth", *methods)]
    for precision in (0.6, 0.7, 0.75, GATE, 0.85, 0.9, 0.95):
        rng = random.Random(f"stopping {precision}")
        prompts = [World(precision, **REAL).prompts(rng, CAP_PROMPTS) for _ in range(runs)]
        rows.append((str(precision), *(summary(list(map(decide, prompts)), precision) for decide in methods.values())))
    return rows


def summary(decisions: list[Decision | None], truth: float) -> str:
    made = [each for each in decisions if each]
    wrong = made if truth == GATE else [each for each in made if each[1] != (truth > GATE)]
    middle = median(each[0] if each else CAP_PROMPTS + 1 for each in decisions)
    after = f">{CAP_PROMPTS}" if middle > CAP_PROMPTS else f"{middle:.0f}"
    return f"{len(made) / len(decisions):.3f} / {after} / {len(wrong) / len(decisions):.3f}"


def betting(prompts: Sequence[Counts]) -> Decision | None:
    moments = range(5, len(prompts) + 1, 5)
    found = dict(zip(moments, betting_intervals(prompts, 3, moments), strict=True))
    return stopped(lambda number: found[number], moments)


def planned(prompts: Sequence[Counts]) -> Decision | None:
    return stopped(lambda number: deciding_interval(prompts[:number], 3), (*LOOKS, CAP_PROMPTS))


def peeking(prompts: Sequence[Counts]) -> Decision | None:
    relevant, judged = [0], [0]
    for x, m in prompts:
        relevant.append(relevant[-1] + x)
        judged.append(judged[-1] + m)
    return stopped(lambda number: wilson(relevant[number], judged[number]), range(5, len(prompts) + 1))


def stopped(interval: Callable[[int], Interval | None], moments: Iterable[int]) -> Decision | None:
    for number in moments:
        found = interval(number)
        if found and not holds(found, GATE):
            return number, found.low > GATE
    return None


# Two systems


def difference_rows(draws: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("prompts", "precision", "irrelevant", "relevant", "equal ones told apart")]
    for number in (20, 45, 100):
        rng = random.Random(f"difference {number}")
        found = [comparison(rng, number, keeps=(0.8, 0.5)) for _ in range(draws)]
        # of three memories, at a precision of .6, the second keeps 1.44 relevant and .6 irrelevant ones
        truths = {"precision": 1.44 / 2.04 - 0.6, "irrelevant": 0.6 - 1.2, "relevant": 1.44 - 1.8}
        covered = [mean(holds(getattr(each, name).interval, truth) for each in found) for name, truth in truths.items()]
        equal = [comparison(rng, number, keeps=(0.8, 0.8), first_keeps=(0.8, 0.8)) for _ in range(draws)]
        told_apart = mean((each.p_value or 1.0) < ALPHA for each in equal)
        rows.append((str(number), *(f"{share:.3f}" for share in (*covered, told_apart))))
    return rows


def comparison(
    rng: random.Random, number: int, keeps: tuple[float, float], first_keeps: tuple[float, float] = (1.0, 1.0)
) -> SystemComparison:
    """Two systems that keep relevant and irrelevant memories with the chances given."""
    rows, judgements = [], {}
    for name in range(number):
        relevant, size = World(0.6).prompt(rng)
        said = {f"m{place}": place < relevant for place in range(size)}
        judgements[str(name)] = said
        for system, chances in (("first", first_keeps), ("second", keeps)):
            kept = [each for each, good in said.items() if rng.random() < chances[0 if good else 1]]
            rows.append(Outcome(str(name), system, tuple(kept), (), (), "", 0.0))
    return known(compare(rows, judgements, ("first", "second"), judgements.keys()))


if __name__ == "__main__":
    main()
