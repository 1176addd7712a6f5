"""What the labels of a workspace say: its report with the answer of the gate, a file of it, and precision so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import MemsiftError
from engine.stores.files import open_named, write_whole
from engine.wording import counted
from labels.measure.evidence import evidence_from_store
from labels.measure.gate import FAIL, PASS, Gate, decide, gate_report
from labels.measure.intervals import ANYTIME, Interval
from labels.measure.report import PLAIN
from labels.report.first_lines import (
    ANYTHING,
    BY_MORE,
    BY_REPLAY,
    BY_WORST,
    HIGH_ENOUGH,
    IN_LABEL,
    Step,
    headline,
    labels_line,
    main_system,
    next_step,
    scope_lines,
)
from labels.report.forms import report_in
from labels.report.gate_text import gate_step, outlook
from labels.report.sections import sections
from labels.store import LabelStore
from tui.workspace.root_labels import present_digests, present_phrases

if TYPE_CHECKING:
    from labels.measure.gate import GateDecision, GateReport
    from labels.measure.report import Report, ReportOptions
    from labels.report.section import CountedPrompts, ReportSection
    from tui.workspace.workspace import Workspace

ASKED = HIGH_ENOUGH
"""The precision that is asked for until a person chooses another, 0..1."""

TARGETS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

GATE = Gate(HIGH_ENOUGH, Interval(HIGH_ENOUGH, HIGH_ENOUGH), ANYTIME)
"""The precision from which on a report proposes nothing."""

MORE_COME = "come as you work, or with --prompts FILE"

FORMS = {".html": "html", ".md": "markdown", ".json": "json", ".txt": "text"}
ENDINGS = tuple(FORMS)
"""The endings of file names, which decide the form of a written report."""


def target_of(text: str) -> float:
    """The target that *text* spells; ASKED if it is none."""
    return {f"{target:g}": target for target in TARGETS}.get(text, ASKED)


@dataclass(frozen=True)
class ReportReading:
    """`gate` is the answer about the configured system; None if nothing was replayed.

    `has_more`: there are prompts that were not replayed with this system yet.
    """

    report: Report
    gate: GateReport | None
    sections: tuple[ReportSection, ...]
    has_more: bool = False

    @property
    def step(self) -> Step:
        """The most useful next step. Where it needs prompts that are not there, it says where they come from."""
        step = gate_step(self.gate) if self.gate else next_step(self.report)
        if step.place != BY_MORE and (self.gate or self.has_more):
            return step
        if self.has_more:
            return replace(step, place=BY_REPLAY)
        if self.gate and (left := self.gate.pending.left):
            return Step(f"label the {counted(left, 'replayed prompt')} without all labels", place=IN_LABEL)
        if any(section.name == BY_WORST for section in self.sections):
            return Step(f"look at the memories that are wrong most often; new prompts {MORE_COME}", place=BY_WORST)
        return Step(f"wait for new prompts: they {MORE_COME}")


def read_report(workspace: Workspace, options: ReportOptions = PLAIN, least: float = ASKED) -> ReportReading:
    """The report on the current label store. Any thread may call it. Raises LabelStoreError."""
    report = workspace.report(options)
    main, target = main_system(report), Gate(least, Interval(least, least), ANYTIME)
    gate = gate_report(report.evidence, main.system, target) if main else None
    has_more = (main.prompts if main else 0) < len(workspace.lists.drawn)
    return ReportReading(report, gate, sections(report), has_more)


def write_report(report: Report, name: str) -> Path:
    """Write *report* to the file *name*. `~` is the home folder. A new file is for its owner alone.

    Raises MemsiftError for another ending, and if it cannot be written.
    """
    path = Path(name.strip()).expanduser()
    if path.suffix.lower() not in ENDINGS:
        raise MemsiftError(
            f"{path}: end the name with {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}. Nothing was written."
        )
    text = report_in(FORMS[path.suffix.lower()], report)
    try:
        write_whole(str(path), text.encode("utf-8"), open_named)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MemsiftError(f"{path} cannot be written ({reason}). Name a file that can be written.") from None
    return path.absolute()


def live_precision(workspace: Workspace) -> str:
    """The interval of the configured system, and about how many more prompts decide; empty before the first prompt.

    Any thread may call it. Raises LabelStoreError. It counts whole prompts only, so it says nothing about an open card.
    """
    with LabelStore.open(workspace.store.path) as store:
        digests = present_digests(store, workspace.index)
        phrases = present_phrases(workspace.index)
        evidence = evidence_from_store(store, workspace.index.root, digests, phrases=phrases)
    name = (workspace.judged or workspace.with_cutoff or workspace.first).name
    if name not in evidence.systems:
        return ""
    return precision_words(decide(evidence.sample(name), GATE))


def summed_up(workspace: Workspace) -> str:
    """The labels, how much of what the hook adds helped, and what to do next. Any thread may call it."""
    made = read_report(workspace)
    main = main_system(made.report)
    lines = [labels_line(made.report), *scope_lines(made.report.evidence)]
    if main and made.gate:
        lines += [headline(main.headline, "the hook"), outlook(made.gate), "", f"Next: {made.step.what}."]
    return "\n".join(lines)


def precision_words(found: GateDecision) -> str:
    """The decision in a few words, and the prompts to label before the next look; empty before the first prompt."""
    parts = []
    if found.estimate is None:
        return ""
    if found.live.high - found.live.low <= ANYTHING:
        parts = [f"precision {100 * found.live.low:.0f} to {100 * found.live.high:.0f} %"]
    if found.verdict in (PASS, FAIL):
        parts += [f"{'above' if found.verdict == PASS else 'below'} {100 * HIGH_ENOUGH:.0f} %"]
    elif found.more:
        parts += [f"about {found.more:,} more prompts decide"]
    return ", ".join(parts)


MOST_TOLD = 12
"""The number of prompts of a row that are shown in full."""


class InjectionRow(NamedTuple):
    """A memory that was injected for a prompt: its id and title, its label if it has one, and who injected it."""

    memory_id: str
    title: str
    is_relevant: bool | None
    systems: tuple[str, ...]


class CountedPrompt(NamedTuple):
    """A prompt, and what was injected for it: irrelevant memories first, then those without a label."""

    text: str
    injected: tuple[InjectionRow, ...]


def counted_prompts(counted: CountedPrompts, report: Report) -> list[CountedPrompt]:
    """The first prompts of a row, by the systems that the row is about."""
    evidence, captions = report.evidence, report.captions
    found: dict[str, dict[str, list[str]]] = {name: {} for name in counted.prompts[:MOST_TOLD]}
    for system in counted.systems or evidence.systems:
        for row in evidence.of(system):
            for memory_id in row.injected if row.prompt_id in found else ():
                found[row.prompt_id].setdefault(memory_id, []).append(system)
    order = {False: 0, None: 1, True: 2}
    made = []
    for name, systems in found.items():
        judged = evidence.judgements.get(name, {})
        rows = [
            InjectionRow(memory_id, captions.memories.get(memory_id, memory_id), judged.get(memory_id), tuple(by))
            for memory_id, by in systems.items()
        ]
        rows.sort(key=lambda row: order[row.is_relevant])
        made.append(CountedPrompt(captions.prompts.get(name, name), tuple(rows)))
    return made
