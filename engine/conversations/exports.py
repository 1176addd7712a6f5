"""Prompts outside transcripts: in the exports of SpecStory, aider's chats, Claude Code's history and the hook's log.

SpecStory writes a file for a session of Cursor, Copilot or Claude Code, in `.specstory/history`. A message ends at the
next line that names a speaker, not at `---`, which people and assistants type, too. aider writes the chats of a project
into one file. It ends each line of a prompt with two spaces, which tells prompts from headings of the assistant.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from engine.agents.claude_code.transcripts import ASSISTANT, USER, typed_text, with_turn
from engine.agents.registry import unread_agents
from engine.lean.json_text import value_at, without_lone_surrogates
from engine.prompt import Prompt, Turn, as_typed, is_human_prompt, prompt_id, without_blocks
from engine.stores.files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Conversation = tuple[str, str, list[tuple[str, str, str]]]
    """Its name in prompts, its session's id, and its messages in order: role, time in ISO 8601 or "", and text."""

SPECSTORY_FOLDER = os.path.join(".specstory", "history")
AIDER_FILE = ".aider.chat.history.md"
"""Where the two programs write, in the folder of a project."""

_CHAT = re.compile(r"^# aider chat started at (.*)$", re.MULTILINE)
_SPEAKER = re.compile(r"^_\*\*(User|Assistant|Agent)(?: \((.*)\))?\*\*_[ \t]*$", re.MULTILINE)
_END = re.compile(r"^---\s*\Z", re.MULTILINE)
_SESSION = re.compile(r"<!-- .{0,300}\bSession (\S+)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[ T_](\d\d)[:-](\d\d)(?:[:-](\d\d))?(Z|[+-]\d\d:?\d\d)")
"""A time in the line of a speaker, or in the name of a file."""

_NOT_TYPED = ("@agent Continue:", "Implement the plan as specified", "You are working on")
"""Beginnings of texts that an editor writes in a person's name: buttons, plans and briefs for another assistant."""

_TOOL = re.compile(r"<tool-use\b[^>\n]{0,1000}>")
_BESIDE = ("tool-use", "think", "details")
"""Tags around what an assistant did or thought, and did not say."""

_PROMPT_LINE = re.compile(r"^####(?: .*)?  $", re.MULTILINE)
_CHOICES = "(Y)es/(N)o"
_ANSWERS = ("y", "n", "yes", "no", "a", "all", "s", "skip", "d", "don't", "<blank>")
"""Answers to aider's questions, and its mark for an empty prompt."""


def is_export(line: bytes) -> bool:
    """Whether a file whose first words are in *line* is an export of SpecStory or a history of aider."""
    start = line.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"# aider chat started at ") or (start.startswith(b"<!--") and b"SpecStory" in start)


def prompts_of_export(text: str, path: str) -> Iterator[Prompt]:
    """The prompts in the *text* of an export, in its order, each with the turns before it."""
    text = text.replace("\r\n", "\n")
    for source, session_id, messages in _aider(text) if _CHAT.match(text) else [_specstory(text, path)]:
        turns: tuple[Turn, ...] = ()
        before = ("", "")
        for role, moment, whole in messages:
            said, added = typed_text(whole) if role == USER else (whole, ())
            if not said or (role, said) == before:  # sent again, because no answer came
                continue
            if role == USER:
                name = prompt_id(f"{source}\0{said}")
                yield Prompt(name, said, (*turns, *added), session_id, timestamp=moment, source=source)
            turns, before = with_turn(turns, Turn(role, said)), (role, said)


def _specstory(text: str, path: str) -> Conversation:
    """The conversation in an export. Until 2025 the turns had no times, so the time in the file's name counts.

    An image leaves an empty message. Messages of a sub-agent are left out.
    """
    name = os.path.splitext(os.path.basename(path))[0]
    head, *parts = _SPEAKER.split(text)
    session = _SESSION.search(head)
    moment, messages = _iso(name), []
    for speaker, about, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        moment = _iso(about or "") or moment
        whole = _END.sub("", said).strip()
        if "sidechain" in (about or ""):
            continue
        if speaker != "User":
            spoken, _ = without_blocks(_TOOL.sub("<tool-use>", whole), _BESIDE)
            lines = (line for line in spoken.split("\n") if line.strip() not in ("", "---"))
            answer = "\n".join(line for line in lines if not line.startswith("Tool use: "))
            messages.append((ASSISTANT, moment, answer))
        elif not whole.startswith(_NOT_TYPED):
            messages.append((USER, moment, whole))
    session_id = session[1] if session else ""
    return f"specstory:{session_id or name}", session_id, messages


def _iso(text: str) -> str:
    """The first time in *text* as ISO 8601; empty without one."""
    found = _MOMENT.search(text)
    return f"{found[1]}T{found[2]}:{found[3]}:{found[4] or '00'}{found[5]}" if found else ""


def _aider(text: str) -> Iterator[Conversation]:
    """The chats in a history of aider. A chat has a single time, that of its start, and this names it."""
    _, *parts = _CHAT.split(text)
    for started, chat in zip(parts[::2], parts[1::2], strict=True):
        moment = "T".join(started.split())
        yield f"aider:{moment}", moment, [(role, moment, said) for role, said in _chat_messages(chat)]


def _chat_messages(chat: str) -> Iterator[tuple[str, str]]:
    """Roles and texts. Lines of aider itself begin with `>`.

    The prompt of a command such as `/ask` stands behind it once more. In architect mode aider writes the answer of the
    first model once more, as a prompt for the second.
    """
    answer: list[str] = []
    has_ends = _PROMPT_LINE.search(chat) is not None

    def role_of(line: str) -> str:
        if line == "####" or line.startswith("#### "):
            return USER if line.endswith("  ") or not has_ends else ASSISTANT
        return "" if line.startswith(">") else ASSISTANT

    for role, lines in groupby(chat.split("\n"), role_of):
        if role == ASSISTANT:
            text = "\n".join(lines).strip()
            answer = text.split() or answer
            yield role, text
        elif role:
            text = "\n".join(line[5:].rstrip() for line in lines).strip()
            is_typed = text.casefold() not in _ANSWERS and _CHOICES not in text and text.split() != answer
            yield role, text if is_typed and not text.startswith("!") else ""


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

    def content(placeholder: re.Match[str]) -> str:
        paste = value_at(pasted, placeholder[1])
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


def seconds_of(time: str) -> float | None:
    """A time in ISO 8601, by default in UTC, as seconds since 1970; None for another text."""
    try:
        moment = datetime.fromisoformat(time)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def word_of(row: Mapping[str, Any], *path: str) -> str:
    """A field, by its path of keys, as text; empty if it is neither text nor a whole number."""
    value = value_at(row, *path)
    if isinstance(value, str):
        return without_lone_surrogates(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def file_source(path: str) -> str:
    """The source of a prompt that names no session."""
    return f"file:{os.path.basename(path)}"
