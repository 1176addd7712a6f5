"""Two runs to compare, saved in the label store or printed by `memsift replay`, and the rows of their diff."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from engine.config import OFF, system_of
from engine.errors import MemsiftError, RootNotFoundError
from engine.opening import index_of
from engine.paths import project_of
from engine.pipeline import OpenSystem, Query, retrieve
from engine.quality.repository import folder_at
from engine.stores.roots import read_corpus
from engine.wording import counted
from labels.exchange.replay_file import read_outcomes
from labels.measure.judgements import slight_pairs
from labels.report.run_diff import ComparedRuns, Side, by_labels, diff_runs
from labels.run_settings import CORPUS_CHANGED, changed_between
from labels.runs import InjectedMemory
from labels.store import LabelStore
from tui.workspace import opening
from tui.workspace.filtering import RowKind, RowOrder, RowRules, folded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from engine.prompt import Prompt
    from engine.roots import OpenRoots
    from engine.search.index import Index
    from labels.records import Outcome, RunSettings
    from labels.report.run_diff import KnownVerdicts, PromptDiff, Sets
    from labels.runs import SavedRun

SHOWN_ID = 8
"""Characters of a run id that people see. Any beginning of at least LEAST_ID characters names a run."""

LEAST_ID = 6
MOST_DIGITS = LEAST_ID - 1
"""A shorter number is the place of a run in the list, from 1."""


@dataclass(frozen=True)
class DiffSide:
    """One side of a diff. `settings` are None for a file, which does not tell them."""

    side: Side
    sets: Sets
    settings: RunSettings | None = None


def run_of(store: LabelStore, saved: SavedRun) -> DiffSide:
    """A saved run with its injected sets. Raises LabelStoreError."""
    side = Side(saved.run_id[:SHOWN_ID], saved.system, saved.prompts, saved.ts)
    return DiffSide(side, store.injected_sets(saved.run_id), saved.settings)


def replay_folder(folder: str, prompts: Sequence[Prompt], store: LabelStore, environ: Mapping[str, str]) -> DiffSide:
    """A replay over the memories in *folder*: see `_replay`. Raises MemsiftError."""
    opened = opening.open_roots([folder], environ)
    with opening.opened_index(opened.main) as index:
        return _replay(index, opened, folder, prompts or _replayed(store, index.root))


def replay_revision(
    revision: str, roots: Sequence[str], prompts: Sequence[Prompt], store: LabelStore, environ: Mapping[str, str]
) -> DiffSide:
    """A replay over the memories that the first of *roots* in a repository had in a *revision*, with today's settings.

    Raises MemsiftError: RootNotFoundError without such a root or revision.
    """
    root = next(filter(project_of, roots), "")
    if not root:
        raise RootNotFoundError("None of these folders lies in a repository, so none has revisions.")
    with folder_at(root, revision) as folder, opening.opened_index(root) as present:
        opened = opening.open_roots([root], environ)
        index = index_of(read_corpus(folder), is_accepted=present.is_accepted)
        with closing(index):
            index.is_loaded = present.is_loaded
            return _replay(index, opened, revision, prompts or _replayed(store, present.root))


def _replayed(store: LabelStore, root: str) -> list[Prompt]:
    """The prompts that were replayed over a root. Raises MemsiftError if there are none."""
    found = {prompt.id: prompt for name in store.names_with(root) for prompt in store.prompts(name)}
    if not found:
        raise MemsiftError(f"No prompt was replayed over {root}. Name prompts with --prompts.")
    return [*found.values()]


def _replay(index: Index, opened: OpenRoots, name: str, prompts: Sequence[Prompt]) -> DiffSide:
    """A replay over *index* with the system of the hook, without its judge. *opened* has the settings."""
    system = OpenSystem(opened.config, opened.cutoff, None)
    sets = {
        prompt.id: tuple(
            InjectedMemory(own.memory.id, own.memory.digest, own.memory.title)
            for own in retrieve(Query(prompt), index, system).injected
        )
        for prompt in prompts
    }
    return DiffSide(Side(name, _system_of(opened, has_judge=False), len(sets)), sets)


def own_systems(roots: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The system of the hook, with the judge that is switched on and without; none where there are no memories."""
    try:
        found = opening.open_roots(roots, environ)
    except RootNotFoundError:
        return ()
    return tuple(_system_of(found, has_judge=judged) for judged in (found.config.judge.enabled, False))


def _system_of(opened: OpenRoots, *, has_judge: bool) -> str:
    return system_of(opened.config, has_judge=has_judge, cutoff=opened.cutoff.kind if opened.cutoff else OFF).name


def run_in_file(path: Path, system: str, own: Sequence[str] = ()) -> DiffSide:
    """The rows of *system* in the output of `memsift replay`. For an empty text: of its only system, or of the first
    of *own* that it holds.

    Raises ExchangeError for another file, and MemsiftError if the system is not in it, or must be named.
    """
    systems: dict[str, list[Outcome]] = {}
    for row in read_outcomes(path):
        systems.setdefault(row.system, []).append(row)
    names = ", ".join(systems) or "no row"
    system = system or next((name for name in own if name in systems), "")
    if not system and len(systems) > 1:
        raise MemsiftError(f"{path} holds several systems: {names}. Name one with --systems, or before and now.")
    chosen = system or next(iter(systems), "")
    if chosen not in systems:
        raise MemsiftError(f"{path} has no rows of the system {chosen!r}. It holds {names}.")
    sets = {row.prompt_id: tuple(map(InjectedMemory, row.injected)) for row in systems[chosen]}
    return DiffSide(Side(str(path), chosen, len(sets)), sets)


def find_run(runs: Sequence[SavedRun], given: str) -> SavedRun:
    """The run that *given* names: its number from 1, its id or the beginning of it, or the latest run of a system.

    Raises MemsiftError if there is none, or if there are several.
    """
    if given.isdecimal() and len(given) <= MOST_DIGITS:
        found = list(runs[int(given) - 1 : int(given)]) if int(given) else []
    elif len(given) >= LEAST_ID:
        found = [run for run in runs if run.run_id.startswith(given)]
    else:
        found = []
    found = found or [run for run in runs if run.system == given][:1]
    if len(found) == 1:
        return found[0]
    problem = (
        f"{len(found)} saved runs begin with {given!r}"
        if found
        else f"There is no file, no folder, no revision and no saved run {given!r}"
    )
    raise MemsiftError(f"{problem}. `memsift diff` alone lists the saved runs with their numbers.")


MOST_LOOKED_AT = 12
"""The latest runs among which two different ones are looked for."""


def different_pair(store: LabelStore, runs: Sequence[SavedRun]) -> tuple[SavedRun, SavedRun] | None:
    """The latest two runs of one system that inject different memories, the earlier one first; None without two runs.

    If none differ, the latest run that has an earlier one of its system, and that one; else the latest two.
    """
    sets = cache(store.injected_sets)
    for place, now in enumerate(runs[:MOST_LOOKED_AT]):
        for before in runs[place + 1 : MOST_LOOKED_AT]:
            if before.system == now.system and sets(before.run_id) != sets(now.run_id):
                return before, now
    for place, now in enumerate(runs):
        if earlier := next((run for run in runs[place + 1 :] if run.system == now.system), None):
            return earlier, now
    return (runs[1], runs[0]) if len(runs) > 1 else None


def run_line(number: int, run: SavedRun, width: int) -> str:
    """A saved run in one line, with its system in *width* cells: all but the id has room in 54 cells."""
    when = run.ts[5:16].replace("T", " ")
    return f"{number:>3} {when} {counted(run.prompts, 'prompt'):>14}  {run.system:<{width}}  {run.run_id[:SHOWN_ID]}"


def compare_runs(before: DiffSide, now: DiffSide, known: KnownVerdicts, texts: Mapping[str, str]) -> ComparedRuns:
    """The diff of two runs. *texts*: prompt id -> text."""
    changed: tuple[str, ...] = ()
    if before.settings and now.settings:
        if before.side.system == now.side.system:
            changed = changed_between(now.side.system, before.settings, now.settings)
        elif before.settings.corpus_hash != now.settings.corpus_hash:
            changed = (CORPUS_CHANGED,)
    return ComparedRuns(before.side, now.side, diff_runs(before.sets, now.sets, known), changed, texts)


def people_said(store: LabelStore) -> KnownVerdicts:
    """The judgements of all labels."""
    return by_labels(store.gold(), slight_pairs(store.labels()))


@dataclass(frozen=True)
class SavedDiff:
    """The saved runs of some roots, the latest first, and the diff of two; None without two runs."""

    runs: tuple[SavedRun, ...]
    pair: tuple[SavedRun, SavedRun] | None
    compared: ComparedRuns | None


def read_diff(path: Path, root: str, chosen: Collection[str]) -> SavedDiff:
    """The diff of the two runs with the ids *chosen*, or else of the usual two, with the labels in the store at *path*.

    Any thread may call it. Raises LabelStoreError.
    """
    with LabelStore.open(path) as store:
        runs = store.saved_runs(root)
        found = [run for run in reversed(runs) if run.run_id in chosen]
        pair = (found[0], found[1]) if len(found) > 1 else different_pair(store, runs)
        if pair is None:
            return SavedDiff(runs, None, None)
        before, now = (run_of(store, run) for run in pair)
        return SavedDiff(runs, pair, compare_runs(before, now, people_said(store), store.prompt_texts()))


# The rows of a diff: each prompt, narrowed by kind and words, and sorted

CHANGED, ALL, GAINED, LOST, BETTER, WORSE, ONLY = "changed", "", "gained", "lost", "better", "worse", "only"
IN_RUN, MOST_CHANGES, WORST, BY_TEXT = "run", "changes", "worst", "text"


class DiffRow(NamedTuple):
    """A prompt of a diff: its text, or its id if the text is unknown; and the words by which it is found."""

    diff: PromptDiff
    text: str
    words: str


def diff_rows(compared: ComparedRuns, called: Callable[[InjectedMemory], str]) -> list[DiffRow]:
    """The prompts of a diff, found by their text and by the names of their memories, which *called* gives."""
    rows = []
    for prompt in compared.diff.prompts:
        text = compared.texts.get(prompt.prompt_id) or prompt.prompt_id
        names = [called(judged.memory) for judged in (*(prompt.before or ()), *(prompt.now or ()))]
        rows.append(DiffRow(prompt, text, folded((text, *names))))
    return rows


RULES = RowRules(
    orders={
        MOST_CHANGES: RowOrder(
            "Memories gained and lost, the most first", lambda row: len(row.diff.gained) + len(row.diff.lost)
        ),
        WORST: RowOrder("Worth by labels, the worst first", lambda row: row.diff.worth, is_rising=True),
        IN_RUN: RowOrder("Order of the run"),
        BY_TEXT: RowOrder("Prompt", lambda row: row.text.casefold(), is_rising=True),
    },
    kinds={
        CHANGED: RowKind("prompts that differ", lambda row: row.diff.is_changed),
        GAINED: RowKind("memories gained", lambda row: bool(row.diff.gained)),
        LOST: RowKind("memories lost", lambda row: bool(row.diff.lost)),
        BETTER: RowKind("better by their labels", lambda row: row.diff.worth > 0),
        WORSE: RowKind("worse by their labels", lambda row: row.diff.worth < 0),
        ONLY: RowKind("only in one run", lambda row: not row.diff.is_in_both),
        ALL: RowKind("all prompts"),
    },
)
