"""Small records of engine and labels, made by hand."""

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlite_utils import Database

from engine.judge.verdict import APPROVED, FLAGGED, OK, REJECTED, TIMEOUT, Judgement, Verdict
from engine.memory import MemorySummary
from engine.prompt import Prompt
from engine.retrieval import HIGH, Candidate, Retrieval
from labels.records import RELEVANT, Card, Event, Outcome, Pool
from labels.store import LabelStore
from labels.tables import STEPS, migrations

ROOT = "/project/.claude/memory"
STEPS_OF_1_0 = 8
"""Steps of the schema in version 1.0.0."""

T = TypeVar("T")


def known(found: T | None) -> T:
    """*found*, which must be there."""
    assert found is not None
    return found


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows that another program reads in a store."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def make_store(path: Path, steps: int, rows: str = "") -> Path:
    """A label store with the first *steps* of the schema, and *rows*: statements that insert them."""
    with closing(Database(path, execute_plugins=False)) as db:
        migrations().apply(db, stop_before=STEPS[steps] if steps < len(STEPS) else None)
        db.conn.executescript(f"BEGIN; {rows} COMMIT;")
    return path


def memory(memory_id: str, digest: str = "") -> MemorySummary:
    return MemorySummary(
        id=memory_id,
        category="decision",
        title=f"Title of {memory_id}",
        tags=("auth", "tokens"),
        path=f"decisions/{memory_id}.json",
        file=f"{ROOT}/decisions/{memory_id}.json",
        status="active",
        created_at="2025-01-01T00:00:00Z",
        updated_at="2025-01-01T00:00:00Z",
        digest=digest or f"digest-of-{memory_id}",
    )


def prompt(prompt_id: str = "p1", text: str = "how do tokens expire?") -> Prompt:
    return Prompt(id=prompt_id, text=text)


def candidate(of: MemorySummary, rank: int, dropped_by: str | None = None, verdict: Verdict | None = None) -> Candidate:
    score = -10.0 + rank
    return Candidate(of, score, 0, score, ("tokens",), rank, 1.0, HIGH, verdict, None, dropped_by)


def retrieval(
    injected: Sequence[str],
    dropped: Mapping[str, str] | None = None,
    *,
    system: str = "bm25",
    prompt_id: str = "p1",
    digests: Mapping[str, str] | None = None,
    text: str = "how do tokens expire?",
) -> Retrieval:
    """A retrieval without a judge; *dropped* maps memory ids to the stage."""
    stages = [*((each, None) for each in injected), *(dropped or {}).items()]
    candidates = tuple(
        candidate(memory(memory_id, (digests or {}).get(memory_id, "")), rank, stage)
        for rank, (memory_id, stage) in enumerate(stages, start=1)
    )
    return Retrieval(prompt(prompt_id, text), system, "auto", "fts5_bm25", candidates, None, "", 1.5)


def judged(kept: Sequence[str], rejected: Sequence[str], *, prompt_id: str = "p1") -> Retrieval:
    """A retrieval whose judge answered."""
    verdicts = tuple(
        Verdict(memory_id, APPROVED if memory_id in kept else REJECTED, OK, "because")
        for memory_id in (*kept, *rejected)
    )
    candidates = tuple(
        candidate(memory(each.memory_id), rank, None if each.decision == APPROVED else "judge", each)
        for rank, each in enumerate(verdicts, start=1)
    )
    judgement = Judgement(OK, verdicts, "scripted", "none", "0123456789abcdef", 210.0)
    return Retrieval(prompt(prompt_id), "bm25+judge", "auto", "fts5_bm25", candidates, judgement, "", 211.5)


def failed(injected: Sequence[str], *, prompt_id: str = "p1") -> Retrieval:
    """A retrieval whose judge did not answer in time."""
    verdicts = tuple(Verdict(memory_id, FLAGGED, TIMEOUT) for memory_id in injected)
    candidates = tuple(candidate(memory(each.memory_id), rank, None, each) for rank, each in enumerate(verdicts, 1))
    judgement = Judgement(TIMEOUT, verdicts, "scripted", "none", "0123456789abcdef", 3000.0)
    return Retrieval(prompt(prompt_id), "bm25+judge", "auto", "fts5_bm25", candidates, judgement, TIMEOUT, 3001.0)


def record(
    store: LabelStore, *retrievals: Retrieval, root: str = ROOT, corpus_hash: str = "c1", config_json: str = "{}"
) -> None:
    for each in retrievals:
        bodies = {candidate.memory.id: f"Body of {candidate.memory.id}" for candidate in each.candidates}
        store.record_retrieval(each, root=root, config_json=config_json, corpus_hash=corpus_hash, bodies=bodies)


def say(
    store: LabelStore, said: str, verdict: str = RELEVANT, *, who: str = "ann", digest: str = "", **how: Any
) -> Event:
    """A key press, blind unless *how* says otherwise. *said* is "prompt memory"."""
    prompt_id, memory_id = said.split()
    pressed = {"seed": 1, "blind": True, "elapsed_ms": 1, **how}
    return store.label(who, prompt_id, card(memory_id, digest), verdict, **pressed)


def card(memory_id: str, digest: str = "", position: int = 1) -> Card:
    return Card(memory(memory_id, digest), position)


def pool_of(*memory_ids: str, prompt_id: str = "p1") -> Pool:
    cards = tuple(card(memory_id, position=position) for position, memory_id in enumerate(memory_ids, start=1))
    return Pool(prompt(prompt_id), cards, seed=1)


class Found(NamedTuple):
    """The retrieval of a candidate, in fields of an Outcome."""

    score: float
    confidence: str = ""
    matched: int | None = None
    probability: float | None = None


def outcome(
    injected: Sequence[str],
    *,
    prompt_id: str = "p1",
    system: str = "bm25",
    decisions: Mapping[str, str | None] | None = None,
    fallback: str = "",
    run_id: str = "",
    kind: str = "",
    found: Sequence[Found] = (),
) -> Outcome:
    """The outcome of a system. Its candidates are the keys of *decisions*, else the injected memories, unjudged."""
    seen = decisions or dict.fromkeys(injected)
    how = dict(zip(seen, found, strict=False))
    of_injected = [how.get(memory_id) for memory_id in injected]
    return Outcome(
        prompt_id,
        system,
        tuple(injected),
        tuple(seen),
        tuple(seen.values()),
        fallback,
        1.0,
        run_id,
        kind,
        is_asked=any(seen.values()),
        confidences=tuple(each.confidence if each else "" for each in of_injected),
        matched=tuple(each.matched if each else None for each in of_injected),
        scores=tuple(each.score if each else None for each in of_injected),
        probabilities={name: one.probability for name, one in how.items() if one.probability is not None},
    )


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


Counts = tuple[int, int]


@dataclass(frozen=True)
class World:
    """Simulated prompts with one of *sizes* memories, of which *precision* are relevant on average.

    `alike` is the intra-class correlation: 0.5 with three memories each is a design effect of 2.
    """

    precision: float
    alike: float = 0.5
    sizes: tuple[int, ...] = (3,)

    def prompt(self, rng: random.Random) -> Counts:
        """(relevant, injected) of the next prompt: a beta-binomial draw."""
        shape = 1 / self.alike - 1
        chance = rng.betavariate(self.precision * shape, (1 - self.precision) * shape)
        size = rng.choice(self.sizes)
        return sum(rng.random() < chance for _ in range(size)), size

    def prompts(self, rng: random.Random, number: int) -> list[Counts]:
        return [self.prompt(rng) for _ in range(number)]
