"""Replays that brought up nothing which a person could be asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.systems import SYSTEMS
from labels.run_settings import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.database import LabelDatabase


class Silence(NamedTuple):
    """A prompt for which a system injected nothing, of which a judge dropped nothing either; with its settings."""

    prompt_id: str
    system: str
    config_json: str


def silences(db: LabelDatabase, root: str, corpus_hash: str) -> list[Silence]:
    """Those of a root, while its memories were these."""
    rows = db.tuples(
        """SELECT prompt_id, system, config_json FROM retrieval JOIN run USING (run_id)
           WHERE root = :root AND corpus_hash = :corpus AND NOT EXISTS (
               SELECT 1 FROM result WHERE result.run_id = retrieval.run_id AND result.prompt_id = retrieval.prompt_id
               AND (result.injected OR result.dropped_by = 'judge'))""",
        {"root": root, "corpus": corpus_hash},
    )
    return list(map(Silence._make, rows))


def silent_prompts(found: Iterable[Silence], system: str, config: Config, cutoff: Cutoff | None) -> set[str]:
    """The prompts for which *system* would bring up nothing now, too; a judge's settings have no part in that."""
    current = SYSTEMS[system].of(config)
    own = [each for each in found if each.system == system]
    recorded = {each.config_json for each in own}
    same = {each for each in recorded if not changed_settings(each, current, cutoff, has_judge=False)}
    return {each.prompt_id for each in own if each.config_json in same}
