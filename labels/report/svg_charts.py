"""The charts of a report as SVG: the elements as text, the axes of a plot, and each chart."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from engine.wording import cut
from labels.report.charts import TICKS, ConfusionChart, LineChart, PrecisionChart, WorstChart, confusion_rows
from labels.report.section import decimal, one_line, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from labels.report.charts import ChartLine

    Place = tuple[float, float]
    """x, y."""

WIDTH = 400
"""The width of every chart in its own units. It is small, so that a telephone need not shrink the letters."""

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 58, 12, 10, 40, 240
SERIES = 6


def element(name: str, *children: str, **attributes: object) -> str:
    """An element; *children* are markup already. `class_` is class, and underscores become hyphens."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{value_of(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def value_of(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(str(value))


def words(text: str, length: int = 200) -> str:
    """*text*, escaped for an element, cut to at most *length* cells."""
    return escape(cut(one_line(text), length))


def label(at: Place, text: str, kind: str = "", length: int = 200) -> str:
    x, y = at
    return element("text", words(text, length), x=float(x), y=float(y), class_=kind) if text else ""


def line(start: Place, end: Place, kind: str) -> str:
    (x1, y1), (x2, y2) = start, end
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=kind)


def shape(name: str, places: Iterable[Place], kind: str) -> str:
    """A polyline or a polygon through *places*."""
    return element(name, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=kind)


def dot(at: Place, kind: str, radius: float = 4.0, hint: str = "") -> str:
    children = [element("title", words(hint))] if hint else []
    return element("circle", *children, cx=float(at[0]), cy=float(at[1]), r=radius, class_=kind)


def series(number: int) -> str:
    """The class of a system's marks, the same in every chart."""
    return f"s{number % SERIES}"


def chart(name: str, title: str, description: str, height: float, parts: Iterable[str]) -> str:
    """A whole picture. *name* must be unique on the page."""
    head = element("title", words(title), id=f"{name}-title")
    about = element("desc", words(description, 2000), id=f"{name}-desc")
    box, ids = f"0 0 {WIDTH} {height:.0f}", f"{name}-title {name}-desc"
    return element("svg", head, about, *parts, class_="chart", viewBox=box, role="img", aria_labelledby=ids)


class Plot:
    """A field in which x goes from 0 to *far* and y from 0 to 1."""

    def __init__(self, far: float) -> None:
        self.far = far
        self.bottom = TOP + HEIGHT

    def at(self, x: float, y: float) -> Place:
        return LEFT + x / self.far * (WIDTH - LEFT - RIGHT), self.bottom - y * HEIGHT

    def axes(self, across: str, up: str) -> list[str]:
        """The grid, its numbers, and the titles of the axes."""
        parts = []
        for tick in TICKS:
            x, y = self.at(tick * self.far, tick)
            number = f"{tick:g}" if self.far == 1 else f"{tick * self.far:,.0f}"
            parts.append(line((LEFT, y), (WIDTH - RIGHT, y), "grid"))
            parts.append(label((LEFT - 6, y + 4), f"{tick:g}", "tick end"))
            parts.append(label((x, self.bottom + 16), number, "tick middle"))
        x, middle = self.at(self.far / 2, 0.5)
        parts.append(label((x, self.bottom + 33), across, "axis middle"))
        turned = f"rotate(-90 12 {middle:.0f})"
        return [*parts, element("text", words(up), x=12, y=middle, class_="axis middle", transform=turned)]


EDGE, ROW = 12, 44
WORST_EDGE, WORST_ROW, WORST_NUMBERS = 4, 38, 64
LONGEST = 52
"""Characters of a name that the chart has room for, even in a wide font."""

CONFUSION_LEFT, CONFUSION_TOP, CELL_WIDTH, CELL_HEIGHT = 144, 30, (WIDTH - 148) / 2, 58


def drawn(made: PrecisionChart | WorstChart | ConfusionChart | LineChart) -> str:
    """An SVG element."""
    match made:
        case PrecisionChart():
            return precision_chart(made)
        case WorstChart():
            return worst_chart(made)
        case ConfusionChart():
            return confusion_chart(made)
        case LineChart():
            return line_chart(made)


# Precision


def precision_chart(made: PrecisionChart) -> str:
    """The dot is the precision, the bar its interval."""
    bottom = ROW * len(made.systems) + 8
    parts = [line((across(tick), 6), (across(tick), bottom), "grid") for tick in TICKS]
    parts += [label((across(tick), bottom + 15), f"{tick:g}", "tick middle") for tick in TICKS]
    for number, system in enumerate(made.systems):
        value, interval, y = system.headline.relevant.value, system.headline.interval, ROW * number + 20
        parts.append(label((EDGE, y - 2), system.system, "name", 44))
        parts.append(label((WIDTH - RIGHT, y - 2), "not known" if value is None else f"{value:.2f}", "name end"))
        if value is not None and interval is not None:
            y, kind = y + 12, series(number)
            parts.append(line((across(interval.low), y), (across(interval.high), y), f"bar {kind}"))
            parts.append(dot((across(value), y), f"point {kind}", 5, f"{system.system}: {value:.2f}"))
    described = "; ".join(
        f"{system.system}: {decimal(system.headline.relevant.value)}, interval {span(system.headline.interval)}"
        for system in made.systems
    )
    return chart("precision-chart", "Precision of each system", described, bottom + 22, parts)


def across(value: float) -> float:
    return EDGE + value * (WIDTH - EDGE - RIGHT)


# The worst memories and prompts


def worst_chart(made: WorstChart) -> str:
    rows, parts = made.rows, []
    scale = (WIDTH - 2 * WORST_EDGE - WORST_NUMBERS) / made.longest
    for number, row in enumerate(rows):
        wrong, right, y = row.irrelevant * scale, row.relevant * scale, float(WORST_ROW * number + 19)
        parts.append(label((WORST_EDGE, y - 6), row.text or row.id, "name", LONGEST))
        parts.append(element("rect", x=WORST_EDGE, y=y, width=wrong, height=11, class_="differ"))
        if row.relevant:
            parts.append(element("rect", x=WORST_EDGE + wrong, y=y, width=right, height=11, class_="agree"))
        end = (WORST_EDGE + wrong + right + 6, y + 10)
        parts.append(label(end, f"{row.irrelevant} : {row.relevant}", "tick"))
    described = "; ".join(f"{row.text or row.id}: {row.irrelevant} irrelevant, {row.relevant} relevant" for row in rows)
    return chart(f"{made.name}-chart", made.title, described, WORST_ROW * len(rows) + 2, parts)


# The judge against people


def confusion_chart(made: ConfusionChart) -> str:
    """A fuller square is darker."""
    rows = confusion_rows(made.counts)
    parts = [
        label((CONFUSION_LEFT + CELL_WIDTH * (column + 0.5), CONFUSION_TOP - 10), name, "axis middle")
        for column, name in enumerate(("people: relevant", "irrelevant"))
    ]
    for row, (name, numbers) in enumerate(rows):
        y = CONFUSION_TOP + row * (CELL_HEIGHT + 4)
        parts.append(label((CONFUSION_LEFT - 8, y + CELL_HEIGHT / 2 + 4), name, "axis end"))
        for column, count in enumerate(numbers):
            parts += cell(column, y, count, made.counts.total, agrees=row == column)
    described = "; ".join(
        f"{name}: {relevant} relevant, {irrelevant} irrelevant" for name, (relevant, irrelevant) in rows
    )
    title = f"Judge against people: {made.system}"
    return chart(f"confusion-{made.number}", title, described, CONFUSION_TOP + 2 * (CELL_HEIGHT + 4), parts)


def cell(column: int, y: float, count: int, total: int, *, agrees: bool) -> Iterator[str]:
    x = CONFUSION_LEFT + column * (CELL_WIDTH + 4)
    share = count / total if total else 0.0
    place = {"x": float(x), "y": float(y), "width": CELL_WIDTH - 2, "height": float(CELL_HEIGHT), "rx": 4}
    kind, opacity = "agree" if agrees else "differ", f"{0.12 + 0.68 * share:.2f}"
    yield element("rect", **place, class_=kind, fill_opacity=opacity)
    yield label((x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 2), f"{count:,}", "count middle")
    yield label((x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 18), f"{100 * share:.0f} %", "tick middle")


# Curves


def line_chart(made: LineChart) -> str:
    """The lines with their points, and below them the names of their systems."""
    plot = Plot(made.far)
    parts = plot.axes(made.across, "share that is relevant" if made.has_diagonal else "precision")
    if made.has_diagonal:
        parts.append(line(plot.at(0, 0), plot.at(made.far, 1), "grid"))
    top = plot.bottom + BOTTOM + 12
    for place, own in enumerate(made.lines):
        parts += line_parts(own, plot, is_band=made.is_band)
        y, kind = top + 18 * place, series(own.number)
        parts.append(
            line((LEFT, y - 4), (LEFT + 26, y - 4), f"{'line' if made.is_band or not own.spans else 'thin'} {kind}")
        )
        parts.append(label((LEFT + 34, y), own.system, "name", 44))
    described = "; ".join(f"{own.system}: from {point_text(own, 0)} to {point_text(own, -1)}" for own in made.lines)
    return chart(made.name, made.title, described, top + 18 * len(made.lines) - 6, parts)


def line_parts(own: ChartLine, plot: Plot, *, is_band: bool) -> Iterator[str]:
    """The line of a system. Where each point has an interval of its own, each has a dot; else only the last has."""
    kind, xs = series(own.number), [x for x, _ in own.points]
    has_bars = bool(own.spans) and not is_band
    bounds = [(plot.at(x, span.low), plot.at(x, span.high)) for x, span in zip(xs, own.spans, strict=False)]
    if is_band:
        yield shape("polygon", [*(high for _, high in bounds), *(low for low, _ in reversed(bounds))], f"band {kind}")
    yield shape("polyline", [plot.at(*point) for point in own.points], f"{'thin' if has_bars else 'line'} {kind}")
    yield from (line(low, high, f"thin {kind}") for low, high in bounds if has_bars)
    for place in range(len(own.points)) if has_bars else (-1,):
        yield dot(plot.at(*own.points[place]), f"point {kind}", 4, f"{own.system}: {point_text(own, place)}")


def point_text(own: ChartLine, place: int) -> str:
    """0.62 at 0.35, and its interval."""
    x, y = own.points[place]
    interval = f" ({span(own.spans[place])})" if own.spans else ""
    return f"{y:.2f} at {f'{x:,}' if isinstance(x, int) else f'{x:.2f}'}{interval}"
