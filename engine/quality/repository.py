"""The repository that a root belongs to: its files, the names in its sources, and the versions in its lock files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
import tomllib
from contextlib import contextmanager
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.lean.record import Record
from engine.paths import project_of
from engine.quality.registry import WORDS
from engine.stores.files import UnreadableFileError, is_inside, make_folder, text_of, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

GIT_SECONDS, LOG_SECONDS = 5.0, 15.0
"""How long a git command may take, and the search of the whole history for names."""

MOST_NAMES = 300
DEFINES = "(def|func|function|fn|fun|class|sub)"
NAMES = ("--name-only", "--relative", "--format=")
MOST_FILES, MOST_SOURCE_BYTES = 50_000, 30_000_000
LEFT_OUT, SOURCES = (tuple(" ".join(WORDS[name]).split()) for name in ("left out", "sources"))
NAME = re.compile(r"[A-Za-z_]\w{2,}")
UNLIKE_A_LOCK = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What a file that has only the name of a lock file may raise."""


class RepositoryContent(Record):
    """`files` are relative paths with `/`, `names` are the identifiers in the sources, `versions` the locked ones.

    `removed` are the files that its history has and its folder has not.
    `is_whole`: all sources were read, so a name that is not in `names` is nowhere.
    """

    folder: str
    files: frozenset[str]
    names: frozenset[str]
    versions: Mapping[str, tuple[str, str]]
    removed: frozenset[str]
    is_whole: bool

    def lost_file(self, path: str) -> bool:
        """Whether the history has a file with this path or the end of it, the folder has none, and git ignores none."""
        wanted = path.removeprefix("./").strip("/")
        had, has = (
            any(file == wanted or file.endswith(f"/{wanted}") for file in files) for files in (self.removed, self.files)
        )
        has = has or os.path.lexists(os.path.join(self.folder, wanted))
        return had and not has and not git(self.folder, "check-ignore", "--", path)

    def had_names(self, names: Collection[str]) -> frozenset[str]:
        """Which of *names* a source in the history defines, as far as git tells in time. Others may be of a library."""
        asked = sorted(names)[:MOST_NAMES]
        if not asked:
            return frozenset()
        defined, sources = f"{DEFINES} +({'|'.join(asked)})\\b", [f"*{ending}" for ending in SOURCES]
        log = git(
            self.folder, "log", "--all", "-p", "-U0", "--format=", f"-G{defined}", "--", *sources, seconds=LOG_SECONDS
        )
        return frozenset(match[2] for match in re.finditer(rf"^[-+].*?{defined}", log, re.MULTILINE))


@contextmanager
def folder_at(root: str, revision: str) -> Iterator[str]:
    """The folder *root* as it is in a revision of its repository: a copy for as long as the block lasts.

    It is empty if the revision does not have the folder. Raises RootNotFoundError for an unknown revision, and
    RootUnreadableError for a folder that cannot be read there.
    """
    top, root = project_of(root), os.path.realpath(root)
    is_name = bool(top) and not revision.startswith("-")
    find = ("rev-parse", "--verify", "--quiet")
    commit = git(top, *find, f"{revision}^{{commit}}").strip() if is_name else ""
    if not commit:
        raise RootNotFoundError(f"The repository of {root} has no revision {revision!r}. Fetch it, or name another.")
    name = os.path.relpath(root, top)
    tree = git(top, *find, f"{commit}:{'' if name == os.curdir else name}").strip()
    with TemporaryDirectory(prefix="memsift-") as place:
        # the path of the copy ends like that of the root, which shows its format
        copy = os.path.join(os.path.realpath(place), name)
        make_folder(copy)
        if tree:
            packed = git_bytes(top, "archive", "--format=tar", tree, seconds=LOG_SECONDS)
            try:
                with tarfile.open(fileobj=BytesIO(packed), mode="r:") as members:
                    for member in members:  # files only, and nothing outside of the copy
                        path = os.path.join(copy, member.name)
                        content = members.extractfile(member) if member.isfile() and is_inside(copy, path) else None
                        if content:
                            make_folder(os.path.dirname(path))
                            write_whole(path, content.read(), lasts=False)
            except (tarfile.TarError, OSError) as error:
                raise RootUnreadableError(f"git cannot read {name} in {revision} as a folder ({error}).") from None
        yield copy


def read_repository(folder: str) -> RepositoryContent:
    """The repository in *folder*. Files that cannot be read are left out."""
    files = sorted(_files(folder))
    names: set[str] = set()
    versions: dict[str, tuple[str, str]] = {}
    left = MOST_SOURCE_BYTES
    for file in files:
        base = os.path.basename(file)
        is_requirements = base.startswith("requirements") and base.endswith(".txt")
        reader = _find_pairs(REQUIREMENT) if is_requirements else LOCKS.get(base)
        if reader is None and (not file.endswith(SOURCES) or left <= 0):
            continue
        try:
            text = text_of(os.path.join(folder, file))
            if reader:
                versions |= {name.lower(): (version, file) for name, version in reader(text)}
            else:
                left -= len(text)
                names.update(NAME.findall(text))
        except (UnreadableFileError, *UNLIKE_A_LOCK):
            continue
    log = git(folder, "-c", "core.quotePath=false", "log", "--all", "--no-renames", "--diff-filter=D", *NAMES)
    removed = frozenset(log.splitlines()).difference(files)
    is_whole = left > 0 and len(files) < MOST_FILES
    return RepositoryContent(folder, frozenset(files), frozenset(names), versions, removed, is_whole)


def git(folder: str, *command: str, seconds: float = GIT_SECONDS) -> str:
    """The text that a git command prints within *seconds*; empty if it fails."""
    return git_bytes(folder, *command, seconds=seconds).decode("utf-8", "replace")


def git_bytes(folder: str, *command: str, seconds: float = GIT_SECONDS) -> bytes:
    safe = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false")
    try:
        done = subprocess.run(["git", "-C", folder, *safe, *command], capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").rpartition(b"\n")[0]
    except (OSError, ValueError):
        return b""
    return done.stdout if done.returncode == 0 else b""


def _files(folder: str) -> Iterator[str]:
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(subfolder for subfolder in folders if subfolder not in LEFT_OUT)
        for name in files:
            count += 1
            if count > MOST_FILES:
                return
            yield os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")


def _package_lock(text: str) -> Iterator[tuple[str, str]]:
    content: dict[str, Any] = json.loads(text)
    for path, package in content.get("packages", {}).items():
        if path.startswith("node_modules/") and path.count("node_modules/") == 1:
            yield path.removeprefix("node_modules/"), package["version"]
    for name, package in content.get("dependencies", {}).items():
        yield name, package["version"]


def _toml_packages(text: str) -> Iterator[tuple[str, str]]:
    for load in tomllib.loads(text).get("package", []):
        if "version" in load:
            yield load["name"], load["version"]


def _pipfile_lock(text: str) -> Iterator[tuple[str, str]]:
    content = json.loads(text)
    for part in ("default", "develop"):
        for name, package in content.get(part, {}).items():
            yield name, str(package.get("version", "")).lstrip("=")


def _go_mod(text: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(r"^[ \t]*(?:require[ \t]+)?([\w.\-/]+)[ \t]+v(\d[\w.\-+]*)", text, re.MULTILINE):
        path = re.sub(r"/v\d+$", "", match[1])
        yield path, match[2]
        yield path.rpartition("/")[2], match[2]
    for match in re.finditer(r"^go\s+(\d[\d.]*)", text, re.MULTILINE):
        yield "go", match[1]


def _find_pairs(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[str, str]]]:
    """A reader that finds names and versions by *pattern*."""
    return lambda text: ((match[1], match[2]) for match in pattern.finditer(text))


REQUIREMENT = re.compile(r"^[ \t]*([A-Za-z0-9][\w.\-]*)(?:\[[^\]\n]*\])?[ \t]*==[ \t]*(\d[\w.\-+]*)", re.MULTILINE)
YARN = re.compile(r"^\"?((?:@[^@/\s]+/)?[^@\s\"]+)@[^\n]*:\n[ \t]+version:?[ \t]+\"?(\d[^\"\s]*)", re.MULTILINE)


LOCKS: dict[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    "package-lock.json": _package_lock,
    "npm-shrinkwrap.json": _package_lock,
    "yarn.lock": _find_pairs(YARN),
    "poetry.lock": _toml_packages,
    "uv.lock": _toml_packages,
    "Cargo.lock": _toml_packages,
    "Pipfile.lock": _pipfile_lock,
    "go.mod": _go_mod,
}
