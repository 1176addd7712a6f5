"""Why a memory was injected for a prompt, and why not: for any prompt and any memory of the root."""

from __future__ import annotations

import time

from engine.config import AUTO, FTS5_BM25, MEMSIFT, SEARCH, TITLE_TAGS
from engine.judge.verdict import OK
from engine.lean.record import Record
from engine.pipeline import floor_share, pool_size
from engine.search.contributions import contributions_of
from engine.search.nearest import MISTAKES, advice, nearest, suggested_tag
from engine.systems import SYSTEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.config import Config
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from engine.search.contributions import Breakdown
    from engine.search.index import Index, IndexedMemory
    from engine.search.nearest import Near

INJECTED, POOL, UNMATCHED = "injected", "pool", "unmatched"
"""What became of a memory, beside the stages that drop one: it is injected; it matched, but others filled the pool; it
holds nothing of the prompt."""

MIN_LIKENESS = 0.5
"""`difflib`'s ratio from which on an id may have been meant."""


class Bar(Record):
    """Something that a strength, or P(relevant), had to reach. The `gap` is how far it is above, negative for below."""

    value: float
    gap: float


class Explanation(Record):
    """One memory, one prompt, one system.

    `outcome` is INJECTED, POOL, UNMATCHED or the stage that dropped it; `reason` says it in words. `gap`, at most 0, is
    the strength that was missing there, if strength decided; at the cutoff, the P(relevant). `rank` is 1-based in the
    pool, None outside of it. `breakdown` is None for UNMATCHED, which has an `advice` instead; `nearest` are words that
    were almost found. `floor` is the share of the best one's strength, `least` the least strength at all, `entry` what
    it takes to be in the pool; `cutoff` is the P(relevant) that it takes, where one was tuned. None where there is
    none.
    """

    memory: MemorySummary
    system: str
    strategy: str
    mode: str
    outcome: str
    reason: str
    gap: float | None
    rank: int | None
    confidence: str
    breakdown: Breakdown | None
    floor: Bar | None
    least: Bar | None
    entry: Bar | None
    nearest: tuple[Near, ...] = ()
    advice: str = ""
    cutoff: Bar | None = None


class Explainer:
    """Explains what became of memories in one retrieval.

    *config* and *include_retired* are those of the retrieval. *now* is in seconds since 1970.
    """

    def __init__(
        self,
        retrieval: Retrieval,
        index: Index,
        config: Config,
        *,
        include_retired: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._retrieval = retrieval
        self._index = index
        self._config = config
        self._candidates = {one.memory.id: one for one in retrieval.candidates}
        self._contributions = contributions_of(retrieval.prompt.text, index, retrieval.strategy, retrieval.mode, now())
        counted = [one for one in retrieval.candidates if include_retired or one.memory.status == "active"]
        self._floor, self._least = self._floors(counted)
        self._has_bodies = retrieval.strategy == MEMSIFT or (retrieval.strategy, retrieval.mode) == (FTS5_BM25, SEARCH)
        self._entry = self._weakest(counted if self._has_bodies else list(retrieval.candidates))

    def of(self, memory_id: str) -> Explanation | None:
        """The explanation of a memory; None if the root has none of this id."""
        memory = self._index.indexed(memory_id)
        if memory is None:
            return None
        breakdown = self._contributions.of(memory)
        return self._of_matched(memory, breakdown) if breakdown else self._of_unmatched(memory)

    def _floors(self, counted: list[Candidate]) -> tuple[float | None, float | None]:
        """The share of the best and the least strength, as this retrieval asked for them."""
        retrieval = self._retrieval
        if retrieval.mode != AUTO or retrieval.strategy == TITLE_TAGS:
            return None, None
        failed = retrieval.judgement is not None and retrieval.judgement.status != OK
        has_judge = SYSTEMS[retrieval.system].has_judge and not failed
        share = floor_share(retrieval.strategy, has_judge=has_judge)
        best = max((-one.score - one.body_bonus for one in counted), default=0.0)
        least = share * self._config.min_strength * self._contributions.rare
        return share * self._config.floor * best, least or None

    def _weakest(self, counted: list[Candidate]) -> float | None:
        """What it takes to be in the pool, if it is full: of active memories, where bodies are searched."""
        if len(counted) < pool_size(self._config, self._retrieval.mode):
            return None
        return min(-one.score for one in self._retrieval.candidates)

    def _of_matched(self, memory: IndexedMemory, breakdown: Breakdown) -> Explanation:
        candidate = self._candidates.get(memory.summary.id)
        raw = breakdown.strength - breakdown.bonus
        floor, least, entry = _bar(self._floor, raw), _bar(self._least, raw), _bar(self._entry, breakdown.strength)
        outcome = (candidate.dropped_by or INJECTED) if candidate else POOL
        cutoff = self._cutoff_of(candidate)
        return Explanation(
            memory=memory.summary,
            system=self._retrieval.system,
            strategy=self._retrieval.strategy,
            mode=self._retrieval.mode,
            outcome=outcome,
            reason=self._reason(candidate, entry),
            gap=cutoff.gap if cutoff and outcome == "cutoff" else self._gap(outcome, breakdown, floor, least, entry),
            rank=candidate.rank if candidate else None,
            confidence=candidate.confidence if candidate else "",
            breakdown=breakdown,
            floor=floor,
            least=least,
            entry=None if candidate else entry,
            nearest=self._near_missing(memory, breakdown),
            cutoff=cutoff,
        )

    def _cutoff_of(self, candidate: Candidate | None) -> Bar | None:
        """The bar of the cutoff, for what reached it."""
        probability = candidate.probability if candidate else None
        return None if probability is None else _bar(self._retrieval.least, probability)

    def _near_missing(self, memory: IndexedMemory, breakdown: Breakdown) -> tuple[Near, ...]:
        """What may be a mistake among the words that were not found."""
        missing = set(breakdown.missing)
        terms = [term for term in self._contributions.terms if term.text in missing]
        return tuple(near for near in nearest(terms, self._contributions.searched(memory)) if near.how in MISTAKES)

    def _of_unmatched(self, memory: IndexedMemory) -> Explanation:
        terms = self._contributions.terms
        near = nearest(terms, self._contributions.searched(memory))
        return Explanation(
            memory=memory.summary,
            system=self._retrieval.system,
            strategy=self._retrieval.strategy,
            mode=self._retrieval.mode,
            outcome=UNMATCHED,
            reason=self._reason_unmatched(),
            gap=None,
            rank=None,
            confidence="",
            breakdown=None,
            floor=_bar(self._floor, 0.0),
            least=_bar(self._least, 0.0),
            entry=None,
            nearest=near,
            advice=advice(near[0] if near else None, suggested_tag(self._contributions.memories)),
        )

    def _reason(self, candidate: Candidate | None, entry: Bar | None) -> str:
        if candidate:
            return candidate.reason
        if entry and entry.gap <= 0:
            size = pool_size(self._config, self._retrieval.mode)
            return f"the {size} strongest are looked at, and the last of them has {entry.value:.2f}"
        return "the rarer words of the prompt led to other memories, so its strength was not computed"

    def _reason_unmatched(self) -> str:
        return f"{'it holds' if self._has_bodies else 'its title and tags hold'} no word of the prompt"

    def _gap(
        self, outcome: str, breakdown: Breakdown, floor: Bar | None, least: Bar | None, entry: Bar | None
    ) -> float | None:
        if outcome == "floor":
            return min(bar.gap for bar in (floor, least) if bar)
        if outcome == "cap" and self._retrieval.injected:
            return breakdown.strength + self._retrieval.injected[-1].score
        return entry.gap if outcome == POOL and entry and entry.gap <= 0 else None


def _bar(value: float | None, reached: float) -> Bar | None:
    return None if value is None else Bar(value, reached - value)


def near_ids(given: str, ids: list[str], most: int = 3) -> list[str]:
    """The ids that may have been meant: those that hold what was given, or else those that are spelled like it."""
    holding = sorted((one for one in ids if given and given.casefold() in one.casefold()), key=len)
    if holding:
        return holding[:most]
    from difflib import get_close_matches

    return get_close_matches(given, ids, most, MIN_LIKENESS)
