"""Traps in the place of a file or folder, and bait outside of the root, which must stay unread."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.engine.builders import document, memory, put

BAIT = "zanzibait"
"""A word that only the bait holds. The bait matches the prompts: if it were read, it would be shown."""

SPARSE_BYTES = 3_000_000_000


def lay_bait(outside: Path) -> Path:
    """A folder of memories, lists and settings that all hold BAIT."""
    put(outside / "bait.json", json.dumps(document(memory(f"cache rule {BAIT}", "cache", BAIT))))
    (outside / "bait.md").write_text(f"---\nname: {BAIT}\ndescription: cache rule {BAIT}\n---\n{BAIT}\n", "utf-8")
    (outside / "index.md").write_text(f"- [DECISION] cache rule {BAIT} -> decisions/{BAIT}.json\n", "utf-8")
    (outside / "config.json").write_text(json.dumps({"retrieval": {"output_mode": BAIT}}), "utf-8")
    return outside


def _circle(path: Path, outside: Path) -> None:  # noqa: ARG001
    other = path.with_name(f"{path.name}-back")
    path.symlink_to(other.name)
    other.unlink(missing_ok=True)
    other.symlink_to(path.name)


def _unreadable(path: Path, outside: Path) -> None:  # noqa: ARG001
    path.write_text("{}", "utf-8")
    path.chmod(0)


def _sparse(path: Path, outside: Path) -> None:  # noqa: ARG001
    with path.open("wb") as file:
        file.truncate(SPARSE_BYTES)


TRAPS: dict[str, Callable[[Path, Path], object]] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "endless device": lambda path, _: path.symlink_to("/dev/zero"),
    "link to itself": lambda path, _: path.symlink_to(path.name),
    "circle of links": _circle,
    "link to nothing": lambda path, _: path.symlink_to("nowhere"),
    "link to the folder above": lambda path, _: path.symlink_to(".."),
    "link to a file outside": lambda path, outside: path.symlink_to(outside / "bait.json"),
    "link to a list outside": lambda path, outside: path.symlink_to(outside / "index.md"),
    "link to settings outside": lambda path, outside: path.symlink_to(outside / "config.json"),
    "link to a folder outside": lambda path, outside: path.symlink_to(outside),
    "link to the environment": lambda path, _: path.symlink_to("/proc/self/environ"),
    "folder": lambda path, _: path.mkdir(),
    "empty file": lambda path, _: path.touch(),
    "unreadable file": _unreadable,
    "sparse file of 3 GB": _sparse,
    "binary file": lambda path, _: path.write_bytes(bytes(range(256)) * 40),
    "deep JSON": lambda path, _: path.write_bytes(b"[" * 100_000),
    "invalid UTF-8": lambda path, _: path.write_bytes(b'{"title": "cache rule \xff\xfe"}'),
    "huge number": lambda path, _: path.write_bytes(b'{"retrieval": {"max_inject": ' + b"9" * 5000 + b"}}"),
}
"""Name -> function that makes the trap at a free path, given the folder of the bait."""


def set_trap(name: str, path: Path, outside: Path) -> None:
    """Put a trap in the place of *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    TRAPS[name](path, outside)
