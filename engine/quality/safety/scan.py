"""The safety scan: whether a memory is an attack on the assistant that reads it, and where the signs are.

`gate` says which parts of this are worth doing.
"""

from __future__ import annotations

from engine.lean.record import Record, replace
from engine.quality.safety import hidden, reading
from engine.quality.safety.folding import folded
from engine.quality.safety.forms import forms
from engine.quality.safety.lexicon import APPROVED, ASKED, CANCEL, IF, REPORT
from engine.quality.safety.rules import ENCODED, Detection, Looks, Rule, possible

NEAR_IF = 6
"""Words between an "if" and the action that it is about."""

ALL_LOOKS = Looks(words=True, forms=True, hidden=True)
SENTENCES = 2000


class Scan(Record):
    """`risk`: 0, SOFT_RISK or HARD_RISK; and the detections, hard signs first."""

    risk: float
    detections: tuple[Detection, ...] = ()


def scan(text: str, looks: Looks) -> Scan:
    """The risk of a text. *looks*: the steps that are worth taking, see `gate.scanned`.

    The gravest sign decides, not their number: a long text has more of them by chance.
    """
    found = _visible(text, looks)
    if looks.hidden:
        found += [*hidden.signs(text), *_encoded(text, found)]
    unique = {(sign.category, sign.start, sign.reason): sign for sign in reversed(found)}
    ordered = tuple(sorted(unique.values(), key=lambda sign: (-sign.severity, sign.start)))
    return Scan(ordered[0].severity if ordered else 0.0, ordered)


def _encoded(text: str, visible: list[Detection]) -> list[Detection]:
    """The signs in decoded texts that are not in plain sight. Nobody hides a harmless order."""
    plain = {detection.reason for detection in visible}
    return [
        Detection(ENCODED, decoded.start, decoded.end, f"{decoded.how}: {inner[0].reason}")
        for decoded in hidden.decodings(text)
        if (inner := [sign for sign in _visible(decoded.text, ALL_LOOKS) if sign.reason not in plain])
    ]


def _visible(text: str, looks: Looks) -> list[Detection]:
    plain = folded(text)
    found: list[Detection] = []
    parts = reading.sentences(plain.text)[:SENTENCES] if looks.words or plain.text is not text else []
    quoted = reading.quotations(plain.text)
    before: list[Detection] = []
    for number, sentence in enumerate(parts):
        own = _in_sentence(sentence, quoted)
        is_apart = own or before or not number or sentence.is_item
        found += own if is_apart else _in_sentence(reading.joined(parts[number - 1], sentence), quoted)
        before = own
    found += forms(plain.text) if looks.forms else []
    return [_placed(detection, plain.original(detection.start, detection.end)) for detection in found]


def _placed(detection: Detection, place: tuple[int, int]) -> Detection:
    return replace(detection, start=place[0], end=place[1])


def _in_sentence(sentence: reading.Sentence, quoted: list[tuple[int, int]]) -> list[Detection]:
    """The rules that hold in a sentence. One that talks about attacks is no attack."""
    if sentence.concepts & REPORT:
        return []
    found = []
    for rule in possible(sentence.concepts):
        if hits := _closest(rule, sentence):
            start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
            is_quoted = any(first <= start and end <= last for first, last in quoted)
            if not (is_quoted and sentence.concepts & ASKED):
                found.append(Detection(rule.category, start, end, rule.reason))
    return found


def _closest(rule: Rule, sentence: reading.Sentence) -> list[reading.Hit] | None:
    """Hits of all needed concepts within the span of the rule, each hit once."""
    for core in sentence.hits:
        if not core.concepts & rule.needed[0] or (rule.is_order and core.is_told) or _is_condition(core, sentence):
            continue
        taken = [core]
        for needed in rule.needed[1:]:
            fitting = [
                hit
                for hit in sentence.hits
                if hit.concepts & needed and hit not in taken and not (rule.is_next and hit.place < core.place)
            ]
            nearest = min(fitting, key=lambda hit: abs(hit.place - core.place), default=None)
            if nearest is None or abs(nearest.place - core.place) > rule.span:
                break
            taken.append(nearest)
        else:
            return taken
    return None


def _is_condition(core: reading.Hit, sentence: reading.Sentence) -> bool:
    """Whether a text says what happens if something was approved or cancelled, and not that it was."""
    return bool(core.concepts & (APPROVED | CANCEL)) and any(
        hit.concepts & IF and (0 < core.place - hit.place <= NEAR_IF or hit.place - core.place == 1)
        for hit in sentence.hits
    )
