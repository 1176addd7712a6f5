"""The systems that stand side by side in Replay: the ones that can run, and the ones that a person chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import DEFAULT, FTS5_BM25, MEMSIFT, SYSTEMS, is_injected

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff

MOST_COLUMNS = 3

MEASURES = {MEMSIFT: "strength", FTS5_BM25: "BM25"}
"""Strategy -> the number by which it ranks."""


def runnable(config: Config, cutoff: Cutoff | None, *, has_judge: bool) -> tuple[System, ...]:
    """The systems that can run with *config* and its *cutoff*, the plainest first."""
    fitting = (cutoff.kind, config.match_strategy) if cutoff else None
    uncut = [
        system for system in SYSTEMS.values() if not system.has_cutoff or (system.cutoff, system.strategy) == fitting
    ]
    return tuple(system for system in uncut if has_judge or not system.has_judge)


def columns(possible: Sequence[System], chosen: Collection[str], usual: Sequence[System]) -> tuple[System, ...]:
    """The *chosen* systems, as far as they are *possible*; the *usual* ones if there is none."""
    return tuple(system for system in possible if system.name in chosen)[:MOST_COLUMNS] or tuple(usual)


def described(system: System) -> str:
    """What a system does, in a few words that have room in 31 cells."""
    if is_injected(system.name):
        return "what a hook really injected"
    parts = [MEASURES.get(system.strategy, "word counts")]
    if system.has_cutoff:
        parts.append(f"{'default' if system.cutoff == DEFAULT else 'tuned'} cutoff")
    if system.has_judge:
        parts.append("judge")
    return ", ".join(parts)


def _has_scores(system: System) -> bool:
    return not system.has_judge and not is_injected(system.name)


def scale_note(systems: Sequence[System]) -> str:
    """A warning if the numbers in two columns do not compare; "" if they do. It has room in 58 cells."""
    measures = dict.fromkeys(MEASURES.get(system.strategy, "points") for system in systems if _has_scores(system))
    if len(measures) < 2:
        return ""
    return f"{' and '.join(measures)} do not compare: look at signs and ranks."


def record_note(systems: Sequence[System]) -> str:
    """What the column of a record tells; "" without one. It has room in 58 cells."""
    names = [system.name for system in systems if is_injected(system.name)]
    return f"{names[0]}: what a hook wrote, in its order, without scores." if names else ""
