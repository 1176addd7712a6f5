"""From a label store to a file: a copy of the store that is cut down, and its pairs of a prompt and a memory text.

Formats with a row for each pair also read their rows into a dataset here.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import ExchangeError
from engine.prompt import Prompt, prompt_id
from labels.events import by_pair, event_of, event_row, key_of
from labels.exchange.files import Dataset, nfc
from labels.exchange.merge import QUERIES, add, read_memories, read_prompts
from labels.records import BY_HAND, CHOSEN, Event, MemoryText, grouped
from labels.runs import short_hash
from labels.tables import QUERIES as STORE_QUERIES
from labels.tables import LabelTables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from engine.prompt import Turn
    from labels.events import PairKey
    from labels.exchange.files import Node, Row

GOLD = "gold"
"""The annotator of agreed labels."""

WITH_PROMPT = ("prompt", "label_event", "retrieval", "result", "judge_call", "frame", "plan", "sighting")
WITH_MEMORY = ("memory_version", "label_event", "result", "judge_verdict", "frame")


class JudgedPair(NamedTuple):
    """A prompt and a memory text, with the labels of people and the results of systems.

    `verdict` is the gold verdict, None without one. `labels` holds one label for each annotator, by name; `skips` are
    by annotators without a label. `adjudications` holds the latest, if there is one. `results` are rows of
    `newest_result`, by system.
    """

    prompt: Prompt
    memory: MemoryText
    verdict: str | None
    labels: Sequence[Event]
    adjudications: Sequence[Event]
    skips: Sequence[Event]
    results: Sequence[Row]

    @property
    def key(self) -> PairKey:
        return self.prompt.id, self.memory.id, self.memory.digest

    @property
    def given_events(self) -> list[Event]:
        """Labels, adjudication and skips."""
        return [*self.labels, *self.adjudications, *self.skips]

    @property
    def deciding(self) -> Sequence[Event]:
        """The events with the gold verdict: the adjudication alone, or else the labels that agree with the majority."""
        return self.adjudications or [label for label in self.labels if label.verdict == self.verdict]

    @property
    def grade(self) -> int | None:
        """The lowest grade that was given with the gold verdict; None if nobody gave a grade."""
        return min((event.grade for event in self.deciding if event.grade is not None), default=None)

    @property
    def decided_at(self) -> str:
        """The time of the latest event with the gold verdict; empty without a gold verdict."""
        return max((event.ts for event in self.deciding), default="")


def judged_pairs(extract: LabelTables) -> list[JudgedPair]:
    """The pairs with a label, in a pool, or injected by a system; prompts in the order of the store."""
    labels = by_pair(events_in(extract, "label_current ORDER BY annotator"))
    agreed = extract.tuples("SELECT prompt_id, memory_id, digest, verdict FROM gold")
    gold = {tuple(key): verdict for *key, verdict in agreed}
    settled = by_pair(events_in(extract, "adjudication_current"))
    standing = events_in(extract, "label_standing WHERE action = 'skip' AND NOT repeat ORDER BY ts, event_id")
    skips = by_pair({(skip.annotator, key_of(skip)): skip for skip in standing}.values())
    found = system_results(extract)
    results = grouped(((result["prompt_id"], result["memory_id"], result["digest"]), result) for result in found)
    pooled = set(extract.tuples("SELECT prompt_id, memory_id, digest FROM frame"))
    pooled |= {key for key, found in results.items() if any(result["injected"] for result in found)}
    prompts = {prompt.id: prompt for prompt in read_prompts(extract)}
    memories = {(memory.id, memory.digest): memory for memory in read_memories(extract)}
    place = {name: number for number, name in enumerate(prompts)}

    def judged(key: PairKey) -> JudgedPair:
        said = labels.get(key, [])
        names = {label.annotator for label in said}
        skipped = [skip for skip in skips.get(key, ()) if skip.annotator not in names]
        prompt, memory = prompts[key[0]], memories[key[1:]]
        return JudgedPair(prompt, memory, gold.get(key), said, settled.get(key, []), skipped, results.get(key, []))

    keys = {*labels, *skips, *settled, *pooled}
    return [judged(key) for key in sorted(keys, key=lambda key: (place[key[0]], key))]


def events_in(extract: LabelTables, source: str) -> list[Event]:
    return [event_of(row) for row in extract.rows(f"SELECT * FROM {source}")]


def system_results(extract: LabelTables) -> list[Row]:
    """The results of the newest retrievals, by system and prompt, in rank order."""
    return extract.rows("SELECT * FROM newest_result ORDER BY system, prompt_id, rank")


def one_text_each(pairs: Iterable[JudgedPair]) -> list[JudgedPair]:
    """The *pairs* with gold, for formats without versions: of each memory only the text that was labelled last."""
    agreed = [pair for pair in pairs if pair.verdict]
    newest = {(pair.prompt.id, pair.memory.id): pair for pair in sorted(agreed, key=lambda pair: pair.decided_at)}
    kept = {pair.key for pair in newest.values()}
    return [pair for pair in agreed if pair.key in kept]


# Pairs as a dataset


class PairRow(NamedTuple):
    """A prompt, a memory text and the events about the two. `place` is the line or JSON path of the row.

    `unanswered` are the places of answers in it that say nothing.
    """

    place: str
    prompt: Prompt
    memory: MemoryText
    events: list[Event]
    unanswered: Sequence[str] = ()


def prompt_in(node: Node, text: str, turns: tuple[Turn, ...] = ()) -> Prompt:
    """The prompt with the id in `prompt_id`; without an id, the id follows from *text*. One of the two is needed."""
    name = node.text("prompt_id", "") or (prompt_id(text, turns) if text else "")
    if not name:
        raise node.wrong("prompt_id", "an id, or a text in `prompt`")
    return Prompt(name, text, turns)


def memory_in(node: Node, body: str, tags: tuple[str, ...]) -> MemoryText:
    """The memory text of a row; its field *body* has the text."""
    words = {name: node.text(name, "") for name in ("digest", "category", "title")}
    return MemoryText(node.name("memory_id"), **words, tags=tags, body=node.text(body, "") or None)


def dataset_of(path: Path, rows: Iterable[PairRow]) -> Dataset:
    """Each prompt and memory text once; ExchangeError if the file at *path* gives two texts for one id."""
    prompts: dict[str, Prompt] = {}
    memories: dict[tuple[str, str], MemoryText] = {}
    events: list[Event] = []
    places: dict[tuple[str, str], str] = {}
    unanswered: list[str] = []
    for place, prompt, memory, about, without in rows:
        places.setdefault((memory.id, memory.digest), f"{path}, {place}")
        if prompts.setdefault(prompt.id, prompt).text != prompt.text:
            raise ExchangeError(f"{path}: the prompt {prompt.id!r} has two texts. Give each an id of its own.")
        first = memories.setdefault((memory.id, memory.digest), memory)
        if (first.title, first.body) != (memory.title, memory.body):
            raise ExchangeError(f"{path}: the memory {memory.id!r} has two texts. Give each a digest of its own.")
        events += about
        unanswered += without
    texts = tuple(prompts.values()), tuple(memories.values())
    return Dataset(*texts, tuple(events), places=places, by_text=True, unanswered=tuple(unanswered))


# The copy of a store


class Extract(LabelTables):
    """A copy of a label store in memory, to be cut down and written to a file.

    `redacted`: hashes stand in place of texts and ids. `annotator`: the person whose events alone are kept, if any.
    """

    def __init__(self, db: LabelTables) -> None:
        copy = db.copied()
        copy.conn.create_function("nfc", 1, nfc)
        copy.conn.create_function("id_hash", 1, id_hash)
        copy.conn.create_function("text_hash", 1, lambda text: None if text is None else text_hash(text))
        super().__init__(copy, db.path)
        for (name,) in self.tuples("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            self.execute(f"DROP TRIGGER {name}")  # they keep events from being deleted
        self.execute(QUERIES["newest_result"])
        self.redacted = False
        self.annotator = ""

    @property
    def has_events(self) -> bool:
        return bool(self.tuples("SELECT 1 FROM label_event LIMIT 1"))

    def keep_roots(self, roots: Sequence[str], present: Sequence[MemoryText]) -> None:
        """Keep the runs over *roots*, and the events and pools of the memories that these found.

        Memories with imported labels may be in no run at all: they count if the roots hold them now, as *present*.
        """
        known = json.dumps([f"{memory.id}\n{memory.digest}" for memory in present])
        about = {"roots": json.dumps(list(roots)), "present": known}
        self.script(QUERIES["other_roots"], about)
        self.script(QUERIES["without_run"])
        self.script(QUERIES["unused_texts"])

    def keep_system(self, system: str) -> None:
        """Keep the runs of one system. Without a name there may be only one. ExchangeError if there is none."""
        systems = [name for (name,) in self.tuples("SELECT DISTINCT system FROM run ORDER BY system")]
        if not system and len(systems) < 2:
            return
        if system not in systems:
            asked = f"There is no run of {system!r}" if system else "A run file holds one system"
            known = ", ".join(systems) or "nothing was replayed yet"
            raise ExchangeError(f"{asked}. Choose one with --system: {known}.")
        self.execute("DELETE FROM run WHERE system <> ?", [system])
        self.script(QUERIES["without_run"])

    def keep_annotator(self, annotator: str) -> None:
        """Keep the events of one annotator; ExchangeError if there are none.

        Prompts that no estimate counts are marked, because a file to share has no orders.
        """
        names = [name for (name,) in self.tuples("SELECT DISTINCT annotator FROM label_event ORDER BY annotator")]
        if nfc(annotator) not in map(nfc, names):
            known = f"There are labels by {', '.join(names)}." if names else "There are no labels yet."
            raise ExchangeError(f"There are no labels by {annotator!r}. {known}")
        self.execute(f"UPDATE prompt SET source = ? WHERE prompt_id IN ({STORE_QUERIES['preferred']})", [CHOSEN])
        for table in ("label_event", "plan", "sighting"):
            self.execute(f"DELETE FROM {table} WHERE nfc(annotator) <> ?", [nfc(annotator)])
        self.annotator = nfc(annotator)

    def add_shared(self, old: Dataset) -> None:
        """Add the events of the kept annotator that only *old*, a file of the same labels, has.

        So a store that does not know all labels takes none out of the file: a label ends by a retraction. Raises
        ExchangeError as `add`, and if just one of both has hashes in place of texts.
        """
        if old.redacted != self.redacted:
            held = "hashes in place of" if old.redacted else "the"
            raise ExchangeError(f"The file has {held} texts, unlike this export. Move it away, or export as before.")
        events = [event for event in old.events if nfc(event.annotator) == self.annotator]
        memories = dict.fromkeys(MemoryText(*event.pair) for event in events)
        add(self, Dataset(old.prompts, tuple(memories), tuple(events)))

    def keep_gold(self) -> None:
        """Put one label by the annotator `gold` in place of the events about each pair that has gold."""
        agreed = [pair for pair in judged_pairs(self) if pair.verdict]
        for table in ("label_event", "plan", "sighting"):
            self.execute(f"DELETE FROM {table}")
        for number, pair in enumerate(agreed):
            label = Event(GOLD, *pair.key, verdict=pair.verdict, grade=pair.grade, ts=pair.decided_at, uid=str(number))
            self.insert("label_event", event_row(label))

    def redact(self) -> None:
        """Put hashes in place of the texts and ids of prompts and memories.

        Left out is everything else that could quote a text: titles, tags, categories, conversations, paths, folders,
        notes, reasons, the judge's sentences and details, configurations, and matched words. Names of annotators,
        systems and models stay, and so does the kind of a prompt.
        """
        self.script(QUERIES["texts"])
        self.execute(f"UPDATE prompt SET source = '' WHERE source NOT IN ({', '.join('?' * len(BY_HAND))})", BY_HAND)
        for column, tables in (("prompt_id", WITH_PROMPT), ("memory_id", WITH_MEMORY)):
            for table in tables:
                self.execute(f"UPDATE {table} SET {column} = id_hash({column})")
        self.redacted = True


# Hashes that stand in place of texts and ids

HASH_PREFIX = "sha256:"


def text_hash(text: str) -> str:
    """`sha256:` and 64 hex digits."""
    return HASH_PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_hash(text: str) -> bool:
    return text.startswith(HASH_PREFIX) and len(text) == len(HASH_PREFIX) + 64


def id_hash(name: str) -> str:
    """16 hex digits for an id, which may quote a text. The empty id stays empty."""
    return short_hash(name) if name else ""
