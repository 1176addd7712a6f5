"""What labelling goes by: the guideline, and the order of the prompts with the stratum of each."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import SYSTEMS
from engine.errors import MemsiftError
from engine.lean.sections import text_beside
from engine.paths import config_file
from engine.stores.files import UnreadableFileError, text_of
from labels.labelling_order import (
    ALL,
    DISAGREEMENT_FIRST,
    FAR,
    STRATIFIED,
    UNCERTAIN_FIRST,
    LabellingOrder,
    crossed,
    disagreement,
    has_facet,
    uncertainty,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.prompt import Prompt
    from tui.workspace.workspace import Workspace

FILE = "guideline.md"
HASH_DIGITS = 16

GUIDELINE = text_beside(__file__, FILE).removesuffix("\n")


def guideline(environ: Mapping[str, str]) -> str:
    """The text of guideline.md beside config.toml; without such a file, or if it cannot be read, the usual text."""
    with suppress(UnreadableFileError):
        return text_of(str(Path(config_file(environ)).with_name(FILE))).strip() or GUIDELINE
    return GUIDELINE


def guideline_hash(environ: Mapping[str, str]) -> str:
    """The beginning of the guideline's SHA-256, in hex digits."""
    return sha256(guideline(environ).encode("utf-8", "replace")).hexdigest()[:HASH_DIGITS]


Injections = dict[str, list[tuple[str, ...]]]
"""Prompt id -> the memory ids that each system injected."""

NOTES = {
    STRATIFIED: "stratified",
    DISAGREEMENT_FIRST: "disagreements first",
    UNCERTAIN_FIRST: "uncertain ones first",
}
"""Order -> the note that Label shows while that order is on. The random order needs no note."""

NO_CUTOFF = (
    'The order uncertain-first needs a cutoff, and there is none. Set `cutoff` to "tuned" or "default" in the '
    'settings; match_strategy "fts5_bm25" needs a tuned one: `memsift tune --apply`.'
)


def require_possible(workspace: Workspace, order: str) -> None:
    """Raise MemsiftError for the order `uncertain-first` without a cutoff."""
    if order == UNCERTAIN_FIRST and workspace.cutoff is None:
        raise MemsiftError(NO_CUTOFF)


class Planning:
    """The prompts that have no place in the workspace's order yet; prompts chosen by hand need none.

    `unknown`: the prompts whose facet must be found out first, with `survey`. Strata stay once a label was given by
    them, and so do the strata of other people. Before the first label, a person's own strata are made anew.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.order = workspace.order
        store, root, order = workspace.store, workspace.index.root, self.order
        plan = store.plan(root, workspace.annotator)
        own = plan.strata if plan and plan.order == order else {}
        self._known = store.strata(root, besides=None if store.is_labelled(root) else workspace.annotator)
        self._unplanned = tuple(prompt.id for prompt in workspace.lists.drawn if prompt.id not in own)
        lacking = {prompt_id for prompt_id in self._unplanned if not has_facet(self._known.get(prompt_id, ALL), order)}
        self.unknown = tuple(prompt for prompt in workspace.lists.drawn if prompt.id in lacking)

    def keep(self, facets: Mapping[str, str]) -> None:
        """Save a stratum for every prompt; *facets* are those of the unknown prompts. Raises LabelStoreError."""
        if self._unplanned:
            workspace = self._workspace
            strata = {
                prompt_id: crossed(self._known.get(prompt_id, ALL), facets.get(prompt_id, ALL))
                for prompt_id in self._unplanned
            }
            made = LabellingOrder(workspace.order, workspace.seed, strata)
            workspace.store.save_plan(workspace.index.root, workspace.annotator, made)


def make_order(workspace: Workspace) -> None:
    """Give every prompt its place in the workspace's order: survey and save. Raises LabelStoreError."""
    planning = Planning(workspace)
    recorded = recorded_injections(workspace) if planning.unknown else {}
    planning.keep(survey(workspace, planning, recorded))


def recorded_injections(workspace: Workspace) -> Injections:
    """The recorded injections, so that no judge is asked again."""
    found: Injections = {}
    for outcome in workspace.store.outcomes(workspace.index.root):
        found.setdefault(outcome.prompt_id, []).append(outcome.injected)
    return found


def survey(workspace: Workspace, planning: Planning, recorded: Injections) -> dict[str, str]:
    """The facets of the unknown prompts: prompt id -> facet. May run in any thread; asks no judge."""
    if planning.order == UNCERTAIN_FIRST:
        return {prompt.id: uncertain_facet(workspace, prompt) for prompt in planning.unknown}
    return {prompt.id: disagreement_facet(workspace, prompt, recorded) for prompt in planning.unknown}


def disagreement_facet(workspace: Workspace, prompt: Prompt, recorded: Injections) -> str:
    """Whether two systems inject different memories for a prompt.

    They are recorded systems, or else the first stage, and its cutoff or another first stage.
    """
    injected = recorded.get(prompt.id, [])
    if len(injected) < 2:
        rival = SYSTEMS["memsift" if workspace.first.name == "bm25" else "bm25"]
        systems = (workspace.first, workspace.with_cutoff or rival)
        runs = (workspace.run(prompt, system.name) for system in systems)
        injected = [tuple(candidate.memory.id for candidate in run.injected) for run in runs]
    return disagreement(injected)


def uncertain_facet(workspace: Workspace, prompt: Prompt) -> str:
    """Whether a candidate is near the cutoff's threshold."""
    if workspace.with_cutoff is None or workspace.cutoff is None:
        return FAR
    candidates = workspace.run(prompt, workspace.with_cutoff.name).candidates
    probabilities = [candidate.probability for candidate in candidates if candidate.probability is not None]
    return uncertainty(probabilities, workspace.cutoff.least(has_judge=False))
