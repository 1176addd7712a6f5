"""What is exchanged: rows of the label store, in the form of memsift's own JSON lines, whatever the format of the file.

Events are the store's own records. The other rows are dicts with the columns below: column -> its default, or its type
if a file must give it. The type `str | None` stands for a column that may be missing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from types import UnionType
from typing import TYPE_CHECKING, Any, get_type_hints

from engine.judge.verdict import LIVE
from labels.records import Event, MemoryText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.prompt import Prompt

Row = dict[str, Any]


def columns_of(record: type[MemoryText | Event]) -> Row:
    defaults: Row = record._field_defaults
    hints = get_type_hints(record).items()
    return {name: hint if defaults.get(name) is None else defaults[name] for name, hint in hints}


def needed(names: str) -> Row:
    return dict.fromkeys(names.split(), str)


def texts(names: str) -> Row:
    return dict.fromkeys(names.split(), "")


EVENT = {name: column for name, column in columns_of(Event).items() if name != "event_id"}
MEMORY = columns_of(MemoryText)
RUN = needed("run_id system") | texts("root config_json config_hash corpus_hash engine_version sqlite_version ts")
RETRIEVAL = needed("run_id prompt_id") | texts("ts fallback") | {"elapsed_ms": 0.0}
RESULT = (
    needed("memory_id digest")
    | {"rank": int, "score": float, "bm25": 0.0, "body_bonus": 0, "confidence": "", "injected": False}
    | {"dropped_by": str | None, "probability": float | None, "matched": ()}
)
"""A candidate of a retrieval. `score` and `bm25` are SQLite's: negative, lower is better."""

CALL = (
    needed("ts provider model template_hash status")
    | {"elapsed_ms": float, "input_tokens": 0, "output_tokens": 0}
    | {"detail": "", "depth": "keep", "cost_usd": float | None}
)
"""The call of a judge; see `engine.judge.verdict.Judgement`."""

VERDICT = needed("decision status") | {
    "reasoning": "",
    "confidence": float | None,
    "samples": 1,
    "agreement": 1.0,
    "source": LIVE,
}
POOLED = needed("prompt_id memory_id digest") | {"seed": int, "stratum": str, "inclusion_probability": float, "ts": ""}
PLAN = needed("root prompt_id annotator order_name") | {"seed": int, "stratum": str, "ts": ""}
SIGHTING = needed("annotator prompt_id") | {"ts": ""}


def row_of(columns: Row, **given: Any) -> Row:
    """A row with the *given* values, and the defaults of the other columns."""
    return {
        name: given[name] if name in given else None if isinstance(default, UnionType) else default
        for name, default in columns.items()
    }


@dataclass(frozen=True)
class Dataset:
    """Everything that is exchanged; events are in the order in which they were written.

    A row of `retrievals` has RETRIEVAL's columns, `results` in rank order, each with its `verdict` or None, and the
    `call` of the judge or None. `places`: where the file first names a memory id and digest. `redacted`: hashes stand
    in place of texts and ids. `by_text`: the format has no prompt ids of its own, so the text of a prompt is enough to
    recognise it. `unanswered`: where the file has an answer that says nothing, which is left out.
    """

    prompts: tuple[Prompt, ...] = ()
    memories: tuple[MemoryText, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[Row, ...] = ()
    retrievals: tuple[Row, ...] = ()
    pool: tuple[Row, ...] = ()
    plan: tuple[Row, ...] = ()
    sightings: tuple[Row, ...] = ()
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)
    redacted: bool = False
    by_text: bool = False
    unanswered: tuple[str, ...] = ()


# Hashes that stand in place of texts and ids in a redacted dataset

HASH_PREFIX = "sha256:"


def text_hash(text: str) -> str:
    """`sha256:` and 64 hex digits."""
    return HASH_PREFIX + sha256(text)


def is_hash(text: str) -> bool:
    return text.startswith(HASH_PREFIX) and len(text) == len(HASH_PREFIX) + 64


def id_hash(name: str) -> str:
    """16 hex digits for an id, which may quote a text. The empty id stays empty."""
    return sha256(name)[:16] if name else ""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
