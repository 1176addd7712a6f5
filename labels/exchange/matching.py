"""Which prompt and memory of ours a file means."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from engine.errors import ExchangeError
from engine.lean.record import replace as replace_record
from engine.memory import Section, content_digest
from engine.prompt import Prompt
from labels.exchange.escaping import plain
from labels.exchange.records import MemoryText
from labels.exchange.redaction import hidden, is_hash, text_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from labels.exchange.records import Dataset, Framed, LabelEvent, PairKey, Result, Retrieved

K = TypeVar("K")
V = TypeVar("V")
Row = TypeVar("Row", "LabelEvent", "Framed")


class Known:
    """The prompts and memory texts that labels may be about, by every name that a file may give them.

    *memories* are all texts there are, oldest first; *present* maps the id of a memory to the digest of its text of
    today.
    """

    def __init__(self, prompts: Iterable[Prompt], memories: Iterable[MemoryText], present: Mapping[str, str]) -> None:
        prompts, memories = list(prompts), list(memories)
        newest = {memory.id: memory for memory in memories}
        newest |= {memory.id: memory for memory in memories if present.get(memory.id) == memory.digest}
        self._prompts = by(prompts, lambda prompt: prompt.id)
        self._hidden_prompts = by(prompts, lambda prompt: hidden(prompt.id))
        self._plain_prompts = by(prompts, lambda prompt: plain(prompt.id))
        self._texts = by(prompts, lambda prompt: normal(prompt.text))
        self._hashes = by(prompts, lambda prompt: text_hash(prompt.text))
        self._versions = by(memories, lambda memory: (memory.id, memory.digest))
        self._hidden_versions = by(memories, lambda memory: (hidden(memory.id), memory.digest))
        self._digests = by(memories, lambda memory: memory.digest)
        self._same_id: dict[str, list[MemoryText]] = {}
        for memory in memories:
            self._same_id.setdefault(memory.id, []).append(memory)
        names = (lambda each: each.id, lambda each: plain(each.id), lambda each: hidden(each.id), path_of, stem)
        self._names = [by(newest.values(), name) for name in names]

    def prompt(self, given: Prompt, *, by_text: bool, by_id_alone: bool = False) -> Prompt | None:
        """The known prompt that is meant, or *given* itself if it is new and has a text; else None.

        Raises ExchangeError for one that has a known id and another text.
        """
        found = self._prompts.get(given.id)
        if found and given.text and not is_same(found.text, given.text):
            raise ExchangeError(
                f"The prompt {found.id!r} is known with another text, so its labels would be about something else. "
                "Nothing was imported. Give one of the two prompts another id."
            )
        if found or by_id_alone:
            return found
        meant = [self._hidden_prompts.get(given.id), self._plain_prompts.get(given.id)]
        if by_text and given.text:
            meant += [self._texts.get(normal(given.text)), self._hashes.get(given.text)]
        found = next((each for each in meant if each and (not given.text or is_same(each.text, given.text))), None)
        return found or (given if given.text and not is_hash(given.text) else None)

    def memory(self, given: MemoryText) -> MemoryText | None:
        """The known text that is meant, or *given* itself if it is new and has a text; else None."""
        if given.digest:
            key = given.id, given.digest
            found = self._versions.get(key) or self._hidden_versions.get(key)
            found = found or (None if given.id else self._digests.get(given.digest))
        elif has_text(given):
            found = next((each for each in self._same_id.get(given.id, []) if is_same_memory(each, given)), None)
        else:
            found = next((names[given.id] for names in self._names if given.id in names), None)
        return found or (with_digest(given) if given.id and has_text(given) else None)


def by(values: Iterable[V], key: Callable[[V], K]) -> dict[K, V]:
    """The first value of each key."""
    found: dict[K, V] = {}
    for value in values:
        found.setdefault(key(value), value)
    return found


def path_of(memory: MemoryText) -> str:
    return memory.path or memory.id


def stem(memory: MemoryText) -> str:
    """The file's name without folder and ending: how notes are named in many places."""
    return os.path.splitext(os.path.basename(path_of(memory)))[0]  # noqa: PTH119, PTH122 - it is a name, not a file


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def is_same(known: str, given: str) -> bool:
    return text_hash(known) == given if is_hash(given) else normal(known) == normal(given)


def has_text(memory: MemoryText) -> bool:
    return bool(memory.title or memory.body) and not is_hash(memory.body or "")


def is_same_memory(known: MemoryText, given: MemoryText) -> bool:
    same_title = not given.title or normal(known.title) == normal(given.title)
    return same_title and (given.body is None or is_same(known.body or "", given.body))


def with_digest(memory: MemoryText) -> MemoryText:
    if memory.digest:
        return memory
    lines = tuple((memory.body or "").split("\n"))
    return replace(memory, digest=content_digest(memory.category, memory.title, memory.tags, (Section("", lines),)))


@dataclass(frozen=True)
class Matched:
    """A dataset about known or new prompts and memories only, and what was left out because it is about neither."""

    dataset: Dataset
    unknown_prompts: tuple[str, ...] = ()
    unknown_memories: tuple[str, ...] = ()
    events: int = 0
    retrievals: int = 0


@dataclass
class Matching:
    """Each prompt and memory of *dataset* looked up once."""

    dataset: Dataset
    known: Known
    prompts: dict[str, Prompt | None] = field(default_factory=dict)
    memories: dict[tuple[str, str], MemoryText | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._given_prompts = {prompt.id: prompt for prompt in self.dataset.prompts}
        self._given_memories = {(memory.id, memory.digest): memory for memory in self.dataset.memories}

    @property
    def is_ours(self) -> bool:
        """Whether what the file says beside a text, such as where a prompt was typed, is worth keeping."""
        return not (self.dataset.by_text or self.dataset.redacted)

    def prompt(self, prompt_id: str) -> Prompt | None:
        if prompt_id not in self.prompts:
            given = self._given_prompts.get(prompt_id) or Prompt(prompt_id, "")
            is_own = self.is_ours and prompt_id in self._given_prompts
            found = self.known.prompt(given, by_text=self.dataset.by_text, by_id_alone=is_own)
            if is_own:
                found = replace_record(given, text=found.text) if found else given
            self.prompts[prompt_id] = found
        return self.prompts[prompt_id]

    def memory(self, memory_id: str, digest: str) -> MemoryText | None:
        key = memory_id, digest
        if key not in self.memories:
            given = self._given_memories.get(key) or MemoryText(*key)
            found = self.known.memory(given)
            is_own = self.is_ours and key in self._given_memories and bool(digest)
            self.memories[key] = given if is_own else found
        return self.memories[key]

    def about(self, prompt_id: str, memory_id: str, digest: str) -> PairKey | None:
        """The ids that a row is to have, None if it is about something unknown."""
        prompt, memory = self.prompt(prompt_id), self.memory(memory_id, digest)
        return (prompt.id, memory.id, memory.digest) if prompt and memory else None

    def everything(self) -> None:
        """Look up also what no row is about."""
        for prompt in self.dataset.prompts:
            self.prompt(prompt.id)
        for memory in self.dataset.memories:
            self.memory(memory.id, memory.digest)

    def retrieved(self, given: Retrieved) -> Retrieved | None:
        """With a result missing it would be another injected set, so then there is none."""
        prompt = self.prompt(given.prompt_id)
        results = [self.result(given.prompt_id, result) for result in given.results]
        if prompt is None or not all(results):
            return None
        return replace(given, prompt_id=prompt.id, results=tuple(result for result in results if result))

    def result(self, prompt_id: str, result: Result) -> Result | None:
        about = self.about(prompt_id, result.memory_id, result.digest)
        return replace(result, memory_id=about[1], digest=about[2]) if about else None


def moved(row: Row, about: PairKey) -> Row:
    prompt_id, memory_id, digest = about
    return replace(row, prompt_id=prompt_id, memory_id=memory_id, digest=digest)


def match(dataset: Dataset, known: Known) -> Matched:
    """*dataset* with the ids of what is *known* in place of the file's.

    A prompt or memory that is not known is taken as the file gives it, if it gives a text. Runs of a redacted dataset
    are left out: what they ran on is not in it.
    """
    matching = Matching(dataset, known)
    if matching.is_ours:
        matching.everything()
    events = [(event, matching.about(*event.pair)) for event in dataset.events]
    framed = [(each, matching.about(*each.pair)) for each in dataset.frame]
    retrievals = [] if dataset.redacted else [matching.retrieved(each) for each in dataset.retrievals]
    kept = replace(
        dataset,
        events=tuple(moved(event, about) for event, about in events if about),
        frame=tuple(moved(each, about) for each, about in framed if about),
        plan=() if dataset.redacted else dataset.plan,
        sightings=tuple(
            replace(each, prompt_id=prompt.id)
            for each in dataset.sightings
            if (prompt := matching.prompts.get(each.prompt_id))
        ),
        runs=() if dataset.redacted else dataset.runs,
        retrievals=tuple(each for each in retrievals if each),
        prompts=tuple(prompt for prompt in matching.prompts.values() if prompt),
        memories=tuple(memory for memory in matching.memories.values() if memory),
    )
    return Matched(
        kept,
        unknown_prompts=tuple(name for name, prompt in matching.prompts.items() if prompt is None),
        unknown_memories=tuple(key[0] or key[1] for key, memory in matching.memories.items() if memory is None),
        events=len(events) - len(kept.events),
        retrievals=len(dataset.retrievals) - len(kept.retrievals),
    )
