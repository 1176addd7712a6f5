"""Prompts that are recorded apart from their conversation: in Claude Code's history.jsonl, and in the hook's log."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.agents.registry import unread_agents
from engine.lean.json_text import without_lone_surrogates
from engine.prompt import Prompt, as_typed, is_human_prompt, prompt_id
from engine.stores.files import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PASTED_TEXT = re.compile(r"\[(?:\.\.\.)?(?:Pasted|Truncated) text #(\d+)(?: \+\d+ lines)?(?:\.\.\.)?\]")
"""The placeholder of a pasted text in history.jsonl."""

_MOST_OF_PASTE = 64 << 20
_HASH = re.compile(r"[0-9A-Za-z_-]+")


def prompt_of_history(row: Mapping[str, Any], path: str) -> Prompt | None:
    """The prompt in a row of history.jsonl, with its pastes. ValueError for another row."""
    if not isinstance(row.get("display"), str):
        raise ValueError("the row has no display")
    typed = row["display"].strip()
    if not typed or typed.startswith("!") or not is_human_prompt(typed):
        return None
    session_id, timestamp = word_of(row, "sessionId"), iso_time(row.get("timestamp"))
    text = without_lone_surrogates(_with_pastes(typed, row.get("pastedContents"), os.path.dirname(path))).strip()
    return Prompt(
        id=prompt_id("\0".join((session_id, timestamp, text))),
        text=text,
        session_id=session_id,
        cwd=word_of(row, "project"),
        timestamp=timestamp,
        source=f"history:{session_id}" if session_id else file_source(path),
    )


def prompt_of_log(row: Mapping[str, Any]) -> Prompt | None:
    """The prompt in a line of the hook's log, if its text was logged. Of other agents, the sessions are read."""
    text, agent = as_typed(word_of(row, "prompt")), word_of(row, "agent")
    if agent not in {found.name for found in unread_agents()} or not text or not is_human_prompt(text):
        return None
    session_id, time = word_of(row, "session_id"), word_of(row, "time")
    name = prompt_id("\0".join((session_id, time, text)))
    return Prompt(id=name, text=text, session_id=session_id, timestamp=time, source=f"{agent}:{session_id}")


def _with_pastes(typed: str, pasted: object, folder: str) -> str:
    """*typed* with its pastes in place. The placeholder of a lost paste stays."""
    contents = pasted if isinstance(pasted, dict) else {}

    def content(placeholder: re.Match[str]) -> str:
        paste = contents.get(placeholder[1])
        text = _paste_text(paste, folder) if isinstance(paste, dict) else None
        return placeholder[0] if text is None else text

    return PASTED_TEXT.sub(content, typed)


def _paste_text(paste: Mapping[str, Any], folder: str) -> str | None:
    """The text of a paste: in the row if it is short, else in a file named by its hash. None if it is lost."""
    text, name = paste.get("content"), paste.get("contentHash")
    if isinstance(text, str):
        return text
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        return None
    try:
        return read_regular(os.path.join(folder, "paste-cache", f"{name}.txt"), _MOST_OF_PASTE).decode("utf-8")
    except (OSError, ValueError):
        return None


def iso_time(milliseconds: object) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC; empty for other values."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return ""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def word_of(row: Mapping[str, Any], name: str) -> str:
    """A field as text; empty if it is neither text nor a whole number."""
    value = row.get(name)
    if isinstance(value, str):
        return without_lone_surrogates(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def file_source(path: str) -> str:
    """The source of a prompt that names no session."""
    return f"file:{os.path.basename(path)}"
