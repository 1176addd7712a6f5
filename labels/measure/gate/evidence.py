"""What the gate decides on: outcomes, judgements and the order in which they came, from a label store or from files."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.basis import AS_NOT
from labels.measure.freshness import current, matching
from labels.measure.gate.decision import Sample
from labels.measure.metrics import Ratio, tally
from labels.measure.outcomes import assuming_not_relevant, by_system, consensus, texts
from labels.pooling import random_key
from labels.records import BY_TIME, NOT_RELEVANT, RELEVANT
from labels.run_settings import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.measure.metrics import Tally
    from labels.records import JudgeCall, Judgements, Label, Outcome
    from labels.store import LabelStore

FILE_ORDER = "gate"
"""The seed of the order in which prompts from files are taken: a file is in no order of labelling."""


class Known(NamedTuple):
    """An outcome with its counts, and when the last of what it injected was dealt with: `Evidence.moment`."""

    outcome: Outcome
    tally: Tally
    moment: int | None


@dataclass(frozen=True)
class Evidence:
    """All that is known of some systems on the same prompts.

    `settled` says of each memory that people have dealt with, whatever they said, when: prompt id -> memory id -> a
    number that rises. `strata` are empty where the order of labelling was random. `stale` labels are about another
    text than the memory's present one and do not count, nor do pairs that are `disputed`. `blind` is of the labels that
    count. `underway` are the prompts that people were in when they stopped; None where the judgements are from files,
    of which that is not known. `explicit` is what people said where `judgements` hold what was assumed, too; `changed`
    says, by run, how its configuration differs from the present one.
    """

    rows: Sequence[Outcome]
    judgements: Judgements
    settled: Mapping[str, Mapping[str, int]]
    strata: Mapping[str, str] = field(default_factory=dict)
    calls: Sequence[JudgeCall] = ()
    stale: int = 0
    disputed: int = 0
    blind: Ratio = field(default_factory=lambda: Ratio(0, 0))
    underway: Set[str] | None = None
    explicit: Judgements | None = None
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(self.known))

    @cached_property
    def is_chosen(self) -> bool:
        """Whether some kinds of prompts were labelled more than others."""
        return len(set(self.strata.values())) > 1

    @cached_property
    def known(self) -> Mapping[str, list[Known]]:
        """By system."""
        return {
            system: [Known(row, tally(row, self.judgements), self.moment(row)) for row in rows]
            for system, rows in by_system(self.rows).items()
        }

    def of(self, system: str) -> list[Outcome]:
        return [each.outcome for each in self.known.get(system, ())]

    def injecting(self, system: str) -> list[Outcome]:
        """The prompts of the frame for which *system* injects something; without those that were never in an order."""
        return [row for row in self.of(system) if self.counts(row)]

    def counts(self, row: Outcome) -> bool:
        return bool(row.injected) and (not self.is_chosen or row.prompt_id in self.strata)

    def is_finished(self, row: Outcome) -> bool:
        """Whether people have dealt with all that was injected."""
        return self.moment(row) is not None

    def finished(self, systems: Iterable[str]) -> frozenset[str]:
        """The prompts for which any of *systems* injects something and that are judged in full for each of them."""
        known = [each for system in systems for each in self.known.get(system, ())]
        unfinished = {each.outcome.prompt_id for each in known if each.moment is None}
        return frozenset({each.outcome.prompt_id for each in known if each.outcome.injected} - unfinished)

    def strata_of(self, systems: Iterable[str]) -> Mapping[str, str] | None:
        """The stratum of each prompt for which any of *systems* injects something; None if the order was random."""
        if not self.is_chosen:
            return None
        injecting = [row.prompt_id for system in systems for row in self.injecting(system)]
        return {prompt_id: self.strata[prompt_id] for prompt_id in injecting}

    def sample(self, system: str) -> Sample:
        known = [each for each in self.known.get(system, ()) if self.counts(each.outcome)]
        finished = sorted([(each.moment, each.tally) for each in known if each.moment is not None], key=itemgetter(0))
        return Sample(
            judged={each.prompt_id: (each.relevant, each.judged) for _, each in finished},
            injected={each.tally.prompt_id: each.tally.injected for each in known},
            strata=self.strata if self.is_chosen else {},
        )

    def moment(self, row: Outcome) -> int | None:
        """When the last of what was injected was dealt with, 0 where nothing was; None while some of it is left."""
        settled = self.settled.get(row.prompt_id, {})
        is_finished = all(map(settled.__contains__, row.injected))
        return max(map(settled.__getitem__, row.injected), default=0) if is_finished else None


def evidence_from_store(
    store: LabelStore,
    root: str,
    digests: Mapping[str, str],
    config: Config | None = None,
    cutoff: Cutoff | None = None,
) -> Evidence:
    """The newest replays of *root* and the labels about what they returned.

    *digests* are the memories' present ones by id: labels about another text do not count. *config* and *cutoff*
    are the root's present ones; without a configuration there is no comparison.
    """
    rows = store.outcomes(root)
    labels, adjudications = store.labels(root=root), store.adjudications(root)
    said = settling(labels, adjudications)
    counted = matching(current(said, digests), texts(rows))
    every = matching(current([*labels, *adjudications], digests), texts(rows))
    agreed = consensus(counted)
    return Evidence(
        rows=rows,
        judgements=agreed.judgements,
        settled=moments(every, agreed.judgements),
        strata=store.strata(root),
        calls=store.judge_calls(root),
        stale=len(said) - len(counted),
        disputed=agreed.disputed,
        blind=blindness(counted),
        underway=underway(every),
        changed=changes(rows, store.run_settings(root), config, cutoff) if config else {},
    )


def settling(labels: Sequence[Label], adjudications: Sequence[Label]) -> list[Label]:
    """The labels that count: of a pair that somebody settled, only what settled it."""
    settled = {(label.prompt_id, *label.pair): label for label in adjudications}
    return [*(label for label in labels if (label.prompt_id, *label.pair) not in settled), *settled.values()]


def blindness(labels: Iterable[Label]) -> Ratio:
    """Labels that were given blind, of those that are opinions: who settles a dispute has to see it."""
    opinions = [label for label in labels if not label.adjudicated]
    return Ratio(sum(label.blind for label in opinions), len(opinions))


def underway(labels: Iterable[Label]) -> frozenset[str]:
    """The prompt of each person's latest opinion.

    Who stops labelling leaves that one open whatever its memories are like, as the order of prompts was fixed before.
    """
    opinions = [label for label in labels if not label.adjudicated]
    return frozenset({label.annotator: label.prompt_id for label in sorted(opinions, key=BY_TIME)}.values())


def moments(labels: Iterable[Label], judgements: Judgements) -> dict[str, dict[str, int]]:
    """When each memory was dealt with first; one on which people are split is not."""
    settled: dict[str, dict[str, int]] = {}
    for moment, label in enumerate(sorted(labels, key=BY_TIME)):
        is_known = label.memory_id in judgements.get(label.prompt_id, {})
        if is_known or label.verdict not in (RELEVANT, NOT_RELEVANT):
            settled.setdefault(label.prompt_id, {}).setdefault(label.memory_id, moment)
    return settled


def evidence_from_judgements(
    rows: Sequence[Outcome], explicit: Judgements, calls: Sequence[JudgeCall] = (), unjudged: str = AS_NOT
) -> Evidence:
    """The outcomes in a run file and the judgements in a qrels file, with the prompts in seeded random order.

    *unjudged* is `labels.measure.basis`'s AS_NOT, by which a memory without a row is not relevant, or EXCLUDE.
    """
    judgements = assuming_not_relevant(rows, explicit) if unjudged == AS_NOT else explicit
    order = sorted(judgements, key=lambda prompt_id: random_key(FILE_ORDER, prompt_id))
    return Evidence(
        rows=rows,
        judgements=judgements,
        settled={prompt_id: dict.fromkeys(judgements[prompt_id], place) for place, prompt_id in enumerate(order)},
        calls=calls,
        explicit=explicit if unjudged == AS_NOT else None,
    )
