"""Reading a root: all memories in a folder or in a file."""

from __future__ import annotations

import os

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.lean.json_text import without_lone_surrogates
from engine.memory import Corpus, Memory, Skipped
from engine.stores.doubles import counting_file, double
from engine.stores.files import HOLDS_NOTHING, UnreadableFileError
from engine.stores.registry import format_of, name_in, store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from engine.stores.registry import Store


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
        raise RootUnreadableError(
            f"{root} is not a folder, and no file of memories (.md, .jsonl, .db). Name the folder that holds the "
            "memories with --root."
        )
    try:
        os.listdir(resolved)
    except OSError as error:
        raise RootUnreadableError(f"{root} cannot be read ({error.strerror}). Check its permissions.") from None
    return resolved


def read_corpus(root: str) -> Corpus:
    """All memories of *root*, whatever its format. Files that cannot be used are in `skipped`, with the reason.

    Of files with the same id one counts: see `engine.stores.doubles`. Raises RootNotFoundError and RootUnreadableError.
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
    return Corpus(resolved, tuple(memories.values()), tuple(skipped), listing.notices)


def parts_of(store: Store, root: str, name: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:
    """The memories in a file, and what in it is none. A file without any of both is skipped as a whole.

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
