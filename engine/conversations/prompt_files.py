"""The prompts that people typed, from a set of files and folders, without duplicates: for replay and labelling."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from glob import escape, glob
from typing import TYPE_CHECKING

from engine.agents.agent import SESSIONS_READER
from engine.agents.registry import all_agents, unread_agents
from engine.conversations.activity import LOG_FILE
from engine.conversations.exports import PASTED_TEXT, seconds_of
from engine.conversations.injected import with_injections
from engine.conversations.prompt_rows import (
    EXPORT,
    HISTORY,
    TRANSCRIPT,
    BadRow,
    FoundPrompt,
    prompts_in,
    skipped_rows,
)
from engine.errors import PromptFileError
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.memory import Skipped
from engine.prompt import Injection
from engine.stores.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.prompt import Prompt

    Scope = tuple[str, str]


FIRST_BYTES = 4096
"""The beginning of a session, in which it names its folder."""


class PromptReading(Record):
    """The prompts of some files, oldest first, with unique ids, and the rows and files that could not be read."""

    prompts: tuple[Prompt, ...]
    skipped: tuple[Skipped, ...] = ()


def read_prompts(paths: Sequence[str], *, include_sdk: bool = False) -> PromptReading:
    """The prompts in *paths*: transcripts, histories, exports, prompt JSONL, text (a prompt per line), or folders.

    Folders are searched for *.jsonl and exports of SpecStory and aider (*.md) at any depth, without the transcripts of
    subagents. Prompts are ordered by time; prompts without a time follow in file order. Copies in a fork, a prompt that
    was sent again, and a prompt of a history or an export whose transcript is among *paths* count once. Of several
    exports of a session, that with the most prompts counts. `include_sdk` adds prompts from `claude -p` and the Agent
    SDK, as far as the client names them (2.1 and later). Bad rows, and bad files within a folder, are skipped. Raises
    PromptFileError if one of *paths* does not exist or cannot be read.
    """
    files: dict[str, list[FoundPrompt]] = {}
    skipped: list[Skipped] = []
    seen: set[str] = set()
    for path in paths:
        for file in _files(path, skipped):
            if (identity := _identity(file)) not in seen:
                seen.add(identity)
                rows = _read(file, skipped, is_named=file == path)
                session_id = rows[0].prompt.session_id if rows and rows[0].kind == EXPORT else ""
                name = f"session {session_id}" if session_id else identity
                files[name] = max(files.get(name, rows), rows, key=len)
    wanted = [item for rows in files.values() for item in rows if include_sdk or not item.is_sdk]
    times = ((seconds_of(prompt.timestamp), prompt) for prompt in _each_once(wanted))
    ordered = sorted(times, key=lambda pair: (pair[0] is None, pair[0] or 0.0))
    return PromptReading(tuple(_with_unique_ids(prompt for _, prompt in ordered)), tuple(skipped))


def agent_sessions(folders: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The session files of agents beside Claude Code that were started in one of *folders*, the oldest first.

    A session names its folder in its first row: Codex, Qwen Code and Copilot CLI by `cwd`, Gemini CLI by a hash.
    """
    places = {place for folder in folders for place in (folder, os.path.realpath(folder))}
    signs = [f'"cwd":{json.dumps(place, ensure_ascii=False)}' for place in places]
    signs += [f'"projectHash":"{hex_digest(place)}"' for place in places]
    wanted = [sign.encode("utf-8", "surrogateescape") for sign in signs]
    patterns = (os.path.join(escape(home), pattern) for home, pattern in _session_patterns(environ))
    return [file for pattern in patterns for file in sorted(glob(pattern)) if _begins_with_one(file, wanted)]


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """The folders below which the agents beside Claude Code keep the sessions of all projects."""
    return [os.path.join(home, pattern.partition("*")[0]) for home, pattern in _session_patterns(environ)]


def _session_patterns(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    readable = (agent for agent in all_agents() if agent.reader == SESSIONS_READER)
    return [(agent.home(environ), pattern) for agent in readable for pattern in agent.sessions]


def logs_with_prompts(folders: Iterable[str]) -> list[str]:
    """The hook's logs in state folders that hold texts of prompts of agents whose sessions are not read."""
    signs = [f'"agent": "{agent.name}"'.encode() for agent in unread_agents()]
    logs = [os.path.join(folder, name) for folder in folders for name in (f"{LOG_FILE}.1", LOG_FILE)]
    return [path for path in logs if _has_texts_of(path, signs)]


def _has_texts_of(path: str, signs: Sequence[bytes]) -> bool:
    try:
        with open_regular(path) as file:
            return any(b'"prompt": ' in line and any(sign in line for sign in signs) for line in file)
    except OSError:
        return False


def _begins_with_one(path: str, signs: Sequence[bytes]) -> bool:
    try:
        with open_regular(path) as file:
            start = file.read(FIRST_BYTES)
    except (OSError, ValueError):
        return False
    return any(sign in start for sign in signs)


def _identity(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _read(path: str, skipped: list[Skipped], *, is_named: bool) -> list[FoundPrompt]:
    found: list[FoundPrompt] = []
    injected: dict[int, list[Injection]] = defaultdict(list)
    bad: list[BadRow] = []
    try:
        for item in prompts_in(path, is_named=is_named):
            if isinstance(item, FoundPrompt):
                found.append(item)
            elif isinstance(item, Injection):
                injected[len(found) - 1].append(item)
            else:
                bad.append(item)
    except (OSError, ValueError) as error:
        if is_named:
            raise _unreadable(path, error) from error
        skipped.append(Skipped(where=path, reason=_reason(error)))
    skipped.extend(skipped_rows(path, bad))
    if not injected:
        return found
    prompts = with_injections([row.prompt for row in found], injected)
    return [replace(row, prompt=prompt) for row, prompt in zip(found, prompts, strict=True)]


def _files(path: str, skipped: list[Skipped]) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return

    def note(error: OSError) -> None:
        if error.filename == path:
            raise _unreadable(path, error) from error
        skipped.append(Skipped(where=str(error.filename), reason=_reason(error)))

    for folder, folders, names in os.walk(path, onerror=note):
        folders[:] = sorted(name for name in folders if name != "subagents")
        wanted = (name for name in sorted(names) if name.endswith((".jsonl", ".md")) and not name.startswith("agent-"))
        yield from (file for name in wanted if os.path.isfile(file := os.path.join(folder, name)))


def _unreadable(path: str, error: Exception) -> PromptFileError:
    advice = "Name a transcript, a history.jsonl, an export, a prompt file or a folder that can be read."
    return PromptFileError(f"{path}: the prompts cannot be read ({_reason(error)}). {advice}")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _each_once(found: Iterable[FoundPrompt]) -> list[Prompt]:
    """The prompts without copies. Of a prompt in a transcript and in a history or export, the transcript's is kept."""
    kept: list[Prompt] = []
    of_history: list[Prompt] = []
    by_key: dict[str, int] = {}
    of_transcripts = _TranscriptPrompts()
    for item in found:
        if item.kind in (HISTORY, EXPORT):
            of_history.append(item.prompt)
            continue
        place = next((by_key[key] for key in item.keys if key in by_key), len(kept))
        if place == len(kept):
            kept.append(item.prompt)
        by_key.update(dict.fromkeys(item.keys, place))
        if item.kind == TRANSCRIPT:
            of_transcripts.add(item.prompt, place)
    rest = [prompt for prompt in of_history if not of_transcripts.take(prompt)]
    return kept + [prompt for prompt in rest if not of_transcripts.take_by_ends(prompt)]


class _TranscriptPrompts:
    """The prompts of transcripts by session and words, each to be matched with one history row.

    Old history rows name no session, so prompts are kept by project as well. A copy in a fork is kept beside the
    original, because the two transcripts can be read in either order.
    """

    def __init__(self) -> None:
        self._places: dict[Scope, dict[str, list[int]]] = defaultdict(dict)
        self._taken: set[int] = set()

    def add(self, prompt: Prompt, place: int) -> None:
        for scope in (("session", prompt.session_id), ("project", prompt.cwd)):
            places = self._places[scope].setdefault(_words(prompt.text), [])
            if place not in places[-1:]:
                places.append(place)

    def take(self, prompt: Prompt) -> bool:
        """Whether a transcript has this prompt of the history, by its words; that copy is then used up."""
        return self._take_one(self._in_scope(prompt).get(_words(prompt.text), []))

    def take_by_ends(self, prompt: Prompt) -> bool:
        """The same for a prompt whose paste is lost: by the words before and after the paste."""
        parts = PASTED_TEXT.split(prompt.text)
        if len(parts) == 1:
            return False
        start, end = _words(parts[0]), _words(parts[-1])
        texts = self._in_scope(prompt)
        found = (places for text, places in texts.items() if text.startswith(start) and text.endswith(end))
        return any(map(self._take_one, found))

    def _in_scope(self, prompt: Prompt) -> dict[str, list[int]]:
        scope = ("session", prompt.session_id) if prompt.session_id else ("project", prompt.cwd)
        return self._places.get(scope, {})

    def _take_one(self, places: list[int]) -> bool:
        while places:
            place = places.pop()
            if place not in self._taken:
                self._taken.add(place)
                return True
        return False


def _words(text: str) -> str:
    return " ".join(text.split())


def _with_unique_ids(prompts: Iterable[Prompt]) -> Iterator[Prompt]:
    copies: dict[str, int] = {}  # id -> the number of its last copy
    for prompt in prompts:
        name = prompt.id
        while name in copies:
            copies[prompt.id] += 1
            name = f"{prompt.id}-{copies[prompt.id]}"
        copies[name] = 1
        yield prompt if name == prompt.id else replace(prompt, id=name)
