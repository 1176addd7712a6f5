"""Why a memory of the root was injected for a prompt, and why not."""

from __future__ import annotations

import time

from engine.config import AUTO, MEMSIFT, SYSTEMS, TITLE_TAGS
from engine.explaining.contributions import (
    MISTAKES,
    KeywordContributions,
    MatchContributions,
    advice,
    nearest,
    suggested_tag,
)
from engine.judge.verdict import OK
from engine.lean.record import Record
from engine.pipeline import floor_share, pool_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.config import Config
    from engine.explaining.contributions import Breakdown, Near
    from engine.memory import Memory, MemorySummary
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex

INJECTED, POOL, UNMATCHED = "injected", "pool", "unmatched"
"""Outcomes beside the stages that drop a memory: it is injected; it matches, but is not in the pool; it holds no word
of the prompt."""

SWITCHED_OFF = "the settings of its root switch it off"

MIN_LIKENESS = 0.5
"""The least ratio of `difflib` between a mistyped id and the id that was meant."""


class Bar(Record):
    """A value that a strength, or P(relevant), had to reach. The `gap` is the distance above it, negative below."""

    value: float
    gap: float


class Explanation(Record):
    """One memory, one prompt, one system.

    `outcome` is INJECTED, POOL, UNMATCHED or the stage that dropped the memory, and `reason` says it in words. `gap` is
    the strength that was missing there, or the P(relevant) at the cutoff: at most 0, None for other outcomes. `rank` is
    1-based, None outside of the pool. `breakdown` is None for UNMATCHED, which has an `advice` instead. `nearest` are
    words that were almost found. The bars are None where they do not apply: `floor` (a share of the best strength),
    `least` (the least strength), `entry` (to be in the pool), `cutoff`.
    `probability` is the cutoff's P(relevant), 0..1, None without a cutoff.
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
    probability: float | None = None


class Explainer:
    """Explains the outcomes of memories in one retrieval.

    *config* is that of the retrieval. *now* is in seconds since 1970.
    """

    def __init__(
        self, retrieval: Retrieval, index: OpenIndex, config: Config, *, now: Callable[[], float] = time.time
    ) -> None:
        self._retrieval = retrieval
        self._index = index
        self._config = config
        self._system = SYSTEMS[retrieval.system]
        has_failed = retrieval.judgement is not None and retrieval.judgement.status != OK
        self._has_verdicts = self._system.has_judge and not has_failed
        stages = {"has_judge": self._system.has_judge, "has_cutoff": self._system.has_cutoff}
        self._pool_size = pool_size(config, retrieval.mode, **stages)
        self._candidates = {candidate.memory.id: candidate for candidate in retrieval.candidates}
        prompt, strategy = retrieval.prompt, retrieval.strategy
        self._contributions: MatchContributions | KeywordContributions = (
            KeywordContributions(prompt.text, now())
            if strategy == TITLE_TAGS
            else MatchContributions(prompt, index, strategy, retrieval.mode, has_phrases=config.phrases)
        )
        self._counted = [candidate for candidate in retrieval.candidates if candidate.dropped_by != "status"]
        # The strength that it takes to be in the pool, if the pool is full.
        found = self._counted if self._contributions.has_bodies else retrieval.candidates
        is_full = len(found) >= self._pool_size
        self._entry = min((-candidate.score for candidate in retrieval.candidates), default=None) if is_full else None

    def of(self, memory_id: str) -> Explanation | None:
        """The explanation of a memory; None if the root has none of this id."""
        memory = self._index.memory(memory_id)
        if memory is None:
            return None
        breakdown = self._contributions.of(memory)
        candidate = self._candidates.get(memory_id)
        strength = breakdown.strength if breakdown else 0.0
        without = breakdown.bonus if breakdown and self._retrieval.strategy != MEMSIFT else 0.0
        raw = strength - without
        other = self._index.others.get(memory.summary.root)
        limit = other.config if other and other.is_limited else None
        is_asked = self._has_verdicts and (other is None or other.config.judge == self._config.judge)
        floor, least = (_bar(bar, raw) for bar in self._floors(limit or self._config, is_asked=is_asked))
        entry = None if candidate or breakdown is None else _bar(self._entry, strength)
        cutoff = _bar(candidate.needs, candidate.probability) if candidate else None
        outcome = UNMATCHED if breakdown is None else POOL if candidate is None else candidate.dropped_by or INJECTED
        is_off = other is not None and not other.config.enabled
        near = self._nearest(memory, breakdown)
        return Explanation(
            memory=memory.summary,
            system=self._retrieval.system,
            strategy=self._retrieval.strategy,
            mode=self._retrieval.mode,
            outcome=outcome,
            reason=candidate.reason if candidate else SWITCHED_OFF if is_off else self._reason(outcome, entry),
            gap=self._gap(outcome, strength, {"floor": floor, "least": least, "cutoff": cutoff, POOL: entry}),
            rank=candidate.rank if candidate else None,
            confidence=candidate.confidence if candidate else "",
            breakdown=breakdown,
            floor=floor,
            least=least,
            entry=entry,
            nearest=near,
            advice="" if breakdown else advice(near[0] if near else None, suggested_tag(self._contributions.memories)),
            cutoff=cutoff,
            probability=candidate.probability if candidate else None,
        )

    def _floors(self, limit: Config, *, is_asked: bool) -> tuple[float | None, float | None]:
        """The floor and the least strength of the memories of a root. *limit*: the settings that limit them.

        *is_asked*: whether a judge was asked about them, and answered.
        """
        retrieval, config = self._retrieval, self._config
        if retrieval.mode != AUTO or retrieval.strategy == TITLE_TAGS:
            return None, None
        has_choice = self._system.has_cutoff or is_asked
        share = floor_share(retrieval.strategy, has_choice=has_choice)
        best = max((candidate.strength - candidate.body_bonus for candidate in self._counted), default=0.0)
        least = share * max(config.min_strength, limit.min_strength) * self._contributions.rare
        return share * max(config.floor, limit.floor) * best, least or None

    def _nearest(self, memory: Memory, breakdown: Breakdown | None) -> tuple[Near, ...]:
        """Words that come close; beside words that were found, only probable mistakes."""
        terms, fields = self._contributions.terms, self._contributions.tokens_of(memory)
        if breakdown is None:
            return nearest(terms, fields)
        missing = nearest([term for term in terms if term.text in breakdown.missing], fields)
        return tuple(near for near in missing if near.how in MISTAKES)

    def _reason(self, outcome: str, entry: Bar | None) -> str:
        if outcome == UNMATCHED:
            holder = "it holds" if self._contributions.has_bodies else "its title and tags hold"
            return f"{holder} no word of the prompt"
        if entry and entry.gap <= 0:
            return f"only the {self._pool_size} strongest are ranked, and the weakest of them has {entry.value:.2f}"
        return "the rarer words of the prompt led to other memories, so its strength was not computed"

    def _gap(self, outcome: str, strength: float, bars: Mapping[str, Bar | None]) -> float | None:
        """The strength, or P(relevant), that was missing; None if another reason decided."""
        if outcome == "cap" and self._retrieval.injected:
            return strength + self._retrieval.injected[-1].score
        deciding = ("floor", "least") if outcome == "floor" else (outcome,)
        gaps = [bar.gap for name in deciding if (bar := bars.get(name))]
        return min((gap for gap in gaps if gap <= 0), default=None)


def _bar(value: float | None, reached: float | None) -> Bar | None:
    return None if value is None or reached is None else Bar(value, reached - value)


def near_ids(given: str, ids: list[str], most: int = 3) -> list[str]:
    """The ids that may have been meant: ids that hold *given*, or else ids with a similar spelling."""
    holding = sorted((name for name in ids if given and given.casefold() in name.casefold()), key=len)
    if holding:
        return holding[:most]
    from difflib import get_close_matches

    return get_close_matches(given, ids, most, MIN_LIKENESS)
