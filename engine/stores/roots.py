"""Which folder holds a project's memories, and in which format."""

from __future__ import annotations

import os

from engine.claude_code.transcripts import transcripts_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from engine.memory import Corpus, Memory, Skipped

    class Store(Protocol):
        """What a format's module does with a root, which is resolved."""

        INDEX_FILE: str

        def read(self, root: str) -> Corpus: ...
        def listing(self, root: str) -> tuple[set[str], list[Skipped]]: ...
        def places(self, names: Iterable[str], /) -> list[str]: ...
        def read_file(self, root: str, relative: str) -> Memory: ...


PROJECT_FOLDER = os.path.join(".claude", "memory")


def find_root(start: str, environ: Mapping[str, str], transcript_path: str = "") -> str | None:
    """The nearest `.claude/memory` upwards from *start*, else `memory/` beside the project's transcripts, else None."""
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(folder, PROJECT_FOLDER)
        if os.path.isdir(candidate):
            return os.path.realpath(candidate)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    beside = os.path.dirname(transcript_path) if transcript_path else transcripts_dir(start, environ)
    candidate = os.path.join(beside, "memory")
    return os.path.realpath(candidate) if os.path.isdir(candidate) else None


def read_corpus(root: str) -> Corpus:
    """All memories of *root*, in whichever format it has; an empty folder is a corpus without memories.

    Raises RootNotFoundError and RootUnreadableError.
    """
    resolved = readable_root(root)
    return store_of(resolved).read(resolved)


def readable_root(root: str) -> str:
    """*root*, resolved. Raises RootNotFoundError and RootUnreadableError."""
    from engine.errors import RootNotFoundError, RootUnreadableError

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


def store_of(resolved: str) -> Store:
    """The format of a root, which is resolved."""
    # The hook looks for a root at every prompt, and reads its files only where the index is behind.
    from engine.stores import auto_memory, claude_memory

    if auto_memory.is_root(resolved) and not claude_memory.is_root(resolved):
        return auto_memory
    return claude_memory
