"""The request text: memories as data between tags that cannot be closed from inside."""

from __future__ import annotations

import re

from engine.lean.sha256 import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from engine.prompt import Prompt, Turn

PROMPT_LIMIT, TURN_LIMIT, FIELD_LIMIT = 500, 200, 200
"""Characters of the prompt, of each turn, and of each field of a candidate that the judge sees."""

_REQUEST = "<prompt>{prompt}</prompt>\n{conversation}<memory_data>\n{candidates}</memory_data>"
_CONVERSATION = "<conversation>\n{turns}</conversation>\n"
_TURN = '<turn role="{role}">{text}</turn>\n'
_CANDIDATE = '<candidate index="{index}" category="{category}" tags="{tags}">{title}</candidate>\n'

_PROMPT_LINE = re.compile(r"^<prompt>([^<]*)</prompt>$", re.MULTILINE)
_CANDIDATE_LINE = re.compile(
    r'^<candidate index="\d+" category="[^"<]*" tags="[^"<]*">([^<]*)</candidate>$', re.MULTILINE
)

# White space, control characters, lone surrogates (they cannot be sent), and characters that reorder or hide text.
_NOT_PLAIN = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]+"
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
_ESCAPES = str.maketrans(_ENTITIES)


def layout() -> tuple[str, ...]:
    """The parts of a request that do not change: what a template's hash depends on."""
    return (_REQUEST, _CONVERSATION, _TURN, _CANDIDATE)


def shuffled(prompt: Prompt, count: int, sample: int = 0) -> tuple[int, ...]:
    """A permutation of range(count) that depends only on the prompt's text and *sample*, on every Python version.

    Position k of the request shows candidate `shuffled(prompt, count)[k]`. Samples count from 0.
    """
    seed = digest(prompt.text.encode("utf-8", "surrogatepass"))
    if sample:
        seed = digest(seed + f"sample {sample}".encode())
    return tuple(sorted(range(count), key=lambda index: digest(seed + str(index).encode())))


def request_text(prompt: Prompt, candidates: Sequence[MemorySummary], turns: Sequence[Turn]) -> str:
    """The user message. *candidates* are shown in the order given, index 0 first; *turns* oldest first."""
    return _REQUEST.format(
        prompt=_escaped(prompt.text, PROMPT_LIMIT),
        conversation=_CONVERSATION.format(turns="".join(map(_turn_line, turns))) if turns else "",
        candidates="".join(_candidate_line(index, memory) for index, memory in enumerate(candidates)),
    )


def parse_request(user: str) -> tuple[str, tuple[str, ...]]:
    """What `request_text` was given: (prompt text, titles in order), each `cut` as it was sent.

    Raises ValueError for a text that `request_text` did not make.
    """
    prompt = _PROMPT_LINE.search(user)
    if prompt is None:
        raise ValueError("the request has no <prompt> line")
    return _unescaped(prompt[1]), tuple(map(_unescaped, _CANDIDATE_LINE.findall(user)))


def cut(text: str, limit: int) -> str:
    """*text* on one line, at most *limit* characters: each run of white space and control characters is one space."""
    # A pasted prompt can have 200 kB; ten times the limit leaves room for what is collapsed.
    return one_line(text[: 10 * limit])[:limit].rstrip()


def one_line(text: str) -> str:
    """*text* with each run of white space, control, bidirectional and invisible tag characters made one space."""
    return _NOT_PLAIN.sub(" ", text).strip()


def _turn_line(turn: Turn) -> str:
    return _TURN.format(role=_escaped(turn.role, FIELD_LIMIT), text=_escaped(turn.text, TURN_LIMIT))


def _candidate_line(index: int, memory: MemorySummary) -> str:
    return _CANDIDATE.format(
        index=index,
        category=_escaped(memory.category, FIELD_LIMIT),
        tags=_escaped(", ".join(memory.tags), FIELD_LIMIT),
        title=_escaped(memory.title, FIELD_LIMIT),
    )


def _escaped(text: str, limit: int) -> str:
    return cut(text, limit).translate(_ESCAPES)


def _unescaped(text: str) -> str:
    # The ampersand last: it begins every other entity.
    for character, entity in reversed(_ENTITIES.items()):
        text = text.replace(entity, character)
    return text
