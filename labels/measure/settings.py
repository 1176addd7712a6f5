"""How the settings that runs were made with differ, from each other and from what is configured now."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.config import config_json
from engine.systems import JUDGED, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.config import Config
    from labels.measure.outcomes import Outcome

NO_MATTER = ("enabled", "logging", "output_mode", "hints", "deadline", "max_results", "match_strategy", "judge.enabled")
"""Settings on which the injected set does not depend, or that a system's name says."""

SHOWN = 40
"""Characters of a value that a message shows: the judge may have a prompt of its own."""


IMPORTED = "imported"
"""The one key of the configuration of a run that comes from a file of another program: a hash of the file."""


class RunSettings(NamedTuple):
    """What a run was made with: over which root, its configuration as JSON, which is empty where an export left it out,
    and a hash of the memories."""

    root: str
    config_json: str
    corpus_hash: str


def changes(rows: Iterable[Outcome], made: Mapping[str, RunSettings], config: Config) -> dict[str, tuple[str, ...]]:
    """run id -> how its configuration differs from what *config* means for its system; only where it does."""
    systems = {row.run_id: row.system for row in rows if row.run_id in made and row.system in SYSTEMS}
    found = {
        run_id: changed_settings(made[run_id].config_json, SYSTEMS[system].of(config), has_judge=is_judged(system))
        for run_id, system in systems.items()
    }
    return {run_id: differences for run_id, differences in found.items() if differences}


def changed_settings(recorded: str, current: Config, *, has_judge: bool) -> tuple[str, ...]:
    """How the *recorded* configuration (JSON) of a system differs from the *current* one, in words for a person.

    The judge's settings count only for a system that *has_judge*, and only where a judge is configured: else
    there is none that could differ from the one that was replayed.
    """
    then, now = flattened(recorded), flattened(config_json(current))
    with_judge = has_judge and current.judge.enabled
    return tuple(
        f"{name} was {then[name][:SHOWN]}, is {value[:SHOWN]}"
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
    found = [f"{name} was {' or '.join(values[name])}" for name in names if len(values[name]) > 1]
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
