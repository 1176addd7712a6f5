"""Datasets for tests: by hand, and of any shape and text by hypothesis."""

from __future__ import annotations

import unicodedata
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from engine.lean.record import fields as record_fields
from engine.prompt import Prompt, Turn
from labels.database import LabelDatabase, storable
from labels.exchange.exporting import read_store
from labels.exchange.files import FileText
from labels.exchange.merge import add
from labels.exchange.records import (
    Dataset,
    JudgeCallRow,
    JudgeVerdict,
    LabelEvent,
    MemoryText,
    Planned,
    PooledPair,
    ResultRow,
    RetrievalRow,
    RunRow,
    Sighting,
)
from labels.exchange.registry import FORMATS
from labels.records import ADJUDICATE, LABEL, NOT_RELEVANT, RELEVANT, RETRACT, SKIP, UNRATEABLE, UNSURE
from labels.store import LabelStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn


START = datetime(2026, 1, 31, 12, tzinfo=UTC)

AWKWARD = (
    "=1+1",
    "'=1",
    "@SUM(A1)",
    "-3",
    "a,b;c\td",
    'say "hi"',
    "line\nline\r\nline\rline",
    "\x00\x1b[31m\x7f",
    "\u2028\u2029\x85",
    "שלום \u202eabc",
    "👩‍💻 e\u0301",
    "half \ud83d",
    "50%",
    "%41",
    "a%20b",
    " ",
    "{}",
    "[",
    "null",
    "sha256:",
)

property_test = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
"""A dataset takes a while to draw, and one example of it holds many texts."""

store_test = settings(property_test, max_examples=10)
"""A store takes a while to make."""

words = st.sampled_from(AWKWARD)
texts = st.one_of(words, words, st.text(st.characters(exclude_categories=()), max_size=6))
names = texts.filter(lambda text: text.strip() != "" and text.encode("utf-8", "replace").decode() == text)
"""What a person may be called: a store holds no lone surrogate."""

ids = texts.filter(bool)


def moment(minutes: int) -> str:
    """A time as the store spells it."""
    return (START + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")


def write(name: str, dataset: Dataset) -> str:
    """The file of *dataset* in a format."""
    return FORMATS[name].write(dataset)


def read_back(name: str, dataset: Dataset) -> Dataset:
    """The dataset in the file to which *dataset* is written."""
    return read(name, write(name, dataset).encode("utf-8").decode("utf-8"))


def read(name: str, text: str) -> Dataset:
    """The dataset in a file of a format."""
    form = FORMATS[name]
    assert form.read
    return form.read(FileText(Path("file"), text))


def event(uid: str, annotator: str = "jan", verdict: str | None = RELEVANT, **changes: Any) -> LabelEvent:
    about = {"prompt_id": "p1", "memory_id": "m1", "digest": "d1", "uid": uid, **changes}
    return LabelEvent(annotator, verdict=verdict, **about)


PROMPT = Prompt("p1", "how do tokens expire?", kind="specific")
MEMORY = MemoryText("m1", "d1", "decision", "Tokens", ("auth",), "They expire.", "decisions/m1.json")


RETRIEVED = RetrievalRow(
    "r",
    "p1",
    moment(1),
    results=(
        ResultRow("m1", "d1", 1, -9.5, injected=True),
        ResultRow("m2", "d2", 2, -8.0, dropped_by="judge"),
        ResultRow("m 3", "d3", 3, -7.25, injected=True),
    ),
)


def dataset(*events: LabelEvent, **changes: Any) -> Dataset:
    return Dataset(**{"prompts": (PROMPT,), "memories": (MEMORY,), "events": events, **changes})


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


@st.composite
def prompts(draw: DrawFn) -> tuple[Prompt, ...]:
    names = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    spoken = draw(st.lists(ids, min_size=len(names), max_size=len(names), unique_by=nfc))
    around = {"session_id": draw(words), "cwd": draw(words), "timestamp": draw(words), "source": draw(words)}
    turns = tuple(Turn("user", text) for text in draw(st.lists(texts, max_size=2)))
    return tuple(Prompt(name, text, turns=turns, **around) for name, text in zip(names, spoken, strict=True))


@st.composite
def memories(draw: DrawFn) -> tuple[MemoryText, ...]:
    keys = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=3, unique_by=lambda key: key[0]))
    return tuple(
        MemoryText(
            *key,
            draw(words),
            draw(texts),
            tuple(draw(st.lists(words, max_size=2))),
            draw(st.none() | texts),
            draw(words),
        )
        for key in keys
    )


@st.composite
def datasets(draw: DrawFn, *, annotators: st.SearchStrategy[str] = names) -> Dataset:
    """Any dataset as a store may give it: all rows are about its prompts and memories, times rise."""
    asked, known = draw(prompts()), draw(memories())
    people = draw(st.lists(annotators, min_size=1, max_size=2, unique=True))
    pair = st.builds(
        lambda prompt, memory: {"prompt_id": prompt.id, "memory_id": memory.id, "digest": memory.digest},
        st.sampled_from(asked),
        st.sampled_from(known),
    )
    events: list[LabelEvent] = []
    for number in range(draw(st.integers(0, 6))):
        events.append(draw(key_press(number, people, pair, events)))
    runs = (RunRow("r1", "bm25", draw(words), ts=moment(0)), RunRow("r2", "bm25+judge", "/root", ts=moment(1)))
    retrievals = [
        draw(retrieved(run.run_id, prompt.id, known)) for run in runs for prompt in asked if draw(st.booleans())
    ]
    pool = draw(st.lists(pair, max_size=2, unique_by=lambda each: tuple(each.values())))
    return Dataset(
        asked,
        known,
        tuple(events),
        runs,
        tuple(retrievals),
        tuple(PooledPair(**each, seed=1, stratum="injected", inclusion_probability=0.5, ts=moment(3)) for each in pool),
        tuple(Planned("/root", prompt.id, people[0], "random", 7, "same", moment(4)) for prompt in asked[:1]),
        tuple(Sighting(people[0], prompt.id, moment(5)) for prompt in asked if draw(st.booleans())),
    )


@st.composite
def key_press(
    draw: DrawFn, number: int, people: list[str], pair: st.SearchStrategy[dict[str, str]], before: list[LabelEvent]
) -> LabelEvent:
    action = draw(st.sampled_from([LABEL, LABEL, LABEL, SKIP, ADJUDICATE, *([RETRACT] if before else [])]))
    target = draw(st.sampled_from(before)) if action == RETRACT else None
    about = target or LabelEvent(draw(st.sampled_from(people)), **draw(pair))
    is_said = action in (LABEL, ADJUDICATE)
    return LabelEvent(
        about.annotator,
        about.prompt_id,
        about.memory_id,
        about.digest,
        action=action,
        verdict=draw(st.sampled_from([RELEVANT, NOT_RELEVANT, UNSURE, UNRATEABLE])) if is_said else None,
        grade=draw(st.none() | st.integers(0, 3)) if action == LABEL else None,
        reason=draw(texts) if is_said else "",
        note=draw(texts) if is_said else "",
        ts=moment(number),
        blind=draw(st.booleans()),
        repeat=action == LABEL and draw(st.integers(0, 9)) == 0,
        position=draw(st.integers(0, 5)),
        seed=draw(st.sampled_from([0, 1, 2**63 - 1, -(2**63) + 1])),
        elapsed_ms=draw(st.integers(0, 100_000)),
        session="s",
        uid=f"{number:032x}",
        supersedes=target.uid if target else None,
    )


@st.composite
def retrieved(draw: DrawFn, run_id: str, prompt_id: str, known: tuple[MemoryText, ...]) -> RetrievalRow:
    found = draw(st.lists(st.sampled_from(known), unique_by=lambda memory: memory.id))
    call = JudgeCallRow(moment(2), "scripted", "none", "0123", "ok", 2.5, 3, 4, draw(words)) if run_id == "r2" else None
    results = tuple(
        ResultRow(
            memory.id,
            memory.digest,
            rank,
            score=rank - 10.5,
            bm25=draw(st.floats(-50, 0)),
            injected=draw(st.booleans()),
            probability=draw(st.none() | st.floats(0, 1)),
            matched=("how",),
            verdict=JudgeVerdict("approved", "ok", draw(words), 0.5) if call else None,
        )
        for rank, memory in enumerate(found, start=1)
    )
    return RetrievalRow(run_id, prompt_id, moment(2), "", draw(st.floats(0, 1000)), results, call)


def as_stored(value: Any) -> Any:
    """*value* with its texts as a store holds them."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, tuple):
        return tuple(map(as_stored, value))
    if is_dataclass(value):
        return type(value)(**{field.name: as_stored(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, Prompt | Turn):
        return type(value)(**{name: as_stored(each) for name, each in record_fields(value).items()})
    return value


def is_consistent(dataset: Dataset) -> bool:
    """Whether ids that differ still do when stored."""
    prompts = {prompt.id for prompt in dataset.prompts}
    memories = {(memory.id, memory.digest) for memory in dataset.memories}
    return (len(prompts), len(memories)) == (len(dataset.prompts), len(dataset.memories))


stored_datasets = datasets().map(as_stored).filter(is_consistent)
"""Datasets as they come out of a store."""


@cache
def empty_store() -> bytes:
    """The file of an empty store: a copy is made much more quickly than a store."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.db"
        LabelDatabase(path).close()
        return path.read_bytes()


@contextmanager
def opened(*given: Dataset) -> Iterator[list[LabelDatabase]]:
    """A store for each dataset, for as long as the block lasts."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        stores = []
        for number, each in enumerate(given):
            path = Path(folder) / f"{number}.db"
            path.write_bytes(empty_store())
            db = stack.enter_context(closing(LabelDatabase(path)))
            with db.writing():
                add(db, each)
            stores.append(db)
        yield stores


def content(db: LabelDatabase) -> dict[str, list[str]]:
    """All that a store holds, in an order that does not depend on how it came there, and what follows from it."""
    held = {field.name: sorted(map(repr, getattr(read_store(db), field.name) or ())) for field in fields(Dataset)}
    held["current"] = sorted(row["uid"] for row in db.rows("SELECT uid FROM label_current"))
    with LabelStore.open(db.path) as store:
        held["gold"] = sorted(map(repr, store.gold()))
        held["newest"] = sorted(map(repr, store.outcomes()))
    return held
