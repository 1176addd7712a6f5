"""Reading a root: all memories in the folder that holds them."""

from __future__ import annotations

import os

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.lean.json_text import without_lone_surrogates
from engine.memory import Corpus, Memory, Skipped
from engine.stores.files import UnreadableFileError, has_earlier_id
from engine.stores.registry import store_of


def readable_root(root: str) -> str:
    """*root*, resolved. Raises RootNotFoundError and RootUnreadableError."""
    if not os.path.exists(root):
        raise RootNotFoundError(f"There is no folder {root}. Name one with --root, or start memsift inside a project.")
    if not os.path.isdir(root):
        raise RootUnreadableError(f"{root} is not a folder. Name the folder that holds the memories with --root.")
    resolved = os.path.realpath(root)
    try:
        os.listdir(resolved)
    except OSError as error:
        raise RootUnreadableError(f"{root} cannot be read ({error.strerror}). Check its permissions.") from None
    return resolved


def read_corpus(root: str) -> Corpus:
    """All memories of *root*, whatever its format. Files that cannot be used are in `skipped`, with the reason.

    Of memories with the same id the first by path counts. Raises RootNotFoundError and RootUnreadableError.
    """
    resolved = readable_root(root)
    store = store_of(resolved)
    names, skipped = store.listing(resolved)
    memories: dict[str, Memory] = {}
    for name in sorted(names):
        try:
            memory = store.read_file(resolved, name)
            if memory.summary.id in memories:
                raise UnreadableFileError(has_earlier_id(memory.summary.id))
        except UnreadableFileError as error:
            skipped.append(Skipped(without_lone_surrogates(name), str(error)))
        else:
            memories[memory.summary.id] = memory
    return Corpus(resolved, tuple(memories.values()), tuple(skipped))
