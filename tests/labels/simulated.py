"""Simulated prompts with a known precision. Memories of one prompt resemble each other, as real ones do."""

import random
from dataclasses import dataclass

from labels.labelling_order import AGREE, DIFFER, DISAGREEMENT_FIRST, LabellingOrder, offered

Counts = tuple[int, int]


@dataclass(frozen=True)
class World:
    """Prompts with one of *sizes* memories, of which *precision* are relevant on average.

    `alike` is the intra-class correlation: 0.5 with three memories each is a design effect of 2.
    """

    precision: float
    alike: float = 0.5
    sizes: tuple[int, ...] = (3,)

    def prompt(self, rng: random.Random) -> Counts:
        """(relevant, injected) of the next prompt: a beta-binomial draw."""
        shape = 1 / self.alike - 1
        chance = rng.betavariate(self.precision * shape, (1 - self.precision) * shape)
        size = rng.choice(self.sizes)
        return sum(rng.random() < chance for _ in range(size)), size

    def prompts(self, rng: random.Random, number: int) -> list[Counts]:
        return [self.prompt(rng) for _ in range(number)]


@dataclass(frozen=True)
class Population:
    """*size* prompts. The systems differ on a *share* of them, with a lower precision than on the others."""

    size: int
    share: float
    disagreed: World = World(0.5, sizes=(1, 2, 3, 3))
    agreed: World = World(0.85, sizes=(1, 2, 3, 3))

    def draw(self, rng: random.Random) -> tuple[dict[str, Counts], dict[str, str]]:
        """prompt id -> counts, and prompt id -> stratum."""
        strata = {f"p{number}": DIFFER if rng.random() < self.share else AGREE for number in range(self.size)}
        worlds = {DIFFER: self.disagreed, AGREE: self.agreed}
        return {name: worlds[stratum].prompt(rng) for name, stratum in strata.items()}, strata


def disagreements_first(strata: dict[str, str], number: int, rng: random.Random) -> tuple[str, ...]:
    """The first *number* prompts of the order DISAGREEMENT_FIRST."""
    return offered(LabellingOrder(DISAGREEMENT_FIRST, rng.getrandbits(64), strata))[:number]


def mostly_disagreements(strata: dict[str, str], number: int, rng: random.Random, part: float = 0.8) -> list[str]:
    """*number* prompts to label, *part* of them where the systems differ, each kind in random order."""
    names = rng.sample(list(strata), len(strata))
    differ = [name for name in names if strata[name] == DIFFER]
    agree = [name for name in names if strata[name] == AGREE]
    taken = differ[: max(round(part * number), number - len(agree))]
    return taken + agree[: number - len(taken)]
