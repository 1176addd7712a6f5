"""Pairs of memories that say nearly the same.

Pairs are found by terms that are rare in the root: two memories are compared if they share enough of these. A pair is
for a person to decide on. Two texts in the same words may still differ in a number, a name or a "not". Such pairs are
left out or weigh less.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

from rapidfuzz import fuzz  # its submodules import each other: two threads that load one each would fail

from engine.lean.record import Record
from engine.quality.registry import WORDS, Finding
from engine.search.commonness import STOP_WORDS
from engine.search.stems import stem
from engine.search.tokens import GAP, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from engine.memory import Memory
    from engine.quality.registry import CheckedRoot

RAREST, MOST_HOLDERS = 14, 40
"""Terms of a memory by which others are found. Of more holders of a term, each is compared with its neighbour in the
alphabet: so many copies of one note are found, each once."""

LEAST_SHARED = 3
LEAST_LIKENESS, LEAST_BY_WORDS = 0.60, 0.2
EXACT = 0.97
BRIEF = 6
"""Stems of a text so brief that its one other word makes it another fact: "no voice" and "no crossover cards"."""
FACT = re.compile(
    r"`[^`\n]+`|\b[A-Za-z]*\d[\w.:-]*|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][A-Z0-9_]{1,}\b"
)
"""What two memories that are about different things differ in: numbers, versions, and names in code."""

OPPOSITES = frozenset(" ".join(WORDS["opposites"]).split())
DIFFERENT_FACTS, OPPOSITE = 0.55, 0.7
"""Factors of the likeness of two memories with different facts, or with different words of OPPOSITES."""


class ComparedText(Record):
    """A memory as it is compared: its stems, its facts, its words of OPPOSITES and its plain text."""

    memory: Memory
    stems: frozenset[str]
    facts: frozenset[str]
    opposites: frozenset[str]
    plain: str


def find_duplicates(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each memory that says nearly the same as a newer one, at the newest of the most alike.

    `memory_id` is the newer memory, `others` has the older one.
    """
    stem_of = cache(stem)
    texts = [_text(memory, stem_of) for memory in subject.active]
    holders = Counter(word for text in texts for word in text.stems)
    weights = {word: log(1 + len(texts) / count) for word, count in holders.items()}
    sizes = [_sum(text.stems, weights) for text in texts]
    best: dict[int, tuple[float, tuple[str, str], int]] = {}
    for pair in sorted(_pairs(texts, weights)):
        first, second = pair
        likeness = _likeness(texts[first], texts[second], weights, (sizes[first], sizes[second]))
        if likeness < LEAST_LIKENESS:
            continue
        older, newer = sorted(pair, key=lambda number: _age(texts[number].memory))
        found = (round(likeness, 2), _age(texts[newer].memory), newer)
        best[older] = max(found, best.get(older, found))
    for older, (likeness, _, newer) in best.items():
        memory_id, other = texts[newer].memory.summary.id, texts[older].memory.summary.id
        reason = f"says nearly the same as {other} (likeness {likeness:.2f})"
        action = f"Compare them: memsift show {memory_id}, memsift show {other}. Then memsift merge {memory_id} {other}"
        yield Finding("duplicates", memory_id, likeness, reason, action, others=(other,))


def _age(memory: Memory) -> tuple[str, str]:
    """The order of memories by their last change."""
    return memory.summary.updated_at, memory.summary.path


def _text(memory: Memory, stem_of: Callable[[str], str]) -> ComparedText:
    whole = f"{memory.summary.title}\n{memory.body}"
    words = [word for word in tokens(whole) if word != GAP and word not in STOP_WORDS]
    facts = frozenset(match[0].strip("`").lower().rstrip(".:-") for match in FACT.finditer(whole))
    spoken = frozenset(whole.lower().split()) & OPPOSITES
    return ComparedText(memory, frozenset(map(stem_of, words)), facts, spoken, " ".join(words))


def _pairs(texts: Sequence[ComparedText], weights: Mapping[str, float]) -> set[tuple[int, int]]:
    """The numbers of memories that share at least LEAST_SHARED of their rarest stems, or all of a short text."""
    holding: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in sorted(text.stems, key=lambda word: (-weights[word], word))[:RAREST]:
            holding[word].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in holding.values():
        if len(numbers) <= MOST_HOLDERS:
            shared.update((a, b) for place, a in enumerate(numbers) for b in numbers[place + 1 :])
        else:
            ordered = sorted(numbers, key=lambda number: texts[number].plain)
            shared.update((min(pair), max(pair)) for pair in pairwise(ordered))
    return {
        (first, second)
        for (first, second), count in shared.items()
        if count >= min(LEAST_SHARED, len(texts[first].stems), len(texts[second].stems))
    }


def _likeness(
    first: ComparedText, second: ComparedText, weights: Mapping[str, float], sizes: tuple[float, float]
) -> float:
    """How alike two memories are, 0..1: the mean of three measures. *sizes*: the weights of all their words.

    Two are the weight of their common words: as a part of all words, and of the shorter memory's words. The third is
    the likeness of their texts.
    """
    common = _sum(first.stems & second.stems, weights)
    by_words = common / ((sum(sizes) - common) or 1.0)
    inside = common / (min(sizes) or 1.0)
    if by_words < LEAST_BY_WORDS or by_words + inside + 1 < 3 * LEAST_LIKENESS:
        return 0.0
    likeness = (by_words + inside + fuzz.token_set_ratio(first.plain, second.plain) / 100) / 3
    if likeness >= EXACT and first.facts == second.facts:
        return likeness
    own = first.stems - second.stems, second.stems - first.stems
    is_brief = min(len(first.stems), len(second.stems)) < BRIEF and all(own)
    if is_brief or (first.facts - second.facts and second.facts - first.facts):
        likeness *= DIFFERENT_FACTS
    if first.opposites != second.opposites:
        likeness *= OPPOSITE
    return likeness


def _sum(stems: Iterable[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in stems)
