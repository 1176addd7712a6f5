"""What a dataset holds that a format has no place for, by kind and number."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from labels.exchange import standing
from labels.exchange.pairs import PairView, judged_pairs, one_text_each
from labels.records import ADJUDICATE, LABEL, NOT_RELEVANT, RELEVANT, SKIP, UNSURE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from labels.exchange.records import Dataset, LabelEvent

PRESSES = "key presses"
HISTORY = "labels that were taken back or changed later"
SKIPS = "skips"
REPEATS = "hidden repeats"
ADJUDICATIONS = "adjudications"
EACH_PERSON = "labels of single people, beyond what holds together"
NOT_AGREED = "pairs on which people are evenly split"
UNDECIDED = "unsure or unrateable labels"
UNSURE_APART = "unsure labels (they become unrateable)"
IRRELEVANT = "labels that say not relevant"
OLDER_TEXTS = "labels of a memory's other texts"
GRADES = "grades"
REASONS = "reasons"
NOTES = "notes"
TIMES = "times of labels, and how long they took"
BLINDNESS = "marks of blindness"
SHOWING = "positions and seeds of what was shown"
CIRCUMSTANCES = "labels' reasons, notes, times and circumstances"
NAMES = "names of annotators (they are hashed)"
JUDGES = "verdicts of judges"
RETRIEVALS = "retrievals, with what was sampled of them"
NOTHING_RELEVANT = "prompts for which nothing is relevant"
LONG_PROMPTS = "ends of prompts of over 500 characters"
TURNS = "conversations before prompts"
PROMPT_TEXTS = "texts of prompts"
MEMORY_TEXTS = "texts of memories"

QUEPID_CHARACTERS = 500
"""How much of a query Quepid's database holds."""

USUAL = frozenset({PRESSES, NAMES, UNSURE_APART, LONG_PROMPTS, NOTHING_RELEVANT, IRRELEVANT})
"""What only a few formats cannot hold."""

BY_PAIR = USUAL | {EACH_PERSON, NOT_AGREED, UNDECIDED, OLDER_TEXTS, CIRCUMSTANCES, PROMPT_TEXTS, MEMORY_TEXTS}
"""What formats hold that have a row for each pair, with its texts and everybody's label."""

BY_VERDICT = USUAL | {ADJUDICATIONS, REASONS, NOTES, TIMES, BLINDNESS, SHOWING}
"""What formats hold that have one verdict for each pair; what was left out of the labels is CIRCUMSTANCES."""


def dropped(dataset: Dataset, keeps: frozenset[str]) -> list[tuple[int, str]]:
    """(how many, of what) for each kind that *dataset* has and that is not among *keeps*, in a fixed order."""
    counts = ((count(dataset), kind) for kind, count in COUNTS.items() if kind not in keeps)
    return [(number, kind) for number, kind in counts if number]


def said(dataset: Dataset) -> list[LabelEvent]:
    """The labels that stand, and the adjudications."""
    return [*standing.current(dataset.events).values(), *standing.adjudications(dataset.events).values()]


def actions(dataset: Dataset, action: str) -> int:
    return sum(event.action == action for event in dataset.events)


def of_labels(holds: Callable[[LabelEvent], object]) -> Callable[[Dataset], int]:
    return lambda dataset: sum(bool(holds(label)) for label in said(dataset))


def history(dataset: Dataset) -> int:
    labels = [event for event in dataset.events if event.action == LABEL and not event.repeat]
    return len(labels) - len(standing.current(dataset.events))


def each_person(dataset: Dataset) -> int:
    """Labels beyond one for each pair that has gold."""
    gold = standing.gold(dataset.events)
    return sum(number - 1 for pair, number in votes(dataset).items() if pair in gold)


def not_agreed(dataset: Dataset) -> int:
    gold = standing.gold(dataset.events)
    return sum(pair not in gold for pair in votes(dataset))


def votes(dataset: Dataset) -> Mapping[object, int]:
    return Counter(label.pair for label in standing.current(dataset.events).values())


def undecided(dataset: Dataset) -> int:
    return sum(label.verdict not in (RELEVANT, NOT_RELEVANT) for label in said(dataset))


def older_texts(dataset: Dataset) -> int:
    labelled = [pair for pair in judged_pairs(dataset) if pair.gold]
    return len(labelled) - len(one_text_each(labelled))


def judges(dataset: Dataset) -> int:
    return sum(len(opinions) for opinions in PairView(dataset).opinions.values())


def nothing_relevant(dataset: Dataset) -> int:
    gold = standing.gold(dataset.events)
    judged = {prompt_id for (prompt_id, _, _) in gold}
    return len(judged - {prompt_id for (prompt_id, _, _), said in gold.items() if said.verdict == RELEVANT})


def filled(texts: Iterable[object]) -> int:
    return sum(bool(text) for text in texts)


COUNTS: dict[str, Callable[[Dataset], int]] = {
    PRESSES: lambda dataset: len(dataset.events),
    HISTORY: history,
    SKIPS: lambda dataset: actions(dataset, SKIP),
    REPEATS: lambda dataset: sum(event.repeat for event in dataset.events),
    ADJUDICATIONS: lambda dataset: actions(dataset, ADJUDICATE),
    EACH_PERSON: each_person,
    NOT_AGREED: not_agreed,
    UNDECIDED: undecided,
    UNSURE_APART: of_labels(lambda label: label.verdict == UNSURE),
    IRRELEVANT: of_labels(lambda label: label.verdict == NOT_RELEVANT),
    OLDER_TEXTS: older_texts,
    GRADES: of_labels(lambda label: label.grade is not None),
    REASONS: of_labels(lambda label: label.reason),
    NOTES: of_labels(lambda label: label.note),
    TIMES: of_labels(lambda label: label.ts or label.elapsed_ms),
    BLINDNESS: of_labels(lambda label: label.blind),
    SHOWING: of_labels(lambda label: label.position or label.seed),
    CIRCUMSTANCES: of_labels(lambda label: label.reason or label.note or label.ts or label.blind or label.seed),
    NAMES: lambda dataset: len({event.annotator for event in dataset.events}),
    JUDGES: judges,
    RETRIEVALS: lambda dataset: len(dataset.retrievals),
    NOTHING_RELEVANT: nothing_relevant,
    LONG_PROMPTS: lambda dataset: filled(len(prompt.text) > QUEPID_CHARACTERS for prompt in dataset.prompts),
    TURNS: lambda dataset: filled(prompt.turns for prompt in dataset.prompts),
    PROMPT_TEXTS: lambda dataset: filled(prompt.text for prompt in dataset.prompts),
    MEMORY_TEXTS: lambda dataset: filled(memory.title or memory.body for memory in dataset.memories),
}
"""How each kind is counted, in the order in which they are told."""
