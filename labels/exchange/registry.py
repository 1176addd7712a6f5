"""Every format: how it is written, read and recognised, and which kinds of data it leaves out.

A new format is one module and one entry in `FORMATS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import ExchangeError
from labels.exchange import csv_table, jsonl, label_studio, prodigy, trec

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.exchange.exporting import Extract
    from labels.exchange.files import FileText
    from labels.exchange.rows import Dataset


class Kind(NamedTuple):
    """A kind of data that a format may leave out, and the SQL that counts its items in an extract."""

    name: str
    sql: str


def labels_with(condition: str) -> str:
    """SQL that counts the current labels and adjudications for which *condition* is true."""
    current = "SELECT * FROM label_current UNION ALL SELECT * FROM adjudication_current"
    return f"SELECT count(*) FROM ({current}) WHERE {condition}"


PAIR = "prompt_id, memory_id, digest"
PRESSES = Kind("key presses", "SELECT count(*) FROM label_event")
HISTORY = Kind(
    "labels that were taken back or changed later",
    """SELECT (SELECT count(*) FROM label_event WHERE action = 'label' AND NOT repeat)
       - (SELECT count(*) FROM label_current)""",
)
SKIPS = Kind("skips", "SELECT count(*) FROM label_event WHERE action = 'skip'")
REPEATS = Kind("hidden repeats", "SELECT count(*) FROM label_event WHERE repeat")
ADJUDICATIONS = Kind("adjudications", "SELECT count(*) FROM label_event WHERE action = 'adjudicate'")
SINGLE_LABELS = Kind(
    "labels of single people beside the agreed verdict",
    f"""SELECT ifnull(sum(others), 0) FROM (
            SELECT count(*) - 1 AS others FROM label_current JOIN gold USING ({PAIR}) GROUP BY {PAIR})""",
)
TIES = Kind(
    "pairs on which people are evenly split",
    f"SELECT count(*) FROM (SELECT {PAIR} FROM label_current EXCEPT SELECT {PAIR} FROM gold)",
)
UNJUDGED = Kind(
    "pairs of the pool without a label",
    f"""SELECT count(*) FROM (
            SELECT {PAIR} FROM label_standing WHERE action = 'skip' AND NOT repeat
            UNION SELECT {PAIR} FROM adjudication_current
            UNION SELECT {PAIR} FROM frame
            UNION SELECT {PAIR} FROM newest_result WHERE injected
            EXCEPT SELECT {PAIR} FROM label_current)""",
)
UNDECIDED = Kind("unsure or unrateable labels", labels_with("verdict NOT IN ('relevant', 'not')"))
OLDER_TEXTS = Kind(
    "labels of a memory's other texts",
    """SELECT (SELECT count(*) FROM gold)
       - (SELECT count(*) FROM (SELECT DISTINCT prompt_id, memory_id FROM gold))""",
)
GRADES = Kind("grades", labels_with("grade IS NOT NULL"))
TIMES = Kind("times of labels, and how long they took", labels_with("ts <> '' OR elapsed_ms"))
BLINDNESS = Kind("marks that a label was given blind", labels_with("blind = 1"))
SHOWING = Kind("positions and seeds of the cards", labels_with("position OR seed"))
CIRCUMSTANCES = Kind(
    "labels' reasons, notes, times and circumstances",
    labels_with("reason <> '' OR note <> '' OR ts <> '' OR blind = 1 OR seed"),
)
JUDGES = Kind("verdicts of judges", "SELECT count(decision) FROM newest_result")
RETRIEVALS = Kind("retrievals and samples of the pool", "SELECT count(*) FROM retrieval")
TURNS = Kind("conversations before prompts", "SELECT count(*) FROM prompt WHERE context_json <> '[]'")
PROMPT_TEXTS = Kind("texts of prompts", "SELECT count(*) FROM prompt WHERE text <> ''")
MEMORY_TEXTS = Kind("texts of memories", "SELECT count(*) FROM memory_version WHERE title <> '' OR body <> ''")

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
class ExchangeFormat:
    """A file format; `write` and `read` are pure.

    `write` gives the text of the file. `read` gives the dataset, or raises ExchangeError with place, field and expected
    value; None for a format that is only written. `recognises` looks at the beginning of a file; None for a format that
    must be named. `interface` is the labelling interface that the other program needs, if it needs one.
    """

    name: str
    write: Callable[[Extract], str]
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
        ExchangeFormat("jsonl", jsonl.write, jsonl.read, jsonl.recognises),
        ExchangeFormat("qrels", trec.write_qrels, trec.read_plain_labels, trec.is_qrels, QRELS_LEAVE_OUT),
        ExchangeFormat("qrels-graded", trec.write_graded_qrels, trec.read_graded_labels, None, GRADED_QRELS_LEAVE_OUT),
        ExchangeFormat("run", trec.write_run, trec.read_run, trec.is_run, RUNS_LEAVE_OUT),
        ExchangeFormat("run-candidates", trec.write_candidates, None, None, RUNS_LEAVE_OUT),
        ExchangeFormat("csv", csv_table.write, csv_table.read, csv_table.recognises, CSV_LEAVES_OUT),
        ExchangeFormat(
            "label-studio",
            label_studio.write,
            label_studio.read,
            label_studio.recognises,
            LABEL_STUDIO_LEAVES_OUT,
            label_studio.INTERFACE,
        ),
        ExchangeFormat("prodigy", prodigy.write, prodigy.read, prodigy.recognises, PRODIGY_LEAVES_OUT),
    )
}
READABLE = tuple(name for name, form in FORMATS.items() if form.read)


def recognise(source: FileText) -> ExchangeFormat:
    """The format of a file by its beginning; ExchangeError if no format fits."""
    for form in FORMATS.values():
        if form.recognises and form.recognises(source):
            return form
    raise ExchangeError(f"{source.path}: no known format begins like this. Name it with --format.")


def left_out(extract: Extract, form: ExchangeFormat) -> list[tuple[int, str]]:
    """(count, kind) for each kind of data that *extract* has and *form* leaves out."""
    counts = ((extract.tuples(kind.sql)[0][0], kind.name) for kind in form.leaves_out)
    return [(number, name) for number, name in counts if number]
