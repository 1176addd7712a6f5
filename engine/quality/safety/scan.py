"""The safety scan: whether a text is an attack on the assistant that reads it, and where the signs are.

Rules for sentences (rules.txt), forms in which a text pretends to be another speaker or brings a command along
(forms.txt), and the same in texts that are hidden. `gate` says which memories are worth it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from engine.lean.record import Record
from engine.lean.sections import read_sections
from engine.memory import HARD_RISK, SOFT_RISK
from engine.quality.safety import hidden
from engine.quality.safety.lexicon import APPROVED, ASKED, CANCEL, IF, MOST_SCANNED, REPORT, Rule, possible
from engine.quality.safety.reading import Hit, Sentence, join_sentences, sentences

ENCODED, INVISIBLE, HOMOGLYPHS = "encoded payload", "invisible or bidirectional characters", "homoglyphs"
HARD = ("role or delimiter escape", "exfiltration", "concealment", ENCODED, INVISIBLE, HOMOGLYPHS)
"""Categories that no honest note needs: text of another speaker, data sent away, secrecy, text that nobody can read."""

IN_PART = "scanned in part"
"""The category of a text that is longer than the scan's bound."""

NEAR_IF = 6
"""Words between an "if" and the action that it is about."""

QUOTED = re.compile(r"\"[^\"\n]{3,300}\"|“[^”\n]{3,300}”|`[^`\n]{3,300}`|(?<!\w)'[^'\n]{3,300}'(?!\w)|„[^“\n]{3,300}“")
IN_CODE = re.compile(r"`[^`\n]+`")


class Detection(Record):
    """A sign of an attack. `start` and `end` are character offsets in the scanned text."""

    category: str
    start: int
    end: int
    reason: str

    @property
    def severity(self) -> float:
        return HARD_RISK if self.category in HARD else SOFT_RISK


class Scan(Record):
    """`risk`: 0, SOFT_RISK or HARD_RISK; and the detections, hard signs first."""

    risk: float
    detections: tuple[Detection, ...] = ()


def _read_forms() -> list[tuple[str, str, re.Pattern[str]]]:
    """The category, the reason and the pattern of each form in forms.txt."""
    sections = dict(read_sections(__file__, "forms.txt"))
    names = dict(line.split(" ", 1) for line in sections["names"])
    found = []
    for heading, lines in sections.items():
        category, colon, reason = heading.partition(": ")
        if colon:
            pattern = "".join(lines)
            for name, meaning in names.items():
                pattern = pattern.replace(f"{{{name}}}", meaning)
            found.append((category, reason, re.compile(pattern, re.MULTILINE)))
    return found


FORMS = _read_forms()


def scan(text: str) -> Scan:
    """The risk of a text. Of more than MOST_SCANNED characters the rest is not read, which is a soft sign.

    The gravest sign decides, not their number: a long text has more of them by chance.
    """
    found = []
    if len(text) > MOST_SCANNED:
        text = text[:MOST_SCANNED]
        found.append(Detection(IN_PART, MOST_SCANNED, MOST_SCANNED, f"longer than {MOST_SCANNED:,} characters"))
    found += _visible_signs(text)
    found += [Detection(INVISIBLE, *sign) for sign in hidden.invisible_signs(text)]
    found += [Detection(HOMOGLYPHS, *sign) for sign in hidden.look_alikes(text)]
    plain = {detection.reason for detection in found}
    for decoded in hidden.decode(text):
        # A sign in a hidden text counts, unless the visible text has the same sign.
        inner = next((sign for sign in _visible_signs(decoded.text) if sign.reason not in plain), None)
        if inner:
            found.append(Detection(ENCODED, decoded.start, decoded.end, f"{decoded.how}: {inner.reason}"))
    unique = {(sign.category, sign.start, sign.reason): sign for sign in reversed(found)}
    ordered = tuple(sorted(unique.values(), key=lambda sign: (-sign.severity, sign.start)))
    return Scan(ordered[0].severity if ordered else 0.0, ordered)


def _visible_signs(text: str) -> list[Detection]:
    """The rules and forms that hold in a text as a reader sees it, with places in the original."""
    folded = hidden.fold(text)
    quoted = [match.span() for match in QUOTED.finditer(folded.text)]
    code = [match.span() for match in IN_CODE.finditer(folded.text)]
    found: list[Detection] = []
    before: Sentence | None = None
    for sentence in sentences(folded.text):
        own = _in_sentence(sentence, quoted)
        if before and not own and not sentence.is_item:
            found += _in_sentence(join_sentences(before, sentence), quoted)
        found += own
        before = None if own else sentence
    # A soft form between backticks is no sign: a note that explains a form quotes it.
    found += [
        Detection(category, *match.span(), reason)
        for category, reason, pattern in FORMS
        for match in pattern.finditer(folded.text)
        if category in HARD or not _is_within(code, *match.span())
    ]
    return [
        Detection(sign.category, *folded.original(sign.start, sign.end), sign.reason) if folded.places else sign
        for sign in found
    ]


def _is_within(places: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of *places*, which are in order, holds all from *start* to *end*."""
    at = bisect_right(places, start, key=lambda place: place[0]) - 1
    return at >= 0 and places[at][0] <= start and end <= places[at][1]


def _in_sentence(sentence: Sentence, quoted: list[tuple[int, int]]) -> list[Detection]:
    """The rules that hold in a sentence. One that talks about attacks is no attack."""
    if sentence.concepts & REPORT:
        return []
    found = []
    for rule in possible(sentence.concepts):
        if hits := _closest(rule, sentence.hits):
            start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
            if not (sentence.concepts & ASKED and _is_within(quoted, start, end)):
                found.append(Detection(rule.category, start, end, rule.reason))
    return found


def _closest(rule: Rule, hits: tuple[Hit, ...]) -> list[Hit] | None:
    """Hits of all needed concepts within the span of the rule, each hit once."""
    for at, core in enumerate(hits):
        if not core.concepts & rule.needed[0] or (rule.is_order and core.is_told):
            continue
        near = [
            hit
            for hit in hits[max(0, at - rule.span) : at + rule.span + 1]
            if abs(hit.place - core.place) <= rule.span and hit is not core
        ]
        # A text may say what happens if something was approved or cancelled, and not that it was.
        conditions = [core.place - hit.place for hit in near if hit.concepts & IF]
        if core.concepts & (APPROVED | CANCEL) and any(
            0 < distance <= NEAR_IF or distance == -1 for distance in conditions
        ):
            continue
        taken = [core]
        for needed in rule.needed[1:]:
            fitting = [
                hit
                for hit in near
                if hit.concepts & needed and hit not in taken and not (rule.is_next and hit.place < core.place)
            ]
            if not fitting:
                break
            taken.append(min(fitting, key=lambda hit: abs(hit.place - core.place)))
        else:
            return taken
    return None
