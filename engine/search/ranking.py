"""Scored memories -> ranked candidates: floors and confidence. Pure functions."""

from __future__ import annotations

from engine.record import record, replace
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from engine.config import Config
    from engine.memory import MemorySummary

    class Asked(Protocol):
        """One thing that a prompt asks for, and the token sequences that say it."""

        @property
        def text(self) -> str: ...

        @property
        def phrases(self) -> tuple[tuple[str, ...], ...]: ...


HIGH_RATIO, MEDIUM_RATIO = 0.75, 0.40


@record
class Scored:
    """A memory with what its rank is computed from: the candidate's fields of the same names."""

    memory: MemorySummary
    bm25: float
    body_bonus: int
    score: float
    matched: tuple[str, ...]


@record
class Pool:
    """What a strategy found.

    `least` is the score, positive, under which it would inject nothing at all. `asked` is what the prompt asks for, by
    the texts in `Scored.matched`; `idf` what each of it weighs, empty where all weigh the same, and `rare` what the
    rarest word could weigh.
    """

    memories: list[Scored]
    least: float = 0.0
    asked: Sequence[Asked] = ()
    idf: Sequence[float] = ()
    rare: float = 1.0


def rank(scored: list[Scored], config: Config, *, include_retired: bool = False) -> list[Candidate]:
    """Candidates, best first.

    The confidence compares with the best score that may be injected: 0.75 and above high, 0.40 and above medium, else
    low; where the score itself is weaker than `confidence_abs_floor`, at most medium.
    """
    best = min((one.score for one in scored if include_retired or one.memory.status == "active"), default=0.0)
    ordered = enumerate(sorted(scored, key=order), start=1)
    return [_candidate(one, number, best, config.confidence_abs_floor) for number, one in ordered]


def order(one: Scored) -> tuple[float, int, str]:
    """The sort key of the best first: by score, then category priority, then path."""
    return one.score, one.memory.priority, one.memory.path


def below_floor(candidates: list[Candidate], noise_floor: float, least: float) -> list[Candidate]:
    """Drop candidates whose score, without the bonus, is under *noise_floor* x the best one's, or under *least*.

    The bonus is left out: else a bonus on the best memory throws out honest matches.
    """
    floor = noise_floor * max((_raw(one) for one in candidates if one.injected), default=0.0)
    return [_floored(one, floor, least) if one.injected else one for one in candidates]


def _floored(candidate: Candidate, floor: float, least: float) -> Candidate:
    raw = _raw(candidate)
    if raw < least:
        reason = f"{raw:.2f} is too weak at all: the least is {least:.2f}"
    elif raw < floor:
        reason = f"{raw:.2f} is under the floor of {floor:.2f}"
    else:
        return candidate
    return replace(candidate, dropped_by="floor", reason=reason)


def _raw(candidate: Candidate) -> float:
    return -candidate.score - candidate.body_bonus


def _candidate(one: Scored, number: int, best: float, abs_floor: float) -> Candidate:
    ratio = min(1.0, one.score / best) if best else 0.0
    return Candidate(
        memory=one.memory,
        rank=number,
        bm25=one.bm25,
        body_bonus=one.body_bonus,
        score=one.score,
        ratio=ratio,
        confidence=_confidence(ratio, one.score, abs_floor),
        matched=one.matched,
    )


def _confidence(ratio: float, score: float, abs_floor: float) -> str:
    if ratio >= HIGH_RATIO:
        return MEDIUM if -score < abs_floor else HIGH
    return MEDIUM if ratio >= MEDIUM_RATIO else LOW
