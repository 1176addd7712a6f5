"""Safe reading: regular files only, and for a file of a root also inside the root, not too large, and UTF-8.

And private writing: the folders that memsift makes are for their owner alone (0700), and so are the files (0600),
whatever the umask. A folder that exists keeps its mode. A file of memsift's own that an earlier version made readable
for others is narrowed when it is written. A file that a person named, with --output for example, is left as it is.
"""

from __future__ import annotations

import os

from engine.paths import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

MAX_FILE_BYTES = 1_000_000
_FILE_TYPE, _REGULAR, _PIPE, _FOLDER = 0o170000, 0o100000, 0o010000, 0o040000
OWN_FOLDER, OWN_FILE = 0o700, 0o600
ASIDE, ASIDE_BYTES = ".memsift-", 8
"""The beginning of a file's name while it is written; random hex digits follow. No store takes it for a memory."""


class UnreadableFileError(Exception):
    """The reason why a file cannot be used, in words that follow the file's name."""


class LargeFileError(UnreadableFileError):
    """The file is larger than what is read."""


HOLDS_NOTHING = "holds no memory"
"""The reason for a file that can be read and has no memory in it."""

EMPTY, README, TEMPLATE, DRAWING = "is empty", "describes the notes beside it", "is a template", "is a drawing"
GUIDANCE, BACKUP = "is a preface that a client wrote", "is a backup"
NO_MEMORIES = {
    EMPTY: "are empty",
    README: "describe the notes beside them",
    TEMPLATE: "are templates",
    DRAWING: "are drawings",
    GUIDANCE: "have a preface that a client wrote",
    BACKUP: "are backups",
}
"""The reasons for files that are fine and are no memories, and the same of several files."""


def is_inside(root: str, path: str) -> bool:
    """Whether *path* lies inside *root* after all links are followed. *root* is resolved already."""
    try:
        real = os.path.realpath(path)
        return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
    except (ValueError, OSError):
        return False


def read_text(root: str, path: str) -> str:
    """The text of a file. UnreadableFileError if it is outside the root, too large, not UTF-8 or not readable."""
    require_inside(root, path)
    return text_of(path)


def require_inside(root: str, path: str) -> None:
    """Raise UnreadableFileError unless *path* lies inside *root*."""
    if not is_inside(root, path):
        raise UnreadableFileError("points outside the root")


def text_of(path: str) -> str:
    """The text of a file, wherever it lies. UnreadableFileError as for `read_text`."""
    try:
        return bytes_of(path).decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableFileError("is not UTF-8 text") from None


def bytes_of(path: str, most: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file of at most *most*. UnreadableFileError as for `read_text`."""
    try:
        raw = read_regular(path, most + 1)
    except FileNotFoundError:
        raise UnreadableFileError("does not exist") from None
    except OSError as error:
        raise UnreadableFileError(f"cannot be read ({error.strerror})" if error.strerror else str(error)) from None
    except ValueError:
        raise UnreadableFileError("is not the name of a file") from None
    if len(raw) > most:
        raise LargeFileError(f"is larger than {most // 1000:,} kB")
    return raw


def is_regular(found: os.stat_result) -> bool:
    """Whether it is a file: not a folder, a device or a pipe."""
    return found.st_mode & _FILE_TYPE == _REGULAR


def open_regular(path: str) -> BinaryIO:
    """A file, open for reading. OSError for a device or a pipe, which might never end or never begin."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if is_regular(os.fstat(descriptor)):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError("is not a file")


def read_regular(path: str, most: int) -> bytes:
    """The first *most* bytes of a file. OSError as for `open_regular`."""
    with open_regular(path) as file:
        return file.read(min(most, os.fstat(file.fileno()).st_size))


def open_source(path: str) -> BinaryIO:
    """A file or pipe that a person named, open for reading. OSError for a device, which might never end."""
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    if os.fstat(file.fileno()).st_mode & _FILE_TYPE in (_REGULAR, _PIPE):
        return file
    file.close()
    raise OSError("is not a file")


def read_named(path: str, most: int) -> bytes:
    """The first *most* bytes of a file or pipe that a person named. OSError as for `open_source`."""
    with open_source(path) as file:
        return file.read(most)


def make_folder(path: str) -> None:
    """Make a folder and those above it that are missing, for their owner alone. Raises OSError."""
    if not path or os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, OWN_FOLDER)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    else:
        os.chmod(path, OWN_FOLDER)


def open_private(path: str, flags: int) -> int:
    """A file of memsift's own, made with its folders if it is missing: an opener for `open`. Raises OSError."""
    descriptor = open_named(path, flags | os.O_CREAT)
    if os.fstat(descriptor).st_mode & 0o777 != OWN_FILE:
        _narrow(descriptor)
    return descriptor


def make_private(path: str) -> None:
    """Make an empty file for a database, with its folders, because SQLite goes by the umask. Raises OSError.

    A file that exists is never opened here: closing it would free the locks that SQLite holds on it in this process.
    """
    try:
        os.close(open_private(path, os.O_WRONLY | os.O_EXCL))
    except FileExistsError:
        if os.stat(path).st_mode & 0o777 != OWN_FILE:
            _narrow(path)


def open_named(path: str, flags: int) -> int:
    """A file that a person named: an opener for `open`. It keeps its mode if it exists. Raises OSError.

    A missing folder is made if the file is to be made.
    """
    try:
        return os.open(path, flags, OWN_FILE)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    make_folder(os.path.dirname(path))
    return os.open(path, flags, OWN_FILE)


def open_shared(path: str, flags: int) -> int:
    """A file of a project, for everybody whom the umask lets read it: an opener for `open`. Raises OSError."""
    return os.open(path, flags, 0o666)


def write_whole(
    path: str,
    content: bytes,
    opener: Callable[[str, int], int] = open_private,
    *,
    look: Callable[[], None] = lambda: None,
    lasts: bool = True,
) -> None:
    """Write a file so that no moment shows a part of it. Raises OSError, and leaves the file as it was.

    *opener*: `open_private`, or `open_named` or `open_shared` for a file that keeps its mode if it exists. A link
    stays, and what it leads to is written. A device or pipe is never replaced: it is written if a person named it, and
    else it is an OSError. *look* is called right before the file takes its place, and may raise. *lasts*: the disk has
    all of it at the end.

    The name until then is new and cannot be guessed: whoever fills the folder could have put a link there.
    """
    try:
        is_special = os.stat(path).st_mode & _FILE_TYPE not in (_REGULAR, _FOLDER)
    except OSError:
        is_special = False
    if is_special:
        if opener is not open_named:
            raise OSError("is not a file")
        with open(path, "wb") as file:
            file.write(content)
        return
    place = os.path.realpath(path)
    aside = os.path.join(os.path.dirname(place), f"{ASIDE}{os.urandom(ASIDE_BYTES).hex()}")
    file = open(aside, "xb", opener=lambda name, flags: opener(name, flags | getattr(os, "O_NOFOLLOW", 0)))  # noqa: SIM115
    try:
        with file:
            if opener is not open_private and os.path.exists(place):
                os.chmod(aside, os.stat(place).st_mode & 0o7777)
            file.write(content)
            file.flush()
            if lasts:
                os.fsync(file.fileno())
        look()
        os.replace(aside, place)
    finally:
        remove(aside)
    if lasts:
        make_names_last(os.path.dirname(place))


UNION = "/*.jsonl merge=union"
"""The line of a .gitattributes by which git joins two files of JSON lines, and leaves no conflict to a person."""


def let_git_join(path: str) -> str:
    """Let git join two versions of the file of JSON lines at *path*, where it lies in a repository: see UNION.

    The path of the .gitattributes beside it, if that was written; else empty. A link is left alone. Raises OSError and
    UnreadableFileError.
    """
    rules = os.path.join(os.path.dirname(path), ".gitattributes")
    if not path.endswith(".jsonl") or os.path.islink(rules) or not project_of(os.path.dirname(path)):
        return ""
    known = text_of(rules) if os.path.exists(rules) else ""
    if UNION in known.splitlines():
        return ""
    write_whole(rules, "\n".join([*known.splitlines(), UNION, ""]).encode(), open_shared)
    return rules


def remove(path: str) -> None:
    """Remove a file or link, if there is one. Raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def remove_leftovers(folder: str) -> None:
    """Remove what writers that were killed left in a folder. Raises OSError."""
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            if name.startswith(ASIDE) and len(name) == len(ASIDE) + 2 * ASIDE_BYTES:
                remove(os.path.join(folder, name))


def make_names_last(folder: str) -> None:
    """A new or removed name is on disk only when its folder is. Raises OSError. Windows knows nothing of the kind."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except (FileNotFoundError, PermissionError):
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def has_locks(folder: str) -> bool:
    """Whether files in a folder, made if it is missing, can be locked as SQLite asks. On some network disks none can.

    True where no file can be made.
    """
    path = os.path.join(folder, f"{ASIDE}{os.urandom(ASIDE_BYTES).hex()}")
    try:
        from fcntl import LOCK_EX, LOCK_NB, lockf

        make_folder(folder)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWN_FILE)
    except (ImportError, OSError):
        return True
    try:
        lockf(descriptor, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
        remove(path)
    return True


def _narrow(file: str | int) -> None:
    """Let only the owner read a file. Other people's files, and file systems without modes, stay as they are.

    So do devices and pipes: for root, a log or a label store that is /dev/null would close it to all other users.
    """
    try:
        if is_regular(os.stat(file)):
            os.chmod(file, OWN_FILE)
    except (OSError, TypeError):  # TypeError: on Windows, which knows no modes for descriptors
        return
