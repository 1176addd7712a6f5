"""Messages from the app to its screens; none bubbles. Workers need none: they have `call_later` call a method."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class Reloaded(Message, bubble=False):
    """App to screens: the workspace has read the memories from disk again."""


@dataclass
class Kept(Message, bubble=False):
    """App to screens: the workspace holds new retrievals of these prompts."""

    prompt_ids: frozenset[str]


@dataclass
class RunChanged(Message, bubble=False):
    """App to screens: `Runner.progress` has changed."""


@dataclass
class AllReplayed(Message, bubble=False):
    """App to screens: a replay has ended, with *prompts* finished."""

    prompts: int


@dataclass
class LabelsChanged(Message, bubble=False):
    """App to screens: another program has written to the label store, perhaps labels."""
