"""Messages between worker threads, the app and its screens. None bubbles: the app passes them on to its screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.retrieval import Retrieval
    from labels.measure.report import Report
    from tui.workspace.background_run import Progress
    from tui.workspace.changing import Done
    from tui.workspace.labelling_plan import Planning
    from tui.workspace.memory_facts import Facts
    from tui.workspace.prompt_choice import Known
    from tui.workspace.sources import Found


@dataclass
class Reloaded(Message, bubble=False):
    """App to screens: the workspace has read the memories from disk again."""


@dataclass
class FilesChanged(Message, bubble=False):
    """Watcher to app: files behind the workspace changed, and were read again."""

    found: Found


@dataclass
class Retrieved(Message, bubble=False):
    """Worker to app: the result of one prompt in one system. *reading* is the workspace's when the worker began."""

    retrieval: Retrieval
    reading: int


@dataclass
class Kept(Message, bubble=False):
    """App to screens: the workspace holds new retrievals of these prompts."""

    prompt_ids: frozenset[str]


@dataclass
class Replayed(Message, bubble=False):
    """Run to app: recorded retrievals, and the progress. *reading* is the workspace's when they were recorded."""

    progress: Progress
    retrievals: Sequence[Retrieval]
    reading: int


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


@dataclass
class Surveyed(Message, bubble=False):
    """Worker to Label: the facts about prompts that *planning* was missing, by prompt id."""

    planning: Planning
    facets: Mapping[str, str]


@dataclass
class Measured(Message, bubble=False):
    """Worker to Label: the precision so far in a few words, or an empty text."""

    words: str


@dataclass
class Reported(Message, bubble=False):
    """Worker to Report: a new report."""

    report: Report


@dataclass
class FactsRead(Message, bubble=False):
    """Worker to Browse: the facts about memories, and the stamps of the files that they come from."""

    facts: Facts
    stamps: tuple[tuple[str, int, int], ...]


@dataclass
class KnownRead(Message, bubble=False):
    """Worker to Replay: what is recorded about the prompts, by id. *reading* is the workspace's at the beginning."""

    known: Mapping[str, Known]
    reading: int


@dataclass
class Progressed(Message, bubble=False):
    """Worker to screen: *done* of *total* operations on memories are performed."""

    done: int
    total: int


@dataclass
class Changed(Message, bubble=False):
    """Worker to screen: operations on memories were performed, or taken back if *is_undo*.

    *words* tell of them if there were several; *total* is the number that was asked for.
    """

    done: Done
    words: str = ""
    total: int = 0
    is_undo: bool = False
