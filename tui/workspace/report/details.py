"""What a row of the report counts: its prompts, with the memories that were injected for them and their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labels.measure.evidence import Evidence
    from labels.measure.report import Captions
    from tui.workspace.report.rows import Behind

MOST_TOLD = 12
"""Prompts of a row that are told."""


class InjectionRow(NamedTuple):
    """A memory that was injected for a prompt: its id and title, its label if it has one, and who injected it."""

    memory_id: str
    title: str
    is_relevant: bool | None
    systems: tuple[str, ...]


class Told(NamedTuple):
    """A prompt, and what was injected for it: irrelevant memories first, then those without a label."""

    text: str
    injected: tuple[InjectionRow, ...]


def told(behind: Behind, evidence: Evidence, captions: Captions) -> list[Told]:
    """The first prompts of a row, by the systems that the row is about."""
    names = behind.prompts[:MOST_TOLD]
    wanted = set(names)
    found: dict[str, dict[str, list[str]]] = {name: {} for name in names}
    for system in behind.systems or evidence.systems:
        for row in evidence.of(system):
            for memory_id in row.injected if row.prompt_id in wanted else ():
                found[row.prompt_id].setdefault(memory_id, []).append(system)
    return [
        Told(captions.prompts.get(name, name), _injected(found[name], evidence.judgements.get(name, {}), captions))
        for name in names
    ]


def _injected(
    found: Mapping[str, Iterable[str]], judged: Mapping[str, bool], captions: Captions
) -> tuple[InjectionRow, ...]:
    order = {False: 0, None: 1, True: 2}
    rows = [
        InjectionRow(memory_id, captions.memories.get(memory_id, memory_id), judged.get(memory_id), tuple(systems))
        for memory_id, systems in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: order[row.is_relevant]))
