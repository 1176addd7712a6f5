"""What phrases are worth, and what they do to measures: prompts that are phrases now, models tuned without them.

A search that has seen a question says nothing about other questions.

Phrases that say nothing find many memories alike (Doc2Query--, M. Gospodinov et al. 2023).
Each phrase is searched as a prompt, among all phrases, its own included. Measured on 13 roots with 4,796 phrases that a
model wrote: 224 say nothing by the bounds below, 184 of them in a root of 117 rules that are much alike. Where such a
phrase found a memory, it was useful in 4 of 23 cases; in 36 % with other phrases. Twelve phrases of a common kind, at
six memories of each root: 899 of 936 are found. At a single memory such a phrase is not found, and costs nothing: a
prompt must share two words with it. Without the 224 phrases no number of the search changes by .01, so they count.
To leave a phrase out of its own search is no measure: a third of good phrases share too few words with their memory.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from engine.config import AUTO
from engine.lean.record import Record
from engine.memory import Corpus
from engine.prompt import Prompt
from engine.search.index import index_in_memory
from engine.search.phrases import MOST_WORDS, words_of
from engine.search.strategies.memsift import Strengths, find
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.cutoff import Model
    from engine.memory import Memory
    from engine.search.postings import Postings

LEAST_ALIKE = 0.8
"""The least share of the stems of the longer text that a prompt and a phrase have in common."""

NEAR, MANY = 0.5, 5
"""A phrase says nothing if MANY other memories have at least the share NEAR of the strength of its own."""

FIRST = 3
"""It also says nothing if its own memory is not among so many."""

SEARCHED = 20


def find_phrased(prompts: Mapping[str, str], phrases: Iterable[str]) -> frozenset[str]:
    """The ids of the *prompts* (id -> text) that are one of *phrases*, or nearly.

    They are, if they share LEAST_ALIKE of the stems of the longer text. So a phrase inside of a long prompt is another
    question, and a long phrase is no copy of a short prompt. Of both, the words count that the index reads of a phrase:
    a text of stop words alone is none.
    """
    sizes: list[int] = []
    holders: dict[str, list[int]] = {}
    for number, phrase in enumerate(dict.fromkeys(phrases)):
        names = _names(phrase)
        sizes.append(len(names))
        for name in names:
            holders.setdefault(name, []).append(number)
    found = set()
    for prompt_id, text in prompts.items() if sizes else ():
        names = _names(text)
        shared = Counter(number for name in names for number in holders.get(name, ()))
        if any(count >= LEAST_ALIKE * max(len(names), sizes[number]) for number, count in shared.items()):
            found.add(prompt_id)
    return frozenset(found)


def _names(text: str) -> set[str]:
    return {*words_of(" ".join(text.split()[:MOST_WORDS]))}


def phrased_line(number: int, missed: int = 0) -> tuple[str, ...]:
    """The number of prompts that are left out because they are phrases now, in a sentence; none for 0.

    *missed* of them need a memory.
    """
    are = "it is a phrase" if number == 1 else "they are phrases"
    need = f"; {missed:,} in need {'counts' if missed == 1 else 'count'} as not served" if missed else ""
    return (f"{counted(number, 'prompt')} left out: {are} now{need}.",) if number else ()


def fit_difference(model: Model, *, has_phrases: bool) -> str:
    """How a tuned model differs from a root with or without phrases, in words that follow the model; else empty.

    It is used all the same. A model of memsift 1.0 was tuned without phrases.
    """
    if model.has_phrases == has_phrases:
        return ""
    if has_phrases:
        return "was tuned without phrases, and the root has some now"
    return "was tuned with phrases, and the root has none that count"


class VaguePhrase(Record):
    """A phrase that says nothing: `others` memories come at least NEAR as strong, at most SEARCHED are looked at.

    `rank` is that of its own memory, from 1, the best of equals; 0 if it is not found.
    """

    memory_id: str
    phrase: str
    rank: int
    others: int


def find_vague(memories: Sequence[Memory], phrases: Mapping[str, Sequence[str]]) -> Iterator[VaguePhrase]:
    """The phrases of *memories* that say nothing. *phrases*: memory id -> phrases. A search takes about 2 ms."""

    def no_risk(_: Memory) -> float:
        return 0.0

    corpus = Corpus("", tuple(memories))
    with closing(index_in_memory(corpus, no_risk, no_risk, "fts5", lambda _: False, phrases)) as index:
        for memory_id in (memory.summary.id for memory in memories if index.has_fts5):
            for phrase in phrases.get(memory_id, ()):
                found = index.look(partial(_strengths_of, phrase))
                own = found.pop(memory_id, 0.0)
                rank = 1 + sum(strength > own for strength in found.values()) if own else 0
                others = sum(strength >= NEAR * own for strength in found.values())
                if others >= MANY or not 0 < rank <= FIRST:
                    yield VaguePhrase(memory_id, phrase, rank, others)


def _strengths_of(phrase: str, postings: Postings) -> dict[str, float]:
    """Memory id -> strength, of the strongest."""
    pool = find(Strengths.of(postings, Prompt("", phrase), AUTO, has_phrases=True), SEARCHED, include_retired=False)
    return {one.memory.id: -one.score for one in pool.memories}
