"""A request of the client to the hook, and the rule for prompts that get no memories."""

from __future__ import annotations

import os
import unicodedata

from engine.lean.json_text import loads
from engine.lean.record import Record
from engine.prompt import is_human_prompt

MIN_PROMPT_CHARACTERS = 10
OPT_OUT = "[nomem]"
GUARD = "MEMSIFT_INSIDE_JUDGE"
"""Variable in the environment of a client that a judge started: this hook must not answer the judge's own prompts."""


class Request(Record):
    """A prompt on its way to the model. `source` says who submitted it; empty where the client does not tell."""

    prompt: str
    session_id: str
    cwd: str
    transcript_path: str
    source: str


def parse_request(stdin: bytes) -> Request | None:
    """The request, or None for input that is not a JSON object with a prompt. Fields of a wrong type count as empty."""
    try:
        content = loads(stdin.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("prompt"), str):
        return None
    texts = {name: value for name, value in content.items() if isinstance(value, str)}
    return Request(
        prompt=texts["prompt"],
        session_id=texts.get("session_id", ""),
        cwd=texts.get("cwd") or os.getcwd(),
        transcript_path=texts.get("transcript_path", ""),
        source=texts.get("source", ""),
    )


def skip_reason(request: Request) -> str:
    """The reason to look for no memories for this prompt; empty if there is none."""
    text = request.prompt.strip()
    if not is_human_prompt(text, request.source):
        return "not typed by a person"
    if _width(text) < MIN_PROMPT_CHARACTERS:
        return f"under {MIN_PROMPT_CHARACTERS} characters"
    return f"{OPT_OUT} in the prompt" if OPT_OUT in text else ""


def _width(text: str) -> int:
    """Length of the first 10 characters. A wide character (Han, Kana, Hangul) counts twice: it says as much as two."""
    start = text[:MIN_PROMPT_CHARACTERS]
    return len(start) + sum(unicodedata.east_asian_width(character) in "WF" for character in start)
