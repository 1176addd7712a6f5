"""The action that the reason of a label asks for: a stale memory is retired, a copy merged, a vague memory edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.stores.writing import ACTIVE

if TYPE_CHECKING:
    from engine.memory import MemorySummary
    from tui.workspace.workspace import Workspace

ACTIONS = {"stale": "retire", "duplicate": "merge", "too generic": "edit"}
"""Reason of a label -> the action of the screens that change memories."""

VERBS = {"retire": "retires", "merge": "merges", "edit": "edits"}


@dataclass(frozen=True)
class FollowUp:
    """An *action* of ACTIONS on a memory, for the *reason* that a person gave with a label."""

    memory: MemorySummary
    reason: str

    @property
    def action(self) -> str:
        return ACTIONS[self.reason]


def follow_ups(workspace: Workspace, prompt_id: str) -> list[FollowUp]:
    """The actions that the annotator's labels of a prompt ask for, in the order of the labels.

    A memory that was changed or retired since asks for nothing any more.
    """
    found = []
    for label in workspace.labels(prompt_id).values():
        memory = workspace.memory(label.memory_id) if label.reason in ACTIONS else None
        if memory and memory.summary.digest == label.digest and memory.summary.status == ACTIVE:
            found.append(FollowUp(memory.summary, label.reason))
    return found


def follow_words(found: list[FollowUp], key: str) -> str:
    """The sentence that names the *key* and the first action; empty without any."""
    if not found:
        return ""
    first, more = found[0], len(found) - 1
    rest = f", and {more:,} more after it" if more else ""
    return f"{key} {VERBS[first.action]} “{first.memory.title}” ({first.reason}){rest}."
