"""The safety scan: how likely a memory is an attack on the assistant that reads it, and where the signs are.

`gate` says which parts of this are worth doing.
"""

from __future__ import annotations

from engine.lean.record import Record, replace
from engine.quality.safety import hidden, reading
from engine.quality.safety.evidence import can_be_even, weighed
from engine.quality.safety.folding import folded
from engine.quality.safety.forms import forms
from engine.quality.safety.lexicon import APPROVED, CANCEL, COVER, IF, NOT, OBEY, UNTIL
from engine.quality.safety.rules import ENCODED, Detection, Looks, Rule, possible

TOLD_FACTOR, NEGATED_FACTOR, REPORT_FACTOR, QUOTED_FACTOR, TECHNICAL_FACTOR = 0.55, 0.4, 0.6, 0.6, 0.75
NEIGHBOUR_FACTOR = 0.85
NEAR_IF = 6
"""Words between an "if" and the action that it is about."""

ENCODED_SEVERITY, ENCODED_MORE = 0.55, 0.2
SURE = 0.5
"""A rule of this severity says more, and at a more exact place, than the weight of evidence."""

LEAST_HIDDEN = 0.3
OBEYED_SEVERITY, LEAST_WORDS = 0.55, 3
WHOLE_ENCODINGS = ("Base64", "hexadecimal", "escapes", "URL encoding", "binary numbers")
ALL_LOOKS = Looks(words=True, forms=True, hidden=True)
LEAST = 0.05
SENTENCES = 2000


class Scan(Record):
    """`risk`, 0..1, and the detections by severity, the strongest first."""

    risk: float
    detections: tuple[Detection, ...] = ()


def scan(text: str, looks: Looks) -> Scan:
    """The risk of a text. *looks*: the steps that are worth taking, see `gate.scanned`.

    The risk is the probability that at least one detection is right, as if they were independent; of each category the
    strongest counts.
    """
    found = _visible(text, looks)
    if looks.hidden:
        found += [
            Detection(sign.category, sign.severity, sign.start, sign.end, sign.reason) for sign in hidden.signs(text)
        ]
        found += _encoded(text, found)
    best: dict[str, Detection] = {}
    for detection in sorted(found, key=_strongest_first):
        best.setdefault(detection.category, detection)
    doubt = 1.0
    for detection in best.values():
        doubt *= 1 - detection.severity
    unique = {(sign.category, sign.start, sign.reason): sign for sign in reversed(found) if sign.severity >= LEAST}
    return Scan(round(1 - doubt, 3), tuple(sorted(unique.values(), key=_strongest_first)))


def _strongest_first(detection: Detection) -> tuple[float, int]:
    return -detection.severity, detection.start


def _encoded(text: str, visible: list[Detection]) -> list[Detection]:
    """Detections in decoded texts. An order that somebody took the trouble to hide weighs more."""
    result = []
    found = hidden.decodings(text)
    is_obeyed = bool(found) and any(sentence.concepts & OBEY for sentence in reading.sentences(text))
    for decoded in found:
        place = decoded.start, decoded.end
        inner = _visible(decoded.text, ALL_LOOKS)
        strongest = max(inner, key=lambda detection: detection.severity, default=None)
        if strongest is None or strongest.severity < LEAST_HIDDEN:
            if is_obeyed and decoded.how in WHOLE_ENCODINGS and len(decoded.text.split()) >= LEAST_WORDS:
                result.append(Detection(ENCODED, OBEYED_SEVERITY, *place, f"{decoded.how}, to be obeyed"))
            continue
        same = [detection.severity for detection in visible if detection.reason == strongest.reason]
        if strongest.severity > max(same, default=0.0):
            severity = min(0.95, max(ENCODED_SEVERITY, strongest.severity + ENCODED_MORE))
            result.append(Detection(ENCODED, severity, *place, f"{decoded.how}: {strongest.reason}"))
    return result


def _visible(text: str, looks: Looks) -> list[Detection]:
    plain = folded(text)
    found: list[Detection] = []
    needs_words = looks.words or plain.text is not text
    parts = reading.sentences(plain.text)[:SENTENCES] if needs_words else []
    quoted = reading.quotations(plain.text)
    for number, sentence in enumerate(parts):
        found += _in_sentence(sentence, quoted, 1.0)
        if number and not sentence.is_item:
            found += _in_sentence(reading.joined(parts[number - 1], sentence), quoted, NEIGHBOUR_FACTOR)
    if looks.forms:
        is_report = looks.is_report or any(sentence.is_report for sentence in parts)
        found += [_reported(form, is_report=is_report) for form in forms(plain.text)]
    return [_placed(detection, plain.original(detection.start, detection.end)) for detection in found]


def _in_sentence(sentence: reading.Sentence, quoted: list[tuple[int, int]], factor: float) -> list[Detection]:
    """What the rules find, else the weight of evidence. *factor*: the weight of both here."""
    found = [_weighed(rule, hits, sentence, quoted, factor) for rule, hits in _matches(sentence)]
    if any(detection.severity >= SURE for detection in found):
        return found
    if can_be_even(sentence.concepts) and (even := weighed(sentence.hits)):
        found.append(_reported(replace(even, severity=even.severity * factor), is_report=sentence.is_report))
    return found


def _placed(detection: Detection, place: tuple[int, int]) -> Detection:
    return replace(detection, start=place[0], end=place[1])


def _matches(sentence: reading.Sentence) -> list[tuple[Rule, list[reading.Hit]]]:
    return [(rule, hits) for rule in possible(sentence.concepts) if (hits := _closest(rule, sentence.hits))]


def _closest(rule: Rule, hits: tuple[reading.Hit, ...]) -> list[reading.Hit] | None:
    """Hits of all needed concepts within the span of the rule, each hit once."""
    for core in hits:
        if not core.concepts & rule.needed[0]:
            continue
        taken = [core]
        for needed in rule.needed[1:]:
            fitting = [hit for hit in hits if hit.concepts & needed and hit not in taken]
            nearest = min(fitting, key=lambda hit: abs(hit.place - core.place), default=None)
            if nearest is None or abs(nearest.place - core.place) > rule.span:
                break
            taken.append(nearest)
        else:
            return taken
    return None


def _weighed(
    rule: Rule, hits: list[reading.Hit], sentence: reading.Sentence, quoted: list[tuple[int, int]], factor: float
) -> Detection:
    start, end = min(hit.start for hit in hits), max(hit.end for hit in hits)
    core = hits[0]
    if rule.is_order and core.is_told:
        factor *= TOLD_FACTOR
    if rule.is_order and _is_negated(core, sentence, rule):
        factor *= NEGATED_FACTOR
    if rule.needed[0] & (APPROVED | CANCEL) and _is_condition(core, sentence):
        factor *= TOLD_FACTOR
    if sentence.is_report:
        factor *= REPORT_FACTOR
        if any(first <= start and end <= last for first, last in quoted):
            factor *= QUOTED_FACTOR
    if sentence.is_technical and not sentence.concepts & COVER:
        factor *= TECHNICAL_FACTOR
    return Detection(rule.category, round(rule.severity * factor, 3), start, end, rule.reason)


def _is_negated(core: reading.Hit, sentence: reading.Sentence, rule: Rule) -> bool:
    if any(needed & NOT for needed in rule.needed):
        return False
    return any(hit.concepts & NOT and 0 < core.place - hit.place <= 2 for hit in sentence.hits)


def _is_condition(core: reading.Hit, sentence: reading.Sentence) -> bool:
    """Whether a text says what happens if something was approved or cancelled, and not that it was."""
    return any(
        (hit.concepts & IF and 0 < core.place - hit.place <= NEAR_IF)
        or (hit.concepts & (IF | UNTIL) and hit.place - core.place == 1)
        for hit in sentence.hits
    )


def _reported(form: Detection, *, is_report: bool) -> Detection:
    return replace(form, severity=round(form.severity * REPORT_FACTOR, 3)) if is_report else form
