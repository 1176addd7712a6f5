"""Datasets for tests: by hand, and of any shape and text by hypothesis."""

import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree as Xml

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from engine.prompt import Prompt, Turn
from labels.database import LabelDatabase
from labels.exchange.exporting import Extract
from labels.exchange.files import CALL, PLAN, POOLED, RESULT, RETRIEVAL, RUN, VERDICT, Dataset, FileText, Row, row_of
from labels.exchange.merge import add, rows_of
from labels.exchange.registry import FORMATS
from labels.records import ACTIONS, ADJUDICATE, LABEL, RELEVANT, RETRACT, VERDICTS, Event, MemoryText
from labels.store import LabelStore
from labels.tables import LabelTables

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

property_test = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
"""A dataset takes a while to draw, and one example of it holds many texts."""

store_test = settings(property_test, max_examples=8)
"""A store takes a while to make."""

words = st.sampled_from(AWKWARD)
texts = st.one_of(words, words, st.text(st.characters(exclude_categories=()), max_size=6))
names = texts.filter(lambda text: text.strip() != "" and text.encode("utf-8", "replace").decode() == text)
"""What a person may be called: a store holds no lone surrogate."""

ids = texts.filter(bool)


def moment(minutes: int) -> str:
    """A time as the store spells it."""
    return (START + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")


@cache
def empty_tables() -> LabelTables:
    """The tables of an empty store: a copy is made much more quickly than a store."""
    return LabelTables.in_memory()


made: list[Extract] = []
"""The stores in memory that `close_extracts` closes at the end of each test."""


def extract(dataset: Dataset) -> Extract:
    """A store in memory that holds *dataset*."""
    tables = Extract(empty_tables())
    made.append(tables)
    add(tables, dataset)
    return tables


def write(name: str, dataset: Dataset) -> str:
    """The file of *dataset* in a format."""
    return FORMATS[name].write(extract(dataset))


def read(name: str, text: str) -> Dataset:
    """The dataset in a file of a format."""
    form = FORMATS[name]
    assert form.read
    return form.read(FileText(Path("file"), text))


def event(uid: str, annotator: str = "jan", verdict: str | None = RELEVANT, **changes: Any) -> Event:
    return Event(**{"annotator": annotator, "verdict": verdict, **KEY, "uid": uid, **changes})


def made_run(run_id: str, system: str = "bm25", **changes: Any) -> Row:
    return row_of(RUN, run_id=run_id, system=system, **changes)


def result(memory_id: str, digest: str, rank: int, score: float, **changes: Any) -> Row:
    about = {"memory_id": memory_id, "digest": digest, "rank": rank, "score": score}
    return {**row_of(RESULT, **about, **changes), "verdict": changes.get("verdict")}


KEY = {"prompt_id": "p1", "memory_id": "m1", "digest": "d1"}
PROMPT = Prompt("p1", "how do tokens expire?", kind="specific")
MEMORY = MemoryText("m1", "d1", "decision", "Tokens", ("auth",), "They expire.", "decisions/m1.json")
RETRIEVED = {
    **row_of(RETRIEVAL, run_id="r", prompt_id="p1", ts=moment(1)),
    "results": [
        result("m1", "d1", 1, -9.5, injected=True),
        result("m2", "d2", 2, -8.0, dropped_by="judge"),
        result("m 3", "d3", 3, -7.25, injected=True),
    ],
    "call": None,
}


def dataset(*events: Event, **changes: Any) -> Dataset:
    """A dataset with *events*, and with bare texts of other memories that it names."""
    retrieved = [found for row in changes.get("retrievals", ()) for found in row["results"]]
    named = [(found["memory_id"], found["digest"]) for found in (*retrieved, *changes.get("pool", ()))]
    others = dict.fromkeys([*(event.pair for event in events), *named])
    bare = [MemoryText(*pair) for pair in others if pair != ("m1", "d1")]
    return Dataset(**{"prompts": (PROMPT,), "memories": (MEMORY, *bare), "events": events, **changes})


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
    tags, bodies = st.lists(words, max_size=2).map(tuple), st.none() | texts
    return tuple(MemoryText(*key, draw(words), draw(texts), draw(tags), draw(bodies), draw(words)) for key in keys)


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
    events: list[Event] = []
    for number in range(draw(st.integers(0, 6))):
        events.append(draw(key_press(number, people, pair, events)))
    runs = (
        made_run("r1", config_json=draw(words), ts=moment(0)),
        made_run("r2", "bm25+judge", root="/root", ts=moment(1)),
    )
    retrievals = [
        draw(retrieved(made["run_id"], prompt.id, known)) for made in runs for prompt in asked if draw(st.booleans())
    ]
    pool = draw(st.lists(pair, max_size=2, unique_by=lambda key: tuple(key.values())))
    sample = {"seed": 1, "stratum": "injected", "inclusion_probability": 0.5, "ts": moment(3)}
    order = {"annotator": people[0], "order_name": "random", "seed": 7, "stratum": "same", "ts": moment(4)}
    return Dataset(
        asked,
        known,
        tuple(events),
        runs,
        tuple(retrievals),
        tuple(row_of(POOLED, **key, **sample) for key in pool),
        tuple(row_of(PLAN, root="/root", prompt_id=prompt.id, **order) for prompt in asked[:1]),
        tuple(sighting(people[0], prompt.id, 5) for prompt in asked if draw(st.booleans())),
    )


def sighting(annotator: str, prompt_id: str, minutes: int) -> Row:
    return {"annotator": annotator, "prompt_id": prompt_id, "ts": moment(minutes)}


@st.composite
def key_press(
    draw: DrawFn, number: int, people: list[str], pair: st.SearchStrategy[dict[str, str]], before: list[Event]
) -> Event:
    action = draw(st.sampled_from([LABEL, LABEL, *(action for action in ACTIONS if action != RETRACT or before)]))
    target = draw(st.sampled_from(before)) if action == RETRACT else None
    about = target or Event(draw(st.sampled_from(people)), **draw(pair))
    is_said = action in (LABEL, ADJUDICATE)
    return Event(
        about.annotator,
        about.prompt_id,
        about.memory_id,
        about.digest,
        action=action,
        verdict=draw(st.sampled_from(VERDICTS)) if is_said else None,
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
        source=draw(st.sampled_from(["", "old.csv (csv)"])),
        titles=draw(st.none() | st.integers(0, 10)) if action == LABEL else None,
        uid=f"{number:032x}",
        supersedes=target.uid if target else None,
    )


@st.composite
def retrieved(draw: DrawFn, run_id: str, prompt_id: str, known: tuple[MemoryText, ...]) -> Row:
    found = draw(st.lists(st.sampled_from(known), unique_by=lambda memory: memory.id))
    asked = {"ts": moment(2), "provider": "scripted", "model": "none", "template_hash": "0123", "status": "ok"}
    call = row_of(CALL, **asked, elapsed_ms=2.5, input_tokens=3, detail=draw(words)) if run_id == "r2" else None
    said = {"decision": "approved", "status": "ok", "confidence": 0.5}
    results = [
        result(
            memory.id,
            memory.digest,
            rank,
            score=rank - 10.5,
            bm25=draw(st.floats(-50, 0)),
            injected=draw(st.booleans()),
            probability=draw(st.none() | st.floats(0, 1)),
            matched=("how",),
            verdict=row_of(VERDICT, **said, reasoning=draw(words)) if call else None,
        )
        for rank, memory in enumerate(found, start=1)
    ]
    about = {"run_id": run_id, "prompt_id": prompt_id, "ts": moment(2), "elapsed_ms": draw(st.floats(0, 1000))}
    return {**row_of(RETRIEVAL, **about), "results": results, "call": call}


stored_datasets = datasets().map(lambda given: rows_of(extract(given)))
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
    held = {field.name: sorted(map(repr, getattr(rows_of(db), field.name) or ())) for field in fields(Dataset)}
    held["current"] = sorted(row["uid"] for row in db.rows("SELECT uid FROM label_current"))
    with LabelStore.open(db.path) as store:
        held["gold"] = sorted(map(repr, store.gold()))
        held["newest"] = sorted(map(repr, store.outcomes()))
    return held


def check_label_studio(tasks: list[dict[str, Any]], config: str) -> None:
    """The tasks fit the labelling interface *config*, as Label Studio demands (labelstud.io/guide/task_format)."""
    interface = list(Xml.fromstring(config).iter())
    controls = {tag.get("name"): tag for tag in interface if tag.get("toName")}
    variables = {value[1:] for tag in interface if (value := str(tag.get("value"))).startswith("$")}
    for task in tasks:
        assert variables <= task["data"].keys()
        for one in [*task["annotations"], *task["predictions"]]:
            assert isinstance(one.get("ground_truth", False), bool)
            for made in one["result"]:
                control = controls[made["from_name"]]
                assert (made["to_name"], made["type"]) == (control.get("toName"), control.tag.lower())
                if control.tag == "Choices":
                    (chosen,) = made["value"]["choices"]
                    assert chosen in {choice.get("value") for choice in control.iter("Choice")}
                else:
                    assert all(isinstance(text, str) for text in made["value"]["text"])
