"""Messages between worker threads, the app and its screens. None bubbles: the app passes them on to its screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.quality.registry import Finding
    from engine.retrieval import Retrieval
    from tui.workspace.activity_rows import ActivityLog
    from tui.workspace.curate.curating import Done
    from tui.workspace.curate.memory_facts import Facts
    from tui.workspace.labelling_plan import Planning
    from tui.workspace.prompts import PromptFacts
    from tui.workspace.quality.findings import Checked
    from tui.workspace.replay.background_run import RunProgress
    from tui.workspace.replay.run_diffs import SavedDiff
    from tui.workspace.report.reading import ReportReading
    from tui.workspace.sources import ChangedSources
    from tui.workspace.whatif.sample import Injected, SettingsNumbers, WhatIfEffect, WhatIfSample
    from tui.workspace.whatif.trial import Knob


@dataclass
class Reloaded(Message, bubble=False):
    """App to screens: the workspace has read the memories from disk again."""


@dataclass
class FilesChanged(Message, bubble=False):
    """Watcher to app: files behind the workspace changed, and were read again."""

    found: ChangedSources


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

    progress: RunProgress
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

    reading: ReportReading


@dataclass
class SampleFound(Message, bubble=False):
    """Worker to What-if: the candidates of *done* of *total* labelled prompts are found. *sample*: all of them.

    *sets* are the injected sets of the *saved* settings.
    """

    done: int
    total: int
    sample: WhatIfSample | None = None
    saved: Config | None = None
    sets: Sequence[Injected | None] = ()


@dataclass
class EffectFound(Message, bubble=False):
    """Worker to What-if: the effect of the settings in *draft* on *sample*."""

    draft: Config
    sample: WhatIfSample
    effect: WhatIfEffect


@dataclass
class ValuesCompared(Message, bubble=False):
    """Worker to What-if: the value of *knob* in words, and the numbers of *draft* with it, for many values."""

    draft: Config
    knob: Knob
    compared: Sequence[tuple[str, SettingsNumbers | None]]


@dataclass
class FactsRead(Message, bubble=False):
    """Worker to Browse: the facts about memories, and the stamps of the files that they come from."""

    facts: Facts
    stamps: tuple[tuple[str, int, int], ...]


@dataclass
class FindingsRead(Message, bubble=False):
    """Worker to Browse: the findings of cheap checks, by memory id, and the `check_stamp` of the beginning."""

    findings: Mapping[str, tuple[Finding, ...]]
    stamp: tuple[object, ...]


@dataclass
class KnownRead(Message, bubble=False):
    """Worker to Replay: what is recorded about the prompts, by id. *reading* is the workspace's at the beginning."""

    known: Mapping[str, PromptFacts]
    reading: int


@dataclass
class ActivityRead(Message, bubble=False):
    """Worker to Activity: the hook's log."""

    log: ActivityLog


@dataclass
class DiffRead(Message, bubble=False):
    """Worker to Diff: the saved runs, and the difference of two."""

    found: SavedDiff


@dataclass
class CheckBegun(Message, bubble=False):
    """Worker to Inbox: a check begins, and *found* findings are there already."""

    check: str
    found: int


@dataclass
class InboxChecked(Message, bubble=False):
    """Worker to Inbox: all findings. *reading* is the workspace's when the worker began."""

    checked: Checked
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
