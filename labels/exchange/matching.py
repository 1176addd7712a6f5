"""Matching the prompts and memories of a file with those of the label store, the roots and the prompt files."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from engine.errors import ExchangeError
from engine.lean.record import replace as replace_record
from engine.memory import Section, content_digest
from engine.prompt import Prompt
from labels.events import key_of
from labels.exchange.files import nfc
from labels.exchange.rows import id_hash, is_hash, text_hash
from labels.exchange.trec import unescaped
from labels.records import BY_HAND, MemoryText, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

    from labels.exchange.rows import Dataset, Row

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class KnownNames:
    """Known prompts and memory texts, by every name that a file may use for them.

    *memories* are all known texts, oldest first; *present* maps the id of a memory to the digest of its present text.
    """

    def __init__(self, prompts: Iterable[Prompt], memories: Iterable[MemoryText], present: Mapping[str, str]) -> None:
        prompts, memories = list(prompts), list(memories)
        self._prompts = by(prompts, lambda prompt: (nfc(prompt.id),))
        self._prompts_by_alias = by(prompts, lambda prompt: (id_hash(prompt.id), nfc(unescaped(prompt.id))))
        self._prompts_by_text = by(prompts, lambda prompt: (normal(prompt.text), text_hash(prompt.text)))
        self._versions = by(
            memories, lambda memory: [(nfc(memory.id), memory.digest), (id_hash(memory.id), memory.digest)]
        )
        self._digests = by(memories, lambda memory: (memory.digest,))
        self._same_id = grouped((nfc(memory.id), memory) for memory in memories)
        newest = {memory.id: memory for memory in memories}
        newest |= {memory.id: memory for memory in memories if present.get(memory.id) == memory.digest}
        self._newest_by_name = by(newest.values(), names_of)

    def prompt(self, given: Prompt, *, by_text: bool, by_id_alone: bool = False) -> Prompt | None:
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
        if by_text and given.text:
            candidates.append(self._prompts_by_text.get(normal(given.text)))
        for candidate in candidates:
            if candidate and (not given.text or is_same(candidate.text, given.text)):
                return candidate
        return given if given.text and not is_hash(given.text) else None

    def memory(self, given: MemoryText) -> MemoryText | None:
        """The known text for *given*; else *given* itself, if it has an id and a text; else None.

        A digest decides, then the text; a name alone means the present text of the memory, or else its newest text.
        """
        name = nfc(given.id)
        if given.digest:
            found = self._versions.get((name, given.digest))
            found = found or (None if given.id else self._digests.get(given.digest))
        elif has_text(given):
            same = (
                known
                for known in self._same_id.get(name, ())
                if (not given.title or normal(known.title) == normal(given.title))
                and (given.body is None or is_same(known.body or "", given.body))
            )
            found = next(same, None)
        else:
            found = self._newest_by_name.get(name)
        return found or (with_digest(given) if given.id and has_text(given) else None)

    def misnamed(self, given: MemoryText, found: MemoryText | None) -> MemoryText | None:
        """The known memory that has the text of *given*, whose own id is unknown; None otherwise.

        *found* is the result of `memory` for *given*: a known text, or *given* with the digest of its text.
        """
        digest = (found or given).digest
        is_known = not given.id or (found and nfc(found.id) in self._same_id)
        return None if is_known or not digest else self._digests.get(digest)


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


def has_text(memory: MemoryText) -> bool:
    return bool(memory.title or memory.body) and not is_hash(memory.body or "")


def with_digest(memory: MemoryText) -> MemoryText:
    if memory.digest:
        return memory
    lines = tuple((memory.body or "").split("\n"))
    return memory._replace(digest=content_digest(memory.category, memory.title, memory.tags, (Section("", lines),)))


@dataclass(frozen=True)
class Matched:
    """A dataset with only known or new prompts and memories, and the names and counts of everything left out."""

    dataset: Dataset
    unknown_prompts: tuple[str, ...] = ()
    unknown_memories: tuple[str, ...] = ()
    events: int = 0
    retrievals: int = 0


class Matching:
    """The known prompt and memory text for each prompt and memory that *dataset* names, looked up once."""

    def __init__(self, dataset: Dataset, known: KnownNames) -> None:
        self.dataset, self.known = dataset, known
        self.prompts: dict[str, Prompt | None] = {}
        self.memories: dict[tuple[str, str], MemoryText | None] = {}
        self._given_prompts = {prompt.id: prompt for prompt in dataset.prompts}
        self._given_memories = {(memory.id, memory.digest): memory for memory in dataset.memories}

    @property
    def is_complete(self) -> bool:
        """Whether the file gives the full records of its prompts and memories, which only JSONL with texts does."""
        return not (self.dataset.by_text or self.dataset.redacted)

    def prompt(self, prompt_id: str) -> Prompt | None:
        if prompt_id not in self.prompts:
            given = self._given_prompts.get(prompt_id) or Prompt(prompt_id, "")
            is_own = self.is_complete and prompt_id in self._given_prompts
            found = self.known.prompt(given, by_text=self.dataset.by_text, by_id_alone=is_own)
            if is_own:
                found = replace_record(given, text=found.text) if found else given
            elif found and given.source in BY_HAND:
                found = replace_record(found, source=given.source)
            self.prompts[prompt_id] = found
        return self.prompts[prompt_id]

    def memory(self, memory_id: str, digest: str) -> MemoryText | None:
        key = memory_id, digest
        if key not in self.memories:
            given = self._given_memories.get(key) or MemoryText(*key)
            is_own = self.is_complete and key in self._given_memories and bool(digest)
            found = given if is_own else self.known.memory(given)
            if found is None and self.is_complete and memory_id and digest:
                found = given  # an older or a future text: its label waits until the text is known
            self.memories[key] = found
            if key in self.dataset.places and (other := self.known.misnamed(given, found)):
                raise ExchangeError(
                    f"{self.dataset.places[key]}, memory_id: expected {other.id!r}, whose text this is, found "
                    f"{given.id!r}. Perhaps a spreadsheet changed the id. Nothing was imported: put it back."
                )
        return self.memories[key]

    def ids(self, prompt_id: str, memory_id: str, digest: str) -> Row | None:
        """The known ids for the ids of a row, as its columns; None if the prompt or the memory is unknown."""
        prompt, memory = self.prompt(prompt_id), self.memory(memory_id, digest)
        if not prompt or not memory:
            return None
        return {"prompt_id": prompt.id, "memory_id": memory.id, "digest": memory.digest}

    def retrieved(self, given: Row) -> Row | None:
        """*given* with known ids; None if any id is unknown, because its injected set would change."""
        prompt = self.prompt(given["prompt_id"])
        found = [self.ids(given["prompt_id"], result["memory_id"], result["digest"]) for result in given["results"]]
        if prompt is None or not all(found):
            return None
        texts = [{name: ids[name] for name in ("memory_id", "digest")} for ids in found if ids]
        results = [{**result, **text} for result, text in zip(given["results"], texts, strict=True)]
        return {**given, "prompt_id": prompt.id, "results": results}


def match(dataset: Dataset, known: KnownNames) -> Matched:
    """*dataset* with the ids of *known* prompts and memories in place of the ids in the file.

    An unknown prompt or memory is taken from the file, if the file gives its text. Runs of a redacted dataset are left
    out, because the texts that they ran over are not in it.
    """
    matching = Matching(dataset, known)
    if matching.is_complete:
        for own in dataset.prompts:
            matching.prompt(own.id)
        for memory in dataset.memories:
            matching.memory(memory.id, memory.digest)
    asked = ((event, matching.ids(*key_of(event))) for event in dataset.events)
    events = tuple(event._replace(**ids) for event, ids in asked if ids)
    pooled = ((row, matching.ids(row["prompt_id"], row["memory_id"], row["digest"])) for row in dataset.pool)
    retrievals = () if dataset.redacted else tuple(filter(None, map(matching.retrieved, dataset.retrievals)))
    kept = replace(
        dataset,
        events=events,
        pool=tuple({**row, **ids} for row, ids in pooled if ids),
        plan=() if dataset.redacted else dataset.plan,
        sightings=tuple(
            {**sighting, "prompt_id": prompt.id}
            for sighting in dataset.sightings
            if (prompt := matching.prompts.get(sighting["prompt_id"]))
        ),
        runs=() if dataset.redacted else dataset.runs,
        retrievals=retrievals,
        prompts=tuple(prompt for prompt in matching.prompts.values() if prompt),
        memories=tuple(memory for memory in matching.memories.values() if memory),
    )
    return Matched(
        kept,
        unknown_prompts=tuple(name for name, prompt in matching.prompts.items() if prompt is None),
        unknown_memories=tuple(key[0] or key[1] for key, memory in matching.memories.items() if memory is None),
        events=len(dataset.events) - len(events),
        retrievals=len(dataset.retrievals) - len(retrievals),
    )
