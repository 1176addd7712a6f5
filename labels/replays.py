"""The newest retrieval of each prompt and system, read back from the store as outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from engine.config import JUDGED, SYSTEMS
from labels.records import JudgeCall, Outcome, RunSettings, grouped, nested
from labels.run_settings import changed_settings
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.records import Pair
    from labels.tables import LabelTables


class EmptyReplay(NamedTuple):
    """A retrieval with nothing to label: its system injected nothing, and its judge dropped nothing."""

    prompt_id: str
    system: str
    config_json: str


class NewestReplays:
    """The newest retrievals of a store, as outcomes of systems."""

    _db: LabelTables

    def outcomes(self, root: str | None = None) -> tuple[Outcome, ...]:
        """The newest outcome of each prompt and system, of one root or of all, oldest first.

        Candidates are only the injected memories and those with a label event: no measure needs the others.
        """
        rows = self._db.rows(QUERIES["outcomes"], {"root": root})
        listed = self._db.rows(QUERIES["candidates"], {"root": root})
        found = grouped((row["retrieval_id"], row) for row in listed)
        return tuple(outcome(row, found.get(row["retrieval_id"], ())) for row in rows)

    def returned_texts(self, root: str | None = None) -> set[Pair]:
        """All memory texts that the retrievals of `outcomes` returned, injected or not."""
        return set(self._db.tuples(QUERIES["returned_texts"], {"root": root}))

    def judge_calls(self, root: str | None = None) -> tuple[JudgeCall, ...]:
        """The judge calls of the retrievals of `outcomes`."""
        rows = self._db.rows(QUERIES["judge_calls"], {"root": root})
        return tuple(JudgeCall(**{**row, "is_live": bool(row["is_live"])}) for row in rows)

    def verdicts(self, root: str | None = None) -> dict[str, dict[Pair, str]]:
        """The judge's decisions in the retrievals of `outcomes` for which it answered: prompt id -> pair -> decision.

        Where several systems asked it about a memory, the newest answer counts.
        """
        rows = self._db.tuples(QUERIES["verdicts"], {"root": root})
        return nested((prompt_id, (memory_id, digest), decision) for prompt_id, memory_id, digest, decision in rows)

    def run_settings(self, root: str | None = None) -> dict[str, RunSettings]:
        """The settings of each run over *root*, or over all roots: run id -> settings."""
        sql = "SELECT run_id, root, config_json, corpus_hash FROM run WHERE :root IS NULL OR root = :root"
        return {run_id: RunSettings(*made) for run_id, *made in self._db.tuples(sql, {"root": root})}

    def empty_replays(self, root: str, corpus_hash: str) -> list[EmptyReplay]:
        """The replays over a root with these memories that left nothing to label."""
        rows = self._db.tuples(QUERIES["empty_replays"], {"root": root, "corpus": corpus_hash, "judged": f"*{JUDGED}"})
        return list(map(EmptyReplay._make, rows))


def outcome(retrieved: dict[str, Any], found: Sequence[dict[str, Any]]) -> Outcome:
    """The outcome of a row of `retrieval` with the candidates *found*."""
    injected = [candidate for candidate in found if candidate["injected"]]
    about = {name: value for name, value in retrieved.items() if name != "retrieval_id"}
    return Outcome(
        **about | {"is_asked": bool(retrieved["is_asked"])},
        injected=column(injected, "memory_id"),
        candidates=column(found, "memory_id"),
        decisions=column(found, "decision"),
        confidences=column(injected, "confidence"),
        matched=column(injected, "matched"),
        scores=column(injected, "score"),
        probabilities={row["memory_id"]: row["probability"] for row in found if row["probability"] is not None},
        digests={row["memory_id"]: row["digest"] for row in found},
    )


def column(rows: Sequence[dict[str, Any]], name: str) -> tuple[Any, ...]:
    return tuple([row[name] for row in rows])


def empty_prompts(replays: Iterable[EmptyReplay], system: str, config: Config, cutoff: Cutoff | None) -> set[str]:
    """The prompts whose replay by *system* would be empty again with the present *config* and *cutoff*.

    The judge's settings do not matter: a judge only sees what the first stage found.
    """
    named = SYSTEMS[system]
    own = [replay for replay in replays if replay.system == system]
    recorded = {replay.config_json for replay in own}
    same = {settings for settings in recorded if not changed_settings(settings, named, config, cutoff, has_judge=False)}
    return {replay.prompt_id for replay in own if replay.config_json in same}
