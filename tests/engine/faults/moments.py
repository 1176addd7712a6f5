"""The answers that could be right while a root changed: those of a fresh build at some moment.

Nobody can read all files of a root at one instant while others write. So a fresh build that begins at a moment finds
each file as it is at that moment or a later one, and this is what an answer is held against: a build in memory of the
files, each as it was at some moment of a window.
"""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from engine import inject
from engine.config import Config
from engine.lean.record import Record
from engine.opening import index_of
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.stores.roots import read_corpus
from tests.engine.faults.answers import shown
from tests.engine.faults.writer import IN_PLACE

BROKEN = "{"
"""The content of a file while it is being written."""


class Version(Record):
    """The content of a file from line `number` of the journal, which began at `since`, until `until`."""

    content: str | None
    number: int
    since: float
    until: float
    replaced_by: int


class Asked(Record):
    """An answer that a hook gave between two moments (seconds of the monotonic clock)."""

    text: str
    began: float
    ended: float


ANY_STRENGTH = Config(min_strength=0.0)
"""The hooks' settings: near the least strength, memories that nobody shows would decide what is injected."""


class Moments:
    """The states of a root, from its first contents and the journal of its writers. They are built in *copy*."""

    def __init__(self, first: dict[str, str], journal: Iterable[dict[str, object]], copy: Path, prompt: str) -> None:
        self._copy = copy
        self._prompt = prompt
        self._lines = list(journal)
        self._versions: dict[str, list[Version]] = {}
        self._right: dict[tuple[str | None, ...], str] = {}
        self._held: dict[str, str | None] = {}
        self._read(first)

    def explains(self, asked: Asked, *, at_any_time: bool) -> bool:
        """Whether it is the answer of a fresh build of some moment, and all that it shows was there meanwhile.

        Changes before the window must be in it: the window begins with the last change of a folder before the hook
        started, because every hook sees that a folder changed and then looks at every file. *at_any_time*: it begins
        with the run, because the hook had no time to look.
        """
        first = 0 if at_any_time else self._last_seen(asked.began)
        entries = shown(asked.text)
        cut = {name: self._choice(name, versions, entries, asked, first) for name, versions in self._versions.items()}
        return self._answer(cut) == asked.text

    def _last_seen(self, moment: float) -> int:
        """The number of the last line that changed a folder before *moment*."""
        numbers = [i for i, line in enumerate(self._lines, 1) if line["kind"] != IN_PLACE and line["ended"] < moment]  # type: ignore[operator]
        return numbers[-1] if numbers else 0

    def _choice(self, name: str, versions: list[Version], entries: list[str], asked: Asked, first: int) -> str | None:
        """The possible content of a file: the shown one, else one that is not shown, else any."""
        possible = [one for one in versions if one.since <= asked.ended and one.replaced_by > first]
        present = [one for one in possible if one.until >= asked.began]
        for one in present:
            if one.content and any(entry == f"{_title(one.content)} -> .claude/memory/{name}" for entry in entries):
                return one.content
        hidden = [one.content for one in possible if not _may_be_shown(one.content)]
        return (hidden or [one.content for one in possible])[-1]

    def _answer(self, cut: dict[str, str | None]) -> str:
        key = tuple(cut.values())
        if key not in self._right:
            self._put(cut)
            with closing(index_of(read_corpus(str(self._copy)))) as index:
                found = retrieve(Query(typed_prompt(self._prompt)), index, OpenSystem(ANY_STRENGTH))
            self._right[key] = inject.context(found, ANY_STRENGTH)
        return self._right[key]

    def _put(self, cut: dict[str, str | None]) -> None:
        for name, content in cut.items():
            if self._held.get(name, "") != content:
                path = self._copy / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                if content is not None:
                    path.write_text(content, "utf-8")
                self._held[name] = content

    def _read(self, first: dict[str, str]) -> None:
        changes: dict[str, list[tuple[int, str | None, float, float]]] = {}
        for number, line in enumerate(self._lines, 1):
            for name, content in line["files"].items():  # type: ignore[attr-defined]
                changes.setdefault(name, []).append((number, content, line["began"], line["ended"]))  # type: ignore[arg-type]
        for name in {*first, *changes}:
            listed = [(0, first.get(name), 0.0, 0.0), *changes.get(name, [])]
            ends = [*((number, ended) for number, _, _, ended in listed[1:]), (len(self._lines) + 1, float("inf"))]
            versions = self._versions[name] = []
            for (number, content, began, ended), (following, until) in zip(listed, ends, strict=True):
                if number and content is not None:
                    versions.append(Version(BROKEN, number, began, ended, number))
                versions.append(Version(content, number, began, until, following))


def _may_be_shown(content: str | None) -> bool:
    if content in (None, BROKEN):
        return False
    return json.loads(str(content))["record_status"] == "active" and _title(content).startswith("cache ")


def _title(content: str | None) -> str:
    return "" if content in (None, BROKEN) else str(json.loads(str(content))["title"])
