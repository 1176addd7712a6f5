"""What systems did with prompts, and what is known of the memories they brought up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.people import shared_verdict
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.records import Judgements, Label, Outcome

Pools = Mapping[str, Set[str]]
"""prompt id -> the memory ids that a person would have to judge."""


def by_system(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each system."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.system, []).append(outcome)
    return found


def texts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, str]]:
    """The text of each memory that the last of *outcomes* found for a prompt: prompt id -> memory id -> digest."""
    seen: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        seen.setdefault(outcome.prompt_id, {}).update(outcome.digests)
    return seen


@dataclass(frozen=True)
class Consensus:
    """What annotators say together: the judgements, and how many pairs have labels but no judgement.

    `undecided` pairs are only unsure or unrateable, in `disputed` ones as many people say relevant as say not.
    """

    judgements: Judgements
    undecided: int
    disputed: int


def consensus(labels: Iterable[Label], settled: Iterable[Label] = ()) -> Consensus:
    """The majority of relevant against not for each (prompt, memory); a tie leaves the pair unjudged.

    What an adjudication, the last of *settled*, says of a pair comes before what anybody else says. Give only labels
    that are about the text that was retrieved.
    """
    votes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        votes[label.prompt_id][label.memory_id].append(label.verdict)
    for label in settled:
        votes[label.prompt_id][label.memory_id] = [label.verdict]
    judgements: dict[str, dict[str, bool]] = {}
    undecided = disputed = 0
    for prompt_id, of_prompt in votes.items():
        judged = {}
        for memory_id, verdicts in of_prompt.items():
            verdict = shared_verdict(verdicts)
            if verdict in (RELEVANT, NOT_RELEVANT):
                judged[memory_id] = verdict == RELEVANT
            elif RELEVANT in verdicts:
                disputed += 1
            else:
                undecided += 1
        if judged:
            judgements[prompt_id] = judged
    return Consensus(judgements, undecided, disputed)


def pools(outcomes: Iterable[Outcome], judgements: Judgements) -> Pools:
    """The pool of each prompt: all that any system injects, and of the other candidates those that were judged."""
    members: dict[str, set[str]] = {}
    for outcome in outcomes:
        judged = judgements.get(outcome.prompt_id, {})
        looked_at = filter(judged.__contains__, outcome.candidates)
        members.setdefault(outcome.prompt_id, set()).update(outcome.injected, looked_at)
    return members


def prompts_without_relevant(pools: Pools, judgements: Judgements) -> frozenset[str]:
    """Prompts for which nothing is relevant as far as is known: every memory of a non-empty pool is judged, none is
    relevant. A prompt for which no system injects anything has an empty pool, and nobody has looked."""
    return frozenset([name for name, pool in pools.items() if set(map(judgements.get(name, {}).get, pool)) == {False}])


def assuming_not_relevant(outcomes: Iterable[Outcome], judgements: Judgements) -> Judgements:
    """*judgements* with every candidate that has none taken as not relevant: TREC's convention for qrels."""
    complete = {prompt_id: dict(judged) for prompt_id, judged in judgements.items()}
    for outcome in outcomes:
        judged = complete.setdefault(outcome.prompt_id, {})
        for memory_id in (*outcome.injected, *outcome.candidates):
            judged.setdefault(memory_id, False)
    return complete
