"""The roots for a folder: its project's, the project's auto memory, and those of the user. One search for all callers.

A folder of memories is text for the model, so it must not come from a stranger. Hook, app, commands and doctor all ask
`find_roots`, so what one of them uses all of them use. A user names further roots in config.toml, above all tables:
`roots = ["~/notes"]`. A project's memory-config.json cannot: it could bring any file of the user into a prompt.
"""

from __future__ import annotations

import os

from engine.agents.claude_code.auto_memory import DIRECTORY, AutoMemory, auto_memory
from engine.lean.record import Record
from engine.paths import config_file, home_dir, projects_dir
from engine.settings.keys import shown
from engine.settings.sources import trust_command
from engine.stores.files import UnreadableFileError, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

PROJECT_FOLDER = os.path.join(".claude", "memory")
KEY = "roots"
MOST_ROOTS = 20
OFFERED = ("memory-bank", "memory_bank", "memory", os.path.join(".serena", "memories"))
OFFERED_HIDDEN, PACKAGES = (".serena", ".claude"), ("node_modules", "vendor", "target", "dist", "build")
OFFERED_DEPTH, MOST_LOOKED_AT = 4, 2_000
"""Names of folders where other tools keep memories, anywhere in a repository; hidden folders that are looked through;
levels below the top, and folders in all."""

OWNED = "If it is yours: sudo chown, or name it in roots."


class Repository(Record):
    """A repository. `top` is the folder with `.git`, `main` the top of its main tree: the same but for a worktree.

    A worktree of a bare repository has the folder of that repository as `main`.
    """

    top: str
    main: str

    def in_main(self, folder: str) -> str:
        """The place in the main tree that is *folder*, which lies in this repository, in this one."""
        return os.path.normpath(os.path.join(self.main, os.path.relpath(folder, self.top)))


class Refused(Record):
    """A folder of memories that was found and not taken, the reason, and how it can be taken."""

    folder: str
    reason: str
    remedy: str

    @property
    def text(self) -> str:
        return f"{self.folder} is not used: {self.reason}."


class RootSearch(Record):
    """The roots, resolved, in the order in which they count: the settings of the first fill places and budget.

    `mistakes`: a sentence for each value of `roots` in config.toml that cannot be used.
    """

    roots: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    mistakes: tuple[str, ...] = ()
    auto_memory: AutoMemory = AutoMemory()

    @property
    def said(self) -> tuple[str, ...]:
        """A sentence for each folder that is not used."""
        return (*(refused.text for refused in self.refused), *self.mistakes)


def find_roots(
    start: str, environ: Mapping[str, str], session_folder: str = "", users: Collection[int] | None = None
) -> RootSearch:
    """Each `.claude/memory` from *start* up to its repository's top, the auto memory, and `roots` in config.toml.

    Without a repository, only the nearest counts. A linked worktree that has no such folder at a place uses the one at
    that place in the main tree. A folder that nobody named is taken only if it, its `.claude`, the folder around them
    and, for a link, the folder that it leads into belong to *users*: `own_users` by default. *session_folder*: where
    the client was started, if the model went somewhere else since. Its folders are looked for in the same way and come
    behind those of *start*; the auto memory is its own. A path that no file system can hold has no roots.
    """
    owners = own_users(environ) if users is None else users
    refused: list[Refused] = []
    found: list[str] = []
    auto = AutoMemory()
    try:
        folder = os.path.realpath(start)
        session = os.path.realpath(session_folder) if os.path.isabs(session_folder) else folder
        for place in dict.fromkeys((folder, session)):
            there: list[str] = []
            for candidate in _of_project(place, environ, there):
                _take(candidate, owners, there, refused)
            found += there
        repository = repository_of(session)
        main = repository.main if repository else session
        auto = auto_memory(session, main, environ, trust_in(environ))
        for place, file in auto.untrusted:
            reason = f"{file} names it as {DIRECTORY}, and you have not trusted it"
            refused.append(Refused(place, reason, f"To allow: {trust_command(place)}"))
        if os.path.isdir(auto.folder):
            _take(auto.folder, None if auto.said_by else owners, found, refused)
    except (OSError, ValueError):
        pass
    own = user_roots(environ)
    roots = dict.fromkeys((*found, *own.roots))
    return RootSearch(tuple(roots), tuple(dict.fromkeys(refused)), own.mistakes, auto)


def offered_roots(start: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Memories of the project around *start* that other tools and agents keep, and that are not used by themselves.

    They are text of whoever wrote to the repository, so a person has to name them in `roots`.
    """
    from engine.agents.registry import all_agents

    folder = os.path.realpath(start)
    repository = repository_of(folder)
    top = repository.top if repository else folder
    folders, found = [(top, 0)], []
    of_agents = [place for agent in all_agents() for place in agent.places_of_memories(top, environ)]
    for place, depth in folders:
        name, above = os.path.basename(place), os.path.basename(os.path.dirname(place))
        if name in OFFERED or os.path.join(above, name) in OFFERED or above == "agent-memory":
            found.append(place)
        if depth < OFFERED_DEPTH:
            below = [os.path.join(place, entry) for entry in _folders(place)]
            folders += [(path, depth + 1) for path in below][: max(0, MOST_LOOKED_AT - len(folders))]
    from engine.stores.registry import store_of

    used, owners = find_roots(start, environ).roots, own_users(environ)
    found += [place for place in dict.fromkeys(of_agents) if place not in found and os.path.exists(place)]
    own = [place for place in found if place not in used and not _stranger(place, owners)]
    return tuple(place for place in own if store_of(place).listing(place).names)


def _folders(place: str) -> list[str]:
    """The folders in a folder that may hold offered ones: not hidden, but for those of clients, and no packages."""
    try:
        with os.scandir(place) as found:
            inside = sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [name for name in inside if name in OFFERED_HIDDEN or (name[0] != "." and name not in PACKAGES)]


def own_users(environ: Mapping[str, str]) -> Collection[int]:
    """The numbers of the users whose folders are taken. As in git, root also takes those of the user who called sudo.

    Windows has no such numbers: there every folder belongs to user 0.
    """
    own = getattr(os, "geteuid", int)()
    caller = "" if own else environ.get("SUDO_UID", "")
    return {own, int(caller)} if caller.isdecimal() else {own}


def repository_of(folder: str) -> Repository | None:
    """The innermost repository around *folder*, a resolved path; None without one. Raises ValueError for no path."""
    top = folder
    while not os.path.exists(os.path.join(top, ".git")):
        if os.path.dirname(top) == top:
            return None
        top = os.path.dirname(top)
    return Repository(top, _main_tree(top))


def _main_tree(top: str) -> str:
    """The main tree by the files of a worktree, which must name each other: a `.git` file alone may be a stranger's."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        return top
    try:
        mark, _, named = text_of(git).strip().partition(" ")
        own = os.path.realpath(os.path.join(top, named)) if mark == "gitdir:" else ""
        common = os.path.realpath(os.path.join(own, text_of(os.path.join(own, "commondir")).strip()))
        back = os.path.join(own, text_of(os.path.join(own, "gitdir")).strip())
        is_one = os.path.dirname(own) == os.path.join(common, "worktrees") and os.path.samefile(back, git)
    except (UnreadableFileError, OSError, ValueError):
        return top
    folder, name = os.path.split(common)
    return (folder if name == ".git" else common) if is_one else top


def trust_in(environ: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether the user trusts a root, as a function. Few prompts ask it, so the list is loaded only then."""

    def trusts(root: str) -> bool:
        from engine.settings.trust import trust_of

        return trust_of(root, environ)

    return trusts


def _of_project(start: str, environ: Mapping[str, str], found: list[str]) -> Iterator[str]:
    """A project's folders of memories, the nearest first. Without a repository the search ends once one is *found*."""
    repository = repository_of(start)
    for folder in _upwards(start, environ):
        places = [folder] if repository is None else [folder, repository.in_main(folder)]
        candidates = [os.path.join(place, PROJECT_FOLDER) for place in dict.fromkeys(places)]
        yield from [candidate for candidate in candidates if os.path.isdir(candidate)][:1]
        if found and repository is None:
            return


def _take(candidate: str, owners: Collection[int] | None, found: list[str], refused: list[Refused]) -> None:
    """Add a folder to those *found*, or to those *refused*. Without *owners* anybody's is taken."""
    reason = "" if owners is None else _stranger(candidate, owners)
    if reason:
        refused.append(Refused(candidate, reason, OWNED))
    else:
        found.append(os.path.realpath(candidate))


def _upwards(start: str, environ: Mapping[str, str]) -> Iterator[str]:
    """*start* and the folders above it, as far as git looks for a repository: to its top, within one file system.

    The search also ends before the home folder. Its `.claude` is the client's own, and memories in it would count for
    every project below that is no repository. They are found from the home folder itself.
    """
    home = _status(home_dir(environ))
    folder = first = os.path.realpath(start)
    device: int | None = None
    while True:
        found = _status(folder)
        is_home = bool(found and home and os.path.samestat(found, home))
        if (is_home and folder != first) or (found and device not in (None, found.st_dev)):
            return
        yield folder
        if is_home or os.path.lexists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
            return
        folder, device = os.path.dirname(folder), found.st_dev if found else device


def _stranger(candidate: str, owners: Collection[int]) -> str:
    """The reason not to take a folder of memories: which folder or link on the way belongs to another user."""
    project = os.path.dirname(candidate)
    around = os.path.dirname(project) if candidate.endswith(PROJECT_FOLDER) else project
    real = os.path.realpath(candidate)
    for path in (around, project, candidate, os.path.dirname(real)):
        for found in (os.lstat(path), os.stat(path)):
            if found.st_uid not in owners:
                return f"{path} belongs to another user (number {found.st_uid})"
    return ""


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def is_own_root(root: str, environ: Mapping[str, str]) -> bool:
    """Whether the texts of *root*, a resolved path, are the person's: kept by the client, named in `roots`, trusted."""
    clients = os.path.realpath(projects_dir(environ)) + os.sep
    return root.startswith(clients) or root in user_roots(environ).roots or trust_in(environ)(root)


def user_roots(environ: Mapping[str, str]) -> RootSearch:
    """The roots in config.toml that exist, in their order. Never raises an Exception.

    The parser is slow to load, so the text is searched first.
    """
    path = config_file(environ)
    if not os.path.lexists(path):
        return RootSearch()
    try:
        text = text_of(path)
        if KEY not in text:
            return RootSearch()
        import tomllib

        listed = tomllib.loads(text).get(KEY, [])
    except (UnreadableFileError, ValueError, RecursionError):
        return RootSearch(mistakes=(f"{path} cannot be read, so its {KEY} are not used. Fix it, or delete it.",))
    if not isinstance(listed, list):
        return RootSearch(mistakes=(f"{path}: {KEY!r} is {shown(listed)}; expected a list of paths.",))
    found = [(value, resolved(value, environ)) for value in listed[:MOST_ROOTS]]
    expected = "expected the absolute path, or one from ~, of a folder or file that exists"
    unused = [shown(value) for value, root in found if not root]
    mistakes = [f"{path}: {KEY!r} names {value}, which is not used; {expected}." for value in unused]
    if len(listed) > MOST_ROOTS:
        mistakes.append(f"{path}: {KEY!r} has {len(listed):,} paths; only the first {MOST_ROOTS} are used.")
    return RootSearch(tuple(dict.fromkeys(root for _, root in found if root)), mistakes=tuple(mistakes))


def resolved(value: object, environ: Mapping[str, str]) -> str:
    """The path that *value* spells, resolved; empty if it is none."""
    if not isinstance(value, str):
        return ""
    path = home_dir(environ) + value[1:] if value == "~" or value.startswith("~/") else value
    try:
        return os.path.realpath(path) if os.path.isabs(path) and os.path.exists(path) else ""
    except (OSError, ValueError):
        return ""
