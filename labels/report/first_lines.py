"""The first lines of a report and of the gate, and the next step: for a person who knows no statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from engine.config import CUTS, JUDGED, TUNED
from engine.phrases.measuring import phrased_line
from engine.wording import counted, listed
from labels.measure.gate import FEWEST_TO_PLAN, MAX_LATER, MAX_UNLABELLED
from labels.measure.intervals import LOOKS, NOTHING_KNOWN
from labels.measure.report import FEW_PROMPTS, MAX_UNJUDGED, above, gaps_in, later_prompts, outdated_prompts
from labels.records import NOT_RELEVANT, RELEVANT
from labels.report.section import percent, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.comparison import SystemComparison
    from labels.measure.evidence import Evidence
    from labels.measure.metrics import Headline, Ratio
    from labels.measure.report import Gaps, Later, Report, SystemReport

HIGH_ENOUGH = 0.8
"""Precision from which on a report proposes nothing."""

WIDE, ANYTHING = 0.25, 0.9
"""Widths of the interval of precision: a report asks for more labels, and says that nothing is known yet."""

FEWEST_FIRES = 0.1
"""The least share of prompts with an injected memory that a plan counts on."""

LABEL = "memsift, then L"
REPLAY = "memsift replay --prompts FILE --save"
IN_LABEL, IN_REPLAY, IN_SETTLE, IN_WHATIF = "label", "replay", "settle", "whatif"
BY_REPLAY, BY_TARGET, BY_WORST, BY_MORE = "report.replay", "report.target", "worst-memories", "more-prompts"
"""Where the app does a step: its screens, keys of Report, a part of the report, and prompts that are not there yet."""


@dataclass(frozen=True)
class Step:
    """The most useful next step: a sentence, the command for it, and where the app does it: a screen or a key's id.

    Command and place may be empty.
    """

    what: str
    command: str = ""
    place: str = ""

    def in_shell(self) -> str:
        return f"Next: {self.what}{f': {self.command}' if self.command else ''}."

    def in_app(self) -> str:
        """The sentence behind the key that does it."""
        return f"{self.what[0].upper()}{self.what[1:]}."


def first_lines(report: Report) -> tuple[str, ...]:
    """Labels, prompts left out, precision and its interval, false fires, another system, and what labels leave out."""
    main, left_out = main_system(report), scope_lines(report.evidence)
    if main is None:
        return ("Nothing is measured yet: no prompt was replayed.", *left_out)
    lines = [labels_line(report), *left_out]
    if not report.labelled_prompts:
        return (*lines, f"So it is not known how much of {main.system}'s injections is relevant.")
    lines += [
        *precision_lines(main.system, main.headline),
        served_line(main.served, main.false_fire_rate, report.evidence),
    ]
    lines += [*other_line(main.system, rival(report, main.system)), *open_lines(report.evidence, main.system)]
    return tuple(lines)


def main_system(report: Report) -> SystemReport | None:
    """The configured system, or else the last without a judge."""
    systems = {system.system: system for system in report.systems}
    plain = [name for name in systems if not name.endswith(JUDGED)] or list(systems)
    return systems.get(report.configured) or (systems[plain[-1]] if plain else None)


def rival(report: Report, main: str) -> SystemComparison | None:
    """The comparison of *main* with itself with or without the judge, or else with the most precise other system."""
    found = {
        other_of(comparison, main): comparison
        for comparison in report.comparisons
        if main in (comparison.first, comparison.second)
    }
    precise = {system.system: system.headline.estimate.value for system in report.systems if system.headline.estimate}
    twin = main.removesuffix(JUDGED) if main.endswith(JUDGED) else main + JUDGED
    best = max(found, key=lambda name: precise.get(name, 0.0), default="")
    return found.get(twin) or found.get(best)


def other_of(comparison: SystemComparison, main: str) -> str:
    return comparison.first if comparison.second == main else comparison.second


# The lines


def labels_line(report: Report) -> str:
    prompts = f"{report.labelled_prompts:,} of {counted(report.prompts, 'prompt')}"
    number = report.judged.whole if report.evidence.is_qrels else sum(report.labels.values())
    if not number and (by_hand := report.evidence.facts.by_hand):
        return f"{counted(by_hand, 'labelled prompt')} {were(by_hand)} chosen by hand; the report counts only others."
    if not number:
        return f"No label yet on the {counted(report.prompts, 'prompt')} that {were(report.prompts)} replayed."
    names = report.annotators
    by = f" by {listed(names) if len(names) < 3 else counted(len(names), 'person', 'people')}" if names else ""
    disputed = report.evidence.facts.disputed
    split = f"; they are split on {counted(disputed, 'memory')}" if disputed else ""
    return f"{counted(number, 'label')}{by} on {prompts}{split}."


def scope_lines(evidence: Evidence) -> tuple[str, ...]:
    """Sentences about prompts that are left out because they are phrases, and about prompts seen before a label."""
    lines = [*phrased_line(evidence.facts.phrased, len(evidence.missed))]
    late, seen = evidence.facts.not_blind, evidence.facts.seen
    if late.part:
        then = "too many for an answer" if evidence.facts.sighted else "it counts" if late.part == 1 else "they count"
        lines.append(f"{late.part:,} of {counted(late.whole, 'label')} came after the ranks were seen: {then}.")
    if seen:
        asked = f"Label asks about {'it' if seen == 1 else 'them'} last."
        lines.append(f"{counted(seen, 'prompt')} without a label {were(seen)} seen with ranks: {asked}")
    return tuple(lines)


def were(number: int) -> str:
    return "was" if number == 1 else "were"


def precision_lines(system: str, found: Headline) -> Iterator[str]:
    """The relevant share of the injected memories, and the range in which the true share is."""
    if found.estimate is None:
        yield f"{system}: no prompt is labelled in full yet, so its precision is not known."
        return
    part, whole = found.relevant.part, found.relevant.whole
    prompts = counted(found.estimate.prompts, "prompt")
    yield (
        f"{system} injected {counted(whole, 'memory')} on {prompts}; {part:,} {were(part)} relevant: "
        f"{percent(part, whole)}."
    )
    low, high = percent(found.live.low, 1), percent(found.live.high, 1)
    if found.live.high - found.live.low <= ANYTHING:
        yield f"The true share is between {low} and {high}, a range that is right 19 times in 20."
    elif found.look != LOOKS[0]:
        yield f"The true share may be anything from {low} to {high}: these are too few labels."
    yield from look_line(found)


def look_line(found: Headline) -> Iterator[str]:
    """The next planned look, and the labelled prompts that do not count before it."""
    if found.look:
        waiting = f"; {counted(found.waiting, 'labelled one is', 'labelled ones are')} not counted yet"
        yield f"The next look is at {found.look} prompts: {found.to_go} to go{waiting if found.waiting else ''}."


def open_lines(evidence: Evidence, system: str) -> Iterator[str]:
    """The injected memories and the prompts that lack a label, and the labels that do not count any more."""
    gaps = gaps_in(evidence, system)
    if missing := gaps.memories.part:
        memories = f"{missing:,} of {counted(gaps.memories.whole, 'injected memory')}"
        yield f"{memories}, on {counted(len(gaps.left), 'labelled prompt')}, {has(missing)} no label that counts."
    if later := later_prompts(evidence, system):
        number = later.prompts.part
        ones = f"{number:,} later one{'' if number == 1 else 's'} {has(number)} no label"
        yield f"This speaks of the prompts until {later.until}; {ones}."
    if stale := evidence.facts.stale:
        yield f"{counted(stale, 'label does', 'labels do')} not count: the memory was edited or removed since."


def has(number: int) -> str:
    return "has" if number == 1 else "have"


def served_line(served: Headline, false_fires: Ratio, evidence: Evidence) -> str:
    """The prompts that get a memory that they need, and those that get one although nothing is relevant."""
    if not evidence.looked_through:
        return sentence("no_list")
    range_ = f"{100 * served.live.low:.0f}-{percent(served.live.high, 1)}"
    part, whole = served.relevant.part, served.relevant.whole
    none_known = "No prompt is known to need a memory."
    needing = f"{part:,} of {counted(whole, 'prompt')} that needed a memory got one ({range_})."
    others = f"{false_fires.part:,} of {false_fires.whole:,} that needed none got one anyway."
    unseen = [] if evidence.listed is None else ["Memories below the first ten were not looked at."]
    said = [needing if served.estimate else none_known, *([others] if false_fires.whole else [])]
    return " ".join([*said, *unseen])


def other_line(main: str, comparison: SystemComparison | None) -> Iterator[str]:
    """What another system would change on the same prompts, and whether its precision may differ by chance alone."""
    if comparison is None:
        return
    other, sign = other_of(comparison, main), 1 if comparison.first == main else -1
    own, others = (comparison.first_only, comparison.second_only)[::sign]
    useless, useful = others[1] - own[1], others[0] - own[0]
    chance = ": too few to be sure" if comparison.precision and not comparison.precision.sign else ""
    end = f"({counted(comparison.prompts, 'prompt')}{chance})."
    if other == main + JUDGED:
        yield f"The judge would {change(useless, useful)} {end}"
        return
    plain = any(main == other.replace(JUDGED, f"{cut}{JUDGED}") or main == other + cut for cut in CUTS.values() if cut)
    name = "Without the judge" if main == other + JUDGED else "Without the cutoff" if plain else other
    yield f"{name}: {difference(useless)} useless, {difference(useful)} useful {end}"


def change(useless: int, useful: int) -> str:
    """What becomes of memories: "drop 9 useless memories and add 30 useful ones"."""
    (number, kind), (rest, other) = sorted([(useless, "useless"), (useful, "useful")], key=lambda part: not part[0])
    if not number:
        return "change nothing"
    verbs = ["drop" if part < 0 else "add" for part in (number, rest)]
    begin = f"{verbs[0]} {counted(abs(number), f'{kind} memory')} and"
    if not rest:
        return f"{begin} no {other} ones"
    ones = f"{abs(rest):,} {other} {'one' if abs(rest) == 1 else 'ones'}"
    return f"{begin} {ones}" if verbs[0] == verbs[1] else f"{begin} {verbs[1]} {ones}"


def difference(number: int) -> str:
    return f"{abs(number):,} {'more' if number > 0 else 'fewer'}" if number else "no more"


def headline(found: Headline, who: str) -> str:
    """The answer in one line: the memories that *who* added, how many of them helped, and the range of their share."""
    if found.estimate is None:
        return f"How much of what {who} added helped is not known yet: no prompt is labelled in full."
    low, high = 100 * found.live.low, percent(found.live.high, 1)
    added = f"Of {counted(found.relevant.whole, 'memory')} {who} added, {found.relevant.part:,} helped"
    range_ = "" if found.live == NOTHING_KNOWN else f" ({low:.0f} to {high})"
    return f"{added}: {percent(found.estimate.value, 1)}{range_}."


# The next step of a report


def next_step(report: Report) -> Step:
    """The first of the steps that applies, the most useful first."""
    main = main_system(report)
    if main is None:
        return Step("replay prompts to label", REPLAY, BY_REPLAY)
    return next(filter(None, (*faults(report, main), *improvements(report, main))), NOTHING)


AS_NOW = Step("replay with the present settings", REPLAY, BY_REPLAY)
BLINDLY = Step("label prompts before you see their ranks", LABEL, IN_LABEL)
NOTHING = Step("nothing to do; measure again after new prompts or new memories")


def faults(report: Report, main: SystemReport) -> Iterator[Step | None]:
    """Steps that must come first: without them the numbers answer another question."""
    facts = report.evidence.facts
    if report.configured and report.configured != main.system:
        yield Step(f"replay {report.configured}, the present system", REPLAY, BY_REPLAY)
    if outdated_prompts(report.evidence, main.system):
        yield AS_NOW
    if facts.sighted:
        yield BLINDLY
    if facts.disputed > MAX_UNJUDGED * report.judged.whole:
        yield settle_step(facts.disputed)
    if not report.labelled_prompts:
        yield label_step(FEWEST_TO_PLAN, report, main)
    gaps, later = gaps_in(report.evidence, main.system), later_prompts(report.evidence, main.system)
    if above(gaps.memories, MAX_UNLABELLED):
        yield finish_step(gaps, report.evidence)
    if later and above(later.prompts, MAX_LATER):
        yield later_step(later)


def improvements(report: Report, main: SystemReport) -> Iterator[Step | None]:
    found = main.headline
    prompts = found.estimate.prompts if found.estimate else 0
    if prompts < FEW_PROMPTS:
        why = f", to have {FEW_PROMPTS} for which {main.system} injects something"
        number = ceil((FEW_PROMPTS - prompts) / max(main.fire_rate.value or 0, FEWEST_FIRES))
        yield label_step(number, report, main, why)
    elif found.live.low >= HIGH_ENOUGH:
        yield NOTHING
    best = rival(report, main.system)
    if best and best.second == main.system + JUDGED and best.precision and best.precision.sign > 0:
        yield Step("switch the judge on, if it is worth its price", "MEMSIFT_JUDGE=NAME", IN_WHATIF)
    if found.live.high < HIGH_ENOUGH and CUTS[TUNED] not in main.system:
        yield Step("drop unlikely memories", "memsift tune --target-precision 0.6", IN_WHATIF)
    if found.live.high - found.live.low > WIDE:
        yield label_step(prompts, report, main, " for a range a quarter narrower")


def finish_step(gaps: Gaps, evidence: Evidence) -> Step:
    if evidence.is_qrels:
        return Step(f"add the {counted(gaps.memories.part, 'missing memory')} to the qrels")
    if 2 * evidence.facts.disputed > gaps.memories.part:
        return settle_step(evidence.facts.disputed)
    undecided = {
        (label.prompt_id, label.memory_id)
        for label in evidence.labels
        if label.prompt_id in gaps.left and label.verdict not in (RELEVANT, NOT_RELEVANT)
    }
    if 2 * len(undecided) > gaps.memories.part:
        what = f"look again at the {counted(len(undecided), 'memory')} labelled without a yes or no"
        return Step(what, "memsift, then P", IN_REPLAY)
    return Step(f"finish the {counted(len(gaps.left), 'prompt')} that are labelled in part", LABEL, IN_LABEL)


def later_step(later: Later) -> Step:
    return Step(f"label some of the {counted(later.prompts.part, 'later prompt')}", LABEL, IN_LABEL)


def settle_step(disputed: int) -> Step:
    what = f"settle the {counted(disputed, 'memory')} people are split on"
    return Step(what, "memsift label --adjudicate", IN_SETTLE)


def label_step(number: int, report: Report, main: SystemReport, why: str = "") -> Step:
    """Label *number* more prompts; finish or add some where too few are left."""
    if left := report.prompts - report.labelled_prompts:
        if left < number:
            return Step(f"label the {counted(left, 'replayed prompt')} without a label", LABEL, IN_LABEL)
        prompts = "more prompt" if report.labelled_prompts else "prompt"
        return Step(f"label about {counted(number, prompts)}{why}", LABEL, IN_LABEL)
    if main.unjudged.part:
        missing = counted(main.unjudged.part, "injected memory that has", "injected memories that have")
        return Step(f"label the {missing} no label yet", LABEL, IN_LABEL)
    return Step(f"replay and label {counted(number, 'more prompt')}{why}", REPLAY, BY_MORE)
