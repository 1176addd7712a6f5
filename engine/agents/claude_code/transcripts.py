"""Claude Code's transcripts: the turn in a row, and the last turns of a file.

The rules for prompts that a person typed agree with the prompts that the hook received from clients 1.0.128 to 2.1.330.
The hook reads turns and given prompts, so nothing slow is imported.

A transcript is only appended to. Rows name the row before them as `parentUuid`. After `/rewind` the new row names an
earlier one: the rows between belong to no conversation any more. What leads from the last row back to the first is the
living branch.
"""

from __future__ import annotations

import os

from engine.lean.json_text import loads, without_lone_surrogates
from engine.lean.sha256 import hex_digest
from engine.prompt import TURN_CHARACTERS, Turn, is_human_prompt, parted
from engine.stores.files import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

USER, ASSISTANT = "user", "assistant"

_NOT_SAID = (
    *("isMeta", "isSidechain", "agentId", "isCompactSummary", "isVisibleInTranscriptOnly"),
    *("isVirtual", "isApiErrorMessage", "toolUseResult"),
)
"""Fields that mark a row as not said by a person or the assistant."""

_SIDECHAIN = b'"isSidechain":true'
_INTERRUPTION = "[Request interrupted by user"

CONTEXT_TURNS = 5
"""Turns before a prompt."""

BRANCH_BYTES = 4_000_000
"""The end of a transcript in which given prompts are looked for."""

_BOUNDARY = b'"compact_boundary"'
_MOST_GAPS = 20
"""Rows of a branch whose parent is missing. In place of the parent, the row before them in the file is taken."""


def read_row(line: bytes) -> dict[str, Any]:
    """The JSON object in a line. ValueError with the reason for any other content."""
    try:
        row = loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return row


def turn_of(row: Mapping[str, Any]) -> Turn | None:
    """The text that a person or the assistant said in a row of a transcript, uncut; None for other kinds of rows.

    ValueError with the reason for a malformed message. Pasted text stands in the prompt without its tags. Additions
    of the editor and the client are left out, and so are commands and `!` lines.
    """
    if any(row.get(mark) for mark in _NOT_SAID):
        return None
    if row.get("type") == ASSISTANT:
        text = without_lone_surrogates("\n".join(_text_blocks(_content(row)))).strip()
        return Turn(ASSISTANT, text) if text else None
    text, _ = typed_of(row)
    return Turn(USER, text) if text else None


def is_sdk(row: Mapping[str, Any]) -> bool:
    """Whether the row's prompt came from `claude -p` or the Agent SDK. Clients up to 2.0.76 do not tell."""
    return row.get("promptSource") == "sdk" or str(row.get("entrypoint")).startswith("sdk-")


def with_turn(turns: tuple[Turn, ...], turn: Turn, count: int = CONTEXT_TURNS) -> tuple[Turn, ...]:
    """The last *count* of *turns* and *turn*, each cut. Consecutive rows of the assistant are a single turn.

    Of the assistant the end is kept: a prompt such as "option B" answers what it said last.
    """
    if turns and turns[-1].role == turn.role == ASSISTANT:
        turn = Turn(ASSISTANT, f"{turns[-1].text}\n{turn.text}")
        turns = turns[:-1]
    kept = turn.text[-TURN_CHARACTERS:] if turn.role == ASSISTANT else turn.text[:TURN_CHARACTERS]
    return (*turns, Turn(turn.role, kept.strip()))[-count:] if count > 0 else ()


def last_turns(transcript_path: str, count: int = CONTEXT_TURNS, *, max_bytes: int = 262_144) -> tuple[Turn, ...]:
    """The last *count* turns of a transcript, oldest first, from its last *max_bytes* bytes; SDK prompts included.

    Never raises: a file that cannot be read has no turns, and malformed rows are left out. The current prompt is not
    among them: the client writes it later, and creates the file only after a session's first prompt.
    """
    turns: tuple[Turn, ...] = ()
    for turn in reversed(_last(_turns_backwards(tail(transcript_path, max_bytes)), count)):
        turns = with_turn(turns, turn, count)
    return turns


def living_prompts(transcript_path: str, max_bytes: int = BRANCH_BYTES) -> frozenset[str] | None:
    """The names of the prompts in the living branch since the last compaction: `promptId`, or the hash of the text.

    None if that is not known: the transcript cannot be read, or the branch begins before its last *max_bytes* bytes.
    """
    names: set[str] = set()
    for line, is_first in _branch(tail(transcript_path, max_bytes)):
        if _BOUNDARY in line:
            return frozenset(names)
        name = _prompt_name(line)
        if name:
            names.add(name)
        if is_first:
            return frozenset(names)
    return None


def _prompt_name(line: bytes) -> str:
    """The name of the prompt that a row belongs to, empty for other rows. Few rows are parsed."""
    if name := _value(line, b"promptId", len(line)):
        return name.decode("utf-8", "replace")
    if b'"tool_result"' in line or not (b'"user"' in line or b'"queued_command"' in line):
        return ""
    try:
        turn = turn_of(read_row(line))
    except ValueError:
        return ""
    return hex_digest(turn.text) if turn and turn.role == USER else ""


def _branch(lines: list[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The rows of the living branch, newest first, and for each whether the conversation begins with it.

    Rows are searched, not parsed. A row that names no parent follows the row before it in the file. A compaction does
    not end the branch.
    """
    place, gaps = len(lines), 0
    wanted: bytes | None = None
    while gaps <= _MOST_GAPS:
        before = range(place - 1, -1, -1)
        found = next((at for at in before if _has_uuid(lines[at], wanted)), -1) if wanted else -1
        if found < 0:
            gaps += wanted is not None
            # A row of a sub-agent's conversation stands beside the branch.
            found = next((at for at in before if _SIDECHAIN not in lines[at][:300].replace(b" ", b"")), -1)
        if found < 0:
            return
        place = found
        parent = _value(lines[place], b"parentUuid")
        wanted = parent or _value(lines[place], b"logicalParentUuid") or parent
        yield lines[place], wanted == b""
        if wanted == b"":
            return


def _has_uuid(line: bytes, uuid: bytes) -> bool:
    return uuid in line and (b'"uuid":"%b"' % uuid in line or b'"uuid": "%b"' % uuid in line)


def _value(line: bytes, name: bytes, most: int = 300) -> bytes | None:
    """The text of a field in the first *most* bytes of a row: empty if it is null, None if there is no such field."""
    start = line.find(b'"%b":' % name, 0, most)
    if start < 0:
        return None
    rest = line[start + len(name) + 3 :][:60].lstrip()
    return rest[1 : rest.find(b'"', 1)] if rest.startswith(b'"') else b""


def _is_interruption(block: str) -> bool:
    return block.startswith(_INTERRUPTION) and block.find("]") == len(block) - 1


def typed_of(row: Mapping[str, Any]) -> tuple[str, tuple[Turn, ...]]:
    """What a person typed in a row, empty for other rows, and what the editor added to it as a turn."""
    content = _typed_content(row)
    if content is None:
        return "", ()
    blocks = [block for block in _text_blocks(content) if not _is_interruption(block.strip())]
    return typed_text(without_lone_surrogates("\n".join(blocks)))


def typed_text(text: str) -> tuple[str, tuple[Turn, ...]]:
    """What a person typed in a message, empty for what the client wrote and for commands, and the editor's addition."""
    text, added = parted(text)
    return (text, added) if is_human_prompt(text) else ("", ())


def _typed_content(row: Mapping[str, Any]) -> object:
    """The content of a row that can hold a prompt, else None. A prompt typed while a tool ran is an attachment."""
    if not _is_from_a_person(row):
        return None
    if row.get("type") == USER:
        return _content(row)
    queued = row.get("attachment") if row.get("type") == "attachment" else None
    if not isinstance(queued, dict) or queued.get("type") != "queued_command" or queued.get("commandMode") != "prompt":
        return None
    if not _is_from_a_person(queued) or any(queued.get(mark) for mark in _NOT_SAID):
        return None
    return queued.get("prompt", "")


def _is_from_a_person(row: Mapping[str, Any]) -> bool:
    origin = row.get("origin")
    kind = origin.get("kind", "human") if isinstance(origin, dict) else "human"
    return kind == "human" and row.get("promptSource") != "system"


def _content(row: Mapping[str, Any]) -> object:
    message = row.get("message")
    if not isinstance(message, dict):
        raise ValueError("the message is not an object")
    if message.get("content") is None:
        raise ValueError("the message has no content")
    return message["content"]


def _text_blocks(content: object) -> list[str]:
    """The texts in a message's content; none if it holds the result of a tool."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ValueError("the message's content is neither text nor blocks")
    if any(block.get("type") == "tool_result" for block in content):
        return []
    texts = [block.get("text") for block in content if block.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text block without text")
    return texts


def tail(path: str, max_bytes: int) -> list[bytes]:
    """The complete lines in the last *max_bytes* bytes of a file, in order; none of a file that cannot be read."""
    try:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - max(0, max_bytes))
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
    except (OSError, ValueError):
        return []
    return lines[1:] if start else lines


def _turns_backwards(lines: list[bytes]) -> Iterator[Turn]:
    seen: set[str] = set()
    for line, _ in _branch(lines):
        try:
            row = read_row(line)
            turn = turn_of(row)
        except ValueError:
            continue
        uuid = str(row.get("uuid") or "")
        if turn and uuid not in seen:
            yield turn
        if uuid:
            seen.add(uuid)


def _last(turns: Iterable[Turn], count: int) -> list[Turn]:
    """The rows of the last *count* turns; *turns* runs backwards. Consecutive assistant rows are a single turn."""
    kept: list[Turn] = []
    begun = 0
    for turn in turns:
        begun += not (kept and kept[-1].role == turn.role == ASSISTANT)
        if begun > count:
            break
        kept.append(turn)
    return kept
