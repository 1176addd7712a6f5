"""Why a memory was injected for a prompt, and why not, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import MATCH_STYLE, plain
from tui.workspace.explain_rows import detail_lines, outcome_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.explain import Explanation
    from tui.workspace.explain_rows import Line

STYLES = {
    "head": "$foreground-muted underline",
    "muted": "$foreground-muted",
    "good": "$text-success",
    "bad": "$text-error",
    "match": MATCH_STYLE,
}
NOT_YET = "This prompt has not been run yet."


def explain_text(explanations: Sequence[Explanation], width: int) -> Content:
    """What became of one memory in each system, *width* cells wide, and by what sums, once for each strategy."""
    if not explanations:
        return plain(NOT_YET)
    lines = [plain(explanations[0].memory.title).stylize_before("bold"), Content("")]
    lines += [_content(outcome_line(one)) for one in explanations]
    by_strategy = {one.strategy: one for one in reversed(explanations)}
    for one in reversed(by_strategy.values()):
        heading = [plain(one.system).stylize_before("bold $text-primary")] if len(by_strategy) > 1 else []
        lines += [Content(""), *heading, *map(_content, detail_lines(one, width))]
    return Content("\n").join(lines)


def _content(line: Line) -> Content:
    return Content("").join(plain(text).stylize_before(STYLES.get(tone, "")) for text, tone in line)
