"""Whether what was replayed is what is configured now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.config import config_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.config import Config

NO_MATTER = ("enabled", "logging", "output_mode", "hints", "deadline", "max_results", "match_strategy", "judge.enabled")
"""Settings on which the injected set does not depend, or that a system's name says."""


SHOWN = 40
"""Characters of a value that a message shows: the judge may have a prompt of its own."""


def changed_settings(recorded: str, current: Config, *, has_judge: bool) -> tuple[str, ...]:
    """How the *recorded* configuration (JSON) of a system differs from the *current* one, in words for a person.

    The judge's settings count only for a system that *has_judge*, and only where a judge is configured: else
    there is none that could differ from the one that was replayed.
    """
    then, now = flattened(json.loads(recorded)), flattened(json.loads(config_json(current)))
    with_judge = has_judge and current.judge.enabled
    return tuple(
        f"{name} was {then[name][:SHOWN]}, is {value[:SHOWN]}"
        for name, value in now.items()
        if name in then and then[name] != value and matters(name, with_judge)
    )


def matters(name: str, with_judge: bool) -> bool:
    ignored = any(name == each or name.startswith(f"{each}.") for each in NO_MATTER)
    return not ignored and (with_judge or not name.startswith("judge."))


def flattened(section: dict[str, Any]) -> dict[str, str]:
    return dict(leaves(section, ""))


def leaves(section: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """("judge.model", its value as JSON) and so on."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False)
