"""The forms of forms.txt in a text: it pretends to be another speaker, or brings a command along for a tool."""

from __future__ import annotations

import re

from engine.lean.sections import read_sections
from engine.quality.safety.rules import HARD, Detection

_SECTIONS = dict(read_sections(__file__, "forms.txt"))
_NAMES = dict(line.split(" ", 1) for line in _SECTIONS["names"])


def _form(heading: str, lines: list[str]) -> tuple[str, str, re.Pattern[str]]:
    """The category, the reason and the pattern."""
    category, _, reason = heading.partition(": ")
    pattern = "".join(lines)
    for name, meaning in _NAMES.items():
        pattern = pattern.replace(f"{{{name}}}", meaning)
    return category, reason, re.compile(pattern, re.MULTILINE)


FORMS = [_form(heading, lines) for heading, lines in _SECTIONS.items() if ": " in heading]
IN_CODE = re.compile(r"`[^`\n]+`")


def forms(text: str) -> list[Detection]:
    """The forms in a folded text. A soft one between backticks is no sign: a note that explains a form quotes it."""
    code = [match.span() for match in IN_CODE.finditer(text)]
    return [
        Detection(category, start, end, reason)
        for category, reason, pattern in FORMS
        for start, end in (match.span() for match in pattern.finditer(text))
        if category in HARD or not any(first <= start and end <= last for first, last in code)
    ]
