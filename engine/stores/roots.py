"""Reading a root: all memories in a folder or in a file, and which of several files with the same id holds the memory.

Such files are conflict copies of programs that keep folders in step, and other doubles. The file that is named like
its id counts; without one, the newer file does.
"""

from __future__ import annotations

import os

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.lean.json_text import without_lone_surrogates
from engine.memory import Corpus, Memory, Skipped
from engine.stores.files import HOLDS_NOTHING, NO_MEMORIES, UnreadableFileError
from engine.stores.registry import format_of, name_in, store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from engine.stores.registry import FileStore, Store


SYNCTHING, OTHERS = ".sync-conflict-", ("conflicted copy", "case conflict")
"""What the names of copies hold, whatever is in the files: the latter stand in brackets at the end."""

MOST_SHOWN = 80

SEPARATOR = "\n"
"""Between the paths in the name of several roots. Hardly any path has a line break."""


def readable_root(root: str) -> str:
    """*root*, resolved. Raises RootNotFoundError and RootUnreadableError."""
    if not os.path.exists(root):
        raise RootNotFoundError(f"There is no folder {root}. Name one with --root, or start memsift inside a project.")
    resolved = os.path.realpath(root)
    if not os.path.isdir(root):
        if os.path.isfile(root) and format_of(resolved):
            return resolved
        problem = f"{root} is not a folder, and no file of memories (.md, .jsonl, .db)."
        raise RootUnreadableError(f"{problem} Name the folder that holds the memories with --root.")
    try:
        os.listdir(resolved)
    except OSError as error:
        raise RootUnreadableError(f"{root} cannot be read ({error.strerror}). Check its permissions.") from None
    return resolved


def read_corpus(root: str) -> Corpus:
    """All memories of *root*, whatever its format. Files that cannot be used are in `skipped`, with the reason.

    Of files with the same id one counts: see `counting_file`. Raises RootNotFoundError and RootUnreadableError.
    """
    resolved = readable_root(root)
    store = store_of(resolved)
    listing = store.listing(resolved)
    skipped = [*listing.skipped]
    found = [(name, part) for name in sorted(listing.names) for part in parts_of(store, resolved, name)]
    held: dict[str, list[tuple[str, str]]] = {}
    for name, part in found:
        if not isinstance(part, Skipped):
            held.setdefault(part.summary.id, []).append((name, part.summary.updated_at))
    counting = {memory_id: counting_file(resolved, memory_id, files) for memory_id, files in held.items()}
    memories: dict[str, Memory] = {}
    for name, part in found:
        if isinstance(part, Skipped):
            skipped.append(part)
        elif part.summary.id not in memories and counting[part.summary.id] == name:
            memories[part.summary.id] = part
        else:
            used = shown_name(resolved, counting[part.summary.id])
            skipped.append(double(shown_name(resolved, name), part.summary.id, used))
    return Corpus(resolved, tuple(memories.values()), by_reason(skipped), listing.notices)


def by_reason(skipped: Sequence[Skipped]) -> tuple[Skipped, ...]:
    """*skipped*, with one line for all files that are no memories for the same reason of NO_MEMORIES."""
    same = {reason: [file for file in skipped if file.reason == reason] for reason in NO_MEMORIES}
    counted = [
        Skipped(f"{len(files):,} files", NO_MEMORIES[reason]) if files[1:] else files[0]
        for reason, files in same.items()
        if files
    ]
    return (*(file for file in skipped if file.reason not in NO_MEMORIES), *counted)


def parts_of(store: Store, root: str, name: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:
    """The memories in a file, and its parts that are no memories. A file without either is skipped as a whole.

    A store may leave out memories that are not *wanted*, if any are.
    """
    is_empty = True
    try:
        for part in store.read(root, name, wanted):
            is_empty = False
            yield part
    except UnreadableFileError as error:
        yield Skipped(shown_name(root, name), str(error))
    else:
        if is_empty:
            yield Skipped(shown_name(root, name), HOLDS_NOTHING)


def shown_name(root: str, name: str) -> str:
    """A file's name for people."""
    return without_lone_surrogates(name_in(root, name))


def joint_name(roots: Sequence[str]) -> str:
    """The name of several roots in the label store; the path itself for a single one."""
    return SEPARATOR.join(roots)


def roots_in(name: str) -> list[str]:
    """The roots that a name of `joint_name` stands for."""
    return name.split(SEPARATOR)


def original_stem(stem: str, inside: str = "") -> str:
    """The name of the file that a file was copied from, both without folder and ending; *stem* if it is no copy.

    *inside*: the name that the text of the file gives itself. `note 2`, `note (1)` and `note-HOST` are copies only if
    that is `note`, because people use such names as well.
    """
    head, mark, _ = stem.partition(SYNCTHING)
    if head and mark:
        return head
    head, _, last = stem.rpartition(" (")
    if head and any(words in last.lower() for words in OTHERS):
        return head
    rest = stem[len(inside) :] if inside and stem.startswith(inside) else ""
    is_number = rest[:1] == " " and rest[1:].strip("()").isdigit()
    is_host = rest[:1] == "-" and rest.isupper() and " " not in rest
    return inside if is_number or is_host else stem


def counting_file(root: str, memory_id: str, held: Sequence[tuple[str, str]]) -> str:
    """The file whose memory counts. *held*: each file with a memory of this id, and when that memory was changed."""
    changed = dict(reversed(held))
    if len(changed) == 1:
        return held[0][0]

    def worth(name: str) -> tuple[bool, str, int, int]:
        stem = os.path.splitext(name)[0]
        # A file is named like its id. The id of a part begins with the file's name.
        is_named = memory_id.partition("#")[0] in (stem, os.path.basename(stem))
        try:
            modified = os.stat(os.path.join(root, name)).st_mtime_ns
        except OSError:
            modified = 0
        return is_named, changed[name], modified, -len(os.path.basename(name))

    return max(sorted(changed), key=worth)


def double(name: str, memory_id: str, counting: str) -> Skipped:
    """What is said of a memory whose id the file *counting* has, too."""
    whose = "a second time" if name == counting else f"of {counting[:MOST_SHOWN]}, which is used in its place"
    return Skipped(name, f"has the id {memory_id[:MOST_SHOWN]!r} {whose}", memory_id)


def copies_of(store: FileStore, root: str, name: str, memory_id: str) -> tuple[str, ...]:
    """The other files in the folder of the file *name* that hold a memory with its id, and are named like it."""
    folder, own = os.path.split(name)
    start, ending = os.path.basename(memory_id) or memory_id, os.path.splitext(own)[1]
    try:
        beside = sorted(os.listdir(os.path.join(root, folder)))
    except OSError:
        return ()
    names = [os.path.join(folder, file) for file in beside if file.startswith(start) and file.endswith(ending)]
    return tuple(file for file in names if file != name and _id_in(store, root, file) == memory_id)


def _id_in(store: FileStore, root: str, name: str) -> str:
    try:
        return store.read_file(root, name).summary.id
    except UnreadableFileError:
        return ""
