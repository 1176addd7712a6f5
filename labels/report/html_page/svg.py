"""SVG elements as text, and the axes of a plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from engine.wording import cut
from labels.report.charts import TICKS
from labels.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def path(places: Iterable[Place], kind: str) -> str:
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=kind)


def area(places: Iterable[Place], kind: str) -> str:
    return element("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=kind)


def dot(at: Place, kind: str, radius: float = 4.0, hint: str = "") -> str:
    children = [element("title", words(hint))] if hint else []
    return element("circle", *children, cx=float(at[0]), cy=float(at[1]), r=radius, class_=kind)


def series(number: int) -> str:
    """The class of a system's marks, the same in every chart."""
    return f"s{number % SERIES}"


def chart(name: str, title: str, description: str, height: float, parts: Iterable[str]) -> str:
    """A whole picture. *name* must be unique on the page."""
    head = (
        element("title", words(title), id=f"{name}-title"),
        element("desc", words(description, 2000), id=f"{name}-desc"),
    )
    return element(
        "svg",
        *head,
        *parts,
        class_="chart",
        viewBox=f"0 0 {WIDTH} {height:.0f}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


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
