"""Every format: how it is written, read and recognised, and which kinds of data it leaves out.

A new format is one module and one entry in `FORMATS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels.exchange import csv_table, jsonl, label_studio, prodigy, trec
from labels.exchange.merge import QUERIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.exchange.exporting import Extract
    from labels.exchange.files import Dataset, FileText


KINDS = {name.partition(": ")[0]: (sql, name.partition(": ")[2]) for name, sql in QUERIES.items() if ": " in name}
"""A kind of data that a format may leave out -> the SQL that counts its items, and its name for people."""

QRELS_LEAVE_OUT = (
    "history skips repeats single_labels ties unjudged undecided older_texts grades circumstances judges retrievals "
    "prompt_texts memory_texts"
)
GRADED_QRELS_LEAVE_OUT = QRELS_LEAVE_OUT.replace(" grades", "")
RUNS_LEAVE_OUT = "presses judges prompt_texts memory_texts"
CSV_LEAVES_OUT = "history skips repeats adjudications times blindness showing retrievals turns"
LABEL_STUDIO_LEAVES_OUT = "history repeats showing retrievals"
PRODIGY_LEAVES_OUT = "history repeats showing judges retrievals turns"


@dataclass(frozen=True)
class ExchangeFormat:
    """A file format; `write` and `read` are pure.

    `write` gives the text of the file. `read` gives the dataset, or raises ExchangeError with place, field and expected
    value; None for a format that is only written. `recognises` looks at the beginning of a file; None for a format that
    must be named. `leaves_out` are names of KINDS. `interface` is the labelling interface that the other program needs,
    if it needs one.
    """

    name: str
    write: Callable[[Extract], str]
    read: Callable[[FileText], Dataset] | None
    recognises: Callable[[FileText], bool] | None
    leaves_out: str = ""
    interface: str = ""

    @property
    def is_run(self) -> bool:
        return self.leaves_out == RUNS_LEAVE_OUT


FORMATS = {
    form.name: form
    for form in (
        ExchangeFormat("jsonl", jsonl.write, jsonl.read, jsonl.recognises),
        ExchangeFormat("qrels", trec.write_qrels, trec.read_labels, trec.is_qrels, QRELS_LEAVE_OUT),
        ExchangeFormat(
            "qrels-graded",
            partial(trec.write_qrels, is_graded=True),
            partial(trec.read_labels, is_graded=True),
            None,
            GRADED_QRELS_LEAVE_OUT,
        ),
        ExchangeFormat("run", trec.write_run, trec.read_run, trec.is_run, RUNS_LEAVE_OUT),
        ExchangeFormat("run-candidates", partial(trec.write_run, candidates=True), None, None, RUNS_LEAVE_OUT),
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
    counts = ((extract.tuples(sql)[0][0], name) for sql, name in map(KINDS.__getitem__, form.leaves_out.split()))
    return [(number, name) for number, name in counts if number]
