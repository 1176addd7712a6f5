"""How the settings that runs were made with differ, from each other and from what is configured now."""

from __future__ import annotations

import hashlib
import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from engine.config import config_json
from engine.lean.json_text import dumps
from engine.lean.record import fields
from engine.systems import JUDGED, SYSTEMS
from labels.records import IMPORTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff, Model
    from labels.records import Outcome, RunSettings

NO_MATTER = ("enabled", "logging", "output_mode", "hints", "deadline", "max_results", "match_strategy", "judge.enabled")
"""Settings on which the injected set does not depend, or that a system's name says."""

SHOWN = 40
"""Characters of a value that a message shows: the judge may have a prompt of its own."""

CUTOFF, RETUNED = "cutoff", "the cutoff was tuned anew"
"""The key of a hash of the tuned model, beside those of a configuration, and what another hash means."""


def settings_json(config: Config, *, samples: int | None = None, cutoff: Cutoff | None = None) -> str:
    """What a run records: *config*, and what that does not say of a judge's *samples* and of a tuned *cutoff*.

    Two runs that differ in these are two runs. Give them only for a system that has a judge, and a cutoff.
    """
    settings = json.loads(config_json(config))
    if samples is not None:
        settings["judge"]["samples"] = samples
    if cutoff is not None:
        settings[CUTOFF] = model_hash(cutoff.model)
    return dumps(settings)


def model_hash(model: Model) -> str:
    content = {**fields(model), "fit": fields(model.fit), "weights": dict(model.weights)}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()[:16]


def changes(
    rows: Iterable[Outcome], made: Mapping[str, RunSettings], config: Config, cutoff: Cutoff | None = None
) -> dict[str, tuple[str, ...]]:
    """run id -> how its settings differ from what *config* and *cutoff* mean for its system; only where they do."""
    systems = {row.run_id: row.system for row in rows if row.run_id in made and row.system in SYSTEMS}
    found = {
        run_id: changed_settings(made[run_id].config_json, SYSTEMS[name].of(config), cutoff, has_judge=is_judged(name))
        for run_id, name in systems.items()
    }
    return {run_id: differences for run_id, differences in found.items() if differences}


def changed_settings(
    recorded: str, current: Config, cutoff: Cutoff | None = None, *, has_judge: bool
) -> tuple[str, ...]:
    """How the *recorded* settings (JSON) of a system differ from the *current* ones, in words for a person.

    The judge's settings count only for a system that *has_judge*, and only where a judge is configured: else
    there is none that could differ from the one that was replayed. Its samples do not count: a replay takes several to
    be surer of what one would say.
    """
    then, now = flattened(recorded), flattened(settings_json(current, cutoff=cutoff))
    with_judge = has_judge and current.judge.enabled
    return tuple(
        RETUNED if name == CUTOFF else f"{name} was {then[name][:SHOWN]}, is {value[:SHOWN]}"
        for name, value in now.items()
        if name in then and then[name] != value and matters(name, with_judge)
    )


def differences(system: str, runs: Sequence[RunSettings]) -> tuple[str, ...]:
    """In what runs of one *system* over one root differ, as far as what it injects depends on it, in words.

    What only some of them recorded, because an older memsift made the others, is no difference.
    """
    settings = [flattened(each.config_json) for each in runs]
    if len(runs) > 1 and any(IMPORTED in each for each in settings):
        return ("not all were made here, and a file does not say how they were",)
    names = [name for name in dict.fromkeys(chain(*settings)) if matters(name, is_judged(system))]
    values = {name: sorted({each[name][:SHOWN] for each in settings if name in each}) for name in names}
    found = [
        RETUNED if name == CUTOFF else f"{name} was {' or '.join(values[name])}"
        for name in names
        if len(values[name]) > 1
    ]
    if len({each.corpus_hash for each in runs}) > 1:
        found.append("the memories changed in between")
    return tuple(found)


def is_judged(system: str) -> bool:
    return system.endswith(JUDGED)


def matters(name: str, with_judge: bool) -> bool:
    ignored = any(name == each or name.startswith(f"{each}.") for each in NO_MATTER)
    return not ignored and (with_judge or not name.startswith("judge."))


def flattened(settings: str) -> dict[str, str]:
    return dict(leaves(json.loads(settings), "")) if settings else {}


def leaves(section: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """("judge.model", its value as JSON) and so on."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False)
