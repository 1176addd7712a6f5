"""A prompt: the text that a person typed, and the turns before it."""

from __future__ import annotations

import unicodedata

from engine.lean.record import Record
from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PEOPLE = ("", "user", "sdk")
"""Sources of prompts that people typed."""

_EDITOR_BLOCKS = ("ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics")
"""Tags around what an editor adds to a prompt."""

_REMINDER = "system-reminder"
"""The tag around what the client tells the model beside a prompt."""

_PASTE = "pasted_content"

_CLIENT_TAGS = (
    *("command-name", "command-message", "command-args", "user-memory-input", "user-prompt-submit-hook"),
    *("local-command-stdout", "local-command-stderr", "local-command-caveat", "post-tool-use-hook"),
    *("bash-input", "bash-stdout", "bash-stderr", "bash-exit-code", "task-notification", "tick", "remote-review"),
    *("teammate-message", "agent-message", "cross-session-message", "coordinator-relay", "fork-boilerplate"),
    *("slack-ping", "slack-tag-message", "mcp-resource-update", "mcp-polling-update"),
    *("fetched-web-content", "untrusted-widget-state"),
)
"""Tags at the beginning of texts that the client writes in a person's name: those that client 2.1.330 knows.

They hold commands and their output, events, and messages of other agents, sessions and services.
"""

_NOT_TYPED = (
    *(f"<{tag}{behind}" for tag in _CLIENT_TAGS for behind in "> \n"),
    '<channel source="',
    *("[Image: source:", "Caveat: The messages below", "[Artifact comment"),
    "This session is being continued from a previous conversation",
)
"""Beginnings of texts that nobody typed, for the hook and for the readers of transcripts, histories and logs."""

TURN_CHARACTERS = 2000
"""The part of a turn that is kept, for hook, replay and labels alike."""

TYPED = "typed"
"""The source of a prompt that a person typed into memsift itself."""


class Turn(Record):
    """One earlier message of the conversation. `role` is "user" or "assistant"."""

    role: str
    text: str


class Injection(Record):
    """The memories that a hook added to a prompt, as a transcript or the hook's log tells. Without any, it was silent.

    `hook` is the name of the hook, empty for memsift's own. `text` is the text that the model saw. The log has no text,
    only the `ids` of the memories.
    """

    hook: str
    text: str = ""
    ids: tuple[str, ...] = ()


class Prompt(Record):
    """A query. `turns` are the last turns before it, oldest first; `kind` is a free word such as "specific".

    `injections` has one entry for each hook of which it is known what it added.
    """

    id: str
    text: str
    turns: tuple[Turn, ...] = ()
    session_id: str = ""
    cwd: str = ""
    timestamp: str = ""
    source: str = ""
    kind: str = ""
    injections: tuple[Injection, ...] = ()


def prompt_id(text: str, turns: tuple[Turn, ...] = ()) -> str:
    """The default id: 16 hex digits of SHA-256 over the normalised text and its turns."""
    parts = [text, *(f"{turn.role}\0{turn.text}" for turn in turns)]
    return hex_digest(unicodedata.normalize("NFC", "\0\0".join(parts)))[:16]


def typed_prompt(text: str, turns: tuple[Turn, ...] = (), source: str = TYPED) -> Prompt:
    """A prompt that was typed just now and stands in no file, see `parted`."""
    typed, added = parted(text)
    turns = (*turns, *added)
    return Prompt(id=prompt_id(typed, turns), text=typed, turns=turns, source=source)


def parted(text: str) -> tuple[str, tuple[Turn, ...]]:
    """What a person typed in *text*, and what the editor added to it as a turn before it, if it added anything.

    Hook, log, replay and labels all part a prompt here, so that they speak of the same text. Tags around pasted text
    and what the client tells the model are left out.
    """
    typed, added = without_blocks(text, _EDITOR_BLOCKS)
    typed, _ = without_blocks(typed, (_REMINDER,))
    context = "\n".join(filter(None, map(str.strip, added)))[:TURN_CHARACTERS].strip()
    return _unwrapped(typed).strip(), (Turn("user", context),) if context else ()


def as_typed(text: str) -> str:
    """What a person typed in *text*, see `parted`."""
    return parted(text)[0]


def is_human_prompt(text: str, source: str = "") -> bool:
    """Whether a person typed this prompt, in words.

    *source* is the field of that name in the hook's payload; empty where the client does not send it. Not human are
    other sources than user and sdk (wake-ups, schedules, the system), a text that begins as the client's own texts do,
    and a slash command: `/review the diff` is a command, `/home/me/a.py fails` is a prompt.
    """
    stripped = text.strip()
    return source in _PEOPLE and not stripped.startswith(_NOT_TYPED) and not is_slash_command(stripped)


def is_slash_command(text: str) -> bool:
    """Whether the first word is a slash, a letter, and after it only letters, digits, `_`, `:` and `-`."""
    name = text.split(None, 1)[0][1:] if text.startswith("/") else ""
    return name[:1].isalpha() and all(character.isalnum() or character in "_:-" for character in name)


def without_blocks(text: str, names: tuple[str, ...]) -> tuple[str, list[str]]:
    """*text* without the blocks in tags of these names, and what stood in them."""
    inside: list[str] = []
    for name in names:
        start, end = f"<{name}>", f"</{name}>"
        kept, position = [], 0
        while (opening := text.find(start, position)) >= 0 and (closing := text.find(end, opening)) >= 0:
            kept.append(text[position:opening])
            inside.append(text[opening + len(start) : closing])
            position = closing + len(end)
        text = "".join([*kept, text[position:]])
    return text, inside


def _unwrapped(text: str) -> str:
    """*text* without the tags around pasted text, in a single pass: a hostile prompt may hold very many tags."""
    opened: dict[str, tuple[int, int]] = {}
    tags: list[tuple[int, int]] = []
    for start, end, marks, is_end in _paste_tags(text):
        if not is_end:
            opened.setdefault(marks, (start, end + text.startswith("\n", end)))
        elif marks in opened:
            tags += [opened.pop(marks), (start - text.endswith("\n", 0, start), end)]
    kept, position = [], 0
    for start, end in sorted(tags):
        kept.append(text[position:start])
        position = max(position, end)
    return "".join([*kept, text[position:]])


def _paste_tags(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """The tags around pasted text: start, end, what stands behind the name, and whether it is an end tag.

    Without `re`, which is slow to load.
    """
    position = text.find(_PASTE)
    while position >= 0:
        behind = position + len(_PASTE)
        is_end = text.startswith("</", position - 2) and position > 1
        if is_end or (position and text[position - 1] == "<"):
            bracket = text.find("<", behind)
            end = text.find(">", behind, bracket if bracket >= 0 else len(text))
            marks = text[behind : max(behind, end)]
            if end >= 0 and (not marks or marks[0].isspace()):
                yield position - 1 - is_end, end + 1, marks, is_end
        position = text.find(_PASTE, behind)
