"""Files with the id of another file: the conflict copies of programs that keep folders in step, and other doubles.

The file that is named like its id holds the memory. Without one, the newer file does.
"""

from __future__ import annotations

import os

from engine.memory import Skipped
from engine.stores.files import UnreadableFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.stores.registry import FileStore

SYNCTHING, OTHERS = ".sync-conflict-", ("conflicted copy", "case conflict")
"""What the names of copies hold, whatever is in the files: the latter stand in brackets at the end."""

MOST_SHOWN = 80


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
    return max(
        sorted(changed),
        key=lambda name: (
            *(_is_named(memory_id, name), changed[name], _modified(root, name), -len(os.path.basename(name))),
        ),
    )


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


def _is_named(memory_id: str, name: str) -> bool:
    """Whether a file is named like the id. The id of a part begins with the file's name."""
    stem = os.path.splitext(name)[0]
    return memory_id.partition("#")[0] in (stem, os.path.basename(stem))


def _modified(root: str, name: str) -> int:
    try:
        return os.stat(os.path.join(root, name)).st_mtime_ns
    except OSError:
        return 0
