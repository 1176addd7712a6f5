"""Messages that cross a thread's or a screen's boundary. None bubbles: the app passes one on to its screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.retrieval import Retrieval
    from labels.measure.report import Report
    from tui.workspace.planning import Planning


@dataclass
class Reloaded(Message, bubble=False):
    """App to screens: the workspace has read its root anew."""


@dataclass
class Retrieved(Message, bubble=False):
    """Worker to app: a prompt was run through a system, over the memories of *reading*."""

    retrieval: Retrieval
    reading: int


@dataclass
class Kept(Message, bubble=False):
    """App to screens: a retrieval is in the workspace now."""

    prompt_id: str
    system: str


@dataclass
class AllReplayed(Message, bubble=False):
    """Worker to app to screens: all prompts were run."""

    prompts: int


@dataclass
class Surveyed(Message, bubble=False):
    """Worker to Label: what *planning* had to know of prompts, by prompt id."""

    planning: Planning
    facets: Mapping[str, str]


@dataclass
class Reported(Message, bubble=False):
    """Worker to Report: a report."""

    report: Report
