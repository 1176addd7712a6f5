"""Report: its texts, intervals drawn to scale, the list of its parts, and the rows of a part's table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from engine.wording import counted
from labels.report.first_lines import headline, main_system, open_lines, other_line, rival, scope_lines, served_line
from labels.report.forms import as_item, laid_out, wrapped
from labels.report.gate_text import outlook
from labels.report.section import CountedPrompts, Range, ReportRow, ReportTable
from labels.report.sections import group_of, summary
from tui.plain import aligned, cells, one_line, plain
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import HEADING, memory_text
from tui.widgets.signs import DRAWN, Signs, signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import Memory
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Headline
    from labels.report.section import ReportSection
    from tui.widgets.lists.rows import Cell
    from tui.workspace.report import CountedPrompt, InjectionRow, ReportReading

    Say = Callable[[str], str]


MUTED = "$foreground-muted"
BAR_STYLES = {"muted": MUTED, "good": "$text-success"}
MIN_SCALE, LINES = 14, 3
"""Cells of a bar at least; lines of a prompt that stands alone."""

NOTHING_REPLAYED = (
    "No prompt was replayed yet.\n\n"
    "Press {report.step} to run every prompt through every system, then {go.label} to label what they return."
)
SCALE, ASKED_SIGN, DOT = 60, "┃", "●"
"""Cells of the bar below the headline at most, its sign for the precision that is asked for, and for the estimate."""


def answer_text(reading: ReportReading, width: int, say: Say, *, is_short: bool, drawn: Signs = DRAWN) -> Content:
    """The headline with its bar, and the next step; unless *is_short*, also other numbers.

    *width* in cells; *say* puts keys in the place of their ids.
    """
    report, gate, main = reading.report, reading.gate, main_system(reading.report)
    if gate is None or main is None:
        return plain(say(NOTHING_REPLAYED))
    who = "the hook" if main.system == report.configured else main.system
    lines = [plain(wrapped([headline(main.headline, who)], width, "  ")).stylize_before("bold")]
    if main.headline.estimate and not drawn.in_words:
        lines.append(_answer_bar(main.headline, gate.gate.least, width))
    lines.append(plain(wrapped([outlook(gate), *scope_lines(report.evidence)], width, "  ")))
    if not is_short:
        more = [served_line(main.served, main.false_fire_rate, report.evidence)]
        more += other_line(main.system, rival(report, main.system))
        more += open_lines(report.evidence, main.system)
        lines += [_muted(wrapped(more, width, "  ")), _muted(wrapped([summary(report)], width, "  "))]
    step = reading.step
    key = f"{say('{report.step}')}  " if step.place else ""
    last = plain(wrapped([f"{key}{step.in_app()}"], width, "  ")).stylize_before("bold $text-accent")
    return Content("\n").join([*lines, *([] if is_short else [Content("")]), last])


def _answer_bar(found: Headline, asked: float, width: int) -> Content:
    """The range of the precision on a scale, and the precision that is asked for."""
    assert found.estimate
    scale = max(MIN_SCALE, min(SCALE, width - 30))
    bar = interval_bar(found.estimate.value, found.live, found.live, scale)
    at = round(asked * (scale - 1))
    mark = plain(ASKED_SIGN if bar.plain[at] != DOT else DOT).stylize_before("bold $text-accent")
    key = plain(f"  {ASKED_SIGN} ").stylize_before("bold $text-accent") + _muted(f"{100 * asked:g} % asked for")
    return _muted("0 ") + bar[:at] + mark + bar[at + 1 :] + _muted(" 100 %") + key


def part_text(section: ReportSection, whole: str, width: int, prompts: Content | None = None) -> Content:
    """The row under the cursor in full, sentences about the numbers, how to read them, and the *prompts* behind it."""
    lines = [plain(wrapped([whole], width, "  "))] if whole else []
    lines += [plain(as_item(line, width)) for line in section.lines]
    if section.about:
        lines.append(plain(wrapped([section.about], width, "  ")).stylize_before(MUTED))
    lines += [Content(""), prompts] if prompts else []
    return Content("\n").join(lines)


def interval_bar(point: float, once: Interval, live: Interval, width: int) -> Content:
    """A *point* on a scale from 0 to 1 of *width* cells, its interval for a single look (thick) and for any (thin)."""
    pieces = (plain(text).stylize_before(BAR_STYLES[tone]) for text, tone in bar_cells(Range(point, once, live), width))
    return Content("").join(pieces)


def bar_cells(found: Range, width: int) -> list[Cell]:
    """The same bar as pieces of a row."""
    shares = (found.value, found.once.low, found.once.high, found.live.low, found.live.high)
    dot, *ends = (round(share * (width - 1)) for share in shares)
    thick, thin = ends[:2], ends[2:]
    first, last = min(thin[0], thick[0]), max(thin[1], thick[1])
    signs_at = dict.fromkeys(range(thin[0], thin[1] + 1), "─")
    signs_at |= dict.fromkeys(range(thick[0], thick[1] + 1), "━") | {dot: DOT}
    drawn = "".join(signs_at.get(place, "·") for place in range(width))
    return [(drawn[:first], "muted"), (drawn[first : last + 1], "good"), (drawn[last + 1 :], "muted")]


# What a row counts: prompts, or a memory


def prompts_text(
    prompts: Sequence[CountedPrompt], whole: int, read: Callable[[str], Memory | None], width: int, drawn: Signs = DRAWN
) -> Content:
    """Each prompt with the memories that were injected for it. A prompt that stands alone has their texts, too.

    *whole* counts all prompts of the row. *read* gives the memory with an id. *drawn* are the signs of labels.
    """
    is_alone = len(prompts) == 1
    key = f"{drawn.verdicts['relevant']} relevant   {drawn.verdicts['not']} not relevant"
    lines = [_muted(_counted(len(prompts), whole)), *([] if drawn.in_words else [_muted(key)])]
    for prompt in prompts:
        room = width * (LINES if is_alone else 1)
        lines += [Content(""), plain(cells(prompt.text, room).rstrip()).stylize_before("bold")]
        for row in _labelled(prompt):
            by = f"  ({', '.join(row.systems)})" if len(row.systems) > 1 else ""
            lines.append(_signed(row.title, row.is_relevant, width - len(by), drawn) + _muted(by))
        if hidden := len(prompt.injected) - len(_labelled(prompt)):
            hides = f"{counted(hidden, 'memory')} without a label, hidden so that your label stays blind."
            lines.append(_muted(f"  {hides}"))
        elif not prompt.injected:
            lines.append(_muted("  Nothing is injected."))
    for row in _labelled(prompts[0]) if is_alone else ():
        memory = read(row.memory_id)
        lines += [Content(""), memory_text(memory)] if memory else []
    return Content("\n").join(lines)


def memory_row_text(
    prompts: Sequence[CountedPrompt], memory_id: str, memory: Memory | None, width: int, drawn: Signs = DRAWN
) -> Content:
    """The prompts for which a memory was injected, and the memory; None if it is gone."""
    lines = [plain("Injected for").stylize_before(HEADING)]
    for prompt in prompts:
        own = [row for row in _labelled(prompt) if row.memory_id == memory_id]
        lines += [_signed(prompt.text, row.is_relevant, width, drawn) for row in own]
    return Content("\n").join([*lines, Content(""), memory_text(memory) if memory else _muted("The memory is gone.")])


def _labelled(prompt: CountedPrompt) -> list[InjectionRow]:
    """The memories with a label. A person who has seen what was injected could not label the others blind."""
    return [row for row in prompt.injected if row.is_relevant is not None]


def _counted(shown: int, whole: int) -> str:
    if shown < whole:
        return f"The first {shown} of {whole:,} prompts, the worst first"
    return "The prompt and what was injected for it" if whole == 1 else "The prompts, the worst first"


def _signed(text: str, is_relevant: bool | None, width: int, drawn: Signs) -> Content:
    verdict, tone = ("relevant", "$text-success") if is_relevant else ("not", "$text-error")
    sign = f"  {drawn.verdicts[verdict]} "
    shown = plain(cells(one_line(text), max(1, width - len(sign))).rstrip())
    return plain(sign).stylize_before(tone) + shown


def _muted(text: str) -> Content:
    return plain(text).stylize_before(MUTED)


GROUP_WIDTH, BAR_GAP, MAX_SCALE = 8, 3, 60
"""Cells of the name of a group, of the space around a bar, and of a bar at most."""


class PartList(RowList["ReportSection"]):
    """A row for each part, by the beginning of its title. The first of a group is behind the name of the group."""

    NOUN = "part"

    def id_of(self, record: ReportSection) -> str:
        return record.name

    def row_cells(self, index: int, width: int) -> list[Cell]:
        groups = [group_of(part) for part in self.records[max(0, index - 1) : index + 1]]
        group = "" if index and groups[0] == groups[1] else groups[-1]
        title = self.records[index].title.split(":")[0]
        return [(f" {cells(group, GROUP_WIDTH)}", "muted"), (cells(title, width - 1 - GROUP_WIDTH), "")]


@dataclass(frozen=True)
class TableRow:
    """A row of a table on the screen: its line, and if that is cut all its cells with the names of their columns."""

    number: int
    line: str
    whole: str
    row: ReportRow

    @property
    def counted(self) -> CountedPrompts | None:
        """What the row counts; None for nothing that can be opened."""
        own = self.row.counted
        return own if own and (own.memory or own.prompts) else None


class TableRows(RowList[TableRow]):
    """The rows of a part's table, with bars where there is room. Rows that can be opened have a sign at the end."""

    def id_of(self, record: TableRow) -> str:
        return str(record.number)

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        opens = signs(self).opens
        end = (opens if row.counted else " " * len(opens), "muted")
        room = width - len(opens)
        used = 1 + max(cell_len(other.line) for other in self.records) + BAR_GAP
        scale = min(MAX_SCALE, room - used - BAR_GAP)
        if signs(self).in_words or row.row.range is None or scale < MIN_SCALE:
            return [(aligned(f" {row.line}", room), ""), end]
        bar = [(aligned(f" {row.line}", used), ""), *bar_cells(row.row.range, scale)]
        return [*bar, (" " * (room - used - scale), ""), end]


def table_rows(table: ReportTable, width: int, *, has_bars: bool = True) -> tuple[list[str], list[TableRow]]:
    """The lines of the head, and the rows, for lines of *width* cells, with bars for ranges if it *has_bars*.

    Columns that have no room beside a short bar are left out, the last ones first. The whole of a row stands in `whole`
    then.
    """
    bar = BAR_GAP + MIN_SCALE + BAR_GAP if has_bars and any(row.range for row in table.rows) else 0
    least = min(table.names + 1, len(table.head))
    head, body, shown = _fit(table, width - bar, least, least if bar else least + 2)
    rows, name = [], ""
    for number, (line, row) in enumerate(zip(body, table.rows, strict=True)):
        first, *others = row.cells
        name = first or name  # a row without a name of its own has that of the row above
        is_whole = shown == len(table.head) and all(one_line(cell) in line for cell in row.cells[: table.names])
        named = zip(table.head, (name, *others), strict=True)
        whole = " · ".join(" ".join((*column.split(), cell)) for column, cell in named if cell)
        rows.append(TableRow(number, line, "" if is_whole else whole, row))
    return head, rows


def called_table(table: ReportTable, called: Callable[[str], str]) -> ReportTable:
    """*table* with the names of systems for people, as *called* gives them."""
    names = table.names
    rows = (row._replace(cells=(*map(called, row.cells[:names]), *row.cells[names:])) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _fit(table: ReportTable, width: int, least: int, uncut: int) -> tuple[list[str], list[str], int]:
    """The head and body of the first columns that fit, at *least* so many, and their number.

    Columns are left out before a name is cut, down to *uncut* ones.
    """
    for is_whole, fewest in ((True, uncut), (table.is_whole, least)):
        for count in range(len(table.head), fewest - 1, -1):
            rows = tuple(ReportRow(row.cells[:count]) for row in table.rows)
            head, body = laid_out(ReportTable(table.head[:count], rows, table.names, is_whole), width)
            if head and len(body) == len(table.rows):
                return head, body, count
    names = [" ".join(filter(None, row[: table.names])) for row in table.texts]
    return [], [cells(name, width).rstrip() for name in names], table.names
