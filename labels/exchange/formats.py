"""Every format there is, and which one a file is in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels.exchange.argilla import ARGILLA
from labels.exchange.format import Opening
from labels.exchange.jsonl import JSONL
from labels.exchange.label_studio import LABEL_STUDIO
from labels.exchange.memo import MEMO
from labels.exchange.memtomem import MEMTOMEM
from labels.exchange.prodigy import PRODIGY
from labels.exchange.qmd import QMD
from labels.exchange.qrels import GRADED_QRELS, QRELS
from labels.exchange.quepid import QUEPID
from labels.exchange.spike1292 import SPIKE1292
from labels.exchange.table import CSV
from labels.exchange.trec_run import CANDIDATES, RUN

if TYPE_CHECKING:
    from labels.exchange.format import Format
    from labels.exchange.source import Source

ALL = (
    JSONL,
    QRELS,
    GRADED_QRELS,
    RUN,
    CANDIDATES,
    CSV,
    LABEL_STUDIO,
    ARGILLA,
    PRODIGY,
    QUEPID,
    QMD,
    MEMTOMEM,
    MEMO,
    SPIKE1292,
)
FORMATS = {each.name: each for each in ALL}
READABLE = tuple(each.name for each in ALL if each.read)


def recognised(source: Source) -> Format:
    """The format of a file, by how it begins; ExchangeError if it is none that is known."""
    opening = opening_of(source)
    for each in ALL:
        if each.recognises(opening):
            return each
    raise ExchangeError(f"{source.path}: no known format begins like this. Name it with --format.")


def opening_of(source: Source) -> Opening:
    line = next(source.lines()).text
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    return Opening(source.document, row if isinstance(row, dict) else {}, line)
