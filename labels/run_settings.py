"""The settings of runs: recorded as JSON, and compared with each other and with the present configuration."""

from __future__ import annotations

import hashlib
import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from engine.config import CUTS, DEFAULT, JUDGED, SYSTEMS, TUNED, config_json
from engine.cutoff import default_cutoff
from engine.lean.json_text import dumps
from engine.lean.record import fields
from labels.records import IMPORTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from labels.records import Outcome, RunSettings

NO_MATTER = ("enabled", "logging", "output_mode", "hints", "deadline", "max_results", "match_strategy", "judge.enabled")
"""Settings that do not change the injected set, or that the system's name tells."""

SHOWN = 40
"""The number of characters of a value in a message: a judge's prompt can be long."""

CUTOFF, THRESHOLD = "cutoff", "cutoff_threshold"
"""The keys of a system's cutoff, recorded only if it has one: the hash of its model, and the configured threshold."""

RETUNED = {TUNED: "the cutoff was tuned anew", DEFAULT: "the default cutoff is of another version of memsift"}
"""Kind of cutoff -> the message for another hash."""

CORPUS_CHANGED = "the memories changed in between"


def settings_json(config: Config, *, samples: int | None = None, cutoff: Cutoff | None = None) -> str:
    """The settings of a run: *config*, the judge's *samples* and a hash of the *cutoff*.

    Other settings make another run. Give *samples* only for a system with a judge, *cutoff* only for one with a cutoff.
    """
    settings = json.loads(config_json(config))
    if samples is not None:
        settings["judge"]["samples"] = samples
    if cutoff is None:
        del settings[CUTOFF], settings[THRESHOLD]
    else:
        model = cutoff.model
        content = {**fields(model), "fit": fields(model.fit), "weights": dict(model.weights)}
        if cutoff.kind == DEFAULT:
            del content["fit"]  # it is that of the configuration
        settings[CUTOFF] = hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()[:16]
    return dumps(settings)


def changes(
    rows: Iterable[Outcome], made: Mapping[str, RunSettings], config: Config, cutoff: Cutoff | None = None
) -> dict[str, tuple[str, ...]]:
    """The differences of the runs of *rows* from *config* and *cutoff*, in words: run id -> differences, if any."""
    systems = {row.run_id: row.system for row in rows if row.run_id in made and row.system in SYSTEMS}
    found = {
        run_id: changed_settings(made[run_id].config_json, SYSTEMS[name], config, cutoff)
        for run_id, name in systems.items()
    }
    return {run_id: differences for run_id, differences in found.items() if differences}


def changed_settings(
    recorded: str, system: System, config: Config, cutoff: Cutoff | None = None, *, has_judge: bool = True
) -> tuple[str, ...]:
    """The differences of a system's *recorded* settings (JSON) from its present ones, in words.

    *cutoff* is the cutoff that the hook uses now. The judge's settings count only with *has_judge* for a system with a
    judge, and only if a judge is configured now.
    The number of samples does not count: a replay takes more of them to be surer of the same verdict.
    """
    current = system.of(config)
    if system.cutoff == DEFAULT:
        cutoff = default_cutoff(current)
    elif cutoff and cutoff.kind != system.cutoff:
        cutoff = None
    judges = has_judge and system.has_judge and current.judge.enabled
    return changed_values(system.name, recorded, settings_json(current, cutoff=cutoff), with_judge=judges)


def changed_between(system: str, before: RunSettings, now: RunSettings) -> tuple[str, ...]:
    """The differences of a later run of a system from an earlier one that can change its injected sets, in words."""
    found = changed_values(system, before.config_json, now.config_json, with_judge=system.endswith(JUDGED))
    return (*found, CORPUS_CHANGED) if before.corpus_hash != now.corpus_hash else found


def changed_values(system: str, before: str, now: str, *, with_judge: bool) -> tuple[str, ...]:
    found = differing([flattened(before), flattened(now)], with_judge)
    return tuple(told(system, name, f"{values[0]}, is {values[1]}") for name, values in found)


def differences(system: str, runs: Sequence[RunSettings]) -> tuple[str, ...]:
    """The differences among *runs* of one *system* over one root that can change its injected sets, in words."""
    settings = [flattened(run.config_json) for run in runs]
    if len(runs) > 1 and any(IMPORTED in setting for setting in settings):
        return ("not all were made here, and a file does not say how they were",)
    found = differing(settings, system.endswith(JUDGED))
    corpora = {run.corpus_hash for run in runs}
    changed = [CORPUS_CHANGED] if len(corpora) > 1 else []
    return (*(told(system, name, " or ".join(sorted(values))) for name, values in found), *changed)


def differing(settings: Sequence[Mapping[str, str]], with_judge: bool) -> Iterator[tuple[str, list[str]]]:
    """The names of the settings with several values, and these in their order.

    A setting that only some runs recorded, because an older memsift made the others, is no difference.
    """
    for name in dict.fromkeys(chain(*settings)):
        values = dict.fromkeys(setting[name] for setting in settings if name in setting)
        ignored = [*NO_MATTER, *([] if with_judge else ["judge"])]
        matters = not any(name == setting or name.startswith(f"{setting}.") for setting in ignored)
        if len(values) > 1 and matters:
            yield name, [value[:SHOWN] for value in values]


def told(system: str, name: str, values: str) -> str:
    """The message for a setting of *system* with several *values*."""
    return RETUNED[DEFAULT if CUTS[DEFAULT] in system else TUNED] if name == CUTOFF else f"{name} was {values}"


def flattened(settings: str) -> dict[str, str]:
    """Dotted name -> value as JSON, such as "judge.model"."""
    return dict(leaves(json.loads(settings), "")) if settings else {}


def leaves(section: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False)
