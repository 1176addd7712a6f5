"""Changing memories in their own format: pure functions from the text of a file to its new text.

A format that can be written has a second module, named after its reading module with `_writing` at the end. A format
without it is read-only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import CurationError, InvalidMemoryError
from engine.lean.record import Record
from engine.stores.registry import MODULES, formats_of, module_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

ACTIVE, RETIRED, ARCHIVED = "active", "retired", "archived"
STATUSES = (ACTIVE, RETIRED, ARCHIVED)
MOST_ID = 80
BODY = "body"
"""The name of the body in a form."""


class Changes(Record):
    """Changes to a memory. None leaves a part as it is; `fields` are the field's name and its values, as texts."""

    title: str | None = None
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    body: str | None = None


class Draft(Record):
    """A memory to be made. An empty `memory_id` is made from the title."""

    category: str
    title: str
    tags: tuple[str, ...] = ()
    changes: Changes = Changes()
    memory_id: str = ""


class FormField(Record):
    """A field of a memory in a form: `text` is its value. `hint` says what may stand there.

    `is_list`: each line of `text` is an item. `is_long`: it may have several lines.
    """

    name: str
    text: str
    hint: str = ""
    is_list: bool = False
    is_long: bool = False


class IndexEntry(Record):
    """The lines of an index that list a file: lines `start` to `end`, without the last."""

    name: str
    start: int
    end: int


class Writing(Protocol):
    """A format's module for writing. Texts are whole files. Functions raise InvalidMemoryError with each problem."""

    CATEGORIES: Collection[str]
    """The categories of new memories."""

    INDEX_FILE: str
    """The file that lists the memories of a root."""

    IS_SORTED: bool
    """Whether the format orders the entries of its index; else a memory comes back to the place that it had."""

    LOCK_FOLDER: str
    """The folder in a root by which the other programs of this format lock it, or empty."""

    def form(self, text: str) -> tuple[FormField, ...]:
        """The fields that `edited` can change, with their values; "body" is the body of `Changes`."""

    def broken_rules(self, text: str) -> list[str]:
        """A sentence for each rule of the format that the text of a file breaks."""

    def related(self, text: str) -> tuple[str, ...]:
        """The files of the project that the memory names as related; empty where the format has none."""

    def edited(self, text: str, changes: Changes, now: str) -> str: ...

    def retagged(self, text: str, add: Sequence[str], remove: Sequence[str], now: str) -> str: ...

    def rewritten(self, text: str, new: str, now: str) -> str:
        """*new*, which a person made of *text* in an editor, checked and with times and changes brought up to date."""

    def with_status(self, text: str, status: str, reason: str, now: str) -> str:
        """*text* with another status, which the caller has allowed. It is no newer: the time of its change stays."""

    def reason(self, text: str) -> str:
        """Why the memory is retired or archived; empty while it is active, or where no reason is written."""

    def merged(self, text: str, others: Mapping[str, str], note: str, now: str) -> str:
        """*text* with the tags and related files of *others* (id -> text) and a note."""

    def created(self, draft: Draft, now: str) -> tuple[str, str]:
        """The name of the new file in the root, and its text."""

    def renamed(self, text: str, old: str, new: str, *, is_own: bool) -> str:
        """*text* with the id *new* for *old*: in the memory itself, or in another memory that leads to it."""

    # The index. Its lines keep their ends where they are given as `lines` to `without` and to `relinked`.

    def entries(self, lines: Sequence[str]) -> Iterator[IndexEntry]:
        """The entries among the lines of the index. The line with the file's name begins an entry."""

    def links(self, line: str) -> list[str]:
        """The files that a line of the index lists, wherever in it."""

    def without(self, lines: Sequence[str], name: str) -> list[str]:
        """*lines* without what lists the file *name*, and nothing else changed."""

    def relinked(self, line: str, old: str, new: str) -> str:
        """*line* with the file *new* where it lists *old*."""

    def entry_line(self, name: str, text: str, old: str = "", before: str = "") -> str:
        """The line that lists a memory, or empty for a memory that is not active or whose file no line can name.

        *old* and *before* are its line and its text until now, or empty.
        """

    def place(self, lines: Sequence[str], line: str, text: str, text_of: Callable[[str], str]) -> int:
        """The number of the line before which the new entry *line* belongs.

        *text* is that of its memory, and *text_of* gives the text of another file of the root.
        """

    def new_index(self, names: Sequence[str]) -> str | None:
        """A new index, before its first entry; None if it is not made. *names*: the files of the other memories."""

    def left_out(self, text: str) -> str:
        """How much of an index with this text its client does not load, in words after its name; empty for nothing."""


def writing_of(root: str, name: str = "", category: str = "") -> Writing:
    """The module that writes the file *name* of *root*, or a new memory of *category*: by default the first that fits.

    Raises CurationError.
    """
    formats = formats_of(root)
    modules = [module_for(formats, name)] if name and formats else [format_.module for format_ in formats]
    writings = [writing for writing in map(_writing, modules) if writing]
    if not writings:
        names = " and ".join(modules).replace("_", " ")
        problem = f"{root} holds memories in the format {names}, which memsift only reads."
        raise CurationError(f"{problem} Change them with the program that wrote them.")
    return next((writing for writing in writings if category in writing.CATEGORIES), writings[0])


def writings_in(root: str, names: Iterable[str]) -> dict[Writing, list[str]]:
    """The modules that write formats of *root*, and which of the files *names* each writes."""
    formats = formats_of(root)
    writings = filter(None, (_writing(format_.module) for format_ in formats))
    found: dict[Writing, list[str]] = {writing: [] for writing in writings}
    for name in names if found else ():
        if (own := _writing(module_for(formats, name))) is not None:
            found[own].append(name)
    return found


@cache
def _writing(module: str) -> Writing | None:
    name = f"engine.stores.{MODULES.get(module, module)}_writing"
    found: Any = import_module(name) if find_spec(name) else None
    return found  # type: ignore[no-any-return]


def changes_of(form: Sequence[FormField], texts: Mapping[str, str]) -> Changes:
    """The changes that a person made to the fields of *form*, whose texts are now *texts*, by name."""
    fields, body = [], None
    for field in form:
        text = texts[field.name]
        if text == field.text:
            continue
        if field.name == BODY:
            body = text
        elif field.is_list and text:
            items = [line.strip() for line in text.split("\n") if line.strip()]
            fields.append((field.name, (json.dumps(items),)))
        else:
            fields.append((field.name, (text,)))
    return Changes(None, tuple(fields), body)


def refuse(wrong: Sequence[str]) -> None:
    """Raise InvalidMemoryError if there is a sentence in *wrong*, the rules that a memory would break."""
    if wrong:
        raise InvalidMemoryError(f"Nothing was changed, because the memory would be wrong: {'; '.join(wrong)}.")


def slug(title: str) -> str:
    """An id made of a title: lower-case ASCII letters and digits, joined by minus signs. It may be empty."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:MOST_ID].rstrip("-")


def names_only(links: Callable[[str], list[str]], line: str, name: str) -> bool:
    """Whether a list with *line* names the file *name*, and no other: a name with a line break, say, has no line."""
    return len(line.splitlines()) == 1 and links(line)[:1] == [name]


def one_line(text: str) -> str:
    """*text* without line breaks and control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
