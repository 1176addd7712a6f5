"""The rules in rules.txt of the safety scan: concepts that are dangerous together, and seldom harmless together.

No word alone is a danger. User, assistant, always, memory and session are words of ordinary notes, so they count for
nothing: a rule needs an order that goes against somebody. Each rule was taken because it found attacks in the tests'
texts that no other rule found then, and next to none of the harmless notes of the corpus.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.lean.sections import read_sections
from engine.memory import HARD_RISK, SOFT_RISK
from engine.quality.safety.lexicon import concept

ENCODED, INVISIBLE, HOMOGLYPHS = "encoded payload", "invisible or bidirectional characters", "homoglyphs"
HARD = ("role or delimiter escape", "exfiltration", "concealment", ENCODED, INVISIBLE, HOMOGLYPHS)
"""Categories that no honest note needs: text of another speaker, data sent away, secrecy, what people cannot read."""


class Looks(Record):
    """Which steps of the scan a text needs."""

    words: bool
    forms: bool
    hidden: bool

    def __bool__(self) -> bool:
        return self.words or self.forms or self.hidden


class Rule(Record):
    """Concepts in `needed` within `span` words. Each number in `needed` is one concept, or several that serve equally.

    `is_order`: the first concept is an order to the reader. What is told about somebody else is none. `is_next`: the
    others stand behind the first, as in "send the keys to".
    """

    category: str
    span: int
    reason: str
    needed: tuple[int, ...]
    is_order: bool = True
    is_next: bool = False


class Detection(Record):
    """A sign of an attack. `start` and `end` are character offsets in the scanned text."""

    category: str
    start: int
    end: int
    reason: str

    @property
    def severity(self) -> float:
        return HARD_RISK if self.category in HARD else SOFT_RISK


def _rule(category: str, line: str) -> Rule:
    """The rule in a line of rules.txt."""
    parts, _, reason = line.partition(" : ")
    kind, span, *needed = parts.split()
    concepts = tuple(concept(names, "|") for names in needed)
    return Rule(category, int(span), reason, concepts, is_order=kind != "told", is_next=kind == "next")


TABLE = tuple(_rule(category, line) for category, lines in read_sections(__file__, "rules.txt") for line in lines)

_BY_FIRST_TWO = tuple((rule.needed[0], rule.needed[1], rule) for rule in TABLE)


def possible(concepts: int) -> list[Rule]:
    """The rules that can hold where these concepts are."""
    return [
        rule
        for first, second, rule in _BY_FIRST_TWO
        if concepts & first and concepts & second and all(concepts & needed for needed in rule.needed)
    ]
