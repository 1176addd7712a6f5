"""The phrases by which memories are asked for: which of them fit prompts and count, and changes of them by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import CurationError
from engine.lean.record import Record, replace
from engine.opening import reread
from engine.phrases.file import PhraseRow, phrases_files, read_phrases
from engine.phrases.writing import DIGITS, change_phrases, place_of, select
from engine.search.phrases import LEAST_SHARED, MOST_PHRASES, MOST_WORDS, words_of
from engine.settings.roots import is_own_root
from engine.settings.sources import trust_command

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.phrases.file import PhraseReading


class AskedAs(Record):
    """A phrase of a memory. `fits`: the number of prompts that pulled the memory in and share words with the phrase.

    `counts`: whether the search uses it. Phrases of a root that nobody trusts are not used.
    """

    row: PhraseRow
    fits: int
    counts: bool


class Changed(Record):
    """Phrases that a person changed: the file, and the rows that take the change back.

    `is_reread`: whether the index file holds the change.
    """

    root: str
    path: str
    back: tuple[PhraseRow, ...]
    added: int
    removed: int
    is_reread: bool


def read_asked(
    memories: Iterable[MemorySummary], pulled: Mapping[str, Collection[str]], environ: Mapping[str, str]
) -> dict[str, tuple[AskedAs, ...]]:
    """Memory id -> its first MOST_PHRASES phrases, the earliest first.

    *pulled*: memory id -> the texts of prompts that pulled it in.
    """
    readings: dict[str, tuple[PhraseReading, bool]] = {}
    words: dict[str, Collection[str]] = {}
    found = {}
    for memory in memories:
        root = memory.root
        if root not in readings:
            readings[root] = read_phrases(root, environ), is_own_root(root, environ)
        reading, is_own = readings[root]
        if rows := reading.rows.get(memory.own.id, ()):
            texts = pulled.get(memory.id, ())
            words |= {text: words_of(text).keys() for text in texts if text not in words}
            own_file = phrases_files(root, environ)[-1]
            found[memory.id] = tuple(
                AskedAs(row, _fits(row.phrase, texts, words), is_own or row.file == own_file)
                for row in rows[:MOST_PHRASES]
            )
    return found


def _fits(phrase: str, texts: Collection[str], words: Mapping[str, Collection[str]]) -> int:
    own = words_of(phrase).keys()
    return sum(len(own & words[text]) >= LEAST_SHARED for text in texts)


def phrases_of(memory: MemorySummary, environ: Mapping[str, str]) -> list[str]:
    """The phrases of a memory as they are now, the earliest first."""
    return [row.phrase for row in read_phrases(memory.root, environ).rows.get(memory.own.id, ())]


def place_for_new(root: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The file to which new phrases of *root* go, and a sentence if they do not count there; empty if they do."""
    path = place_of(root, environ)
    counts = path == phrases_files(root, environ)[-1] or is_own_root(root, environ)
    return path, "" if counts else f"It does not count until you trust these memories: {trust_command(root)}"


def as_phrase(prompt: str) -> str:
    """The beginning of a prompt that can be a phrase."""
    return " ".join(prompt.split()[:MOST_WORDS])


def require_phrases(memory: MemorySummary, texts: Sequence[str]) -> None:
    """Raise CurationError for the first of *texts* that cannot be a phrase of *memory*, and for too many of them."""
    for text in texts:
        if said := select([text], memory.title)[1]:
            raise CurationError(f"“{text[:80]}”: {memory.id} {said[0]}.")
    if len({*texts}) > MOST_PHRASES:
        raise CurationError(f"{memory.id} has {len({*texts})} phrases. A memory has at most {MOST_PHRASES}.")


def change_asked(
    memory: MemorySummary, add: Sequence[str], remove: Sequence[str], by: str, environ: Mapping[str, str]
) -> Changed:
    """Add and remove phrases of *memory*. The phrases that stay are for its present text from then on.

    Raises CurationError, before anything is written.
    """
    own, digest = memory.own, memory.digest[:DIGITS]
    back: list[PhraseRow] = []
    counts = [0, 0]

    def make(reading: PhraseReading) -> list[PhraseRow]:
        known = {row.phrase: row for row in reading.rows.get(own.id, ())}
        kept = [phrase for phrase in known if phrase not in remove]
        new = [text for text in select(add, memory.title)[0] if text not in kept]
        require_phrases(memory, [*kept, *new])
        made = [replace(known[phrase], is_removed=True) for phrase in remove if phrase in known]
        made += [replace(known[phrase], digest=digest) for phrase in kept if known[phrase].digest != digest]
        made += [PhraseRow(own.id, phrase, digest, by, "") for phrase in new]
        back[:] = [known.get(row.phrase) or replace(row, is_removed=True) for row in made]
        counts[:] = len(new), sum(phrase in known for phrase in remove)
        return made

    path = change_phrases(own.root, environ, make)
    added, removed = counts
    return Changed(own.root, path, tuple(back), added, removed, reread(own.root, environ))


def take_back(changed: Changed, environ: Mapping[str, str]) -> Changed:
    """Let the phrases be as before a change. Raises CurationError."""
    change_phrases(changed.root, environ, lambda _: list(changed.back))
    return replace(changed, back=(), is_reread=reread(changed.root, environ))
