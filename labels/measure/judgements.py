"""From labels to judgements: the labels that count, the consensus of several people, and pools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.events import shared_verdict
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.records import Judgements, Label, Outcome
    from labels.store import LabelStore

    Digests = Mapping[str, str]
    """memory id -> digest of its present text."""

    Moments = Mapping[str, Mapping[str, int]]
    """prompt id -> memory id -> a number that rises with the time of the label."""

Pools = Mapping[str, Set[str]]
"""prompt id -> the ids of all memories that should be judged."""


@dataclass(frozen=True)
class Consensus:
    """The judgements of all annotators together; on the `disputed` pairs as many say relevant as not relevant."""

    judgements: Judgements
    disputed: int


@dataclass(frozen=True)
class LabelFacts:
    """Numbers of labels and pairs that do not count, and of edited memories.

    `stale` labels are about a text that was edited or removed since, `unmatched` labels about another text than the
    replayed one. On `disputed` pairs people are evenly split. Of the `brought_up` memories, `drifted` ones were edited
    or removed since the replay; None if that is not known. `imported` labels count. `by_hand` is the number of labelled
    prompts that were left out, because a person typed or picked them.
    """

    stale: int
    unmatched: int
    disputed: int
    imported: int
    by_hand: int
    drifted: int | None
    brought_up: int


@dataclass(frozen=True)
class JudgedLabels:
    """The labels on replayed memories, without those of prompts that were typed or picked by hand: see `drawn`.

    `given` are all labels and `settling` all adjudications, whatever text they are about. `labels` and `settled` are
    those that count. `moments` is when each memory was judged.
    """

    given: Sequence[Label]
    settling: Sequence[Label]
    labels: Sequence[Label]
    settled: Sequence[Label]
    consensus: Consensus
    moments: Moments
    facts: LabelFacts


def judged_labels(
    store: LabelStore, rows: Sequence[Outcome], root: str | None, digests: Digests | None
) -> JudgedLabels:
    """The labels on the memories in *rows*, the newest outcomes of *root*.

    A label counts if it is about the text that was replayed and, where *digests* are known, the memory still has that
    text. Labels about another text than the present one are stale; those about another than the replayed are unmatched.
    """
    replayed, returned = replayed_texts(rows), store.returned_texts(root)
    by_hand, all_given = store.prompts_by_hand(), store.labels(root=root)
    given = [label for label in all_given if label.prompt_id not in by_hand]
    settling = [label for label in store.adjudications(root) if label.prompt_id not in by_hand]
    fresh = current(given, digests)
    labels, settled = matching(fresh, replayed), matching(current(settling, digests), replayed)
    agreed = consensus(labels, settled)
    return JudgedLabels(
        given=given,
        settling=settling,
        labels=labels,
        settled=settled,
        consensus=agreed,
        moments=moments([*labels, *settled], agreed.judgements),
        facts=LabelFacts(
            stale=len(given) - len(fresh),
            unmatched=len(fresh) - len(labels),
            disputed=agreed.disputed,
            imported=sum(bool(label.source) for label in labels),
            by_hand=len({label.prompt_id for label in all_given} & by_hand),
            drifted=None if digests is None else len({name for name, text in returned if digests.get(name) != text}),
            brought_up=len(dict(returned)),
        ),
    )


def drawn(store: LabelStore, root: str | None) -> list[Outcome]:
    """The newest outcomes of *root*, without prompts that a person typed or picked.

    They were chosen, perhaps to see a system fail, so they are no part of a random sample.
    """
    by_hand = store.prompts_by_hand()
    return [row for row in store.outcomes(root) if row.prompt_id not in by_hand]


def replayed_texts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, str]]:
    """prompt id -> memory id -> digest of the text that the last of *outcomes* found."""
    digests: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        digests.setdefault(outcome.prompt_id, {}).update(outcome.digests)
    return digests


def current(labels: Sequence[Label], digests: Digests | None) -> Sequence[Label]:
    """The labels of memories whose text is still the same; all labels where *digests* are not known."""
    return [label for label in labels if digests is None or digests.get(label.memory_id) == label.digest]


def matching(labels: Sequence[Label], replayed: Mapping[str, Mapping[str, str]]) -> list[Label]:
    """The labels about the *replayed* texts, and those about memories that the newest replay did not return."""
    return [
        label
        for label in labels
        if replayed.get(label.prompt_id, {}).get(label.memory_id, label.digest) == label.digest
    ]


def without_adjudication(labels: Iterable[Label], adjudications: Iterable[Label]) -> list[Label]:
    """The *labels* of pairs without an adjudication."""
    settled = {(label.prompt_id, *label.pair) for label in adjudications}
    return [label for label in labels if (label.prompt_id, *label.pair) not in settled]


def consensus(labels: Iterable[Label], settled: Iterable[Label] = ()) -> Consensus:
    """The majority of relevant against not for each (prompt, memory); a tie leaves the pair unjudged.

    An adjudication overrules the labels of its pair; the last of *settled* counts. All labels of a pair must be about
    the same text.
    """
    votes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        votes[label.prompt_id][label.memory_id].append(label.verdict)
    for label in settled:
        votes[label.prompt_id][label.memory_id] = [label.verdict]
    judgements: dict[str, dict[str, bool]] = {}
    disputed = 0
    for prompt_id, of_prompt in votes.items():
        for memory_id, verdicts in of_prompt.items():
            verdict = shared_verdict(verdicts)
            if verdict in (RELEVANT, NOT_RELEVANT):
                judgements.setdefault(prompt_id, {})[memory_id] = verdict == RELEVANT
            elif RELEVANT in verdicts:
                disputed += 1
    return Consensus(judgements, disputed)


def moments(labels: Iterable[Label], judgements: Judgements) -> dict[str, dict[str, int]]:
    """The place of each memory's first label among all *labels* by time; a disputed memory has none.

    The labels of one import share a place: the order of a file is no order of labelling, and may depend on the labels.
    """
    first: dict[str, dict[str, int]] = {}
    places: dict[tuple[str, int], int] = {}
    for label in sorted(labels, key=arrival):
        together = (label.session, 0) if label.source else ("", label.event_id)
        moment = places.setdefault(together, len(places))
        is_judged = label.memory_id in judgements.get(label.prompt_id, {})
        if is_judged or label.verdict not in (RELEVANT, NOT_RELEVANT):
            first.setdefault(label.prompt_id, {}).setdefault(label.memory_id, moment)
    return first


def arrival(label: Label) -> tuple[str, int]:
    """Sorts labels by the time at which the store got them. Imports of older versions, without a time, come first."""
    return (label.session if label.source else label.ts), label.event_id


def pools(outcomes: Iterable[Outcome], judgements: Judgements) -> Pools:
    """The pool of each prompt: every memory that a system injects, and every other candidate that was judged."""
    members: dict[str, set[str]] = {}
    for outcome in outcomes:
        judged = judgements.get(outcome.prompt_id, {})
        looked_at = filter(judged.__contains__, outcome.candidates)
        members.setdefault(outcome.prompt_id, set()).update(outcome.injected, looked_at)
    return members


def prompts_without_relevant(pools: Pools, judgements: Judgements) -> frozenset[str]:
    """Prompts with a pool in which every memory is judged and none is relevant.

    Where no system injects anything, the pool is empty and nobody has looked, so the prompt is not among them.
    """
    return frozenset([name for name, pool in pools.items() if set(map(judgements.get(name, {}).get, pool)) == {False}])


def assuming_not_relevant(outcomes: Iterable[Outcome], judgements: Judgements) -> Judgements:
    """*judgements*, with every unjudged candidate as not relevant: the convention of TREC for qrels."""
    complete = {prompt_id: dict(judged) for prompt_id, judged in judgements.items()}
    for outcome in outcomes:
        judged = complete.setdefault(outcome.prompt_id, {})
        for memory_id in (*outcome.injected, *outcome.candidates):
            judged.setdefault(memory_id, False)
    return complete
