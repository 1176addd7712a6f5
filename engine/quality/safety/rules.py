"""The rules of the safety scan: concepts that are dangerous together, and seldom harmless together.

No word alone is a danger. User, assistant, always, memory and session are words of ordinary notes, so they count for
nothing: a rule needs an order that goes against somebody. Each rule was kept because it finds attacks of the first half
of the tests' texts that no other rule finds, and next to none of the harmless notes of the corpus.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.memory import HARD_RISK, SOFT_RISK
from engine.quality.safety.lexicon import (
    ACTIONS,
    ADVISE,
    ALL,
    ALWAYS,
    APPROVED,
    ASKED,
    CANCEL,
    CHANGE,
    COVER,
    DANGER,
    DECODE,
    EXACT,
    FREE,
    GOODS,
    HIDE,
    MEMORY,
    NEW,
    OBEY,
    OUTSIDE,
    OVERRIDE,
    PRIOR,
    REVEAL,
    ROLE,
    RULES,
    RUN,
    SAFETY,
    SECRET,
    SEND,
    SKIP,
    STEAL,
    SYSTEM,
    TASK,
    THIS,
    TOLD,
    UNASKED,
    URGENT,
    USER,
    WISH,
    YOU,
)

OVERRIDING, ROLE_ESCAPE, POISONING, EXFILTRATION, CONCEALMENT, TOOLS, ENCODED, INVISIBLE, HOMOGLYPHS = CATEGORIES = (
    "instruction override",
    "role or delimiter escape",
    "memory poisoning",
    "exfiltration",
    "concealment",
    "tool abuse",
    "encoded payload",
    "invisible or bidirectional characters",
    "homoglyphs",
)

HARD = frozenset((ROLE_ESCAPE, EXFILTRATION, CONCEALMENT, ENCODED, INVISIBLE, HOMOGLYPHS))
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


def _rule(category: str, span: int, reason: str, *needed: int) -> Rule:
    return Rule(category, span, reason, needed)


def _told(category: str, span: int, reason: str, *needed: int) -> Rule:
    return Rule(category, span, reason, needed, is_order=False)


def _next(category: str, span: int, reason: str, *needed: int) -> Rule:
    return Rule(category, span, reason, needed, is_next=True)


READERS_RULES = RULES | SYSTEM

TABLE = (
    _rule(OVERRIDING, 9, "asks to ignore earlier instructions", OVERRIDE, READERS_RULES, PRIOR | TOLD | YOU | ALL),
    _rule(OVERRIDING, 7, "asks to ignore the system prompt", OVERRIDE, SYSTEM),
    _rule(OVERRIDING, 8, "asks to forget everything before", OVERRIDE, ALL | TASK, PRIOR | TOLD, YOU),
    _rule(OVERRIDING, 6, "asks to ignore the user", OVERRIDE, WISH),
    _rule(OVERRIDING, 12, "asks to obey another text", OVERRIDE, OBEY, THIS | PRIOR | YOU | RULES),
    _rule(OVERRIDING, 12, "asks to obey another text", OVERRIDE, NEW, RULES | TASK, THIS | PRIOR),
    _told(OVERRIDING, 12, "asks to obey another text", OBEY, SYSTEM, THIS | ALL),
    _rule(OVERRIDING, 7, "asks to lift the reader's rules", CANCEL, READERS_RULES, YOU),
    _told(OVERRIDING, 8, "says that earlier instructions are cancelled", CANCEL, SYSTEM, ALL | PRIOR | NEW),
    _told(OVERRIDING, 9, "says that earlier instructions are cancelled", CANCEL, RULES, PRIOR, OBEY | ALWAYS | NEW),
    _told(OVERRIDING, 12, "sets other rules for the reader", NEW, RULES | TASK, YOU, ALWAYS | OBEY | CANCEL),
    _rule(OVERRIDING, 8, "asks for the system prompt", REVEAL, SYSTEM),
    _rule(OVERRIDING, 8, "asks for the system prompt", CHANGE, EXACT, SYSTEM),
    _rule(OVERRIDING, 8, "asks for the reader's instructions", REVEAL, RULES, TOLD | EXACT, YOU),
    _rule(OVERRIDING, 9, "asks for everything above", REVEAL, EXACT, ALL | SYSTEM | RULES | PRIOR),
    _told(OVERRIDING, 14, "gives the reader a role without rules", ROLE, FREE),
    _told(OVERRIDING, 9, "says that the reader has no rules", FREE, YOU),
    _told(OVERRIDING, 9, "asks to answer without rules", ADVISE, FREE),
    _told(OVERRIDING, 12, "says that safety rules are off", CANCEL, SAFETY, RULES, YOU | ADVISE | NEW),
    _rule(OVERRIDING, 8, "asks to decode a text and obey it", DECODE, OBEY),
    _next(EXFILTRATION, 16, "sends secrets outside", SEND, SECRET, OUTSIDE),
    _rule(EXFILTRATION, 16, "sends secrets outside", STEAL, SECRET, OUTSIDE),
    _next(EXFILTRATION, 14, "hides that secrets are sent", SEND | CHANGE, SECRET, COVER),
    _rule(EXFILTRATION, 12, "asks for secrets in an answer", CHANGE | REVEAL | SEND, SECRET, ADVISE, YOU | ALWAYS),
    _told(EXFILTRATION, 12, "says that data may go outside", APPROVED, SEND, OUTSIDE, USER | ALL),
    _rule(CONCEALMENT, 16, "orders something and hides it", CHANGE | RUN | SKIP | SEND | ADVISE | CANCEL | OBEY, COVER),
    _told(CONCEALMENT, 8, "asks to hide something from the user", COVER, USER | THIS),
    _told(CONCEALMENT, 14, "plants a hidden memory", MEMORY, COVER),
    _told(POISONING, 12, "says that permission was given for everything", APPROVED, ACTIONS, USER | ALL | UNASKED),
    _rule(
        POISONING,
        14,
        "says that permission need not be asked",
        ACTIONS | RUN | APPROVED,
        UNASKED,
        ALL | APPROVED | ALWAYS,
    ),
    _told(POISONING, 14, "says that checks are to be skipped", SKIP, ACTIONS, YOU | APPROVED),
    _rule(POISONING, 14, "plants a lasting order to obey a text", OBEY, RULES | ACTIONS | TASK, OUTSIDE),
    _rule(POISONING, 16, "plants a lasting answer", ADVISE, ALWAYS, OUTSIDE, ASKED | ALL),
    _rule(TOOLS, 14, "orders a dangerous command without asking", DANGER, UNASKED | HIDE, RUN | ALWAYS | YOU | THIS),
    _rule(TOOLS, 12, "switches protections off", CANCEL | SKIP, ACTIONS | SAFETY, UNASKED),
    _rule(TOOLS, 12, "orders a dangerous command for each time", RUN, DANGER, ALWAYS),
    _next(TOOLS, 9, "orders to run what a page says", RUN | OBEY, ACTIONS | RULES | THIS, OUTSIDE, ALWAYS | YOU),
    _rule(TOOLS, 9, "orders to delete data", RUN, ALL, GOODS, ALWAYS | ASKED | URGENT),
)

_BY_FIRST_TWO = tuple((rule.needed[0], rule.needed[1], rule) for rule in TABLE)


def possible(concepts: int) -> list[Rule]:
    """The rules that can hold where these concepts are."""
    return [
        rule
        for first, second, rule in _BY_FIRST_TWO
        if concepts & first and concepts & second and all(concepts & needed for needed in rule.needed)
    ]
