"""Pairs of a prompt and a memory text: a dataset as pairs, and back, for formats with a row for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from engine.errors import ExchangeError
from engine.prompt import Prompt, prompt_id
from labels.events import shared_verdict
from labels.exchange.records import Dataset, LabelEvent, MemoryText
from labels.records import ADJUDICATE, LABEL, RETRACT, SKIP

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from pathlib import Path

    from engine.prompt import Turn
    from labels.exchange.files import Node
    from labels.exchange.records import JudgeCallRow, JudgeVerdict, PairKey, ResultRow, RetrievalRow

K = TypeVar("K", bound="Hashable")


class PairRow(NamedTuple):
    """A prompt, a memory text and the events about the two. `place` is the line or JSON path of the row."""

    place: str
    prompt: Prompt
    memory: MemoryText
    events: list[LabelEvent]


# Labels that count, by the rules of `labels.events` and `labels.people` but without a store


@dataclass(frozen=True)
class AgreedVerdict:
    """The agreed verdict on a pair. `grade` is the lowest grade given with this verdict, None if nobody gave a grade.

    `ts` is the time of the latest label with this verdict.
    """

    verdict: str
    grade: int | None
    ts: str


def standing_events(events: Iterable[LabelEvent]) -> list[LabelEvent]:
    """The events that were not taken back, without the retractions."""
    events = list(events)
    taken_back = {event.supersedes for event in events if event.action == RETRACT}
    return [event for event in events if event.action != RETRACT and event.uid not in taken_back]


def current_labels(events: Iterable[LabelEvent]) -> dict[tuple[str, PairKey], LabelEvent]:
    """(annotator, pair) -> the latest standing label, without hidden repeats."""
    labels = [event for event in standing_events(events) if event.action == LABEL and not event.repeat]
    return latest(labels, lambda event: (event.annotator, event.pair))


def adjudications(events: Iterable[LabelEvent]) -> dict[PairKey, LabelEvent]:
    """pair -> the latest standing adjudication."""
    return latest([event for event in standing_events(events) if event.action == ADJUDICATE], lambda event: event.pair)


def latest(events: Sequence[LabelEvent], key: Callable[[LabelEvent], K]) -> dict[K, LabelEvent]:
    """The latest event of each key; of two events at the same time, the event that was written down later."""
    return {key(event): event for event in sorted(events, key=lambda event: event.ts)}


def gold(events: Iterable[LabelEvent]) -> dict[PairKey, AgreedVerdict]:
    """pair -> the adjudicated verdict, else the consensus of the current labels; a tie has no gold."""
    events = list(events)
    votes = by_pair(current_labels(events).values())
    voted = {
        pair: agreed(shared_verdict([str(label.verdict) for label in labels]), labels) for pair, labels in votes.items()
    }
    settled = {pair: agreed(event.verdict, [event]) for pair, event in adjudications(events).items()}
    return {pair: found for pair, found in (voted | settled).items() if found}


def agreed(verdict: str | None, labels: Sequence[LabelEvent]) -> AgreedVerdict | None:
    """*verdict* with grade and time of the *labels* that give it; None without a verdict."""
    if verdict is None:
        return None
    supporting = [label for label in labels if label.verdict == verdict]
    grades = [label.grade for label in supporting if label.grade is not None]
    return AgreedVerdict(verdict, min(grades, default=None), max(label.ts for label in supporting))


def by_pair(events: Iterable[LabelEvent]) -> dict[PairKey, list[LabelEvent]]:
    grouped: dict[PairKey, list[LabelEvent]] = {}
    for event in events:
        grouped.setdefault(event.pair, []).append(event)
    return grouped


# A dataset as pairs


class JudgeOpinion(NamedTuple):
    """The verdict of a system's judge on a pair."""

    system: str
    call: JudgeCallRow
    verdict: JudgeVerdict


@dataclass(frozen=True)
class JudgedPair:
    """A prompt and a memory text, with the labels of people, the verdicts of judges and the results of systems.

    `labels` holds one label for each annotator, by name; `skips` are by annotators without a label. `systems` are
    (system, result) of the newest retrievals. `is_pooled`: the pair was offered to annotators, or would be.
    """

    prompt: Prompt
    memory: MemoryText
    labels: tuple[LabelEvent, ...] = ()
    adjudication: LabelEvent | None = None
    skips: tuple[LabelEvent, ...] = ()
    gold: AgreedVerdict | None = None
    opinions: tuple[JudgeOpinion, ...] = ()
    systems: tuple[tuple[str, ResultRow], ...] = ()
    is_pooled: bool = False

    @property
    def given_events(self) -> list[LabelEvent]:
        """Labels, adjudication and skips."""
        return [*self.labels, *([self.adjudication] if self.adjudication else []), *self.skips]


def judged_pairs(dataset: Dataset) -> tuple[JudgedPair, ...]:
    """The pairs with a label, in a pool, or injected by a system; prompts in the order of the dataset."""
    labels, skips = by_pair(current_labels(dataset.events).values()), by_pair(latest_skips(dataset).values())
    settled, verdicts = adjudications(dataset.events), gold(dataset.events)
    systems, opinions = results_by_pair(dataset), opinions_by_pair(dataset)
    pooled = dict.fromkeys(row.pair for row in dataset.pool)
    pooled |= dict.fromkeys(pair for pair, found in systems.items() if any(result.injected for _, result in found))
    prompts = {prompt.id: prompt for prompt in dataset.prompts}
    memories = {(memory.id, memory.digest): memory for memory in dataset.memories}
    place = {name: number for number, name in enumerate(prompts)}

    def judged(pair: PairKey) -> JudgedPair:
        asked, memory_id, digest = pair
        given = sorted(labels.get(pair, ()), key=lambda label: label.annotator)
        labelled = {label.annotator for label in given}
        return JudgedPair(
            prompt=prompts.get(asked) or Prompt(asked, ""),
            memory=memories.get((memory_id, digest)) or MemoryText(memory_id, digest),
            labels=tuple(given),
            adjudication=settled.get(pair),
            skips=tuple(skip for skip in skips.get(pair, ()) if skip.annotator not in labelled),
            gold=verdicts.get(pair),
            opinions=tuple(opinions.get(pair, ())),
            systems=tuple(systems.get(pair, ())),
            is_pooled=pair in pooled,
        )

    pairs = dict.fromkeys((*labels, *skips, *settled, *pooled))
    return tuple(judged(pair) for pair in sorted(pairs, key=lambda pair: (place.get(pair[0], len(place)), pair)))


def latest_skips(dataset: Dataset) -> dict[tuple[str, PairKey], LabelEvent]:
    skips = [event for event in standing_events(dataset.events) if event.action == SKIP and not event.repeat]
    return latest(skips, lambda event: (event.annotator, event.pair))


def newest_retrievals(dataset: Dataset) -> list[tuple[str, RetrievalRow]]:
    """(system, its newest retrieval of a prompt), sorted by system and prompt id."""
    names = {run.run_id: run.system for run in dataset.runs}
    newest: dict[tuple[str, str], RetrievalRow] = {}
    for retrieved in sorted(dataset.retrievals, key=lambda retrieved: retrieved.ts):
        newest[names[retrieved.run_id], retrieved.prompt_id] = retrieved
    return [(system, retrieved) for (system, _), retrieved in sorted(newest.items(), key=lambda item: item[0])]


def results_by_pair(dataset: Dataset) -> dict[PairKey, list[tuple[str, ResultRow]]]:
    found: dict[PairKey, list[tuple[str, ResultRow]]] = {}
    for system, retrieved in newest_retrievals(dataset):
        for result in retrieved.results:
            found.setdefault((retrieved.prompt_id, result.memory_id, result.digest), []).append((system, result))
    return found


def opinions_by_pair(dataset: Dataset) -> dict[PairKey, list[JudgeOpinion]]:
    found: dict[PairKey, list[JudgeOpinion]] = {}
    for system, retrieved in newest_retrievals(dataset):
        for result in retrieved.results:
            if retrieved.call and result.verdict:
                pair = retrieved.prompt_id, result.memory_id, result.digest
                found.setdefault(pair, []).append(JudgeOpinion(system, retrieved.call, result.verdict))
    return found


def one_text_each(pairs: Iterable[JudgedPair]) -> list[JudgedPair]:
    """*pairs* with one text of each memory, the text that was labelled last: for formats without versions."""
    pairs = list(pairs)
    newest: dict[tuple[str, str], JudgedPair] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.gold is not None, pair.gold.ts if pair.gold else "")):
        newest[pair.prompt.id, pair.memory.id] = pair
    kept = {id(pair) for pair in newest.values()}
    return [pair for pair in pairs if id(pair) in kept]


# Pairs as a dataset


def prompt_in(node: Node, text: str, turns: tuple[Turn, ...] = ()) -> Prompt:
    """The prompt with the id in `prompt_id`; without an id, the id follows from *text*. One of the two is needed."""
    name = node.text("prompt_id", "") or (prompt_id(text, turns) if text else "")
    if not name:
        raise node.wrong("prompt_id", "an id, or a text in `prompt`")
    return Prompt(name, text, turns)


def dataset_of(path: Path, rows: Iterable[PairRow]) -> Dataset:
    """Each prompt and memory text once; ExchangeError if the file at *path* gives two texts for one id."""
    prompts: dict[str, Prompt] = {}
    memories: dict[tuple[str, str], MemoryText] = {}
    events: list[LabelEvent] = []
    places: dict[tuple[str, str], str] = {}
    for place, prompt, memory, about in rows:
        places.setdefault((memory.id, memory.digest), f"{path}, {place}")
        if prompts.setdefault(prompt.id, prompt).text != prompt.text:
            raise ExchangeError(f"{path}: the prompt {prompt.id!r} has two texts. Give each an id of its own.")
        first = memories.setdefault((memory.id, memory.digest), memory)
        if (first.title, first.body) != (memory.title, memory.body):
            raise ExchangeError(f"{path}: the memory {memory.id!r} has two texts. Give each a digest of its own.")
        events += about
    return Dataset(tuple(prompts.values()), tuple(memories.values()), tuple(events), places=places, by_text=True)
