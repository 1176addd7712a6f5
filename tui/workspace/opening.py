"""Open the root, the prompts, the index and the workspace that options and environment name."""

from __future__ import annotations

import getpass
import json
import os
import unicodedata
from contextlib import ExitStack, closing, suppress
from dataclasses import replace as replace_dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import TUNED
from engine.errors import LabelStoreError, RootNotFoundError
from engine.lean.record import Record, replace
from engine.paths import labels_file, projects_dir, state_dir, transcripts_dir
from engine.settings.roots import find_roots, offered_roots, own_users, repository_of, trust_in
from engine.settings.sources import checked, read_config
from engine.stores.files import open_regular
from engine.stores.registry import store_of
from engine.wording import counted
from tui.workspace.judging import JudgeOptions, make_judge
from tui.workspace.stderr import explained_if_slow, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from engine.config import Config, OtherRoot
    from engine.conversations.prompt_files import PromptReading
    from engine.cutoff import Cutoff
    from engine.roots import OpenIndex, OpenRoots
    from engine.search.index import Index
    from engine.settings.sources import SettingsReading
    from tui.workspace.workspace import Workspace


def resolve_root(given: str | None, environ: Mapping[str, str]) -> str:
    """The first of `known_roots`, for a command about one root."""
    return known_roots([given] if given else [], environ)[0]


def known_roots(given: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The absolute paths of *given*, whoever owns them, each once; or of all roots that the hook uses here.

    This is the only place where a command looks for roots. stderr tells which roots are not used, and why. Raises
    RootNotFoundError if there are none at all.
    """
    if given:
        return list(dict.fromkeys(map(os.path.abspath, given)))
    search = find_roots(os.getcwd(), environ)  # noqa: PTH109 - the engine speaks in strings
    if not search.roots:
        auto = search.auto_memory
        off = f" ({auto.said_by} switches it off)" if auto.said_by and not auto.folder else ""
        raise RootNotFoundError(
            "There are no memories here: no .claude/memory from this folder up to the top of its repository, and no "
            f"Claude Code auto memory for this project{off}. {''.join(f'{reason} ' for reason in search.said)}Name a "
            "folder with --root, or try `memsift demo`."
        )
    for reason in search.said:
        tell(reason)
    return [*search.roots]


def annotator_name(environ: Mapping[str, str]) -> str:
    """The name on new labels: MEMSIFT_ANNOTATOR, else the user's name, else "me"."""
    try:
        return unicodedata.normalize("NFC", environ.get("MEMSIFT_ANNOTATOR") or getpass.getuser())
    except (OSError, KeyError):
        return "me"


def read_settings(
    root: str, environ: Mapping[str, str], judge: JudgeOptions, *, is_trusted: bool = False
) -> SettingsReading:
    """The settings of *root* with the flags in *judge*. Raises ConfigError for a mistake in any source."""
    reading = checked(read_config(root, {**environ, **judge.flags}, is_trusted=is_trusted))
    return replace(reading, config=judge.applied(reading.config, environ))


def settings_of(root: str, environ: Mapping[str, str], judge: JudgeOptions | None = None) -> SettingsReading:
    """As `read_settings`, for a command: stderr tells which keys of the root are ignored."""
    reading = read_settings(root, environ, judge or JudgeOptions(is_off=True))
    for line in filter(None, (reading.notice, *reading.remarks)):
        tell(line)
    return reading


def tuned_cutoff(roots: Sequence[str], config: Config, environ: Mapping[str, str]) -> Cutoff | None:
    """The tuned cutoff of the first of *roots* with one that fits *config*, or None.

    Raises UnusableModelError if there are some and none fits.
    """
    from engine.cutoff import UnusableModelError, chosen_cutoff

    places = [(state_dir(root, environ), root) for root in roots]
    found, problem = chosen_cutoff(places, replace(config, cutoff=TUNED), trust_in(environ))
    if problem:
        raise UnusableModelError(problem)
    return found if found and found.kind == TUNED else None


def open_roots(given: Sequence[str], environ: Mapping[str, str], judge: JudgeOptions | None = None) -> OpenRoots:
    """The roots of a command with their settings: those *given*, or all that the hook uses. Raises MemsiftError.

    stderr tells if there are several.
    """
    from engine.roots import together

    roots = known_roots(given, environ)
    if len(roots) > 1:
        tell(f"Open together: {', '.join(roots)}.")
    found = together([settings_of(root, environ, judge) for root in roots], environ)
    if found.notice:
        tell(found.notice)
    return found


def opened_roots(
    paths: Sequence[str], others: Mapping[str, OtherRoot] | None = None
) -> AbstractContextManager[OpenIndex]:
    """The index of one or several roots, up to date, and closed at the end of the `with` block. Raises RootError."""
    from engine.roots import open_together

    with explained_if_slow(paths[0]):
        return closing(open_together(paths, os.environ, others))


def opened_index(root: str) -> AbstractContextManager[Index]:
    """The index of *root*, up to date, and closed at the end of the `with` block. Raises RootError."""
    from engine.opening import open_index

    with explained_if_slow(root):
        return closing(open_index(root, os.environ))


def project_prompts(given: Sequence[str], environ: Mapping[str, str]) -> PromptReading:
    """The prompts in the files *given*, or else in `prompt_paths` as far as these exist. May be empty."""
    from engine.conversations.prompt_files import read_prompts

    paths = prompt_paths(given, environ)
    return read_prompts(paths if given else [*filter(os.path.exists, paths)])


def prompt_paths(given: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files *given*, or else the folder of this project's transcripts, which may not exist yet, and the sessions
    of other agents that were started here or at the top of the repository. Of an agent whose sessions are not read, the
    hook's logs of the roots here, as far as they hold prompts.

    Without any of them, what SpecStory and aider keep in these folders.
    """
    if given:
        return tuple(given)
    from engine.conversations.exports import AIDER_FILE, SPECSTORY_FOLDER
    from engine.conversations.prompt_files import agent_sessions, logs_with_prompts

    here = os.getcwd()  # noqa: PTH109 - the engine speaks in strings
    folder = transcripts_dir(here, environ)
    repository = repository_of(os.path.realpath(here))
    tops = [*dict.fromkeys((here, repository.top if repository else here))]
    logs = logs_with_prompts(state_dir(root, environ) for root in find_roots(here, environ).roots)
    sessions = [file for file in (*agent_sessions(tops, environ), *logs) if _is_own(Path(file), environ)]
    if any(entry.suffix == ".jsonl" for entry in _entries(folder)):
        return (folder, *sessions)
    if sessions:
        return tuple(sessions)
    paths = [Path(top, name) for top in tops for name in (SPECSTORY_FOLDER, AIDER_FILE)]
    return tuple(str(path) for path in paths if _is_own(path, environ)) or (folder,)


def open_workspace(
    root: str,
    prompts: Sequence[str],
    judge: JudgeOptions,
    db: str | None,
    environ: Mapping[str, str],
    *,
    is_trusted: bool = False,
    asks_first: bool = False,
    others: Sequence[str] = (),
    needs_labels: bool = True,
) -> Workspace:
    """The workspace of the app. Close it after use. Raises MemsiftError if some part cannot be opened.

    Unless it *needs_labels*, a label store that cannot be used is only told: memories and replays are shown without it.

    *others*: roots that are open beside *root*. *is_trusted*: all of the root's configuration
    counts, whether or not the user trusted it. *asks_first*: no judge is asked before `Workspace.agree`.
    """
    from engine.conversations.prompt_files import session_folders
    from engine.judge.limits import Limits
    from engine.roots import together
    from labels.store import LabelStore
    from tui.workspace.labelling import guideline_hash
    from tui.workspace.retrievals import with_hook_log
    from tui.workspace.sources import Sources
    from tui.workspace.workspace import Workspace

    judge = replace_dataclass(judge, is_patient=True)
    spending = Limits(asks_first=asks_first)
    settings = read_settings(root, environ, judge, is_trusted=is_trusted)
    beside = [read_settings(other, environ, judge) for other in others]
    joint = together([settings, *beside], environ)
    config = joint.config
    reading = with_hook_log(project_prompts(prompts, environ), root, environ)
    find = partial(prompt_paths, prompts, environ)
    place, guide = Path(db or labels_file(environ)), guideline_hash(environ)
    here = os.getcwd()  # noqa: PTH109
    sessions = () if prompts else (transcripts_dir(here, environ), *session_folders(environ))

    def opened(store: LabelStore, problem: str = "") -> Workspace:
        with ExitStack() as unfinished:
            unfinished.callback(store.close)
            workspace = Workspace(
                root,
                config,
                store,
                judge=make_judge(judge, config, environ, spending),
                spending=spending,
                cutoff=joint.cutoff,
                joint=joint,
                prompts_of_files=reading.prompts,
                takes_replayed=not prompts,
                unread_prompts=reading.skipped,
                annotator=annotator_name(environ),
                notice=" ".join(filter(None, (problem, *moved, settings.notice, joint.notice, *settings.remarks))),
                sources=Sources(root, environ, judge, find, sessions, is_trusted, spending, tuple(others)),
            )
            unfinished.pop_all()
        return workspace

    moved = about_move(root, environ)
    with explained_if_slow(root):
        try:
            return opened(LabelStore.open(place, guideline=guide))
        except LabelStoreError as error:
            if needs_labels:
                raise
            return opened(LabelStore.without_file(error), f"{error} No label can be given.")


def about_move(root: str, environ: Mapping[str, str]) -> list[str]:
    """A sentence for each path that *root* had before it was moved, with something left there. The root is noted."""
    from engine.moved import describe_moves, note_first_commit

    note_first_commit(root, environ)
    return [f"{said}." for said in describe_moves(root, environ)]


MOST_PROJECTS, MOST_LINES, LONGEST_LINE = 200, 20, 100_000
"""Projects that are looked at, the newest first; rows of a transcript in which its project's folder is looked for."""

DEMO = "demo"
"""The choice of the example data in place of a root."""


class FoundRoot(Record):
    """A root with the number of its memory files, the folder of its project's transcripts, their number, and the time
    of the newest file, in seconds."""

    root: str
    memories: int
    folder: str
    transcripts: int
    newest: float

    @property
    def text(self) -> str:
        """One line about it: counts and the date."""
        day = datetime.fromtimestamp(self.newest, UTC).strftime("%Y-%m-%d")
        counts = counted(self.memories, "memory"), counted(self.transcripts, "transcript", "transcripts")
        return " · ".join((*counts, day))


def places(environ: Mapping[str, str]) -> tuple[FoundRoot, ...]:
    """The roots of all projects that Claude Code knows, the newest first. Folders of other users are left out.

    A project's folder stands in its transcripts. As for the hook, `.claude/memory` is looked for from there upwards.
    """
    folders = [entry for entry in _entries(projects_dir(environ)) if entry.is_dir() and _is_own(entry, environ)]
    found: dict[str, FoundRoot] = {}
    for folder in sorted(folders, key=_time, reverse=True)[:MOST_PROJECTS]:
        transcripts = [entry for entry in _entries(str(folder)) if entry.suffix == ".jsonl"]
        newest = max(map(_time, (folder, *transcripts)))
        for root in _roots(folder, transcripts, environ):
            if root not in found and (count := _files(root)):
                found[root] = FoundRoot(root, count, str(folder), len(transcripts), newest)
    return tuple(sorted(found.values(), key=lambda place: -place.newest))


def _roots(folder: Path, transcripts: Iterable[Path], environ: Mapping[str, str]) -> Sequence[str]:
    """The roots of a project, as for the hook, and those that are only offered.

    Without a transcript that names the project's folder, the auto memory there.
    """
    cwd = next(filter(None, map(_cwd, sorted(transcripts, key=_time, reverse=True)[:3])), "")
    if Path(cwd).is_absolute():
        return (*find_roots(cwd, environ).roots, *offered_roots(cwd, environ))
    own = folder / "memory"
    return [os.path.realpath(own)] if own.is_dir() and _is_own(own, environ) else []


def _cwd(transcript: Path) -> str:
    """The project's folder, as one of the first rows of a transcript names it; empty without such a row."""
    with suppress(OSError, ValueError, RecursionError), open_regular(str(transcript)) as file:
        lines = (file.readline(LONGEST_LINE) for _ in range(MOST_LINES))
        found = json.loads(next((line for line in lines if b'"cwd"' in line), b"{}"))
        cwd = found.get("cwd") if isinstance(found, dict) else ""
        return cwd if isinstance(cwd, str) else ""
    return ""


def _files(root: str) -> int:
    with suppress(OSError):
        return len(store_of(root).listing(root).names)
    return 0


def _entries(folder: str) -> list[Path]:
    with suppress(OSError):
        return list(Path(folder).iterdir())
    return []


def _is_own(path: Path, environ: Mapping[str, str]) -> bool:
    with suppress(OSError):
        return {path.lstat().st_uid, path.stat().st_uid} <= set(own_users(environ))
    return False


def _time(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
