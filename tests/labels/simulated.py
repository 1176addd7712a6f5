"""Simulated prompts with a known precision. Memories of one prompt resemble each other, as real ones do."""

import random
from dataclasses import dataclass

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
