"""CSV for spreadsheets: a row for each prompt and memory, a column for each annotator, judge and system."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels.exchange.exporting import PairRow, dataset_of, judged_pairs, memory_in, prompt_in
from labels.exchange.files import Node
from labels.records import MAX_GRADE, VERDICTS, Event, picked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.events import PairKey
    from labels.exchange.exporting import Extract, JudgedPair
    from labels.exchange.files import Dataset, FileText

FORMULA = "=+-@\t\r\n＝＋－＠"
"""The letters with which a formula may begin in a spreadsheet (OWASP, CSV injection)."""

GUARD = "'"
GUARDED = FORMULA + GUARD
DELIMITERS = ",;\t"
SEPARATOR = re.compile(r'"?sep=(?P<sign>.)"?[,;\t]*\r?\n', re.IGNORECASE)
"""A first line that tells spreadsheets the separator."""

PAIR_COLUMNS = ("prompt_id", "prompt", "memory_id", "digest", "category", "title", "tags", "memory", "gold")
LABEL, GRADE, REASON, NOTE, JUDGE, SYSTEM = "label:", "grade:", "reason:", "note:", "judge:", "system:"
"""Prefixes of the columns that belong to one annotator or system."""

CUT_OFF = "Perhaps the file was cut off: export it again."


def write(extract: Extract) -> str:
    rows = [cells_of(pair) for pair in judged_pairs(extract)]
    kinds = [LABEL, GRADE, REASON, NOTE, JUDGE, SYSTEM]
    names = {name for row in rows for name in row if name not in PAIR_COLUMNS}
    order = sorted(names, key=lambda name: (kinds.index(f"{name.partition(':')[0]}:"), name))
    columns = (*PAIR_COLUMNS, *order)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(guarded(name) for name in columns)
    writer.writerows([guarded(row.get(name, "")) for name in columns] for row in rows)
    return file.getvalue()


def cells_of(pair: JudgedPair) -> dict[str, str]:
    memory, words = pair.memory, picked(pair.memory, ("digest", "category", "title"))
    tags = json.dumps(memory.tags, ensure_ascii=False) if memory.tags else ""
    row = {"prompt_id": pair.prompt.id, "prompt": pair.prompt.text, "memory_id": memory.id, **words}
    row |= {"tags": tags, "memory": memory.body or "", "gold": pair.verdict or ""}
    for label in pair.labels:
        cells = {LABEL: label.verdict, GRADE: label.grade, REASON: label.reason, NOTE: label.note}
        row |= {f"{column}{label.annotator}": str(cell) for column, cell in cells.items() if cell not in (None, "")}
    row |= {f"{JUDGE}{found['system']}": found["decision"] for found in pair.results if found["decision"]}
    return row | {f"{SYSTEM}{found['system']}": found["dropped_by"] or "injected" for found in pair.results}


def guarded(cell: str) -> str:
    """*cell* with an apostrophe before anything that may be a formula; `unguarded` takes the apostrophe away."""
    return GUARD + cell if cell.startswith(tuple(GUARDED)) else cell


def unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == GUARD and cell[1:2] and cell[1] in GUARDED else cell


def read(source: FileText) -> Dataset:
    """The labels, grades, reasons and notes of all annotators; `gold`, judges and systems are not read.

    Needed are `memory_id`, `prompt_id` or `prompt`, and a column `label:NAME` or `gold`.
    """
    return dataset_of(source.path, pair_rows(source))


def pair_rows(source: FileText) -> Iterator[PairRow]:
    for node in table_rows(source):
        prompt, memory = prompt_in(node, node.text("prompt", "")), memory_in(node, "memory", tags_of(node))
        names = [name.removeprefix(LABEL) for name, cell in node.value.items() if name.startswith(LABEL) and cell]
        labels = [label_by(name, node, (prompt.id, memory.id, memory.digest)) for name in names]
        yield PairRow(node.place, prompt, memory, labels)


def table_rows(source: FileText) -> Iterator[Node]:
    """The rows as objects of texts. A row may span several lines; its place is its last line.

    Raises ExchangeError for a quoted cell without an end, and for a row without a cell for each column: the file was
    cut off, or edited by hand.
    """
    csv.field_size_limit(2**31 - 1)  # a memory may be longer than the 131,072 characters that the module allows
    told = SEPARATOR.match(source.text)
    above, text = (1, source.text[told.end() :]) if told else (0, source.text)
    # the comma, or the separator that spreadsheets of some countries write in its place
    sign = told["sign"] if told else max(DELIMITERS, key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    first_line = above + 1
    try:
        names = [unguarded(cell) for cell in next(reader, [])]
        check_columns(Node(source.path, f"line {first_line}", dict.fromkeys(names)), names)
        first_line = above + reader.line_num + 1
        for cells in reader:
            last_line = above + reader.line_num
            if any(cells) and len(cells) != len(names):
                wanted = f"expected {len(names)} cells, found {len(cells)}"
                raise ExchangeError(f"{source.path}, line {last_line}: {wanted}. {CUT_OFF}")
            if any(cells):
                yield Node(source.path, f"line {last_line}", dict(zip(names, map(unguarded, cells), strict=True)))
            first_line = last_line + 1
    except csv.Error as error:
        raise ExchangeError(
            f"{source.path}, the row from line {first_line} on: expected CSV ({error}). {CUT_OFF}"
        ) from None


def check_columns(head: Node, names: list[str]) -> None:
    if "memory_id" not in names:
        raise head.wrong("memory_id", "a column of this name")
    if "prompt_id" not in names and "prompt" not in names:
        raise head.wrong("prompt_id", "a column of this name, or `prompt`")
    if "gold" not in names and not any(name.startswith(LABEL) and name != LABEL for name in names):
        raise head.wrong(LABEL + "NAME", "a column of labels for each annotator")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise head.wrong(repeated[0], "each column once")


def tags_of(node: Node) -> tuple[str, ...]:
    cell = node.text("tags", "")
    try:
        tags = json.loads(cell) if cell else []
    except ValueError:
        tags = None
    return Node(node.path, node.place, {"tags": tags}).texts("tags")


def label_by(annotator: str, node: Node, pair: PairKey) -> Event:
    verdict, grade = node.one_of(LABEL + annotator, VERDICTS), node.text(GRADE + annotator, "")
    if grade and grade not in {str(number) for number in range(MAX_GRADE + 1)}:
        raise node.wrong(GRADE + annotator, f"nothing, or 0 to {MAX_GRADE}")
    reason, note = node.text(REASON + annotator, ""), node.text(NOTE + annotator, "")
    return Event(annotator, *pair, verdict=verdict, grade=int(grade) if grade else None, reason=reason, note=note)


def recognises(source: FileText) -> bool:
    head = SEPARATOR.sub("", source.text, count=1).split("\n", 1)[0]
    return source.document is None and "memory_id" in head and LABEL in head
