"""Sentences for a screen that has nothing to show: each says what is true, and which key helps.

They name keys by their ids; `tui.bindings.keyed` puts the keys in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.workspace.workspace import Workspace

NO_MEMORIES = (
    "There are no memories here yet.\n\n`memsift create` makes one, and {app.reload} reads the folder again. "
    "To open another folder, start memsift with --root."
)
UNREADABLE = (
    "No memory of this folder can be read.\n\nPress {app.skipped} to see the reasons. {app.reload} reads the folder "
    "again."
)
NO_PROMPTS_TO_REPLAY = "No prompts. {replay.type} types one, or start with --prompts FILE."
NO_MEMORIES_TO_FIND = "There are no memories here. Press {go.browse}."
NOTHING_FOUND = "No memory fits this prompt. {replay.next} goes on, {replay.type} types another."
NO_PROMPTS_TO_LABEL = (
    "There are no prompts to label.\n\nIn Replay ({go.replay}), {replay.type} types a prompt and {replay.choose} adds "
    "it to the sample. Or start memsift with --prompts FILE."
)
NO_PROMPTS_TO_COUNT = (
    "There are no prompts, so there is nothing to measure.\n\nIn Replay ({go.replay}), {replay.type} types a prompt "
    "and {replay.choose} adds it to the sample. Or start memsift with --prompts FILE."
)
NOTHING_INJECTED = (
    "No memory fits any of the prompts, so there is nothing to label.\n\nPress {go.replay} to see what each prompt "
    "finds, or {go.browse} to read the memories."
)
ALL_LABELLED = (
    "Every card of every prompt is labelled.\n\nPress {go.report} for the report, or {mark.undo} to take the last "
    "label back."
)


def no_memories(workspace: Workspace) -> str:
    """The sentences about a folder without memories; empty if it has memories."""
    if len(workspace.index):
        return ""
    return UNREADABLE if workspace.index.skipped else NO_MEMORIES


def nothing_found(workspace: Workspace) -> str:
    """The reason why a prompt finds no memory, on one line of 60 cells."""
    return NOTHING_FOUND if len(workspace.index) else NO_MEMORIES_TO_FIND


def nothing_to_label(workspace: Workspace) -> str:
    """The reason why Label has no card left."""
    if lack := no_memories(workspace):
        return lack
    if not workspace.prompts:
        return NO_PROMPTS_TO_LABEL
    return ALL_LABELLED if workspace.labelled_pairs() else NOTHING_INJECTED


def nothing_to_count(workspace: Workspace) -> str:
    """The reason why a report without labels has nothing to show; empty if a replay or a label would help."""
    return no_memories(workspace) or ("" if workspace.prompts else NO_PROMPTS_TO_COUNT)
