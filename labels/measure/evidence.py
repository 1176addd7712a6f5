"""The evidence: outcomes of systems, with the judgements on them. Every number is counted from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.config import OFF, system_of
from engine.phrases.measuring import find_phrased
from labels.measure.judgements import (
    answered_lists,
    assuming_not_relevant,
    consensus,
    current,
    matching,
    moments,
    needed_in,
    pools,
    prompts_without_relevant,
    replayed_texts,
    slight_pairs,
)
from labels.measure.metrics import Ratio, Sample, Tally, served, tally
from labels.pooling import random_key
from labels.run_settings import changes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence, Set

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.measure.judgements import Digests, Moments, Pools
    from labels.records import Event, Judgements, Outcome, Repeat, RunSettings
    from labels.store import LabelStore

AS_NOT, EXCLUDE = "not", "exclude"
"""An unjudged memory in a report from qrels: not relevant (TREC's convention), or left out of every count."""

MIN_BLIND = 0.9
"""The least share of labels given blind. Ranks in view pull the labels towards what is shown."""

TIES = "gate"
"""The seed of the order of prompts that were judged at one moment, such as all prompts of an imported file."""


class Tallied(NamedTuple):
    """An outcome, its counts, and the moment of the prompt's first label: see `Evidence.tallied_set`."""

    outcome: Outcome
    tally: Tally
    moment: int | None


@dataclass(frozen=True)
class LabelFacts:
    """Numbers of labels and pairs that do not count, of edited memories, and of labels that were given blind.

    `stale` labels are about a text that was edited or removed since, `unmatched` labels about another text than the
    replayed one. On `disputed` pairs people are evenly split. `imported` labels count. `by_hand` is the number of
    labelled prompts that were left out, because a person typed or picked them; `preferred` are left out because
    the removed labelling orders `disagreement-first` and `uncertain-first` put them first. Of the `brought_up`
    memories, `drifted` ones were edited or removed since the replay; None if that is not known. `phrased` is the
    number of replayed prompts that were left out, because they are phrases of a memory now.

    `blind` labels were given before ranks and verdicts were shown, of the labels for which that is known; it is not
    known of `blind_unknown` imported ones. Labels of adjudicated pairs are left out of both. `seen` is the number of
    prompts whose ranks were shown, and that have no label.
    """

    stale: int = 0
    unmatched: int = 0
    disputed: int = 0
    imported: int = 0
    by_hand: int = 0
    preferred: int = 0
    drifted: int | None = None
    brought_up: int = 0
    phrased: int = 0
    blind: Ratio = field(default_factory=lambda: Ratio(0, 0))
    blind_unknown: int = 0
    seen: int = 0

    @property
    def not_blind(self) -> Ratio:
        """The labels given after ranks were shown, of all labels; where it is not known, a label was given blind."""
        return Ratio(self.blind.whole - self.blind.part, self.blind.whole + self.blind_unknown)

    @property
    def sighted(self) -> Ratio | None:
        """`not_blind`; None where they are few."""
        seen, whole = self.not_blind.part, self.not_blind.whole
        return self.not_blind if whole - seen < MIN_BLIND * whole else None


@dataclass(frozen=True)
class Evidence:
    """The outcomes of some systems, at most one for each prompt and system, with the judgements on them.

    `moments` is when people judged each memory, whatever their verdict; None where that is not known. `explicit` are
    the given judgements, where `judgements` hold assumed ones, too; else None. `is_qrels`: the judgements of a prompt
    are complete, so a prompt without a relevant memory in them has nothing relevant.

    `listed` are the prompts with an answered list card: only of them is it known whether they need a memory that no
    system injected. None where that is known of all prompts, as with qrels.

    `slight` are the (prompt id, memory id) that people found relevant, but not needed. `labelled` are the prompts with
    any label, also of a text that was edited since. `days` are the days on which the prompts were typed, where known.

    From a label store come the `labels` of cards that count, the
    `repeats`, and `facts` about these labels. `configured` is the name of the root's configured system. `made` are the
    settings of each run by its id; `changed` says in words how the present settings differ from them.

    `missed` are the prompts in need that were left out because they are phrases now, with the moments of their first
    labels. They count as not served: people make phrases of what was missed, so the served share would rise otherwise.
    """

    rows: Sequence[Outcome]
    judgements: Judgements
    moments: Moments | None = None
    explicit: Judgements | None = None
    is_qrels: bool = False
    listed: Set[str] | None = None
    slight: Set[tuple[str, str]] = frozenset()
    labelled: Set[str] = frozenset()
    days: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[Event] = ()
    repeats: Sequence[Repeat] = ()
    facts: LabelFacts = field(default_factory=LabelFacts)
    configured: str = ""
    made: Mapping[str, RunSettings] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missed: Sequence[tuple[int, Tally]] = ()

    @property
    def given(self) -> Judgements:
        """The judgements of people or qrels, without assumed ones."""
        return self.judgements if self.explicit is None else self.explicit

    def without_phrases(self, phrased: Set[str]) -> Evidence:
        """This evidence without the prompts *phrased*, which are phrases now."""
        phrased, moments = phrased & self.prompts, self.moments or {}
        missed = [(min(moments.get(name, {}).values(), default=0), name) for name in self.needed if name in phrased]
        return replace(
            self,
            rows=[row for row in self.rows if row.prompt_id not in phrased],
            judgements={name: own for name, own in self.judgements.items() if name not in phrased},
            explicit=self.explicit and {name: own for name, own in self.explicit.items() if name not in phrased},
            labels=[label for label in self.labels if label.prompt_id not in phrased],
            facts=replace(self.facts, phrased=len(phrased)),
            missed=[(moment, Tally(name, 1, 1, 0)) for moment, name in missed],
        )

    @cached_property
    def ordered(self) -> Evidence:
        """This evidence. Where the order of judging is not known, its prompts are in seeded random order."""
        if self.moments is not None:
            return self
        return replace(self, moments={name: dict.fromkeys(own, 0) for name, own in self.judgements.items()})

    # Of all systems

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(self.tallied))

    @cached_property
    def prompts(self) -> Set[str]:
        return {row.prompt_id for row in self.rows}

    @cached_property
    def begun(self) -> Set[str]:
        """The prompts with a label, whether it counts or not."""
        return self.labelled | (self.moments or self.judgements).keys()

    @cached_property
    def pools(self) -> Pools:
        return pools(self.rows, self.judgements)

    @cached_property
    def relevant_in_pools(self) -> Counter[str]:
        """The number of relevant memories in the pool of each prompt, which is the same for every system."""
        answers = {name: self.judgements.get(name, {}) for name in self.pools}
        return Counter({name: list(map(answers[name].get, pool)).count(True) for name, pool in self.pools.items()})

    @cached_property
    def looked_through(self) -> Set[str]:
        """`listed`, or all prompts. Served, false fires and lost memories are counted on these."""
        return self.prompts if self.listed is None else self.listed

    @cached_property
    def without_relevant(self) -> Set[str]:
        """The prompts for which nothing is relevant, of those that were looked through."""
        if self.is_qrels:
            return {prompt_id for prompt_id in self.prompts if not any(self.given.get(prompt_id, {}).values())}
        return prompts_without_relevant(self.pools, self.judgements) & self.looked_through

    @cached_property
    def needed(self) -> Pools:
        """The needed memories of each prompt that needs one, of those that were looked through."""
        given = {name: own for name, own in self.given.items() if name in self.looked_through}
        return needed_in(given, self.slight)

    @cached_property
    def measured(self) -> Set[str]:
        """The prompts with a judged memory in their pool; all prompts where missing judgements were assumed."""
        if self.explicit is not None:
            return set(self.pools)
        judgements = self.judgements
        return {name for name, pool in self.pools.items() if not pool.isdisjoint(judgements.get(name, ()))}

    @cached_property
    def judged(self) -> Ratio:
        """Relevant memories, of all memories of the replayed prompts on which there is a judgement."""
        judged = [self.given.get(prompt_id, {}) for prompt_id in self.prompts]
        return Ratio(sum(sum(own.values()) for own in judged), sum(map(len, judged)))

    @cached_property
    def tallied(self) -> Mapping[str, list[Tallied]]:
        """By system. Prompts on which its judge gave no answer are left out."""
        tallied: dict[str, list[Tallied]] = {}
        for row in self.rows:
            own = tallied.setdefault(row.system, [])
            if not row.is_unanswered:
                own.append(self.tallied_set(row))
        return tallied

    # Of one system, or of some

    def of(self, system: str) -> list[Outcome]:
        return [row.outcome for row in self.tallied.get(system, ())]

    def failures(self, system: str) -> Ratio:
        """Prompts on which the judge of *system* gave no answer, of those on which it was asked."""
        rows = [row for row in self.rows if row.system == system]
        failed = sum(row.is_unanswered for row in rows)
        return Ratio(failed, sum(row.is_asked or row.is_unanswered for row in rows))

    def is_dead(self, system: str) -> bool:
        """Whether the judge of *system* was asked and never answered."""
        failures = self.failures(system)
        return 0 < failures.part == failures.whole

    def tallied_set(self, row: Outcome) -> Tallied:
        """*row* with its counts, and the moment of the prompt's first label, 0 without one; None if a memory has none.

        The order of the prompts is then the same for every system, and a label that is changed moves none.
        """
        moments = (self.moments or {}).get(row.prompt_id, {})
        moment = min(moments.values(), default=0) if all(map(moments.__contains__, row.injected)) else None
        return Tallied(row, tally(row.prompt_id, row.injected, self.judgements), moment)

    def finished(self, systems: Iterable[str]) -> frozenset[str]:
        """The prompts that are completely judged for all *systems*, and for which at least one injects something."""
        rows = [row for system in systems for row in self.tallied.get(system, ())]
        unfinished = {row.outcome.prompt_id for row in rows if row.moment is None}
        return frozenset({row.outcome.prompt_id for row in rows if row.outcome.injected} - unfinished)

    def sample(self, system: str | Iterable[Tallied]) -> Sample:
        """The completely judged prompts of *system*, or of other sets, by their first labels; of one moment, by id."""
        found = self.tallied.get(system, ()) if isinstance(system, str) else system
        rows = [row for row in found if row.outcome.injected]
        finished = in_order([(row.moment, row.tally) for row in rows if row.moment is not None])
        most = max((row.tally.injected for row in rows), default=1)
        return Sample({prompt.prompt_id: (prompt.relevant, prompt.judged) for prompt in finished}, len(rows), most)

    def served_sample(self, system: str | Iterable[Tallied]) -> Sample:
        """Whether *system* serves the prompts that need a memory, in the order of their first labels; as `sample`.

        A prompt counts once its memories have labels and its list card is answered. Prompts without need are left out.
        """
        needed, looked_through = self.needed, self.looked_through
        found = self.tallied.get(system, ()) if isinstance(system, str) else system
        rows = {row.outcome.prompt_id: row for row in found}
        moments = {name: row.moment for name, row in rows.items() if row.moment is not None}
        sets = [(name, rows[name].outcome.injected) for name in moments]
        counted = in_order([*((moments[row.prompt_id], row) for row in served(sets, needed)), *self.missed])
        may_need = [name for name in rows if name in needed or name not in moments or name not in looked_through]
        whole = len(may_need) + len(self.missed)
        return Sample({row.prompt_id: (row.relevant, row.judged) for row in counted}, whole)


def in_order(found: list[tuple[int, Tally]]) -> list[Tally]:
    """The tallies by moment; those of one moment by a hash of their ids, as ids may follow the kind of prompt."""
    return [row for _, row in sorted(found, key=lambda pair: (pair[0], random_key(TIES, pair[1].prompt_id)))]


def evidence_from_store(
    store: LabelStore,
    root: str | None,
    digests: Digests | None,
    config: Config | None = None,
    cutoff: Cutoff | None = None,
    phrases: Collection[str] = (),
) -> Evidence:
    """The newest replays of *root* (None: of all roots), and the labels on the memories that they returned.

    A label counts if it is about the text that was replayed and, where *digests* (memory id -> digest of the present
    text) are known, the memory still has that text. Prompts that a person typed or picked are left out: they were
    chosen, perhaps to see a system fail, so they are no part of a random sample. So are prompts that the
    removed labelling orders `disagreement-first` and `uncertain-first` put first, and those that are one of the
    *phrases* of the root now. *config* and *cutoff* are the present ones of the root, with which the runs are compared;
    without *config* nothing is compared.
    """
    by_hand, preferred = store.prompts_by_hand(), store.preferred_prompts()
    left_out, outcomes = by_hand | preferred, store.outcomes(root)
    every = labels_held(store, root, digests, {row.prompt_id for row in outcomes})
    rows = [row for row in outcomes if row.prompt_id not in left_out]
    given = [label for label in every if label.prompt_id not in left_out]
    settling = [label for label in store.adjudications(root) if label.prompt_id not in left_out]
    replayed, texts = replayed_texts(rows), store.returned_texts(root)
    fresh = current(given, digests)
    labels, settled = matching(fresh, replayed), matching(current(settling, digests), replayed)
    judgements, disputed = consensus(labels, settled)
    on_cards = [label for label in labels if not label.titles]
    prompts, labelled = {row.prompt_id for row in rows}, {label.prompt_id for label in every}
    adjudicated = {(label.prompt_id, *label.pair) for label in settled}
    blind = [label.blind for label in on_cards if (label.prompt_id, *label.pair) not in adjudicated]
    made, first = store.run_settings(root), store.first_given()
    kind = cutoff.kind if cutoff else OFF
    configured = system_of(config, has_judge=config.judge.enabled, cutoff=kind) if config else None
    dated = []
    for label in (*labels, *settled):
        ts, event_id = first.get((label.annotator, label.prompt_id, *label.pair), (label.ts, label.event_id))
        dated.append(label._replace(ts=ts, event_id=event_id))
    found = Evidence(
        rows,
        judgements,
        moments(dated, judgements),
        listed=answered_lists(given, judgements, digests),
        slight=slight_pairs([*labels, *settled]),
        labelled=labelled,
        days=store.prompt_days(),
        labels=on_cards,
        repeats=store.repeats(root),
        facts=LabelFacts(
            stale=sum(not label.titles for label in given) - sum(not label.titles for label in fresh),
            unmatched=sum(not label.titles for label in fresh) - len(on_cards),
            disputed=disputed,
            imported=sum(bool(label.source) for label in on_cards),
            by_hand=len(labelled & by_hand),
            preferred=len(labelled & preferred - by_hand),
            drifted=None if digests is None else len({name for name, text in texts if digests.get(name) != text}),
            brought_up=len(dict(texts)),
            blind=Ratio(blind.count(True), len(blind) - blind.count(None)),
            blind_unknown=blind.count(None),
            seen=len((store.seen_prompts() & prompts) - labelled),
        ),
        configured=configured.name if configured else "",
        made=made,
        changed=changes(rows, made, config, cutoff) if config else {},
    )
    texts_of = {name: text for name, text in store.prompt_texts().items() if name in prompts} if phrases else {}
    return found.without_phrases(find_phrased(texts_of, phrases))


def labels_held(store: LabelStore, root: str | None, digests: Digests | None, prompts: Set[str]) -> Sequence[Event]:
    """The labels on memories that runs over *root* returned, and on other texts that it holds, for replayed *prompts*.

    A need must not be forgotten because other memories pushed the needed one out of the candidates.
    """
    found = store.labels(root=root)
    known = {label.event_id for label in found}
    held = (label for label in store.labels() if digests and digests.get(label.memory_id) == label.digest)
    others = [label for label in held if label.prompt_id in prompts and label.event_id not in known]
    return sorted((*found, *others), key=lambda label: label.event_id)


def evidence_from_qrels(
    rows: Sequence[Outcome], given: Judgements, unjudged: str = AS_NOT, slight: Set[tuple[str, str]] = frozenset()
) -> Evidence:
    """The evidence of a run file and qrels, in no order; *unjudged* is AS_NOT or EXCLUDE, else ValueError."""
    if unjudged not in (AS_NOT, EXCLUDE):
        raise ValueError(f"unjudged is {AS_NOT!r} or {EXCLUDE!r}, not {unjudged!r}")
    found = Evidence(rows, given, is_qrels=True, slight=slight)
    if unjudged == AS_NOT:
        found = replace(found, judgements=assuming_not_relevant(rows, given), explicit=given)
    return found.without_phrases({row.prompt_id for row in rows if row.is_phrase})
