"""The sessions of Codex, Gemini CLI, Qwen Code and Copilot CLI, in the form of Claude Code's transcripts.

A row tells by its fields which agent wrote it. `rows_of` gives rows of Claude Code's form with the same content, so a
single reader finds prompts, turns and injections of all agents. Recorded with Codex 0.171, Gemini CLI 0.61, Qwen Code
0.15.10 and Copilot CLI 1.0.102. What the agent writes in a person's name is left out: its environment, instructions,
texts of hooks.

The hook reads turns and given prompts here, so nothing slow is imported.
"""

from __future__ import annotations

import os

from engine.agents.claude_code.transcripts import (
    ASSISTANT,
    BRANCH_BYTES,
    CONTEXT_TURNS,
    USER,
    read_row,
    tail,
    turn_of,
    with_turn,
)
from engine.inject import HEADER
from engine.lean.json_text import value_at
from engine.lean.sha256 import hex_digest
from engine.prompt import without_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from engine.prompt import Turn

    Row = dict[str, Any]

ABOUT, COMPACTED, REWIND = "about", "compacted", "rewind"
"""Types of rows beside Claude Code's: the session's id and folder; a summary takes the place of the turns before; the
last turns are taken back, by their number `turns` or from the row `uuid` on."""

AGENT = "writtenBy"
"""The field with the name of the agent that wrote the row."""

TAIL_BYTES = 262_144
"""The end of a session in which the last turns are looked for."""

MOST_JUMPS = 100
"""Rows of a session that may take back others; further ones are ignored."""

_TYPED, _HOOK = "user.text", "hooks.additional_context"
"""What Codex calls the parts of a message."""

_CODEX_SIGNS = (b'"type":"message"', b'"thread_rolled_back"', b'"compacted"')
"""In the beginning of the rows that tell what was said, or that it no longer counts."""

_INSTRUCTIONS = "# AGENTS.md instructions"
_HOOK_START, _HOOK_END = "<hook_context>", "</hook_context>"
_REMINDER = "system_reminder"
"""The tag in which Copilot shows texts of hooks to its model."""

_TO_TAGS = str.maketrans("‹›", "<>")


def rows_of(row: Row) -> tuple[Row, ...]:
    """The content of a row in Claude Code's form; the row itself where no other agent wrote it."""
    message = row.get("message")
    if isinstance(row.get("payload"), dict):
        return tuple(_of_codex(row, row["payload"]))
    if isinstance(message, dict) and isinstance(message.get("parts"), list):
        return tuple(_of_qwen(row, message["parts"]))
    if isinstance(row.get("data"), dict):
        return tuple(_of_copilot(row, row["data"]))
    if "$set" in row or "$rewindTo" in row or "projectHash" in row or ("id" in row and "content" in row):
        return tuple(_of_gemini(row))
    return (row,)


def last_turns(path: str, count: int = CONTEXT_TURNS) -> tuple[Turn, ...]:
    """The last *count* turns of a session, oldest first. Never raises: see `transcripts.last_turns`."""
    turns: tuple[Turn, ...] = ()
    for row in _conversation(path, TAIL_BYTES):
        if turn := _turn(row):
            turns = with_turn(turns, turn, count)
    return turns


def living_prompts(path: str, max_bytes: int = BRANCH_BYTES) -> frozenset[str] | None:
    """The names of the prompts in the conversation since its last summary: the turn's id and the hash of the text.

    None if that is not known: the file cannot be read, or has more than *max_bytes* bytes.
    """
    try:
        if os.path.getsize(path) > max_bytes:
            return None
    except (OSError, ValueError):
        return None
    names: set[str] = set()
    for row in _conversation(path, max_bytes):
        turn = _turn(row)
        if row.get("type") == COMPACTED:
            names.clear()
        elif turn and turn.role == USER:
            names |= {str(row.get("promptId") or ""), hex_digest(turn.text)}
    return frozenset(names - {""})


def _turn(row: Row) -> Turn | None:
    try:
        return turn_of(row)
    except ValueError:
        return None


def _conversation(path: str, max_bytes: int) -> list[Row]:
    """The rows in the last *max_bytes* bytes of a session, without those that were taken back."""
    kept: list[Row] = []
    jumps = 0
    for row in _rows(path, max_bytes):
        is_rewind, parent = row.get("type") == REWIND, row.get("parentUuid")
        takes_back = is_rewind or (parent and kept and kept[-1].get("uuid") != parent)
        if takes_back and jumps < MOST_JUMPS:
            jumps += 1
            del kept[_start_of_jump(row, kept) :]
        if not is_rewind:
            kept.append(row)
    return kept


def _start_of_jump(row: Row, kept: list[Row]) -> int:
    """The place of the first of the rows that *row* takes back."""
    if "turns" in row:
        turns = row["turns"] if isinstance(row["turns"], int) else 0
        users = [place for place, found in enumerate(kept) if found.get("type") == USER]
        return len(kept) if turns <= 0 else users[-turns] if turns <= len(users) else 0
    is_rewind = row.get("type") == REWIND
    wanted = row.get("uuid") if is_rewind else row.get("parentUuid")
    found = next((place for place in range(len(kept) - 1, -1, -1) if kept[place].get("uuid") == wanted), None)
    if is_rewind:
        return found or 0
    return len(kept) if found is None else found + 1


def _rows(path: str, max_bytes: int) -> Iterator[Row]:
    for line in tail(path, max_bytes):
        head = line[:200]
        is_tool_row = b'"payload"' in head and not any(sign in head for sign in _CODEX_SIGNS)  # most of a session
        if not line or is_tool_row:
            continue
        try:
            yield from rows_of(read_row(line))
        except ValueError:
            continue


def _of_codex(row: Row, payload: Mapping[str, Any]) -> Iterator[Row]:
    kind, part = row.get("type"), payload.get("type")
    if kind == "session_meta":
        source = payload.get("source")
        start = {"entrypoint": "sdk-exec" if source == "exec" else "", "isSidechain": isinstance(source, dict)}
        yield {"type": ABOUT, AGENT: "codex", "sessionId": payload.get("id"), "cwd": payload.get("cwd"), **start}
    elif kind == COMPACTED:
        yield {"type": COMPACTED}
    elif part == "thread_rolled_back":
        yield {"type": REWIND, "turns": payload.get("num_turns")}
    elif kind == "response_item" and part == "message":
        passed = payload.get("internal_chat_message_metadata_passthrough")
        parts = list(_codex_parts(payload.get("content"), value_at(passed, "content_item_kinds")))
        about = {"timestamp": row.get("timestamp"), "uuid": payload.get("id"), "promptId": value_at(passed, "turn_id")}
        if payload.get("role") == USER:
            yield from _message(USER, [text for text, name in parts if name == _TYPED], about)
        elif payload.get("role") == ASSISTANT:
            yield from _message(ASSISTANT, [text for text, _ in parts], about)
        else:
            yield from _injections(text for text, name in parts if name == _HOOK)


def _codex_parts(content: object, kinds: object) -> Iterator[tuple[str, str]]:
    """The texts of a message, and what each is. Older versions do not say it."""
    named = kinds if isinstance(kinds, list) else []
    for place, text in enumerate(_texts(content)):
        guess = _HOOK if text.startswith(HEADER) else "" if _is_context(text) else _TYPED
        yield text, named[place] if place < len(named) else guess


def _of_gemini(row: Row) -> Iterator[Row]:
    change = row.get("$set")
    if isinstance(change, dict) and isinstance(change.get("messages"), list):
        yield {"type": COMPACTED}
        for message in change["messages"]:
            yield from _of_gemini(message) if isinstance(message, dict) else ()
    elif "$rewindTo" in row:
        yield {"type": REWIND, "uuid": row["$rewindTo"]}
    elif "projectHash" in row:
        is_other = row.get("kind", "main") != "main"
        yield {"type": ABOUT, AGENT: "gemini", "sessionId": row.get("sessionId"), "isSidechain": is_other}
    elif row.get("type") in (USER, "gemini"):
        about = {"timestamp": row.get("timestamp"), "uuid": row.get("id")}
        role = USER if row["type"] == USER else ASSISTANT
        sent = _texts(row.get("content"))
        shown = _texts(row.get("displayContent")) or sent
        yield from _message(role, [text for text in shown if not _is_context(text)], about)
        hooks = (text.strip() for text in sent if text.startswith(_HOOK_START))
        yield from _injections(text.removeprefix(_HOOK_START).removesuffix(_HOOK_END) for text in hooks)


def _of_qwen(row: Row, parts: object) -> Iterator[Row]:
    """The first part is the prompt. Behind it stand texts of hooks and of the files that the prompt names."""
    texts = _texts(parts)
    if row.get("type") == USER:
        typed = [text for text in texts[:1] if not _is_context(text)]
        yield from _message(USER, typed, {**row, AGENT: "qwen"})
        yield from _injections(text for text in texts[1:] if text.translate(_TO_TAGS).startswith(HEADER))
    elif row.get("type") == ASSISTANT:
        yield from _message(ASSISTANT, texts, {**row, AGENT: "qwen"})
    else:
        yield {name: row[name] for name in ("uuid", "parentUuid") if name in row}


def _of_copilot(row: Row, data: Mapping[str, Any]) -> Iterator[Row]:
    about = {"timestamp": row.get("timestamp"), "uuid": row.get("id"), "agentId": row.get("agentId")}
    kind = row.get("type")
    if kind == "session.start":
        cwd = value_at(data, "context", "cwd")
        yield {"type": ABOUT, AGENT: "copilot", "sessionId": data.get("sessionId"), "cwd": cwd}
    elif kind == "user.message" and not data.get("source"):
        yield from _message(USER, _texts(data.get("content")), about)
        yield from _injections(without_blocks("\n".join(_texts(data.get("transformedContent"))), (_REMINDER,))[1])
    elif kind == "assistant.message":
        yield from _message(ASSISTANT, [text for text in _texts(data.get("content")) if text], about)
    elif kind == "session.compaction_complete":
        yield {"type": COMPACTED}


def _message(role: str, texts: list[str], about: Mapping[str, Any]) -> Iterator[Row]:
    """A row of Claude Code's form; none without a text, except where other rows name it as their parent."""
    if texts:
        yield {**about, "type": role, "message": {"content": "\n".join(texts)}}
    elif "parentUuid" in about:
        yield {name: about.get(name) for name in ("uuid", "parentUuid")}


def _injections(texts: Iterable[str]) -> Iterator[Row]:
    for text in texts:
        plain = text.strip().translate(_TO_TAGS).replace(" → ", " -> ")
        content = [plain if plain.startswith(HEADER) else text.strip()]
        found = {"type": "hook_additional_context", "hookEvent": "UserPromptSubmit", "content": content}
        yield {"type": "attachment", "attachment": found}


def _texts(content: object) -> list[str]:
    """The texts of a message: of its parts, without thoughts, or a plain text."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    whole = (part for part in parts if isinstance(part, dict) and not part.get("thought"))
    return [part["text"] for part in whole if isinstance(part.get("text"), str)]


def _is_context(text: str) -> bool:
    """Whether the agent wrote a text: its instructions, or a block in a tag such as <environment_context>."""
    stripped = text.strip()
    name = stripped[1 : stripped.find(">")] if stripped.startswith("<") else ""
    return stripped.startswith(_INSTRUCTIONS) or ("_" in name and stripped.endswith(f"</{name}>"))
