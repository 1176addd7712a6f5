"""What hooks added to prompts, by the rows of a transcript or the hook's log: as texts, and as retrievals.

The text is taken apart into its items: the entries of a list, and lines that are one element such as
`<result ...>...</result>`. A text without a list is one item. An item that names a memory by its path or id, holds its
title, or stands in its text is that memory as it is today. Any other item is a memory of its own, which no root holds.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from engine.agents.claude_code.agent import AGENT
from engine.config import AUTO, INJECTED, injected_name
from engine.conversations.exports import seconds_of
from engine.inject import HEADER, TITLE_LIMIT, clean, cut
from engine.lean.json_text import value_at, without_lone_surrogates
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.memory import Memory, MemorySummary, Section, content_digest
from engine.prompt import Injection
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate, Retrieval
from engine.search.query import filter_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from engine.conversations.activity_log import LoggedPrompt
    from engine.prompt import Prompt
    from engine.roots import OpenIndex

KINDS = ("hook_success", "hook_additional_context")
"""Attachments that hold text for the model: of a hook that printed text, and of a hook that printed JSON."""

UNNAMED = "other"
"""The name of a hook about which the transcript says nothing."""

_OLD_TAG, _OLD_END = "<user-prompt-submit-hook>", "</user-prompt-submit-hook>"
"""Around the text of a hook in a row of its own, as client 1.0 wrote it."""

_FIRST_TAG = re.compile(r"<([A-Za-z][\w-]{0,39})[\s>]")
_MOST_OF_NAME = 40

TEXT_ID = "text-"
"""Begins the id of an injected text that no open root holds; the beginning of its digest follows."""

_LIST_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)")
_ELEMENT = re.compile(r"\s*<(?P<name>[A-Za-z][\w-]*)(?P<marks>[^<>]*)>(?P<text>.*)</(?P=name)>\s*")
_CONFIDENCE = re.compile(rf'confidence="({HIGH}|{MEDIUM}|{LOW})"')
_OWN_PATH = re.compile(r" -> (?P<path>.*?)(?: #tags:\S*)?$")
_AROUND_WORD = "()[]{}<>`'\",;:!?*"
_MARKS_OF_ID = frozenset("-_./#:")
_MOST_LOOKED_AT = 5
_LEAST_CHARACTERS = 15
"""A shorter title or text may stand in another text by chance."""


def injection_of(row: Mapping[str, Any]) -> Injection | None:
    """The text that a hook added to the prompt before this row; None for other kinds of rows."""
    attachment = row.get("attachment")
    if row.get("type") == "attachment" and isinstance(attachment, dict):
        is_of_prompt = attachment.get("type") in KINDS and attachment.get("hookEvent") == AGENT.hook.event
        return _named(_attached_text(attachment), attachment.get("command")) if is_of_prompt else None
    content = value_at(row, "message", "content") if row.get("type") == "user" else None
    if isinstance(content, str) and content.startswith(_OLD_TAG):
        return _named(content.removeprefix(_OLD_TAG).removesuffix(_OLD_END), None)
    return None


def with_injections(prompts: Sequence[Prompt], found: Mapping[int, Sequence[Injection]]) -> list[Prompt]:
    """The prompts of one transcript with *found*: place of a prompt among them -> injections.

    A hook that injected something in a transcript was in use there. For the prompts without a text of it, it was
    silent. Nothing is known of a hook that injected nothing in the whole transcript.
    """
    hooks = sorted({injection.hook for injections in found.values() for injection in injections})
    result = []
    for place, prompt in enumerate(prompts):
        texts: dict[str, list[str]] = {hook: [] for hook in hooks}  # two hooks without a name of their own are one
        for injection in found.get(place, ()):
            texts[injection.hook].append(injection.text)
        whole = tuple(Injection(hook, "\n\n".join(parts)) for hook, parts in texts.items())
        result.append(replace(prompt, injections=whole))
    return result


def _attached_text(attachment: Mapping[str, Any]) -> str:
    content = attachment.get("content")
    parts = content if isinstance(content, list) else [content]
    return without_lone_surrogates("\n".join(part for part in parts if isinstance(part, str))).strip()


def _named(text: str, command: object) -> Injection | None:
    """The injection of *text*; None for an empty text. Its hook is named by its first tag, else by its command's file.

    The client writes no name of a plugin, and for a hook that prints JSON not even the command.
    """
    if not text.strip():
        return None
    if text.startswith(HEADER):
        return Injection("", text)
    if tag := _FIRST_TAG.match(text):
        return Injection(tag[1], text)
    words = command.replace('"', "").replace("'", "").split() if isinstance(command, str) else []
    paths = [word for word in words if "/" in word] or words
    return Injection((paths[0].rpartition("/")[2][:_MOST_OF_NAME] if paths else "") or UNNAMED, text)


class Item(Record):
    """A part of an injected text. `path` is how memsift's own hook named the memory, else empty."""

    text: str
    path: str = ""
    confidence: str = ""


class HookInjection(Record):
    """What one hook injected for a prompt. `unknown`: id -> memory, for texts that no open root holds."""

    retrieval: Retrieval
    unknown: Mapping[str, Memory]


class InjectionMatcher:
    """Finds the memories of *index* that injected texts are about."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        memories = index.summaries()
        self._by_id = {memory.id: memory for memory in memories}
        self._by_name = {name: memory for memory in memories for name in (memory.path, clean(memory.path), memory.file)}
        self._titles: dict[str, list[tuple[str, MemorySummary]]] = defaultdict(list)
        for memory in memories:
            if len(title := _words(memory.title)) >= _LEAST_CHARACTERS:
                self._titles[title.partition(" ")[0]].append((title, memory))

    def injected(self, prompt: Prompt, injection: Injection) -> HookInjection:
        """The retrieval that stands for *injection*: its memories in their order, each once."""
        found: list[tuple[MemorySummary, str]] = []
        unknown: dict[str, Memory] = {}
        for item in items_of(injection.text):
            known = self._memory(item)
            if known is None:
                made = _memory_of(item.text)
                unknown[made.summary.id] = made
            found.append((known or made.summary, item.confidence))
        # Of a memory that no open root holds, only the id is known.
        found += [(self._by_id.get(name) or _summary(name, name, hex_digest(name)), "") for name in injection.ids]
        once = {memory.id: (memory, confidence) for memory, confidence in reversed(found)}
        ordered = [once[memory_id] for memory_id in dict.fromkeys(memory.id for memory, _ in found)]
        retrieval = Retrieval(
            prompt=prompt,
            system=injected_name(injection.hook),
            mode=AUTO,
            strategy=INJECTED,
            candidates=tuple(
                Candidate(memory, 0.0, 0, 0.0, (), rank, 1.0, confidence)
                for rank, (memory, confidence) in enumerate(ordered, start=1)
            ),
            judgement=None,
            fallback="",
            elapsed_ms=0.0,
        )
        return HookInjection(retrieval, unknown)

    def _memory(self, item: Item) -> MemorySummary | None:
        if item.path and (memory := self._by_name.get(item.path)):
            return memory
        return self._find_named(item.text) or self._find_titled(item.text) or self._find_holding(item.text)

    def _find_named(self, text: str) -> MemorySummary | None:
        """The memory whose path or id is a word of *text*. An id that could be an ordinary word is not enough."""
        for word in text.split():
            name = word.strip(_AROUND_WORD).rstrip(".")
            if memory := self._by_name.get(name):
                return memory
            if _MARKS_OF_ID.intersection(name) and (memory := self._by_id.get(name)):
                return memory
        return None

    def _find_titled(self, text: str) -> MemorySummary | None:
        """The memory with the longest title that stands in *text*."""
        words = f" {_words(text)} "
        possible = (pair for word in set(words.split()) for pair in self._titles.get(word, ()))
        found = [(len(title), memory) for title, memory in possible if f" {title} " in words]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def _find_holding(self, text: str) -> MemorySummary | None:
        """The memory that holds *text*."""
        words, terms = _words(text), filter_terms(text)
        if len(words) < _LEAST_CHARACTERS or not terms:
            return None
        for summary in self._index.matching(terms)[:_MOST_LOOKED_AT]:
            memory = self._index.memory(summary.id)
            if memory and words in _words(f"{summary.title} {memory.body}"):
                return summary
        return None


def items_of(text: str) -> list[Item]:
    """The parts of an injected text, each about one memory. Lines around a list, such as headings, are left out."""
    lines = text.splitlines()
    elements = [match for line in lines if (match := _ELEMENT.fullmatch(line))]
    if elements:
        return [item for match in elements if match["name"] != "memory-note" and (item := _element(match)).text]
    starts = [match for line in lines if (match := _LIST_ITEM.fullmatch(line))]
    if len(starts) > 1:
        return [Item(entry) for entry in _entries(lines, min(len(match["indent"]) for match in starts))]
    whole = text.strip()
    return [Item(whole)] if whole else []


def _element(match: re.Match[str]) -> Item:
    text, confidence = match["text"], _CONFIDENCE.search(match["marks"])
    path = _OWN_PATH.search(text) if confidence else None
    return Item(html.unescape(text), path["path"] if path else "", confidence[1] if confidence else "")


def _entries(lines: Iterable[str], indent: int) -> Iterator[str]:
    """The entries of the outermost list, with the lines that belong to them: indented ones, up to an empty line."""
    entry: list[str] = []
    for line in lines:
        match = _LIST_ITEM.fullmatch(line)
        if match and len(match["indent"]) == indent:
            if entry:
                yield "\n".join(entry)
            entry = [match["text"]]
        elif entry and line.strip() and line[: indent + 1].isspace():
            entry.append(line.strip())
        elif entry:
            yield "\n".join(entry)
            entry = []
    if entry:
        yield "\n".join(entry)


def is_text_id(memory_id: str) -> bool:
    """Whether the id is that of an injected text that no open root held."""
    return memory_id.startswith(TEXT_ID)


def with_log(prompts: Iterable[Prompt], decisions: Iterable[LoggedPrompt]) -> list[Prompt]:
    """The prompts with the injections of memsift's own hook from its log, where the transcript has no text of it.

    A decision belongs to a prompt of the same session with the same text; of several, to the nearest in time.
    """
    by_key: dict[tuple[str, str], list[LoggedPrompt]] = {}
    for decision in decisions:
        if decision.session_id:
            by_key.setdefault((decision.session_id, decision.prompt_sha256), []).append(decision)
    result = []
    for prompt in prompts:
        made = by_key.get((prompt.session_id, hex_digest(prompt.text)), [])
        if made and not any(injection.text for injection in prompt.injections if not injection.hook):
            sent = seconds_of(prompt.timestamp) or 0.0
            nearest = min(made, key=lambda logged: abs((seconds_of(logged.time) or 0.0) - sent))
            others = tuple(injection for injection in prompt.injections if injection.hook)
            prompt = replace(prompt, injections=(Injection("", ids=nearest.injected), *others))
        result.append(prompt)
    return result


def names_of(prompts: Iterable[Prompt]) -> tuple[str, ...]:
    """The systems that *prompts* have injections of: memsift's own hook first, then by name."""
    return tuple(sorted({injected_name(injection.hook) for prompt in prompts for injection in prompt.injections}))


def injection_by(prompt: Prompt, name: str) -> Injection | None:
    """What the hook of a system added to a prompt; None if that is not known."""
    return next((injection for injection in prompt.injections if injected_name(injection.hook) == name), None)


def _memory_of(text: str) -> Memory:
    """The memory that an injected text is by itself: its first line is the title."""
    lines: Sequence[str] = text.split("\n")
    title, sections = cut(lines[0].strip(), TITLE_LIMIT), (Section("", tuple(lines)),)
    digest = content_digest("", title, (), sections)
    return Memory(_summary(f"{TEXT_ID}{digest[:16]}", title, digest), sections)


def _summary(memory_id: str, title: str, digest: str) -> MemorySummary:
    return MemorySummary(memory_id, "", title, (), "", "", "active", "", "", digest)


def _words(text: str) -> str:
    """The words of a text in lower case, with a space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))
