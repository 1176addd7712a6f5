"""What Browse shows of memories: one with its fields, related files, prompts and changes; and the numbers of all."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from engine.phrases.writing import is_old
from engine.settings.sources import trust_command
from engine.stores.markdown.parts import loading
from engine.wording import counted
from tui.keys import keyed
from tui.plain import cells, one_line, plain
from tui.widgets.memory_pane import HEADING, MUTED, body_lines, category_name, head_lines, linked, on_click
from tui.widgets.signs import DRAWN, VERDICTS
from tui.workspace.curate.memory_facts import ANY, EVERYTHING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from engine.memory import Memory
    from engine.search.highlight import Marker
    from tui.widgets.signs import Signs
    from tui.workspace.activity_rows import Week
    from tui.workspace.curate.memory_facts import Facts, Narrowing, Pulled


SHORT_LINE = 60
"""Characters of a field of a single line that stands behind its heading, in place of below it."""

MOST_PROMPTS, MOST_DEEDS, MOST_FINDINGS, MOST_PROMPT, MOST_REASON = 20, 8, 3, 200, 120
NOTHING_ABOUT = (
    "No change, no related file, and no prompt that pulled it in. {go.replay} replays prompts, {go.activity} lists the "
    "hook's answers."
)
UNTRUSTED = "Muted phrases do not count until you trust these memories: {}"
HIDDEN = " prompt is hidden, so that your label stays blind."
MANY_HIDDEN = " prompts are hidden, so that your labels stay blind."


def detail_text(
    memory: Memory, facts: Facts, say: Callable[[str], str], marker: Marker, about: Sequence[Content], reason: str
) -> Content:
    """The memory with its findings, and the lines *about* it. The *reason* to retire it is first.

    *say* puts keys in the place of their ids.
    """
    why = plain(f"{memory.summary.status.capitalize()}: {one_line(reason)}").stylize_before("bold $text-warning")
    text = Content("\n").join(
        [
            *([why] if reason else []),
            *head_lines(memory.summary, marker),
            *_findings(memory, facts, say),
            *([plain(said).stylize_before(MUTED)] if (said := loading(memory.summary)) else []),
            *body_lines(memory.sections, marker, SHORT_LINE),
        ]
    )
    return Content("\n").join([linked(text, memory.summary.file), *about])


def about_lines(
    memory: Memory, facts: Facts, related: Sequence[tuple[str, bool]], say: Callable[[str], str], drawn: Signs
) -> list[Content]:
    """Its related files, with a sign for those that are there, phrases, prompts that pulled it in, and changes."""
    return [
        *_related(memory, related, drawn),
        *_asked(memory, facts, say),
        *_prompts(memory, facts, say, drawn),
        *_deeds(memory, facts),
    ]


def prompt_line(pulled: Pulled, facts: Facts, drawn: Signs = DRAWN) -> str:
    """A prompt on one line, behind the sign of its label, and before the label and the judge's verdict in words."""
    words = (VERDICTS.get(pulled.label, "").lower(), f"the judge: {pulled.decision}" if pulled.decision else "")
    said = ", ".join(filter(None, words))
    text = one_line(facts.texts.get(pulled.prompt_id, pulled.prompt_id)[:MOST_PROMPT])
    sign = drawn.verdicts.get(pulled.label, drawn.unlabelled)
    return f"{sign} {text}{f' ({said})' if said else ''}"


def _related(memory: Memory, related: Sequence[tuple[str, bool]], drawn: Signs) -> list[Content]:
    signs = {True: (drawn.is_there, ""), False: (drawn.is_missing, " (not there)")}
    lines = [
        plain(f"{signs[is_there][0]}{one_line(name)}{signs[is_there][1]}").stylize_before(
            on_click("app.open_link", name, memory.summary.file)
        )
        for name, is_there in related
    ]
    return _part("Related files", lines)


def _prompts(memory: Memory, facts: Facts, say: Callable[[str], str], drawn: Signs) -> list[Content]:
    summary = memory.summary
    found = facts.prompts.get(summary.id, ())
    lines = [
        plain(prompt_line(pulled, facts, drawn)).stylize_before(on_click("screen.show_why", pulled.prompt_id))
        for pulled in found[:MOST_PROMPTS]
    ]
    if len(found) > MOST_PROMPTS:
        lines.append(plain(f"and {len(found) - MOST_PROMPTS:,} more").stylize_before(MUTED))
    if hidden := len(facts.hidden.get(summary.id, ())):
        lines.append(plain(f"{hidden:,}{HIDDEN if hidden == 1 else MANY_HIDDEN}").stylize_before(MUTED))
    if injected := facts.injected(summary.id):
        times = "once" if injected == 1 else f"{injected:,} times"
        told = say(f"The hook injected it {times}. {{go.activity}} lists its answers.")
        lines.append(plain(told).stylize_before(MUTED))
    return _part(f"Prompts that pulled it in{say(' · {browse.prompts} shows why') if found or hidden else ''}", lines)


def _asked(memory: Memory, facts: Facts, say: Callable[[str], str]) -> list[Content]:
    """The phrases, each with its writer and how many prompts that pulled the memory in it fits."""
    asked = facts.asked.get(memory.summary.id, ())
    lines = []
    for phrase in asked:
        fits = f"fits {counted(phrase.fits, 'prompt')}" if phrase.fits else "fits no prompt yet"
        said = plain(f"  {one_line(phrase.row.by)} · {fits}").stylize_before(MUTED)
        text = plain(one_line(phrase.row.phrase))
        lines.append((text if phrase.counts else text.stylize_before(MUTED)) + said)
    if not all(phrase.counts for phrase in asked):
        told = UNTRUSTED.format(trust_command(memory.summary.root))
        lines.insert(0, plain(told).stylize_before("$text-warning"))
    age = ", older than its text" if asked and is_old([phrase.row for phrase in asked], memory.summary.digest) else ""
    return _part(f"Asked as{age}{say(' · {change.phrases} changes them')}", lines)


def _findings(memory: Memory, facts: Facts, say: Callable[[str], str]) -> list[Content]:
    """A line for each of the worst findings, close to the title."""
    found = facts.found(memory.summary.id)
    lines = [f"! {finding.check}: {one_line(finding.reason)[:MOST_REASON]}" for finding in found[:MOST_FINDINGS]]
    if len(found) > MOST_FINDINGS:
        lines.append(f"! {len(found) - MOST_FINDINGS:,} more findings: {say('{go.inbox}')}")
    return [plain(line).stylize_before("$text-warning") for line in lines]


def _deeds(memory: Memory, facts: Facts) -> list[Content]:
    deeds = facts.deeds.get(memory.summary.id, ())
    rows = [(deed.at[:10], deed.summary, " (taken back)" if deed.undone_by else "") for deed in reversed(deeds)]
    lines = [plain(f"{at}  {one_line(summary)}{mark}") for at, summary, mark in rows[:MOST_DEEDS]]
    return _part("Changes", lines)


def _part(heading: str, lines: list[Content]) -> list[Content]:
    return [Content(""), plain(heading).stylize_before(HEADING), *lines] if lines else []


HEADS = {
    "category": "Category · {browse.category}",
    "status": "Status · {browse.status}",
    "check": "Finding · {browse.finding}",
}
WEEKS, NO_WEEKS = "Relevant by week", "no labelled injection"
GAP, NAME_WIDTH, NUMBER_WIDTH, LEAST_BAR, MOST_BAR = 2, 11, 5, 3, 16
"""Cells between two columns, of a name before a bar, of the number behind it, and of a bar."""


class MemoryOverview(Widget):
    """A column for each part of a narrowing, and one for the hook's weeks. The value that holds has a sign."""

    def __init__(self) -> None:
        super().__init__(id="overview", classes="pane")
        self._counts: Mapping[str, Counter[str]] = {}
        self._narrowing = EVERYTHING
        self._weeks: Sequence[Week] = ()

    def show(self, counts: Mapping[str, Counter[str]], narrowing: Narrowing, weeks: Sequence[Week]) -> None:
        """Show the *counts* of the values of each part, and how relevant the injections of the last weeks were."""
        self._counts, self._narrowing, self._weeks = counts, narrowing, weeks
        self.refresh()

    def render(self) -> Content:
        if not self._counts:
            return Content("")
        parts = [part for part in HEADS if part != "status" or len(self._counts[part]) > 1]
        size = self.size.width // (len(parts) + 1)
        last = self._weeks[-(self.size.height - 1) :]
        weeks = [_line(week.day, f"{100 * week.share:.0f} %", week.share, size, "·") for week in last]
        columns = [*(self._column(part, size) for part in parts), _headed(WEEKS, weeks, NO_WEEKS, size)]
        lines = zip_longest(*columns, fillvalue=Content(" " * size))
        return Content("\n").join(Content("").join(line) for line in lines)

    def _column(self, part: str, size: int) -> list[Content]:
        """The name of a part, its most frequent values, and in the last line the number of the others."""
        counts, chosen, rows = self._counts[part], getattr(self._narrowing, part), self.size.height - 1
        values = sorted(counts, key=lambda value: (value != ANY, -counts[value], value))
        shown = values if len(values) <= rows else values[: rows - 1]
        most = max(counts.values(), default=1)
        names = {value: "any" if value == ANY else category_name(value) for value in shown}
        lines = [
            _line(name, f"{counts[value]:,}", counts[value] / most, size, is_chosen=value == chosen)
            for value, name in names.items()
        ]
        if others := values[len(shown) :]:
            lines.append(_line(f"{len(others):,} others", "", 0, size))
        return _headed(keyed(self.app, HEADS[part]), lines, "none", size)


def _headed(head: str, lines: list[Content], nothing: str, size: int) -> list[Content]:
    shown = lines or [plain(cells(nothing, size)).stylize_before(MUTED)]
    return [plain(cells(head, size)).stylize_before(HEADING), *shown]


def _line(name: str, number: str, share: float, size: int, rest: str = " ", *, is_chosen: bool = False) -> Content:
    """A name, a bar for a *share* of the longest bar, filled up with *rest*, and a number, in *size* cells."""
    room = max(0, size - GAP - 2)
    longest = min(MOST_BAR, room - NAME_WIDTH - NUMBER_WIDTH)
    bar = "━" * max(bool(share), round(share * longest)) if longest >= LEAST_BAR else ""
    name_room = NAME_WIDTH if longest >= LEAST_BAR else room - NUMBER_WIDTH
    shown = cells(name, name_room) + (bar.ljust(longest, rest) if longest >= LEAST_BAR else "")
    line = plain(f"{'▸' if is_chosen else ' '} {shown}{number:>{NUMBER_WIDTH}}".ljust(size))
    return line.stylize_before("bold $text-warning" if is_chosen else MUTED)
