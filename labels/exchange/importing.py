"""A file into a label store: all of it that is about known prompts and memories, or nothing.

The prompts and memories of the file are matched with those of the label store, the roots and the prompt files.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from engine.errors import ExchangeError
from engine.lean.record import replace as replace_record
from engine.memory import Section, content_digest
from engine.prompt import Prompt
from labels import runs
from labels.events import key_of
from labels.exchange.exporting import events_in, id_hash, is_hash, text_hash
from labels.exchange.files import EVENT, nfc
from labels.exchange.merge import add, read_memories, read_prompts, stored
from labels.exchange.trec import unescaped
from labels.records import BY_HAND, IMPORTED, LABEL, MemoryText, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from engine.memory import Memory
    from labels.database import LabelDatabase
    from labels.exchange.files import Dataset, FileText, Row
    from labels.exchange.merge import MergedRows
    from labels.exchange.registry import ExchangeFormat
    from labels.records import Event

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


@dataclass(frozen=True)
class Context:
    """Prompts and present memories that labels may be about, beside the prompts and memories in the store.

    `now` is the time, in ISO 8601 as the store writes it, of labels without a time. `root` is the root of imported
    runs.
    """

    now: str
    root: str = ""
    memories: Sequence[MemoryText] = ()
    prompts: Sequence[Prompt] = ()


def text_of(memory: Memory) -> MemoryText:
    """The present text of a memory of a root."""
    summary = memory.summary
    words = {"category": summary.category, "title": summary.title, "path": summary.path}
    return MemoryText(summary.id, summary.digest, **words, tags=summary.tags, body=memory.body)


def import_file(
    db: LabelDatabase, source: FileText, form: ExchangeFormat, annotator: str, context: Context
) -> tuple[MergedRows, Matched]:
    """Add the content of *source* to *db* in one transaction; importing the same file again adds nothing.

    Labels that are equal to a label that their annotator has given already count as known.
    *annotator* names the annotator of the labels; if empty, the file names them, or else the name of the format does.
    Raises ExchangeError for a fault in the file, a prompt that is known with another text, or an *annotator* for a file
    of several annotators. Nothing is added then.
    """
    if form.read is None:
        raise ExchangeError(f"{source.path}: the format {form.name} can only be exported. Choose another --format.")
    dataset = with_annotator(form.read(source), annotator, form, source)
    origin = f"{source.path.name} ({form.name})"
    with db.writing():
        prompts, memories = (*read_prompts(db), *context.prompts), (*read_memories(db), *context.memories)
        matched = match(Matching(dataset, prompts, memories, {memory.id: memory.digest for memory in context.memories}))
        events = list(completed(matched.dataset.events, db, origin, context.now))
        repeated = len(matched.dataset.events) - len(events)
        ready = replace(with_run_ids(matched.dataset, db, source, context), events=tuple(events))
        added = add(db, ready)
        return replace(added, known=added.known + repeated), matched


def with_annotator(dataset: Dataset, annotator: str, form: ExchangeFormat, source: FileText) -> Dataset:
    names = {event.annotator for event in dataset.events}
    if annotator and len(names) > 1:
        raise ExchangeError(f"{source.path}: --annotator names one person, but the file names {len(names)}. Omit it.")
    if annotator and any(event.uid for event in dataset.events):
        raise ExchangeError(f"{source.path}: these events are memsift's own and say whose they are. Omit --annotator.")
    events = (event._replace(annotator=annotator or event.annotator or form.name) for event in dataset.events)
    return replace(dataset, events=tuple(events))


def completed(events: Iterable[Event], db: LabelDatabase, origin: str, now: str) -> Iterator[Event]:
    """*events* with the fields that a store needs, without events that repeat a standing event in *db*.

    An event with a uid is from a store and stays as it is. Other names of annotators are spelled as in *db*.
    `session` becomes the time of the import: the labels of one import came in together, whenever they were given.
    """
    standing = events_in(db, "label_standing WHERE NOT repeat ORDER BY ts, event_id")
    latest = {(event.action, event.annotator, key_of(event)): event for event in standing}
    taken = {uid for (uid,) in db.tuples("SELECT uid FROM label_event")}
    known = {name for (name,) in db.tuples("SELECT DISTINCT annotator FROM label_event")}
    spelled = {nfc(name): name for name in known}
    for event in events:
        if event.uid:
            yield event
            continue
        name = nfc(event.annotator)
        said = event if event.annotator in known else event._replace(annotator=spelled.get(name, name))
        same = stored(said)._replace(blind=bool(said.blind))
        # without the name of the file and the time of the import, so that the file again makes the same uid
        parts = [getattr(same, column) for column in EVENT if column not in ("uid", "source", "titles")]
        uid = hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()[:32]
        place = said.action, said.annotator, key_of(said)
        before = latest.get(place)
        if uid in taken or (before and is_repeated(said, before)):
            continue
        made = said._replace(uid=uid, ts=said.ts or now, source=said.source or origin, session=now)
        taken.add(uid)
        if before is None or made.ts >= before.ts:
            latest[place] = made
            if before and said.action == LABEL:
                made = latest[place] = made._replace(supersedes=before.uid)
        yield made


def is_repeated(event: Event, before: Event) -> bool:
    """Whether *event* adds nothing to *before*; a format may have no place for grade, reason or note."""
    return event.verdict == before.verdict and all(
        given in (None, "", known)
        for given, known in ((event.grade, before.grade), (event.reason, before.reason), (event.note, before.note))
    )


def with_run_ids(dataset: Dataset, db: LabelDatabase, source: FileText, context: Context) -> Dataset:
    """*dataset* with run ids that are unique in a store, for formats that have only the names of systems.

    The id is made from the content of the file, so retrievals that *db* has already are recognised and left out.
    """
    if not (dataset.by_text and dataset.runs):
        return dataset
    content = runs.short_hash(source.text)
    config = json.dumps({IMPORTED: content})
    made = {run["run_id"]: runs.run_row(context.root, run["system"], config, content) for run in dataset.runs}
    known = set(db.tuples("SELECT run_id, prompt_id FROM retrieval"))
    named = ({**row, "run_id": made[row["run_id"]]["run_id"], "ts": context.now} for row in dataset.retrievals)
    new = tuple(row for row in named if (row["run_id"], row["prompt_id"]) not in known)
    imported = tuple({**run, **made[run["run_id"]], "ts": context.now} for run in dataset.runs)
    return replace(dataset, runs=imported if new else (), retrievals=new)


# Known prompts and memories


@dataclass(frozen=True)
class Matched:
    """A dataset with only known or new prompts and memories, and the names and counts of everything left out."""

    dataset: Dataset
    unknown_prompts: tuple[str, ...] = ()
    unknown_memories: tuple[str, ...] = ()
    events: int = 0
    retrievals: int = 0


class Matching:
    """The known prompt and memory text for each prompt and memory that *dataset* names, by any name; looked up once.

    *memories* are all known texts, oldest first; *present* maps the id of a memory to the digest of its present text.
    """

    def __init__(
        self,
        dataset: Dataset,
        prompts: Collection[Prompt],
        memories: Collection[MemoryText],
        present: Mapping[str, str],
    ) -> None:
        self.dataset = dataset
        self.prompts: dict[str, Prompt | None] = {}
        self.memories: dict[tuple[str, str], MemoryText | None] = {}
        self._given_prompts = {prompt.id: prompt for prompt in dataset.prompts}
        self._given_memories = {(memory.id, memory.digest): memory for memory in dataset.memories}
        self._prompts = by(prompts, lambda prompt: (nfc(prompt.id),))
        self._prompts_by_alias = by(prompts, lambda prompt: (id_hash(prompt.id), nfc(unescaped(prompt.id))))
        self._prompts_by_text = by(prompts, lambda prompt: (normal(prompt.text), text_hash(prompt.text)))
        self._versions = by(memories, lambda memory: [(name(memory.id), memory.digest) for name in (nfc, id_hash)])
        self._digests = by(memories, lambda memory: (memory.digest,))
        self._same_id = grouped((nfc(memory.id), memory) for memory in memories)
        newest = {memory.id: memory for memory in memories}
        newest |= {memory.id: memory for memory in memories if present.get(memory.id) == memory.digest}
        self._newest_by_name = by(newest.values(), names_of)

    @property
    def is_complete(self) -> bool:
        """Whether the file gives the full records of its prompts and memories, which only JSONL with texts does."""
        return not (self.dataset.by_text or self.dataset.redacted)

    def prompt(self, prompt_id: str) -> Prompt | None:
        if prompt_id not in self.prompts:
            given = self._given_prompts.get(prompt_id) or Prompt(prompt_id, "")
            is_own = self.is_complete and prompt_id in self._given_prompts
            found = self._known_prompt(given, by_id_alone=is_own)
            if is_own:
                found = replace_record(given, text=found.text) if found else given
            elif found and given.source in BY_HAND:
                found = replace_record(found, source=given.source)
            self.prompts[prompt_id] = found
        return self.prompts[prompt_id]

    def _known_prompt(self, given: Prompt, *, by_id_alone: bool) -> Prompt | None:
        """The known prompt for *given*; else *given* itself, if it has a text; else None.

        Raises ExchangeError for a known id with another text.
        """
        name = nfc(given.id)
        found = self._prompts.get(name)
        if found and given.text and not is_same(found.text, given.text):
            raise ExchangeError(
                f"The prompt {found.id!r} is known with another text, so its labels would be about something else. "
                "Nothing was imported. Give one of the two prompts another id."
            )
        if found or by_id_alone:
            return found
        candidates = [self._prompts_by_alias.get(name)]
        if self.dataset.by_text and given.text:
            candidates.append(self._prompts_by_text.get(normal(given.text)))
        for candidate in candidates:
            if candidate and (not given.text or is_same(candidate.text, given.text)):
                return candidate
        return given if given.text and not is_hash(given.text) else None

    def memory(self, memory_id: str, digest: str) -> MemoryText | None:
        """Raises ExchangeError if the text belongs to a known memory and the id to none."""
        key = memory_id, digest
        if key not in self.memories:
            given = self._given_memories.get(key) or MemoryText(*key)
            is_own = self.is_complete and key in self._given_memories and bool(digest)
            found = given if is_own else self._known_memory(given)
            if found is None and self.is_complete and memory_id and digest:
                found = given  # an older or a future text: its label waits until the text is known
            self.memories[key] = found
            is_known = not memory_id or (found and nfc(found.id) in self._same_id)
            text = (found or given).digest
            other = self._digests.get(text) if text and not is_known else None
            if other and key in self.dataset.places:
                raise ExchangeError(
                    f"{self.dataset.places[key]}, memory_id: expected {other.id!r}, whose text this is, found "
                    f"{given.id!r}. Perhaps a spreadsheet changed the id. Nothing was imported: put it back."
                )
        return self.memories[key]

    def _known_memory(self, given: MemoryText) -> MemoryText | None:
        """The known text for *given*; else *given* itself, if it has an id and a text; else None.

        A digest decides, then the text; a name alone means the present text of the memory, or else its newest text.
        """
        name, has_text = nfc(given.id), bool(given.title or given.body) and not is_hash(given.body or "")
        if given.digest:
            found = self._versions.get((name, given.digest))
            found = found or (None if given.id else self._digests.get(given.digest))
        elif has_text:
            same = (
                known
                for known in self._same_id.get(name, ())
                if (not given.title or normal(known.title) == normal(given.title))
                and (given.body is None or is_same(known.body or "", given.body))
            )
            found = next(same, None)
        else:
            found = self._newest_by_name.get(name)
        if found or not (given.id and has_text):
            return found
        text = (Section("", tuple((given.body or "").split("\n"))),)
        return given._replace(digest=given.digest or content_digest(given.category, given.title, given.tags, text))

    def ids(self, prompt_id: str, memory_id: str, digest: str) -> Row | None:
        """The known ids for the ids of a row, as its columns; None if the prompt or the memory is unknown."""
        prompt, memory = self.prompt(prompt_id), self.memory(memory_id, digest)
        if not prompt or not memory:
            return None
        return {"prompt_id": prompt.id, "memory_id": memory.id, "digest": memory.digest}

    def retrieved(self, given: Row) -> Row | None:
        """*given* with known ids; None if any id is unknown, because its injected set would change."""
        prompt = self.prompt(given["prompt_id"])
        memories = [self.memory(result["memory_id"], result["digest"]) for result in given["results"]]
        known = [memory for memory in memories if memory]
        if prompt is None or len(known) < len(memories):
            return None
        pairs = zip(given["results"], known, strict=True)
        results = [{**result, "memory_id": memory.id, "digest": memory.digest} for result, memory in pairs]
        return {**given, "prompt_id": prompt.id, "results": results}


def by(values: Collection[V], names: Callable[[V], Sequence[K]]) -> dict[K, V]:
    """The first value of each name. All first names go before all second names, and so on."""
    found: dict[K, V] = {}
    for same_place in zip(*map(names, values), strict=True):
        for name, value in zip(same_place, values, strict=True):
            found.setdefault(name, value)
    return found


def names_of(memory: MemoryText) -> tuple[str, ...]:
    """The names that a file may use for a memory, the safest first."""
    path = memory.path or memory.id
    return nfc(memory.id), nfc(unescaped(memory.id)), id_hash(memory.id), nfc(path), nfc(PurePath(path).stem)


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def is_same(known: str, given: str) -> bool:
    return text_hash(known) == given if is_hash(given) else normal(known) == normal(given)


def match(matching: Matching) -> Matched:
    """The dataset with the ids of known prompts and memories in place of the ids in the file.

    An unknown prompt or memory is taken from the file, if the file gives its text. Runs of a redacted dataset are left
    out, because the texts that they ran over are not in it.
    """
    dataset = matching.dataset
    if matching.is_complete:
        for own in dataset.prompts:
            matching.prompt(own.id)
        for memory in dataset.memories:
            matching.memory(memory.id, memory.digest)
    asked = ((event, matching.ids(*key_of(event))) for event in dataset.events)
    events = tuple(event._replace(**ids) for event, ids in asked if ids)
    pooled = ((row, matching.ids(row["prompt_id"], row["memory_id"], row["digest"])) for row in dataset.pool)
    retrievals = () if dataset.redacted else tuple(filter(None, map(matching.retrieved, dataset.retrievals)))
    pool = tuple({**row, **ids} for row, ids in pooled if ids)
    # of the prompts that the rows above are about
    seen = [(row, matching.prompts.get(row["prompt_id"])) for row in dataset.sightings]
    kept = replace(
        dataset,
        events=events,
        pool=pool,
        plan=() if dataset.redacted else dataset.plan,
        sightings=tuple({**row, "prompt_id": prompt.id} for row, prompt in seen if prompt),
        runs=() if dataset.redacted else dataset.runs,
        retrievals=retrievals,
        prompts=tuple(filter(None, matching.prompts.values())),
        memories=tuple(filter(None, matching.memories.values())),
    )
    return Matched(
        kept,
        unknown_prompts=tuple(name for name, prompt in matching.prompts.items() if prompt is None),
        unknown_memories=tuple(key[0] or key[1] for key, memory in matching.memories.items() if memory is None),
        events=len(dataset.events) - len(events),
        retrievals=len(dataset.retrievals) - len(retrievals),
    )
