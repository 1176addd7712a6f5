"""What the client tells the hook about a prompt, and whether the prompt asks for memories at all."""

from __future__ import annotations

import os
import unicodedata

from engine.lean.json_text import loads
from engine.lean.record import Record
from engine.prompt import is_human_prompt

MIN_PROMPT_CHARACTERS = 10
OPT_OUT = "[nomem]"
GUARD = "MEMSIFT_INSIDE_JUDGE"
"""Set in the environment of a client that a judge of ours asks: its hooks are ours too, and must stay out of it."""


class Request(Record):
    """A prompt on its way to the model. `source` is who submitted it, where the client says so."""

    prompt: str
    session_id: str
    cwd: str
    transcript_path: str
    source: str


def parse_request(stdin: bytes) -> Request | None:
    """The request, or None if it is not a JSON object with a prompt."""
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
    """Why this prompt asks for no memories; empty if it does."""
    text = request.prompt.strip()
    if not is_human_prompt(text, request.source):
        return "not typed by a person"
    if _width(text) < MIN_PROMPT_CHARACTERS:
        return f"under {MIN_PROMPT_CHARACTERS} characters"
    return f"{OPT_OUT} in the prompt" if OPT_OUT in text else ""


def _width(text: str) -> int:
    """Characters, up to the least that is asked for; a wide one (Han, Kana, Hangul) says as much as two others."""
    start = text[:MIN_PROMPT_CHARACTERS]
    if start.isascii():
        return len(start)
    return len(start) + sum(unicodedata.east_asian_width(character) in "WF" for character in start)
