"""Prompts from the rows of a file: a transcript, a history.jsonl, a prompt JSONL, an export, or plain lines of text."""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from engine.agents.claude_code.transcripts import (
    ASSISTANT,
    USER,
    is_sdk,
    read_row,
    turn_of,
    typed_of,
    with_turn,
)
from engine.agents.sessions import ABOUT, AGENT, rows_of
from engine.conversations.exports import (
    file_source,
    is_export,
    iso_time,
    prompt_of_history,
    prompt_of_log,
    prompts_of_export,
    word_of,
)
from engine.conversations.injected import injection_of
from engine.lean.json_text import without_lone_surrogates
from engine.lean.record import Record
from engine.memory import Skipped
from engine.prompt import Injection, Prompt, Turn, as_typed, is_human_prompt, parted, prompt_id
from engine.stores.files import open_regular, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, BinaryIO

    Line = tuple[int, bytes | None]
    Found = Iterator["FoundPrompt | Injection | BadRow"]
    Reader = Callable[[dict[str, Any]], "FoundPrompt | Injection | None"]

TRANSCRIPT, HISTORY, EXPORT, PROMPTS, LOG = "transcript", "history", "export", "prompts", "log"
"""Kinds of files."""

DATABASES = (".db", ".sqlite", ".sqlite3")
"""Endings of the names of databases."""

CLAUDE_MEM_COLUMNS = ("id", "prompt_text", "content_session_id", "created_at_epoch")

MAX_LINE_BYTES = 64 << 20
MOST_LISTED = 20
"""Unreadable rows of a file that are listed by line."""

_TOO_LONG = "too long to hold in memory"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FoundPrompt(Record):
    """A prompt, and the kind of its file. Prompts that share one of `keys` are copies of the same prompt."""

    prompt: Prompt
    kind: str
    keys: tuple[str, ...] = ()
    is_sdk: bool = False


class BadRow(Record):
    """A row that cannot be read. `number` is its line, from 1."""

    number: int
    reason: str


def prompts_in(path: str, *, is_named: bool = True, max_line_bytes: int = MAX_LINE_BYTES) -> Found:
    """The prompts and the unreadable rows of a file, in its order. OSError if the file itself cannot be read.

    Of the hook's log, these are the logged prompts of agents whose sessions are not read.
    Behind a prompt of a transcript stand the injections that hooks added to it. A database of claude-mem holds the
    prompts that it recorded.

    The first row of a known kind decides the kind of the file. A file of another name than .jsonl and .json that does
    not begin with such a row, nor as an export of SpecStory or aider, holds a prompt per line. A line of
    *max_line_bytes* or more is a bad row. *is_named*: a person named the path, so it may be a pipe, such as the output
    of another command. Of other Markdown files only exports are read.
    """
    if path.endswith(DATABASES):
        yield from _from_claude_mem(path)
        return
    with (open_source if is_named else open_regular)(path) as file:
        lines = _numbered_lines(file, max_line_bytes)
        first = next((line for line in lines if not _is_blank(line[1])), None)
        if first is None:
            return
        all_lines = chain([first], lines)
        if is_export(first[1] or b""):
            yield from _from_export(all_lines, path)
        elif is_named or not path.endswith(".md"):
            is_text = not path.endswith((".jsonl", ".json"))
            with suppress(ValueError):
                is_text = is_text and not _kind(_row(*first))
            yield from _from_text(all_lines, path) if is_text else _from_rows(all_lines, path)


def skipped_rows(path: str, rows: list[BadRow]) -> tuple[Skipped, ...]:
    """An entry per unreadable row of a file, or a single entry with the count if there are more than MOST_LISTED."""
    if len(rows) > MOST_LISTED:
        first = f"the first is line {rows[0].number}: {rows[0].reason}"
        return (Skipped(where=path, reason=f"{len(rows)} rows cannot be read; {first}"),)
    return tuple(Skipped(where=f"{path}:{row.number}", reason=row.reason) for row in rows)


def _numbered_lines(file: BinaryIO, max_bytes: int) -> Iterator[Line]:
    """Lines with their numbers from 1; None for a line of *max_bytes* or more."""
    number = 0
    while line := file.readline(max_bytes):
        number += 1
        is_whole = line.endswith(b"\n") or len(line) < max_bytes
        while not is_whole:
            rest = file.readline(max_bytes)
            is_whole = rest.endswith(b"\n") or not rest
        yield number, line if len(line) < max_bytes else None


def _is_blank(line: bytes | None) -> bool:
    return line is not None and not line.strip()


def _row(number: int, line: bytes | None) -> dict[str, Any]:
    """The JSON object in a line. ValueError with the reason for any other content."""
    if line is None:
        raise ValueError(_TOO_LONG)
    try:
        return read_row(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    except ValueError as error:
        is_cut_off = str(error) in {"not JSON", "not UTF-8"} and not line.endswith(b"\n")
        raise ValueError("cut off: the file ends within this row" if is_cut_off else str(error)) from None


def _kind(row: dict[str, Any]) -> str:
    """The kind of file that a row belongs to; empty for none of them."""
    if isinstance(row.get("type"), str) and ("prompt" not in row or "sessionId" in row):
        return TRANSCRIPT
    if isinstance(row.get("prompt_sha256"), str):
        return LOG
    if isinstance(row.get("display"), str):
        return HISTORY
    return PROMPTS if "prompt" in row else ""


def _from_rows(lines: Iterator[Line], path: str) -> Found:
    read: Reader | None = None
    for number, line in lines:
        if _is_blank(line):
            continue
        try:
            for row in rows_of(_row(number, line)):
                read = read or _reader(row, path)
                if found := read(row):
                    yield found
        except ValueError as error:
            yield BadRow(number, str(error))


def _reader(row: dict[str, Any], path: str) -> Reader:
    """The function that reads all rows of the file, chosen by its first usable row. ValueError for any other row."""
    kind = _kind(row)
    if kind == TRANSCRIPT:
        return _TranscriptReader(path).read
    if kind in (HISTORY, LOG):
        prompt_of = prompt_of_log if kind == LOG else partial(prompt_of_history, path=path)
        return lambda row: FoundPrompt(prompt, HISTORY) if (prompt := prompt_of(row)) else None
    if kind == PROMPTS:
        return lambda row: FoundPrompt(_prompt_of(row, file_source(path)), PROMPTS)
    raise ValueError("not a row of a transcript, history or prompt file")


def _from_text(lines: Iterator[Line], path: str) -> Iterator[FoundPrompt | BadRow]:
    for line in _decode(lines):
        if isinstance(line, BadRow):
            yield line
        elif text := line.strip():
            yield FoundPrompt(Prompt(id=prompt_id(text), text=text, source=file_source(path)), PROMPTS)


def _from_export(lines: Iterator[Line], path: str) -> Iterator[FoundPrompt | BadRow]:
    decoded = [*_decode(lines)]
    yield from (line for line in decoded if isinstance(line, BadRow))
    text = "".join(line for line in decoded if isinstance(line, str))
    yield from (FoundPrompt(prompt, EXPORT) for prompt in prompts_of_export(text, path))


def _decode(lines: Iterator[Line]) -> Iterator[str | BadRow]:
    for number, line in lines:
        try:
            yield BadRow(number, _TOO_LONG) if line is None else line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            yield BadRow(number, "not UTF-8")


def _from_claude_mem(path: str) -> Iterator[FoundPrompt | BadRow]:
    """The prompts in the table `user_prompts`, whose columns differ by version. Raises ValueError without the table."""
    from engine.lean.sqlite import DAMAGE
    from engine.stores.claude_mem import opened_database
    from engine.stores.files import UnreadableFileError

    try:
        with closing(opened_database(path)) as db:
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            columns = {row[1] for row in db.execute("pragma table_info(user_prompts)")}
            if not {"id", "prompt_text"} <= columns:
                raise ValueError("has no prompts of claude-mem")
            wanted = [name for name in CLAUDE_MEM_COLUMNS if name in columns]
            for values in db.execute(f"select {', '.join(wanted)} from user_prompts order by id"):
                row = dict(zip(wanted, values, strict=True))
                text = as_typed(word_of(row, "prompt_text"))
                if not text:
                    yield BadRow(row["id"], "the row has no prompt")
                elif is_human_prompt(text):
                    session_id, time = word_of(row, "content_session_id"), iso_time(row.get("created_at_epoch"))
                    name, source = prompt_id(f"{session_id}\0{row['id']}\0{text}"), session_id or row["id"]
                    prompt = Prompt(name, text, (), session_id, timestamp=time, source=f"claude-mem:{source}")
                    yield FoundPrompt(prompt, HISTORY)
    except (UnreadableFileError, *DAMAGE) as error:
        raise ValueError(str(error)) from None


def _prompt_of(row: Mapping[str, Any], source: str) -> Prompt:
    text = row.get("prompt")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the row has no prompt")
    text, added = parted(without_lone_surrogates(text))
    if not text:
        raise ValueError("the row has no prompt that a person typed")
    context = [] if row.get("context") is None else row["context"]
    rows = [turn for turn in _text_rows(context) if turn.get("role") in (USER, ASSISTANT)]
    if rows != context:
        raise ValueError("the context is not a list of {role, text}")
    turns = (*(Turn(turn["role"], without_lone_surrogates(turn["text"])) for turn in rows), *added)
    injected = _text_rows(row.get("injected"))
    return Prompt(
        id=word_of(row, "id") or prompt_id(text, turns),
        text=text,
        turns=turns,
        timestamp=iso_time(row.get("timestamp")) or word_of(row, "timestamp"),
        source=word_of(row, "source") or source,
        **{name: word_of(row, name) for name in ("session_id", "cwd", "kind")},
        injections=tuple(Injection(word_of(part, "hook"), without_lone_surrogates(part["text"])) for part in injected),
    )


def _text_rows(rows: object) -> list[dict[str, Any]]:
    """The objects of a list that have a text; of any other value none."""
    found = rows if isinstance(rows, list) else []
    return [row for row in found if isinstance(row, dict) and isinstance(row.get("text"), str)]


class _TranscriptReader:
    """Reads the rows of a transcript in order. Each prompt gets the turns before it.

    Hooks also run for texts that no person typed, such as a slash command, so not every injection belongs to a prompt.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._turns: tuple[Turn, ...] = ()
        self._seen: set[str] = set()
        self._is_after_prompt = False
        self._about: dict[str, Any] = {}

    def read(self, row: dict[str, Any]) -> FoundPrompt | Injection | None:
        if row.get("type") == ABOUT:
            self._about = row
            return None
        row = {**self._about, **row}
        if injection := injection_of(row):
            return injection if self._is_after_prompt else None
        found = self._prompt(row)
        if found or (row.get("type") == USER and not row.get("isMeta")):
            self._is_after_prompt = found is not None
        return found

    def _prompt(self, row: dict[str, Any]) -> FoundPrompt | None:
        turn = turn_of(row)
        if turn is None:
            return None
        keys, turns = _keys(row, turn), self._turns
        is_copy = not self._seen.isdisjoint(keys)
        self._seen.update(keys)
        if is_copy:
            return None
        self._turns = with_turn(turns, turn)
        if turn.role != USER:
            return None
        prompt = _transcript_prompt(row, turn.text, (*turns, *typed_of(row)[1]), self._path)
        return FoundPrompt(prompt, TRANSCRIPT, keys, is_sdk(row))


def _keys(row: Mapping[str, Any], turn: Turn) -> tuple[str, ...]:
    """Names that a message shares with its copies: a fork keeps the uuid, a prompt sent again keeps its promptId."""
    queued, index = word_of(row, "attachment", "source_uuid"), word_of(row, "turnPosition", "turnIndex")
    sent = word_of(row, "promptId") if turn.role == USER else ""
    names = [f"uuid {uuid}" for uuid in (word_of(row, "uuid"), queued) if uuid]
    return (*names, f"prompt {sent} {index} {turn.text}") if sent else tuple(names)


def _transcript_prompt(row: Mapping[str, Any], text: str, turns: tuple[Turn, ...], path: str) -> Prompt:
    uuid, session_id = word_of(row, "uuid"), word_of(row, "sessionId")
    return Prompt(
        id=uuid.replace("-", "")[:16] if _UUID.fullmatch(uuid) else prompt_id(uuid or text, () if uuid else turns),
        text=text,
        turns=turns,
        session_id=session_id,
        cwd=word_of(row, "cwd"),
        timestamp=word_of(row, "timestamp"),
        source=f"{word_of(row, AGENT) or TRANSCRIPT}:{session_id or os.path.splitext(os.path.basename(path))[0]}",
    )
