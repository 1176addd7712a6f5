"""From labels to judgements: the labels that count, the consensus of several people, and pools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from labels.events import shared_verdict
from labels.records import BY_TIME, NEEDED, NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.records import Event, Judgements, Outcome

    Digests = Mapping[str, str]
    """memory id -> digest of its present text."""

    Moments = Mapping[str, Mapping[str, int]]
    """prompt id -> memory id -> a number that rises with the time of the label."""

Pools = Mapping[str, Set[str]]
"""prompt id -> the ids of all memories that should be judged."""


def replayed_texts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, str]]:
    """prompt id -> memory id -> digest of the text that the last of *outcomes* found."""
    digests: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        digests.setdefault(outcome.prompt_id, {}).update(outcome.digests)
    return digests


def current(labels: Iterable[Event], digests: Digests | None) -> list[Event]:
    """The labels of memories whose text is still the same; all labels where *digests* are not known."""
    return [label for label in labels if digests is None or digests.get(label.memory_id) == label.digest]


def matching(labels: Iterable[Event], replayed: Mapping[str, Mapping[str, str]]) -> list[Event]:
    """The labels about the *replayed* texts, and those about memories that the newest replay did not return."""
    return [
        label
        for label in labels
        if replayed.get(label.prompt_id, {}).get(label.memory_id, label.digest) == label.digest
    ]


def consensus(labels: Iterable[Event], settled: Iterable[Event] = ()) -> tuple[Judgements, int]:
    """The majority of relevant against not for each (prompt, memory), and the number of ties, which stay unjudged.

    An adjudication overrules the labels of its pair; the last of *settled* counts. All labels of a pair must be about
    the same text.
    """
    votes: dict[str, dict[str, list[str | None]]] = defaultdict(lambda: defaultdict(list))
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
    return judgements, disputed


def moments(labels: Iterable[Event], judgements: Judgements) -> dict[str, dict[str, int]]:
    """The place of each memory's first label among all *labels* by time; a disputed memory has none.

    Imported labels of one time share a place. So do those of a file without times, which have the time of the import:
    the order of such a file may depend on the labels.
    """
    first: dict[str, dict[str, int]] = {}
    places: dict[tuple[str, int], int] = {}
    for label in sorted(labels, key=BY_TIME):
        together = (label.ts, 0) if label.source else ("", label.event_id)
        moment = places.setdefault(together, len(places))
        is_judged = label.memory_id in judgements.get(label.prompt_id, {})
        if is_judged or label.verdict not in (RELEVANT, NOT_RELEVANT):
            first.setdefault(label.prompt_id, {}).setdefault(label.memory_id, moment)
    return first


def pools(outcomes: Iterable[Outcome], judgements: Judgements) -> Pools:
    """The pool of each prompt: every memory that a system injects, and every other candidate that was judged."""
    members: dict[str, set[str]] = {}
    for outcome in outcomes:
        judged = judgements.get(outcome.prompt_id, {})
        looked_at = filter(judged.__contains__, outcome.candidates)
        members.setdefault(outcome.prompt_id, set()).update(outcome.injected, looked_at)
    return members


def prompts_without_relevant(pools: Pools, judgements: Judgements) -> frozenset[str]:
    """Prompts with a pool in which every memory is judged, and for which no memory is known to be relevant."""
    answers = {name: judgements.get(name, {}) for name in pools}
    return frozenset(
        name
        for name, pool in pools.items()
        if set(map(answers[name].get, pool)) <= {False} and not any(answers[name].values())
    )


def answered_lists(labels: Iterable[Event], judgements: Judgements, digests: Digests | None) -> frozenset[str]:
    """The prompts with an answered list card, and the prompts that were drawn for one and have nothing to list.

    Every title that the memories still have must be judged: not edited since, and not disputed. *labels* may be stale.
    """
    titles: dict[str, set[str]] = {}
    for label in labels:
        if label.titles is not None:
            is_title = label.titles and (digests is None or label.memory_id in digests)
            titles.setdefault(label.prompt_id, set()).update([label.memory_id] if is_title else [])
    return frozenset(name for name, listed in titles.items() if judgements.get(name, {}).keys() >= listed)


def needed_in(judgements: Judgements, slight: Set[tuple[str, str]]) -> Pools:
    """The needed memories of each prompt that needs one: the relevant ones, without *slight* (prompt id, memory id)."""
    relevant = {name: {memory_id for memory_id, yes in own.items() if yes} for name, own in judgements.items()}
    needed = {name: {own for own in ids if (name, own) not in slight} for name, ids in relevant.items()}
    return {name: ids for name, ids in needed.items() if ids}


def slight_pairs(labels: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """The (prompt id, memory id) that people found relevant, and graded below NEEDED."""
    grades: dict[tuple[str, str], int] = {}
    for label in labels:
        if label.verdict == RELEVANT and label.grade is not None:
            pair = label.prompt_id, label.memory_id
            grades[pair] = max(label.grade, grades.get(pair, 0))
    return frozenset([pair for pair, grade in grades.items() if grade < NEEDED])


def assuming_not_relevant(outcomes: Iterable[Outcome], judgements: Judgements) -> Judgements:
    """*judgements*, with every unjudged candidate as not relevant: the convention of TREC for qrels."""
    complete = {prompt_id: dict(judged) for prompt_id, judged in judgements.items()}
    for outcome in outcomes:
        judged = complete.setdefault(outcome.prompt_id, {})
        for memory_id in (*outcome.injected, *outcome.candidates):
            judged.setdefault(memory_id, False)
    return complete
