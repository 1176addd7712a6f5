"""Served and false fires as a person with list cards finds them, on roots of which every memory is labelled.

    python -m tests.benchmarks.lists [--notes FOLDER] [--draws 200] [--prompts 150]

The person labels that many prompts in random order, as the labels of the root say: the memories that the default or
memsift injects, and on the list card every title of a useful memory. The roots are those of the corpus, or with --notes
the real roots of the yardstick. Printed are the truth (from the labels of all memories), and what is said with the pool
of the systems alone, and with a list card on every prompt. Of the draws: the means, and the share of draws in which the
interval holds what list cards on every prompt say.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from engine.config import SYSTEMS, Config
from engine.cutoff import default_cutoff
from engine.opening import index_of
from engine.pipeline import OpenSystem, Query, retrieve
from engine.retrieval import Retrieval
from labels.measure.evidence import Evidence
from labels.measure.intervals import Interval, wilson
from labels.measure.judgements import answered_lists, consensus, moments, slight_pairs
from labels.measure.metrics import Ratio, false_fire_rate, headline
from labels.pooling import draw, labelling_order, pool
from labels.records import NEEDED, NOT_RELEVANT, RELEVANT, Event, Outcome
from tests.benchmarks.hook import table
from tests.benchmarks.served import TOP, LabelledRoot, corpus_roots, real_roots

DEFAULT, POOLED = "memsift+default", ("memsift+default", "memsift")


class Asked(NamedTuple):
    """A prompt through the systems, and the grade of every memory that is useful for it: 1, or 2 if it is needed."""

    name: str
    retrievals: Sequence[Retrieval]
    grades: Mapping[str, int]


class Measured(NamedTuple):
    """Served prompts of those in need, with the interval for any look; false fires, with Wilson's interval."""

    served: Ratio
    live: Interval
    false_fires: Ratio
    once: Interval | None


def asked(roots: Iterable[LabelledRoot]) -> dict[str, Asked]:
    """The prompts of *roots* by their names."""
    config = Config()
    systems = [
        OpenSystem(SYSTEMS[name].of(config), default_cutoff(config) if name == DEFAULT else None) for name in POOLED
    ]
    found = {}
    for root in roots:
        with closing(index_of(root.corpus)) as index:
            for prompt, _ in root.prompts:
                answers = [retrieve(Query(prompt), index, system) for system in systems]
                ids = [memory.summary.id for memory in root.corpus.memories]
                grades = {one: grade for one in ids if (grade := root.grade(prompt.id, one))}
                name = f"{root.name} {prompt.id}"
                found[name] = Asked(name, answers, grades)
    return found


def truth(prompts: Iterable[Asked]) -> tuple[float, float]:
    """Served and false fires by the labels of all memories."""
    served, vain = [], []
    for one in prompts:
        injected = [one.grades.get(candidate.memory.id, 0) for candidate in one.retrievals[0].injected]
        if NEEDED in one.grades.values():
            served.append(NEEDED in injected)
        if not one.grades:
            vain.append(bool(injected))
    return fmean(served), fmean(vain)


def measure(prompts: Iterable[Asked], seed: int, *, lists: float | None = None) -> Measured:
    """What the report says after *prompts* were labelled. *lists*: draw each prompt with this probability, 0 or 1."""
    drawn: dict[str, float] = {}
    rows, labels = [], []
    for number, one in enumerate(prompts):
        share = draw(one.name, seed, drawn) if lists is None else lists
        made = pool(one.retrievals, seed, share)
        drawn |= {one.name: share} if made.listed else {}
        without = 0 if lists == 0 else made.titles
        for card in (*made.cards, *made.listed):
            grade, titles = one.grades.get(card.memory.id, 0), len(made.listed) if card in made.listed else without
            said = {"verdict": RELEVANT if grade else NOT_RELEVANT, "grade": None if titles else grade, "blind": True}
            made_at = {"ts": f"{number:06}", "event_id": len(labels)}
            labels.append(Event("ann", one.name, *card.pair, **said, **made_at, titles=titles))
        injected = tuple(candidate.memory.id for candidate in one.retrievals[0].injected)
        candidates = tuple(card.memory.id for card in (*made.cards, *made.listed))
        rows.append(Outcome(one.name, DEFAULT, injected, candidates, (None,) * len(candidates), "", 1.0))
    judgements, _ = consensus(labels)
    times = moments(labels, judgements)
    listed = answered_lists(labels, judgements, None)
    evidence = Evidence(rows, judgements, times, slight=slight_pairs(labels), listed=listed, labels=labels)
    found = headline(evidence.served_sample(DEFAULT))
    vain = false_fire_rate([row.tally for row in evidence.tallied[DEFAULT]], evidence.without_relevant)
    return Measured(found.relevant, found.live, vain, wilson(vain.part, vain.whole))


def drawn_often(prompts: Mapping[str, Asked], draws: int, number: int) -> list[Measured]:
    return [measure([prompts[name] for name in labelling_order(prompts, seed)[:number]], seed) for seed in range(draws)]


def held(intervals: Iterable[Interval | None], value: float) -> float:
    return fmean(found is not None and found.low <= value <= found.high for found in intervals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--shared", type=Path, default=TOP.parent / "shared/data/yardstick")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--prompts", type=int, default=150)
    given = parser.parse_args()
    prompts = asked(real_roots(given.notes, given.shared) if given.notes else corpus_roots())
    served, vain = truth(prompts.values())
    alone, full = (measure(prompts.values(), 0, lists=share) for share in (0, 1))
    found = drawn_often(prompts, given.draws, given.prompts)
    rows = [["truth, all memories", f"{served:.3f}", f"{vain:.3f}"]]
    for name, one in (("systems' pool alone", alone), ("a list card each", full)):
        rows.append([name, f"{one.served.value or 0:.3f}", f"{one.false_fires.value or 0:.3f}"])
    means = fmean(one.served.value or 0 for one in found), fmean(one.false_fires.value or 0 for one in found)
    rows.append([f"mean of {len(found)} draws of {given.prompts}", *(f"{mean:.3f}" for mean in means)])
    kept = (
        held([one.live for one in found], full.served.value or 0),
        held([one.once for one in found], full.false_fires.value or 0),
    )
    rows.append(["the interval holds a list card each", *(f"{share:.3f}" for share in kept)])
    table([f"{len(prompts)} prompts", "served", "false fires"], rows)


if __name__ == "__main__":
    main()
