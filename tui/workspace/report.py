"""What the labels of a workspace say: its report with the answer of the gate, a file of it, and precision so far.

Each row of the report's tables knows the prompts, memories and labels that it counts: a screen opens them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import MemsiftError
from engine.judge.verdict import APPROVED
from engine.stores.files import open_named, write_whole
from labels.measure.curves import bin_number, strengths
from labels.measure.evidence import evidence_from_store
from labels.measure.gate import FAIL, PASS, Gate, decide, gate_report
from labels.measure.groups import agent_of_prompt, kind_of
from labels.measure.intervals import Interval
from labels.measure.report import PLAIN
from labels.report.agreement_sections import SHOWN_DISAGREEMENTS
from labels.report.first_lines import ANYTHING, HIGH_ENOUGH, headline, labels_line, main_system, next_step
from labels.report.forms import report_in
from labels.report.gate_text import gate_step, outlook
from labels.report.sections import sections, some
from labels.store import LabelStore
from tui.workspace.root_labels import present_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from labels.measure.groups import Group
    from labels.measure.report import Captions, Report, SystemReport
    from labels.records import Outcome
    from labels.report.section import ReportSection

    NameOf = Callable[[Outcome, Mapping[str, str]], str]
    """The group of a prompt, by names that are known beside it."""
    from labels.measure.gate import GateDecision, GateReport
    from labels.measure.report import ReportOptions
    from labels.report.first_lines import Step
    from tui.workspace.workspace import Workspace

ASKED = HIGH_ENOUGH
"""The precision that is asked for until a person chooses another, 0..1."""

TARGETS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

GATE = Gate(HIGH_ENOUGH, Interval(HIGH_ENOUGH, HIGH_ENOUGH))
"""The precision from which on a report proposes nothing."""

FORMS = {".html": "html", ".md": "markdown", ".json": "json", ".txt": "text"}
ENDINGS = tuple(FORMS)
"""The endings of file names, which decide the form of a written report."""


def target_of(text: str) -> float:
    """The target that *text* spells; ASKED if it is none."""
    return {f"{target:g}": target for target in TARGETS}.get(text, ASKED)


@dataclass(frozen=True)
class ReportReading:
    """`gate` is the answer about the configured system; None if nothing was replayed. `parts` are the sections."""

    report: Report
    gate: GateReport | None
    parts: tuple[ReportPart, ...]

    @property
    def step(self) -> Step:
        """The most useful next step."""
        return gate_step(self.gate) if self.gate else next_step(self.report)


def read_report(workspace: Workspace, options: ReportOptions = PLAIN, least: float = ASKED) -> ReportReading:
    """The report on the current label store. Any thread may call it. Raises LabelStoreError."""
    report = workspace.report(options)
    main, target = main_system(report), Gate(least, Interval(least, least))
    gate = gate_report(report.evidence, main.system, target) if main else None
    return ReportReading(report, gate, parts(sections(report), report))


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
        raise MemsiftError(f"{path} cannot be written ({reason}). Name a file in a folder that exists.") from None
    return path.absolute()


def live_precision(workspace: Workspace) -> str:
    """The interval of the configured system, and about how many more prompts decide; empty before the first prompt.

    Any thread may call it. Raises LabelStoreError. It counts whole prompts only, so it says nothing about an open card.
    """
    with LabelStore.open(workspace.store.path) as store:
        digests = present_digests(store, workspace.index)
        evidence = evidence_from_store(store, workspace.index.root, digests)
    name = (workspace.judged or workspace.with_cutoff or workspace.first).name
    if name not in evidence.systems:
        return ""
    return precision_words(decide(evidence.sample(name), GATE))


def summed_up(workspace: Workspace) -> str:
    """The labels, how much of what the hook adds helped, and what to do next. Any thread may call it."""
    made = read_report(workspace)
    main = main_system(made.report)
    lines = [labels_line(made.report)]
    if main and made.gate:
        lines += [headline(main.headline, "the hook"), outlook(made.gate), "", f"Next: {made.step.what}."]
    return "\n".join(lines)


def precision_words(found: GateDecision) -> str:
    """The decision in a few words; empty as long as the precision may be anything."""
    if found.estimate is None or found.live.high - found.live.low > ANYTHING:
        return ""
    interval = f"precision {100 * found.live.low:.0f} to {100 * found.live.high:.0f} %"
    if found.verdict in (PASS, FAIL):
        return f"{interval}, {'above' if found.verdict == PASS else 'below'} {100 * HIGH_ENOUGH:.0f} %"
    more = f", about {found.more:,} more prompts decide" if found.more else ""
    return f"{interval}{more}"


class Behind(NamedTuple):
    """The prompts that a row counts, the worst first; for a row about a `memory`, the prompts that got it.

    `systems` are the names of the systems that the row is about; empty for all.
    """

    prompts: tuple[str, ...] = ()
    memory: str = ""
    systems: tuple[str, ...] = ()


class ReportPart(NamedTuple):
    """A section, and the prompts behind each row of its table."""

    section: ReportSection
    behind: tuple[Behind, ...]


def parts(found: Sequence[ReportSection], report: Report) -> tuple[ReportPart, ...]:
    rows = CountedRows(report)
    return tuple(ReportPart(section, tuple(rows.of(section))) for section in found)


class CountedRows:
    """Finds the prompts behind the rows of a section, in the order of the rows in `labels.report.sections`."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._evidence = report.evidence

    def of(self, section: ReportSection) -> Iterable[Behind]:
        name, _, system = section.name.partition("-")
        by_system: dict[str, Callable[[SystemReport], Iterable[Behind]]] = {
            "precision": lambda figures: [self._prompts(figures.system, self._doubt)],
            "injecting": lambda figures: [self._prompts(figures.system, self._false_fire)],
            "recall": lambda figures: [self._prompts(figures.system, self._lost)],
            "running": lambda figures: [self._prompts(figures.system, self._trouble)],
            "ranking": lambda figures: [self._prompts(figures.system, self._known_relevant)],
            "confidence": lambda figures: self._groups(figures, figures.by_confidence, self._at_level),
            "kind": lambda figures: self._groups(
                figures, figures.by_kind, partial(self._named, kind_of, self._report.captions.kinds)
            ),
            "agent": lambda figures: self._groups(
                figures, figures.by_agent, partial(self._named, agent_of_prompt, self._report.captions.agents)
            ),
            "coverage": self._coverage,
            "history": self._history,
            "reliability": self._reliability,
        }
        if name in by_system:
            return [behind for figures in self._report.systems for behind in by_system[name](figures)]
        others: Mapping[str, Callable[[str], Iterable[Behind]]] = {
            "comparison": self._comparison,
            "judge": self._judge,
            "differences": self._differences,
            "worst": self._worst,
        }
        return others[name](system) if name in others else ()

    # Of one system

    def _prompts(self, system: str, weight: Callable[[Outcome], float]) -> Behind:
        """The prompts with a weight above 0, the largest first."""
        weights = {row.prompt_id: weight(row) for row in self._evidence.of(system)}
        names = sorted([name for name in weights if weights[name] > 0], key=lambda name: -weights[name])
        return Behind(tuple(names), systems=(system,))

    def _judged(self, row: Outcome) -> Mapping[str, bool]:
        return self._evidence.judgements.get(row.prompt_id, {})

    def _count(self, row: Outcome, *, is_relevant: bool, among: Iterable[str] | None = None) -> int:
        judged = self._judged(row)
        return sum(judged.get(name) is is_relevant for name in (row.injected if among is None else among))

    def _false_fire(self, row: Outcome) -> int:
        return len(row.injected) if row.prompt_id in self._evidence.without_relevant else 0

    def _doubt(self, row: Outcome) -> float:
        """The irrelevant memories of a prompt; memories without a label weigh little."""
        judged = self._judged(row)
        return self._count(row, is_relevant=False) + sum(name not in judged for name in row.injected) / 1000

    @staticmethod
    def _trouble(row: Outcome) -> float:
        """All prompts of a system: failures of the judge first, then silence."""
        return 2 * bool(row.fallback) + (not row.injected) + 0.01

    def _lost(self, row: Outcome) -> int:
        return self._evidence.in_pools.relevant.get(row.prompt_id, 0) - self._count(row, is_relevant=True)

    def _known_relevant(self, row: Outcome) -> int:
        return sum(self._judged(row).values())

    def _groups(
        self, figures: SystemReport, groups: Iterable[Group], weight: Callable[[str, Outcome], float]
    ) -> Iterator[Behind]:
        for group in groups:
            if group.is_known:
                yield self._prompts(figures.system, partial(weight, group.name))

    def _at_level(self, level: str, row: Outcome) -> float:
        names = [name for name, own in zip(row.injected, row.confidences, strict=False) if own == level]
        return self._weigh(row, names)

    def _named(self, name_of: NameOf, names: Mapping[str, str], name: str, row: Outcome) -> float:
        """The prompts with an injected memory, and after them those that lack a relevant one."""
        if name_of(row, names) != name:
            return 0
        return self._weigh(row, row.injected) + (self._lost(row) > 0) / 1000

    def _weigh(self, row: Outcome, names: Iterable[str]) -> float:
        """Irrelevant memories weigh more than relevant ones, so that prompts with them come first."""
        names = tuple(names)
        wrong = self._count(row, is_relevant=False, among=names)
        return wrong + self._count(row, is_relevant=True, among=names) / 100

    def _coverage(self, figures: SystemReport) -> Iterator[Behind]:
        curve = figures.curves.coverage if figures.curves else None
        for point in some(curve.points) if curve else ():
            yield self._prompts(figures.system, partial(self._stronger, curve.by if curve else "", point.least))

    def _stronger(self, by: str, least: float, row: Outcome) -> float:
        found = zip(row.injected, strengths(row, by), strict=False)
        return self._weigh(row, [name for name, strength in found if strength is not None and strength >= least])

    def _history(self, figures: SystemReport) -> Iterator[Behind]:
        judged = tuple(self._evidence.sample(figures.system).judged)
        for moment in some(figures.curves.history) if figures.curves else ():
            yield Behind(judged[: moment.prompts], systems=(figures.system,))

    def _reliability(self, figures: SystemReport) -> Iterator[Behind]:
        found = figures.curves.reliability if figures.curves else None
        for group in found.bins if found else ():
            yield self._prompts(figures.system, partial(self._in_bin, bin_number(group.said)))

    def _in_bin(self, place: int, row: Outcome) -> float:
        return self._weigh(row, [name for name, value in row.probabilities.items() if bin_number(value) == place])

    # Of two systems, of the judge, of all

    def _comparison(self, _: str) -> Iterator[Behind]:
        for comparison in self._report.comparisons:
            others = {row.prompt_id: set(row.injected) for row in self._evidence.of(comparison.first)}
            found = self._prompts(comparison.second, partial(_difference, others))
            yield found._replace(systems=(comparison.first, comparison.second))

    def _judge(self, system: str) -> Iterator[Behind]:
        for is_kept in (True, False):
            yield self._prompts(system, partial(self._decided, is_kept=is_kept))

    def _decided(self, row: Outcome, *, is_kept: bool) -> float:
        """Decisions of the judge on memories with a label; those with which people differ weigh more."""
        kept = {
            name: decision == APPROVED
            for name, decision in zip(row.candidates, row.decisions, strict=True)
            if decision is not None
        }
        judged = self._judged(row)
        own = [name for name, was_kept in kept.items() if was_kept is is_kept and name in judged]
        return sum(1.0 if judged[name] is not is_kept else 0.01 for name in own)

    def _differences(self, system: str) -> Iterator[Behind]:
        agreement = next((figures.agreement for figures in self._report.systems if figures.system == system), None)
        for disagreement in agreement.disagreements[:SHOWN_DISAGREEMENTS] if agreement else ():
            yield Behind((disagreement.prompt_id,))

    def _worst(self, kind: str) -> Iterator[Behind]:
        if kind == "memories":
            yield from (Behind(self._injected_with(memory.id), memory.id) for memory in self._report.worst_memories)
        else:
            yield from (Behind((prompt.id,)) for prompt in self._report.worst_prompts)

    def _injected_with(self, memory_id: str) -> tuple[str, ...]:
        """The prompts for which any system injected a memory, those for which it was not relevant first."""
        found = dict.fromkeys(row.prompt_id for row in self._evidence.rows if memory_id in row.injected)
        judgements = self._evidence.judgements
        return tuple(sorted(found, key=lambda name: bool(judgements.get(name, {}).get(memory_id))))


def _difference(others: Mapping[str, set[str]], row: Outcome) -> int:
    """The number of memories that only one of two systems injects for a prompt."""
    own = set(row.injected)
    return len(own ^ others.get(row.prompt_id, own))


MOST_TOLD = 12
"""The number of prompts of a row that are shown in full."""


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


def told(behind: Behind, report: Report) -> list[Told]:
    """The first prompts of a row, by the systems that the row is about."""
    evidence, captions = report.evidence, report.captions
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
