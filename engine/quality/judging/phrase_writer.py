"""A model writes the phrases by which memories are asked for: several memories in a call, and never an exception."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.judge.answer import UnreadableAnswerError, objects, read_part
from engine.judge.judge import AnswerForm, Asker
from engine.judge.prompts import object_schema
from engine.judge.provider import Question
from engine.lean.record import Record
from engine.lean.sections import text_beside
from engine.lean.sha256 import hex_digest
from engine.phrases.writing import is_old
from engine.quality.decisions import decisions, find_undecided
from engine.quality.judging.judge import CostEstimate
from engine.quality.judging.rubric import request_text
from engine.quality.registry import CheckedRoot, findings
from engine.stores.roots import read_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.judge.provider import Completion
    from engine.judge.verdict import CallOutcome, Judgement
    from engine.memory import Memory
    from engine.phrases.file import PhraseReading
    from engine.search.index import Index

TOGETHER, MOST_BYTES = 5, 24_000
"""Memories in a call, and bytes of them. A single memory has at most 6,000 characters of text."""

USUAL_ANSWER, MAX_TOKENS = 130, 400
"""Tokens of an answer about a memory."""

_MEMORY = '<memory index="{index}">\n{memory}\n</memory>\n'
SYSTEM = text_beside(__file__, "instructions/phrases.md")
PHRASES = object_schema(index={"type": "integer"}, phrases={"type": "array", "items": {"type": "string"}})
SCHEMA = object_schema(memories={"type": "array", "items": PHRASES})
TEMPLATE_HASH = hex_digest("\0".join((SYSTEM, _MEMORY)))[:16]

NO_PHRASES, OLD = "none", "old"
HELD_BACK = "the safety scan holds it back: look at it with memsift quality list"


class LackingMemories(Record):
    """The active memories of a root that lack phrases: `state` is NO_PHRASES or OLD by id.

    `left_out`: id -> why no model gets this memory. These are not in `memories`. `active` counts all.
    """

    active: int
    memories: tuple[Memory, ...]
    state: Mapping[str, str]
    left_out: Mapping[str, str]


class WrittenPhrases(Record):
    """The phrases that a model wrote for memories: values of JSON for each of them, empty without an answer."""

    memories: tuple[Memory, ...]
    judgement: Judgement
    phrases: tuple[tuple[object, ...], ...]


def find_lacking(index: Index, reading: PhraseReading, max_risk: float, environ: Mapping[str, str]) -> LackingMemories:
    """The memories of the root of *index* that lack phrases. *max_risk*: of a memory that the scan holds back.

    A secret that the person dismissed is none; what a file in the root dismisses is one. Raises RootError,
    DecisionsError and MissingLibraryError.
    """
    active = [memory for memory in read_corpus(index.root).memories if memory.summary.status == "active"]
    state = {}
    for memory in active:
        rows = reading.rows.get(memory.summary.id, ())
        if is_old(rows, memory.summary.digest):
            state[memory.summary.id] = OLD if rows else NO_PHRASES
    lacking = [memory for memory in active if memory.summary.id in state]
    subject = CheckedRoot(index.root, tuple(lacking))
    left_out = {
        finding.memory_id: f"it {finding.reason}"
        for finding in findings(subject, {"secrets"}, decisions(index.root, environ))
    }
    risky = find_undecided(index, max_risk, environ) if lacking else []
    left_out |= {memory.id: HELD_BACK for memory, _ in risky if memory.id in state and not index.is_accepted(memory)}
    sent = tuple(memory for memory in lacking if memory.summary.id not in left_out)
    return LackingMemories(len(active), sent, state, left_out)


def batches_of(memories: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    """*memories* in groups, each for one call."""
    made: list[tuple[Memory, ...]] = []
    size = MOST_BYTES
    for memory in memories:
        own = len(request_text(memory).encode("utf-8", "replace"))
        if not made or len(made[-1]) == TOGETHER or size + own > MOST_BYTES:
            made.append(())
            size = 0
        made[-1] = (*made[-1], memory)
        size += own
    return made


class PhraseWriter(Asker):
    """Asks for phrases of memories: see `Asker`."""

    @property
    def identity(self) -> tuple[str, str, str]:
        """(provider, model, template hash)."""
        return self._provider.name, self._provider.model, TEMPLATE_HASH

    def estimate(self, batches: Sequence[Sequence[Memory]]) -> CostEstimate:
        """The cost of *batches*, before any is asked about."""
        asked = ((len(batch), self._question(batch), self._form(batch), _about(batch)) for batch in batches)
        return CostEstimate(sum(map(len, batches)), 0, *self._costs(asked, USUAL_ANSWER))

    def evaluate(self, batch: Sequence[Memory]) -> WrittenPhrases:
        """The phrases for *batch*. Never raises: an error becomes the judgement's status and detail."""
        found: list[tuple[tuple[object, ...], ...]] = []

        def sampled(sample: int) -> CallOutcome:
            outcome, phrases = self._asked(
                lambda: self._question(batch), self._form(batch), _about(batch), sample, self._timeout_s
            )
            found.extend([phrases] if phrases else [])
            return outcome

        judgement = self._judgement([memory.summary for memory in batch], TEMPLATE_HASH, "", sampled)
        return WrittenPhrases(tuple(batch), judgement, found[0] if found else tuple(() for _ in batch))

    def _question(self, batch: Sequence[Memory]) -> Question:
        parts = (_MEMORY.format(index=index, memory=request_text(memory)) for index, memory in enumerate(batch))
        return self._limited(Question(SYSTEM, "".join(parts), SCHEMA, MAX_TOKENS * len(batch)))

    def _form(self, batch: Sequence[Memory]) -> AnswerForm:
        def read(completion: Completion) -> tuple[tuple[object, ...], ...]:
            return read_written(completion.text, len(batch), self._provider.hide)

        return AnswerForm("phrases", read, json.dumps, lambda text: _of_text(text, len(batch)))


def read_written(text: str, count: int, hide: Any = str) -> tuple[tuple[object, ...], ...]:
    """The phrases in an answer for each of *count* memories: the last object with phrases for one of them.

    *hide* takes the secrets out of a phrase. Raises UnreadableAnswerError.
    """
    for answer in reversed([*objects(read_part(text), "memories", list)]):
        if entries := dict(_entries(answer["memories"], count)):
            return tuple(
                tuple(hide(value) if isinstance(value, str) else value for value in entries.get(index, ()))
                for index in range(count)
            )
    raise UnreadableAnswerError("no phrases in the answer")


def _entries(answer: Sequence[object], count: int) -> Iterator[tuple[int, list[object]]]:
    for entry in answer:
        if isinstance(entry, dict) and isinstance(entry.get("phrases"), list):
            index = entry.get("index")
            if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count:
                yield index, entry["phrases"]


def _of_text(text: str, count: int) -> tuple[tuple[object, ...], ...] | None:
    """The phrases of *count* memories in a text of the cache; None for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_whole = isinstance(found, list) and len(found) == count and all(isinstance(own, list) for own in found)
    return tuple(map(tuple, found)) if is_whole else None


def _about(batch: Sequence[Memory]) -> tuple[str, list[str]]:
    return TEMPLATE_HASH, [memory.summary.digest for memory in batch]
