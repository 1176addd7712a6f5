"""Every format: how it is written, read and recognised, and which kinds of data it leaves out.

A new format is one module and one entry in `FORMATS`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import ExchangeError
from labels.exchange import csv_table, jsonl, label_studio, pairs, prodigy, trec
from labels.records import ADJUDICATE, LABEL, NOT_RELEVANT, RELEVANT, SKIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.exchange.files import FileText
    from labels.exchange.records import Dataset, LabelEvent


class Kind(NamedTuple):
    """A kind of data that a format may leave out, and the count of its items in a dataset."""

    name: str
    count: Callable[[Dataset], int]


def with_action(action: str) -> Callable[[Dataset], int]:
    return lambda dataset: sum(event.action == action for event in dataset.events)


def of_labels(holds: Callable[[LabelEvent], object]) -> Callable[[Dataset], int]:
    """Counts the standing labels and adjudications for which *holds* is true."""

    def count(dataset: Dataset) -> int:
        settled = pairs.adjudications(dataset.events).values()
        labels = [*pairs.current_labels(dataset.events).values(), *settled]
        return sum(bool(holds(label)) for label in labels)

    return count


def history(dataset: Dataset) -> int:
    labels = [event for event in dataset.events if event.action == LABEL and not event.repeat]
    return len(labels) - len(pairs.current_labels(dataset.events))


def single_labels(dataset: Dataset) -> int:
    """Labels beyond the first of each pair that has gold."""
    gold = pairs.gold(dataset.events)
    return sum(number - 1 for pair, number in labels_by_pair(dataset).items() if pair in gold)


def ties(dataset: Dataset) -> int:
    return len(labels_by_pair(dataset).keys() - pairs.gold(dataset.events).keys())


def labels_by_pair(dataset: Dataset) -> Counter[tuple[str, str, str]]:
    return Counter(label.pair for label in pairs.current_labels(dataset.events).values())


def older_texts(dataset: Dataset) -> int:
    labelled = [pair for pair in pairs.judged_pairs(dataset) if pair.gold]
    return len(labelled) - len(pairs.one_text_each(labelled))


PRESSES = Kind("key presses", lambda dataset: len(dataset.events))
HISTORY = Kind("labels that were taken back or changed later", history)
SKIPS = Kind("skips", with_action(SKIP))
REPEATS = Kind("hidden repeats", lambda dataset: sum(event.repeat for event in dataset.events))
ADJUDICATIONS = Kind("adjudications", with_action(ADJUDICATE))
SINGLE_LABELS = Kind("labels of single people beside the agreed verdict", single_labels)
TIES = Kind("pairs on which people are evenly split", ties)
UNJUDGED = Kind(
    "pairs of the pool without a label", lambda dataset: sum(not pair.labels for pair in pairs.judged_pairs(dataset))
)

UNDECIDED = Kind("unsure or unrateable labels", of_labels(lambda label: label.verdict not in (RELEVANT, NOT_RELEVANT)))
OLDER_TEXTS = Kind("labels of a memory's other texts", older_texts)
GRADES = Kind("grades", of_labels(lambda label: label.grade is not None))
TIMES = Kind("times of labels, and how long they took", of_labels(lambda label: label.ts or label.elapsed_ms))
BLINDNESS = Kind("marks that a label was given blind", of_labels(lambda label: label.blind))
SHOWING = Kind("positions and seeds of the cards", of_labels(lambda label: label.position or label.seed))
CIRCUMSTANCES = Kind(
    "labels' reasons, notes, times and circumstances",
    of_labels(lambda label: label.reason or label.note or label.ts or label.blind or label.seed),
)
JUDGES = Kind("verdicts of judges", lambda dataset: sum(map(len, pairs.opinions_by_pair(dataset).values())))
RETRIEVALS = Kind("retrievals and samples of the pool", lambda dataset: len(dataset.retrievals))
TURNS = Kind("conversations before prompts", lambda dataset: sum(bool(prompt.turns) for prompt in dataset.prompts))
PROMPT_TEXTS = Kind("texts of prompts", lambda dataset: sum(bool(prompt.text) for prompt in dataset.prompts))
MEMORY_TEXTS = Kind(
    "texts of memories", lambda dataset: sum(bool(memory.title or memory.body) for memory in dataset.memories)
)

QRELS_LEAVE_OUT = (
    *(HISTORY, SKIPS, REPEATS, SINGLE_LABELS, TIES, UNJUDGED, UNDECIDED, OLDER_TEXTS, GRADES, CIRCUMSTANCES, JUDGES),
    *(RETRIEVALS, PROMPT_TEXTS, MEMORY_TEXTS),
)
GRADED_QRELS_LEAVE_OUT = tuple(kind for kind in QRELS_LEAVE_OUT if kind is not GRADES)
RUNS_LEAVE_OUT = (PRESSES, JUDGES, PROMPT_TEXTS, MEMORY_TEXTS)
CSV_LEAVES_OUT = (HISTORY, SKIPS, REPEATS, ADJUDICATIONS, TIMES, BLINDNESS, SHOWING, RETRIEVALS, TURNS)
LABEL_STUDIO_LEAVES_OUT = (HISTORY, REPEATS, SHOWING, RETRIEVALS)
PRODIGY_LEAVES_OUT = (HISTORY, REPEATS, SHOWING, JUDGES, RETRIEVALS, TURNS)


@dataclass(frozen=True)
class Format:
    """A file format; `write` and `read` are pure.

    `write` gives the text of the file. `read` gives the dataset, or raises ExchangeError with place, field and expected
    value; None for a format that is only written. `recognises` looks at the beginning of a file; None for a format that
    must be named. `interface` is the labelling interface that the other program needs, if it needs one.
    """

    name: str
    write: Callable[[Dataset], str]
    read: Callable[[FileText], Dataset] | None
    recognises: Callable[[FileText], bool] | None
    leaves_out: tuple[Kind, ...] = ()
    interface: str = ""

    @property
    def is_run(self) -> bool:
        return self.leaves_out is RUNS_LEAVE_OUT


FORMATS = {
    form.name: form
    for form in (
        Format("jsonl", jsonl.write, jsonl.read, jsonl.recognises),
        Format("qrels", trec.write_qrels, trec.read_plain_labels, trec.is_qrels, QRELS_LEAVE_OUT),
        Format("qrels-graded", trec.write_graded_qrels, trec.read_graded_labels, None, GRADED_QRELS_LEAVE_OUT),
        Format("run", trec.write_run, trec.read_run, trec.is_run, RUNS_LEAVE_OUT),
        Format("run-candidates", trec.write_candidates, None, None, RUNS_LEAVE_OUT),
        Format("csv", csv_table.write, csv_table.read, csv_table.recognises, CSV_LEAVES_OUT),
        Format(
            "label-studio",
            label_studio.write,
            label_studio.read,
            label_studio.recognises,
            LABEL_STUDIO_LEAVES_OUT,
            label_studio.INTERFACE,
        ),
        Format("prodigy", prodigy.write, prodigy.read, prodigy.recognises, PRODIGY_LEAVES_OUT),
    )
}
READABLE = tuple(name for name, form in FORMATS.items() if form.read)


def recognise(source: FileText) -> Format:
    """The format of a file by its beginning; ExchangeError if no format fits."""
    for form in FORMATS.values():
        if form.recognises and form.recognises(source):
            return form
    raise ExchangeError(f"{source.path}: no known format begins like this. Name it with --format.")


def left_out(dataset: Dataset, form: Format) -> list[tuple[int, str]]:
    """(count, kind) for each kind of data that *dataset* has and *form* leaves out."""
    counts = ((kind.count(dataset), kind.name) for kind in form.leaves_out)
    return [(number, name) for number, name in counts if number]
