"""The operations on memories, as records. Each plans the changes of files that it would make, and changes nothing."""

from __future__ import annotations

import json
import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from engine.curation.files import FileChange, text_at, write
from engine.curation.journal import Effect, tombstone_of
from engine.errors import ChangedSinceError, CurationError, InvalidMemoryError, StatusError, UnknownMemoryError
from engine.lean.record import Record, fields, replace
from engine.phrases.writing import COPIED, DIGITS, MOVED, Carried
from engine.stores.files import UnreadableFileError, is_inside
from engine.stores.registry import file_store_of, format_of, formats_of, module_for
from engine.stores.roots import copies_of
from engine.stores.writing import ACTIVE, ARCHIVED, RETIRED, Changes, Draft, changes_of, one_line, slug, writing_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Memory, MemorySummary
    from engine.stores.writing import Writing


MASK = "[secret removed]"
MOVE, SEVERAL = "move", "several"
"""The kind of an operation that joins operations of different kinds."""


class Plan(Record):
    """What an operation would do: its kind, a sentence for people, the ids and roots, and its effect."""

    kind: str
    summary: str
    memories: tuple[str, ...]
    roots: tuple[str, ...]
    effect: Effect
    undoes: int | None = None


class Operation(Protocol):
    """A record of this module."""

    def plan(self, now: str) -> Plan:
        """The plan, from the files as they are. *now* is ISO 8601 in UTC. Raises CurationError."""


class MemoryPlace(Record):
    """A memory's file, with what is needed to change it. `text` is without a byte order mark, which `mark` holds.

    `copies`: other files with the same id.
    """

    root: str
    name: str
    memory: Memory
    mark: str
    text: str
    writing: Writing
    copies: tuple[str, ...]

    def changed(self, text: str | None) -> FileChange:
        return FileChange(self.root, self.name, self.mark + self.text, None if text is None else self.mark + text)

    def require(self, *statuses: str, what: str) -> None:
        """Raises StatusError if the memory has none of *statuses*."""
        summary = self.memory.summary
        if summary.status not in statuses:
            hint = "" if summary.status == ACTIVE else f" memsift restore {summary.id} makes it active again."
            raise StatusError(f"{summary.id} is {summary.status}, so it cannot be {what}.{hint} Nothing was changed.")


def place_of(root: str, summary: MemorySummary, *, is_read: bool = False) -> MemoryPlace:
    """The file of a memory. *is_read*: the caller compares the text by itself.

    Raises UnknownMemoryError if it is gone, and ChangedSinceError if its text is not that of *summary*.
    """
    root = os.path.realpath(root)
    name = os.path.relpath(summary.file, root).replace(os.sep, "/")
    writing, store = writing_of(root, name), file_store_of(root, name)
    text = text_at(summary.file) or ""
    try:
        memory = store.read_file(root, name)
    except UnreadableFileError as error:
        raise UnknownMemoryError(f"{summary.file} {error}, so the memory {summary.id} cannot be changed.") from None
    if memory.summary.id != summary.id:
        raise UnknownMemoryError(f"{summary.file} now holds the memory {memory.summary.id}, not {summary.id}.")
    if not is_read and memory.summary.digest != summary.digest:
        raise ChangedSinceError(f"{summary.file} was changed since it was read. Nothing was done. Look at it again.")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    copies = copies_of(store, root, name, summary.id)
    return MemoryPlace(root, name, memory, mark, text.removeprefix("\ufeff"), writing, copies)


def memory_in(change: FileChange) -> Memory:
    """The memory that a new file will hold, as its store reads it."""
    with TemporaryDirectory() as folder:
        place = os.path.realpath(folder)
        write(FileChange(place, change.name, None, change.after))
        return file_store_of(change.root, change.name).read_file(place, change.name)


class Create(Record):
    """Make a memory. `is_forced`: also if a person rejected the text before."""

    root: str
    draft: Draft
    is_forced: bool = False

    def plan(self, now: str) -> Plan:
        root = os.path.realpath(self.root)
        name, text = writing_of(root, category=self.draft.category).created(self.draft, now)
        if os.path.lexists(os.path.join(root, name)):
            fix = "Choose another id or title, or edit that memory."
            raise InvalidMemoryError(f"There is a file {name} already. {fix}")
        stem = os.path.splitext(os.path.basename(name))[0]
        effect = Effect((FileChange(root, name, None, text),))
        return Plan("create", f"Created {stem}", (stem,), (root,), effect)


class OfMemory(Record):
    """An operation on a memory of a root."""

    root: str
    memory: MemorySummary


class Edit(OfMemory):
    """Change the title, fields or body of a memory."""

    changes: Changes

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory)
        return _of_one("edit", "Edited", place, place.writing.edited(place.text, self.changes, now))


class Rewrite(OfMemory):
    """Replace the text of a file by the text that a person made of it in an editor. `read`: the text as it was read."""

    read: str
    text: str

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory, is_read=True)
        new = place.writing.rewritten(self.read.removeprefix("\ufeff"), self.text.removeprefix("\ufeff"), now)
        if place.mark + new == self.read:
            raise CurationError(f"{self.memory.id} is like this already. Nothing was changed.")
        change = FileChange(place.root, place.name, self.read, place.mark + new)
        return _plan("edit", f"Edited {self.memory.id}", (place,), (change,))


class Tag(OfMemory):
    """Add and remove tags."""

    add: tuple[str, ...]
    remove: tuple[str, ...] = ()

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory)
        text = place.writing.retagged(place.text, self.add, self.remove, now)
        return _of_one("tag", "Changed the tags of", place, text)


class Retire(OfMemory):
    """Take a memory out of use, for a reason. `is_wrong`: its text is wrong, so it gets a tombstone."""

    reason: str
    is_wrong: bool = False

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory)
        stones = (tombstone_of(place.memory, self.reason, now),) if self.is_wrong else ()
        return _put_away("retire", RETIRED, place, self.reason, now, buried=stones)


class Archive(OfMemory):
    """Put a memory aside, for a reason."""

    reason: str

    def plan(self, now: str) -> Plan:
        return _put_away("archive", ARCHIVED, place_of(self.root, self.memory), self.reason, now)


class Restore(OfMemory):
    """Make a retired or archived memory active again. A tombstone of its text goes."""

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory)
        place.require(RETIRED, ARCHIVED, what="restored")
        change = place.changed(place.writing.with_status(place.text, ACTIVE, "", now))
        stone = tombstone_of(place.memory, "", now)
        return _plan("restore", f"Restored {self.memory.id}", (place,), (change,), lifted=(stone,))


class Merge(Record):
    """Make one memory of several: `kept` gets tags, related files, the note and `changes`, the others are retired."""

    root: str
    kept: MemorySummary
    others: tuple[MemorySummary, ...]
    note: str = ""
    changes: Changes = Changes()

    def plan(self, now: str) -> Plan:
        ids = [self.kept.id, *(other.id for other in self.others)]
        if len(ids) < 2 or len(set(ids)) < len(ids):
            raise CurationError("A merge takes two or more different memories: the memory to keep, then the others.")
        places = [place_of(self.root, other) for other in (self.kept, *self.others)]
        for place in places:
            place.require(ACTIVE, what="merged")
        kept, others = places[0], places[1:]
        texts = {other.memory.summary.id: other.text for other in others}
        reason = f"superseded by {self.kept.id}"
        text = kept.writing.merged(kept.text, texts, self.note, now)
        text = kept.writing.edited(text, self.changes, now) if self.changes != Changes() else text
        changes = [kept.changed(text)]
        changes += [other.changed(other.writing.with_status(other.text, RETIRED, reason, now)) for other in others]
        carried = tuple(Carried(COPIED, kept.root, other, kept.root, self.kept.id) for other in ids[1:])
        summary = f"Merged {', '.join(ids[1:])} into {self.kept.id}"
        return _plan("merge", summary, places, changes, carried=carried)


class Move(OfMemory):
    """Move a memory to another root of the same format."""

    to: str

    def plan(self, now: str) -> Plan:  # noqa: ARG002 - a move changes no date
        place, target = place_of(self.root, self.memory), os.path.realpath(self.to)
        if target == place.root:
            raise CurationError(f"{self.memory.id} is in {target} already.")
        if place.copies:
            copy = f"{place.copies[0]} has the id {self.memory.id!r} as well"
            fix = "Delete the copy first, or give it another id."
            raise CurationError(f"{copy}, and would take the place of the memory that is moved. {fix}")
        writing_of(target)
        if module_for(formats_of(place.root), place.name) not in format_of(target).split("+"):
            problem = f"{target} is a root of another format, so {self.memory.id} cannot be moved there."
            raise CurationError(f"{problem} Create it there, and retire it here.")
        if os.path.lexists(os.path.join(target, place.name)):
            raise CurationError(f"{target} has a file {place.name} already. Rename or merge the memories first.")
        arrived = FileChange(target, place.name, None, place.mark + place.text)
        carried = Carried(MOVED, place.root, self.memory.id, target, self.memory.id)
        files = arrived, place.changed(None)
        plan = _plan(MOVE, f"Moved {self.memory.id} to {target}", (place,), files, carried=(carried,))
        return replace(plan, roots=(place.root, target))


class Rename(OfMemory):
    """Give a memory another id: its file, its name, and each link and `[[wiki link]]` that leads to it."""

    to: str

    def plan(self, now: str) -> Plan:  # noqa: ARG002 - a new name is no new text
        place, old = place_of(self.root, self.memory), self.memory.id
        stem = slug(self.to) if place.name == f"{old}.md" else ""
        new = os.path.join(os.path.dirname(old), stem)
        if not stem or new == old:
            raise InvalidMemoryError(f"{self.to!r} gives {old} no other name. Nothing was changed.")
        if place.copies or os.path.lexists(os.path.join(place.root, f"{new}.md")):
            raise CurationError(f"{(*place.copies, f'{new}.md')[0]} would be in the way. Nothing was changed.")
        text = place.mark + place.writing.renamed(place.text, old, new, is_own=True)
        changes = [FileChange(place.root, f"{new}.md", None, text, renamed=place.name), place.changed(None)]
        for name in sorted(file_store_of(place.root, place.name).listing(place.root).names - {place.name}):
            before = text_at(os.path.join(place.root, name)) if name != place.writing.INDEX_FILE else None
            after = place.writing.renamed(before, old, new, is_own=False) if before else before
            if after != before:
                changes.append(FileChange(place.root, name, before, after))
        digests = place.memory.summary.digest, memory_in(changes[0]).summary.digest
        carried = Carried(MOVED, place.root, old, place.root, new, *(digest[:DIGITS] for digest in digests))
        return _plan("rename", f"Renamed {old} to {new}", (place,), changes, carried=(carried,))


class TakeOut(OfMemory):
    """Put MASK in the place of each of these texts, wherever it is in the file, also in its list of changes."""

    secrets: tuple[str, ...]

    def plan(self, now: str) -> Plan:
        place = place_of(self.root, self.memory)
        form = place.writing.form(place.text)
        changes = changes_of(form, {field.name: _masked(field.text, self.secrets) for field in form})
        text = place.writing.edited(place.text, changes, now)
        inside = tuple(json.dumps(secret)[1:-1] for secret in self.secrets)
        text = _masked(text, (*self.secrets, *inside))
        try:
            place.writing.form(text)
        except ValueError:
            raise CurationError(f"A secret of {self.memory.id} is a part of other text. Use memsift edit.") from None
        return _of_one("edit", "Took a secret out of", place, text)


class Relist(Record):
    """Bring the lines of the index in step with a file that was changed or removed by another program."""

    root: str
    name: str

    def plan(self, now: str) -> Plan:  # noqa: ARG002 - the file stays as it is
        root = os.path.realpath(self.root)
        path = os.path.join(root, self.name)
        if not is_inside(root, path):
            raise CurationError(f"{path} is outside of the root. memsift does not change its line.")
        text = text_at(path)
        change = FileChange(root, self.name, text, text)
        return Plan("list", f"Brought the line of {self.name} in step", (), (root,), Effect((change,)))


class Together(Record):
    """Several operations as one, so that they are undone together. An empty `summary` is made of theirs."""

    operations: tuple[Operation, ...]
    summary: str = ""

    def plan(self, now: str) -> Plan:
        plans = [operation.plan(now) for operation in self.operations]
        parts: list[dict[str, Any]] = [fields(plan.effect) for plan in plans]
        effect = Effect(**{name: tuple(item for part in parts for item in part[name]) for name in parts[0]})
        if len({file.path for file in effect.files}) < len(effect.files):
            raise CurationError("Two of these changes are about the same file. Make them one after the other.")
        kinds = {plan.kind for plan in plans}
        memories = tuple(dict.fromkeys(memory for plan in plans for memory in plan.memories))
        roots = tuple(dict.fromkeys(root for plan in plans for root in plan.roots))
        kind = kinds.pop() if len(kinds) == 1 else SEVERAL
        more = f", and {len(plans) - 1:,} more" if plans[1:] else ""
        summary = self.summary or f"{plans[0].summary}{more}"
        return Plan(kind, summary, memories, roots, effect)


def _masked(text: str, secrets: Sequence[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _of_one(kind: str, words: str, place: MemoryPlace, text: str) -> Plan:
    """The plan of an edit. Raises CurationError if it would change nothing."""
    if text == place.text:
        raise CurationError(f"{place.memory.summary.id} is like this already. Nothing was changed.")
    return _plan(kind, f"{words} {place.memory.summary.id}", (place,), (place.changed(text),))


def _put_away(kind: str, status: str, place: MemoryPlace, reason: str, now: str, **effect: Any) -> Plan:
    place.require(ACTIVE, what=status)
    change = place.changed(place.writing.with_status(place.text, status, reason, now))
    because = f": {reason}" if reason else ""
    return _plan(kind, f"{status.capitalize()} {place.memory.summary.id}{because}", (place,), (change,), **effect)


def _plan(kind: str, summary: str, places: Sequence[MemoryPlace], files: Sequence[FileChange], **effect: Any) -> Plan:
    """The plan of an operation on the memories in *places*. *effect*: the other fields of `Effect`."""
    ids = tuple(place.memory.summary.id for place in places)
    roots = tuple(dict.fromkeys(place.root for place in places))
    if copies := [copy for place in places for copy in place.copies]:
        summary = f"{summary} ({', '.join(copies)} with the same id {'stay' if copies[1:] else 'stays'} as before)"
    return Plan(kind, one_line(summary), ids, roots, Effect(tuple(files), **effect))
