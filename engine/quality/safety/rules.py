"""The rules of the safety scan: concepts that are dangerous together, and seldom harmless together.

No word alone is a danger. A rule asks for several concepts close to each other, the first of them is its core. Severity
is the probability, 0..1, that a text in which the rule holds is an attack.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.quality.safety.lexicon import (
    ACTIONS,
    ADVISE,
    ALL,
    ALWAYS,
    APPROVED,
    ASKED,
    ASSISTANT,
    CANCEL,
    CHANGE,
    CONSENT,
    COVER,
    DANGER,
    DECODE,
    EXACT,
    FREE,
    GOODS,
    HIDE,
    MEMORY,
    NEW,
    NOT,
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
    TELL,
    THIS,
    TOLD,
    URGENT,
    USER,
    WISH,
    WITHOUT,
    YOU,
)

OVERRIDING, ROLE_ESCAPE, POISONING, EXFILTRATION, TOOLS, ENCODED, INVISIBLE, HOMOGLYPHS = CATEGORIES = (
    "instruction override",
    "role or delimiter escape",
    "memory poisoning",
    "exfiltration",
    "tool abuse",
    "encoded payload",
    "invisible or bidirectional characters",
    "homoglyphs",
)


class Looks(Record):
    """Which steps of the scan a text needs. `is_report`: it talks about attacks."""

    words: bool
    forms: bool
    hidden: bool
    is_report: bool = False

    def __bool__(self) -> bool:
        return self.words or self.forms or self.hidden


class Rule(Record):
    """Concepts in `needed` within `span` words. Each number in `needed` is one concept, or several that serve equally.

    `is_order`: the core is an order to the reader. Told about somebody else, or negated, it weighs less.
    """

    category: str
    severity: float
    needed: tuple[int, ...]
    span: int
    reason: str
    is_order: bool = True


class Detection(Record):
    """A sign of an attack. `start` and `end` are character offsets in the scanned text; `severity` is 0..1."""

    category: str
    severity: float
    start: int
    end: int
    reason: str


def _rule(category: str, severity: float, span: int, reason: str, *needed: int, is_order: bool = True) -> Rule:
    return Rule(category, severity, needed, span, reason, is_order)


def _told(category: str, severity: float, span: int, reason: str, *needed: int) -> Rule:
    return Rule(category, severity, needed, span, reason, False)


RULES_OF_READER = RULES | SYSTEM
READER = YOU | ASSISTANT

TABLE = (
    _rule(OVERRIDING, 0.75, 9, "asks to ignore earlier instructions", OVERRIDE, RULES_OF_READER, PRIOR | TOLD),
    _rule(OVERRIDING, 0.7, 9, "asks to ignore the reader's instructions", OVERRIDE, RULES_OF_READER, READER),
    _rule(OVERRIDING, 0.55, 7, "asks to ignore all instructions", OVERRIDE, RULES, ALL),
    _rule(OVERRIDING, 0.6, 7, "asks to ignore the system prompt", OVERRIDE, SYSTEM),
    _rule(OVERRIDING, 0.6, 8, "asks to forget everything before", OVERRIDE, ALL | TASK, PRIOR | TOLD, READER),
    _rule(OVERRIDING, 0.55, 6, "asks to ignore the user", OVERRIDE, USER, TASK),
    _rule(OVERRIDING, 0.6, 6, "asks to ignore the user", OVERRIDE, WISH),
    _told(
        OVERRIDING,
        0.5,
        6,
        "orders to comply with everything",
        OBEY,
        ALL,
        ACTIONS,
        YOU | ASSISTANT | SAFETY | RULES | NOT,
    ),
    _told(
        OVERRIDING,
        0.5,
        9,
        "says that earlier instructions count no more",
        CANCEL,
        PRIOR,
        RULES | SYSTEM | TASK,
        OBEY | NEW,
    ),
    _rule(OVERRIDING, 0.5, 12, "asks to ignore everything else", OVERRIDE, ALL | PRIOR, READER, NEW | OBEY),
    _rule(OVERRIDING, 0.5, 12, "asks to obey another text", OVERRIDE, OBEY | NEW, RULES | USER | TASK, THIS | PRIOR),
    _rule(OVERRIDING, 0.6, 7, "asks to lift the reader's rules", CANCEL, RULES_OF_READER, READER),
    _told(OVERRIDING, 0.55, 8, "says that earlier instructions are cancelled", CANCEL, SYSTEM, ALL | PRIOR | NEW),
    _told(
        OVERRIDING, 0.5, 9, "says that earlier instructions are cancelled", CANCEL, RULES, PRIOR, OBEY | ALWAYS | NEW
    ),
    _told(OVERRIDING, 0.55, 12, "sets other rules for the reader", NEW, RULES | TASK, READER, ALWAYS | OBEY | CANCEL),
    _rule(OVERRIDING, 0.55, 12, "orders to obey only this text", OBEY, NOT, RULES_OF_READER | TASK, NEW | SYSTEM),
    _rule(OVERRIDING, 0.6, 8, "asks for the system prompt", REVEAL, SYSTEM),
    _rule(OVERRIDING, 0.55, 8, "asks for the system prompt", CHANGE, EXACT, SYSTEM),
    _rule(OVERRIDING, 0.6, 8, "asks for the reader's instructions", REVEAL, RULES, TOLD | EXACT, YOU),
    _rule(OVERRIDING, 0.55, 9, "asks for everything above", REVEAL, EXACT, ALL | SYSTEM | RULES),
    _rule(OVERRIDING, 0.5, 12, "asks for everything above", REVEAL, EXACT, PRIOR, THIS),
    _told(OVERRIDING, 0.5, 9, "says that earlier instructions are cancelled", OBEY, CANCEL, ALL, PRIOR | EXACT),
    _rule(
        EXFILTRATION, 0.55, 12, "asks for secrets in an answer", CHANGE | REVEAL | SEND, SECRET, ADVISE, YOU | ALWAYS
    ),
    _told(ROLE_ESCAPE, 0.75, 14, "gives the reader a role without rules", ROLE, FREE),
    _told(ROLE_ESCAPE, 0.55, 9, "says that the reader has no rules", FREE, READER),
    _told(ROLE_ESCAPE, 0.55, 9, "asks to answer without rules", ADVISE, FREE),
    _told(
        ROLE_ESCAPE,
        0.55,
        12,
        "says that safety rules are off",
        CANCEL,
        SAFETY,
        RULES,
        READER | ADVISE | NEW | ACTIONS | OBEY,
    ),
    _told(ROLE_ESCAPE, 0.6, 12, "gives the reader a role without rules", ROLE, NOT | WITHOUT, SAFETY),
    _told(
        ROLE_ESCAPE,
        0.55,
        9,
        "asks to answer without rules",
        ADVISE | OBEY,
        WITHOUT | NOT | CANCEL,
        SAFETY,
        RULES | READER,
    ),
    _told(ROLE_ESCAPE, 0.5, 10, "gives the reader a role that must obey", ROLE, OBEY, ALL | RULES | ACTIONS),
    _rule(EXFILTRATION, 0.7, 16, "sends secrets outside", SEND, SECRET, OUTSIDE, ALL | USER | TELL | COVER | ALWAYS),
    _rule(EXFILTRATION, 0.5, 16, "sends secrets outside", SEND | STEAL, SECRET, OUTSIDE),
    _told(EXFILTRATION, 0.5, 12, "says that data may go outside", APPROVED, SEND, OUTSIDE, USER | ALL),
    _rule(EXFILTRATION, 0.7, 9, "steals secrets", STEAL, SECRET),
    _rule(EXFILTRATION, 0.6, 14, "hides that secrets are sent", SEND | CHANGE, SECRET, COVER),
    _rule(
        EXFILTRATION,
        0.55,
        9,
        "asks for secrets",
        REVEAL | SEND,
        SECRET,
        ALL | YOU | ALWAYS,
        NEW | ALWAYS | READER | URGENT,
    ),
    _rule(EXFILTRATION, 0.45, 14, "sends data outside each time", SEND, OUTSIDE, ALWAYS),
    _told(
        POISONING,
        0.55,
        12,
        "says that permission was given for everything",
        APPROVED,
        ACTIONS | CONSENT,
        USER,
        ALL | SKIP | NOT,
    ),
    _told(
        POISONING,
        0.5,
        9,
        "says that permission was given for everything",
        APPROVED,
        ACTIONS | DANGER | SECRET,
        USER | ASSISTANT,
    ),
    _told(
        POISONING,
        0.6,
        14,
        "says that permission need not be asked",
        NOT | WITHOUT,
        CONSENT,
        ACTIONS | RUN | DANGER | APPROVED,
        USER | ALWAYS | ASSISTANT,
    ),
    _told(POISONING, 0.5, 14, "says that checks are to be skipped", SKIP, ACTIONS | CONSENT, READER | USER | ALWAYS),
    _rule(
        POISONING,
        0.5,
        14,
        "plants a lasting order to obey a text",
        ALWAYS | MEMORY,
        OBEY,
        RULES | ACTIONS | TASK,
        USER | THIS | ALL,
    ),
    _rule(
        POISONING,
        0.5,
        14,
        "plants a lasting order to obey a text",
        OBEY,
        RULES | SYSTEM | ACTIONS,
        OUTSIDE,
        READER | ALWAYS | USER,
    ),
    _told(POISONING, 0.4, 14, "plants a lasting order to an assistant", ASSISTANT, ALWAYS, OUTSIDE),
    _rule(
        POISONING,
        0.5,
        16,
        "plants a lasting answer",
        ALWAYS,
        ADVISE,
        OUTSIDE | COVER | NOT,
        USER | ASKED | CHANGE | ASSISTANT,
    ),
    _told(
        POISONING,
        0.5,
        14,
        "plants a memory that lifts checks",
        MEMORY,
        ACTIONS | CONSENT,
        SKIP | APPROVED | COVER,
        USER | NOT | DANGER,
    ),
    _told(POISONING, 0.6, 14, "plants a hidden memory", MEMORY, COVER),
    _rule(POISONING, 0.6, 16, "orders something and hides it", CHANGE | RUN | SKIP | ALWAYS | SEND | ADVISE, COVER),
    _told(POISONING, 0.5, 8, "asks to hide something from the user", COVER, USER | THIS),
    _told(POISONING, 0.35, 8, "asks to hide something from the user", HIDE, USER, THIS | ALWAYS),
    _rule(POISONING, 0.5, 8, "asks to hide something from the user", NOT, TELL, USER, THIS | ALL | SECRET),
    _rule(
        TOOLS, 0.6, 14, "orders a dangerous command for each time", RUN | DANGER, DANGER, ALWAYS | HIDE | COVER | USER
    ),
    _rule(
        TOOLS, 0.6, 14, "orders a dangerous command without asking", RUN | DANGER, CONSENT, NOT | WITHOUT, ALWAYS | USER
    ),
    _rule(TOOLS, 0.55, 14, "tells the reader to run a dangerous command", DANGER, READER, RUN | ACTIONS),
    _rule(TOOLS, 0.5, 12, "orders to run a program from outside", RUN, OUTSIDE, COVER | CANCEL | HIDE | CONSENT),
    _rule(TOOLS, 0.5, 9, "orders to run commands from outside each time", RUN, ACTIONS, OUTSIDE, ALWAYS | READER),
    _rule(TOOLS, 0.45, 9, "orders to delete data", RUN, ALL, GOODS, ALWAYS | COVER | ASKED | URGENT | ASSISTANT),
    _rule(TOOLS, 0.4, 12, "approves every action", RUN | APPROVED, ALL, CONSENT | ACTIONS),
    _rule(ENCODED, 0.55, 8, "asks to decode a text and obey it", DECODE, OBEY),
)

_BY_FIRST_TWO = tuple((rule.needed[0], rule.needed[1], rule) for rule in TABLE)


def possible(concepts: int) -> list[Rule]:
    """The rules that can hold where these concepts are."""
    return [
        rule
        for first, second, rule in _BY_FIRST_TWO
        if concepts & first and concepts & second and all(concepts & needed for needed in rule.needed)
    ]
