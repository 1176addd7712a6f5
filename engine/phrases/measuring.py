"""What phrases do to measures: prompts that are phrases now, and models that were tuned without them.

A search that has seen a question says nothing about other questions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engine.search.phrases import MOST_WORDS, words_of
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.cutoff import Model

LEAST_ALIKE = 0.8
"""The least share of the stems of the longer text that a prompt and a phrase have in common."""


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
