"""The two texts of a request: the instructions, a template per mode and depth, and the memories as data.

The data stands between tags that no memory, prompt or turn can close.
"""

from __future__ import annotations

import re
from html import escape, unescape

from engine.config import AUTO, LENIENT, SEARCH, STRICT
from engine.errors import ConfigError
from engine.judge.provider import Question
from engine.judge.verdict import DECISIONS, EXPLAINED, KEEP
from engine.lean.record import Record
from engine.lean.sections import text_beside
from engine.lean.sha256 import digest, hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from engine.config import JudgeConfig
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
_LAYOUT = (_REQUEST, _CONVERSATION, _TURN, _CANDIDATE)

FORMAT = "{format}"
"""The placeholder in every prompt: how to read the message, and the form of the answer."""

CUSTOM_LIMIT = 8_000
"""Characters of a person's own prompt."""

_PLACEHOLDER = re.compile(r"\{\w*\}")

_USUAL = {AUTO: STRICT, SEARCH: LENIENT}
"""Strict for memories that the hook injects unasked, lenient for the results of a search."""


def object_schema(**properties: object) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


_ENTRY = object_schema(
    index={"type": "integer"},
    reasoning={"type": "string"},
    decision={"type": "string", "enum": list(DECISIONS)},
    confidence={"type": "number"},
)
_SCHEMAS = {
    KEEP: object_schema(keep={"type": "array", "items": {"type": "integer"}}),
    EXPLAINED: object_schema(verdicts={"type": "array", "items": _ENTRY}),
}

_MAX_TOKENS = {KEEP: 256, EXPLAINED: 3072}
"""A keep-list of 15 takes about 30 tokens; 30 sentences about 2,000."""


class JudgeTemplate(Record):
    """The instructions in one mode at one depth, the JSON schema of the answer, and its largest size in tokens."""

    depth: str
    system: str
    schema: Mapping[str, Any]
    max_tokens: int

    @property
    def hash(self) -> str:
        """16 hex digits over the wording: the instructions, the request's layout and its limits."""
        limits = f"{PROMPT_LIMIT} {TURN_LIMIT} {FIELD_LIMIT}"
        return hex_digest("\0".join((self.system, *_LAYOUT, limits)))[:16]

    def question(self, user: str) -> Question:
        """The question about *user*, a text made by `request_text`."""
        return Question(self.system, user, self.schema, self.max_tokens)


def template(mode: str, depth: str = KEEP, prompt: str = "", verification: str = "") -> JudgeTemplate:
    """The template of a mode and a depth. A *prompt* that is not empty takes the place of ours, and a *verification*
    that of the mode's own.

    Raises ConfigError for a prompt without `{format}`, with another placeholder, or longer than CUSTOM_LIMIT.
    """
    if prompt:
        _check_placeholders(prompt, f"judge.modes.{mode}.prompt")
    form = _instructions(depth).replace("{data}", _instructions("data"))
    system = (prompt or _instructions(verification or _USUAL[mode])).replace(FORMAT, form)
    return JudgeTemplate(depth, system, _SCHEMAS[depth], _MAX_TOKENS[depth])


def _instructions(name: str) -> str:
    return text_beside(__file__, f"instructions/{name}.md").removesuffix("\n")


def templates(config: JudgeConfig) -> dict[str, JudgeTemplate]:
    """The template of each mode. Raises ConfigError as `template` does."""
    modes = {AUTO: config.modes.auto, SEARCH: config.modes.search}
    return {name: template(name, config.depth, mode.prompt, mode.verification) for name, mode in modes.items()}


def _check_placeholders(prompt: str, key: str) -> None:
    found = _PLACEHOLDER.findall(prompt)
    if len(prompt) > CUSTOM_LIMIT:
        raise ConfigError(f"{key} has {len(prompt):,} characters; at most {CUSTOM_LIMIT:,} are sent.")
    if unknown := [name for name in found if name != FORMAT]:
        raise ConfigError(f"{key} has the placeholder {unknown[0]}; the only one there is is {FORMAT}.")
    if found != [FORMAT]:
        raise ConfigError(
            f"{key} needs the placeholder {FORMAT} once: there the judge is told how to read the message and answer."
        )


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
    turn_lines = [_TURN.format(role=escaped(turn.role), text=escaped(turn.text, TURN_LIMIT)) for turn in turns]
    candidate_lines = [
        _CANDIDATE.format(
            index=index,
            category=escaped(memory.category),
            tags=escaped(", ".join(memory.tags)),
            title=escaped(memory.title),
        )
        for index, memory in enumerate(candidates)
    ]
    return _REQUEST.format(
        prompt=escaped(prompt.text, PROMPT_LIMIT),
        conversation=_CONVERSATION.format(turns="".join(turn_lines)) if turns else "",
        candidates="".join(candidate_lines),
    )


def parse_request(user: str) -> tuple[str, tuple[str, ...]]:
    """The arguments of `request_text`: (prompt text, titles in order), each `cut` as it was sent.

    Raises ValueError for any other text.
    """
    prompt = _PROMPT_LINE.search(user)
    if prompt is None:
        raise ValueError("the request has no <prompt> line")
    return unescape(prompt[1]), tuple(map(unescape, _CANDIDATE_LINE.findall(user)))


def cut(text: str, limit: int) -> str:
    """*text* on one line, at most *limit* characters: each run of white space and control characters is one space."""
    # A pasted prompt can have 200 kB; ten times the limit leaves room for what is collapsed.
    return one_line(text[: 10 * limit])[:limit].rstrip()


def one_line(text: str) -> str:
    """*text* with each run of white space, control, bidirectional and invisible tag characters made one space."""
    return _NOT_PLAIN.sub(" ", text).strip()


def escaped(text: str, limit: int = FIELD_LIMIT) -> str:
    """*text*, `cut` and escaped, so that it can close no tag."""
    return escape(cut(text, limit))
