"""The live interval of precision while a person labels, and the number of prompts that would decide the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.decision import FAIL, PASS, Gate, decide
from labels.measure.gate import evidence_from_store
from labels.measure.intervals import Interval
from labels.report.first_lines import ANYTHING, HIGH_ENOUGH
from labels.store import LabelStore
from tui.workspace.root.measured import present_digests

if TYPE_CHECKING:
    from labels.measure.decision import GateDecision
    from tui.workspace.workspace import Workspace

GATE = Gate(HIGH_ENOUGH, Interval(HIGH_ENOUGH, HIGH_ENOUGH))
"""The precision from which on a report proposes nothing."""


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


def precision_words(found: GateDecision) -> str:
    """The decision in a few words; empty as long as the precision may be anything."""
    if found.estimate is None or found.live.high - found.live.low > ANYTHING:
        return ""
    interval = f"precision {100 * found.live.low:.0f} to {100 * found.live.high:.0f} %"
    if found.verdict in (PASS, FAIL):
        return f"{interval}, {'above' if found.verdict == PASS else 'below'} {100 * HIGH_ENOUGH:.0f} %"
    more = f", about {found.more:,} more prompts decide" if found.more else ""
    return f"{interval}{more}"
