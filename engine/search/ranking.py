"""Hits -> ranked candidates: body bonus, noise floor, confidence. Pure functions."""

from __future__ import annotations

from engine.record import record, replace
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate
from engine.search.finder import Finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.config import Config
    from engine.memory import MemorySummary
    from engine.search.index import Hit
    from engine.search.query import Term

MAX_BODY_BONUS = 3
HIGH_RATIO, MEDIUM_RATIO = 0.75, 0.40


@record
class Scored:
    """A memory with what its rank is computed from."""

    memory: MemorySummary
    bm25: float
    body_bonus: int
    matched: tuple[str, ...]

    @property
    def score(self) -> float:
        return self.bm25 - self.body_bonus


def score_hits(hits: list[Hit], terms: tuple[Term, ...], *, with_bonus: bool) -> list[Scored]:
    """Each hit with the terms it holds, and its bonus of up to 3 for distinct terms in the body.

    The bonus wants whole words: a body is long enough for any prefix to turn up by chance. Without a bonus the body was
    searched, and holds a term by the rule by which FTS5 matched it.
    """
    owners = [number for number, term in enumerate(terms) for _ in term.phrases]
    loose = Finder([phrase for term in terms for phrase in term.searched])
    in_body = Finder([(phrase, False) for term in terms for phrase in term.phrases]) if with_bonus else loose
    scored = []
    for hit in hits:
        title, tags, body = hit.words
        of_body = {owners[number] for number in in_body.count(body)}
        of_head = {owners[number] for text in (title, tags) for number in loose.count(text)}
        matched = tuple(terms[number].text for number in sorted(of_body | of_head))
        bonus = min(MAX_BODY_BONUS, len(of_body)) if with_bonus else 0
        scored.append(Scored(hit.summary, hit.bm25, bonus, matched))
    return scored


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


def below_floor(candidates: list[Candidate], noise_floor: float) -> list[Candidate]:
    """Drop candidates whose raw BM25 is under *noise_floor* x the best raw BM25.

    The bonus is left out: else a bonus on the best memory throws out honest matches.
    """
    floor = noise_floor * max((-one.bm25 for one in candidates if one.injected), default=0.0)
    return [_floored(one, floor) if one.injected and -one.bm25 < floor else one for one in candidates]


def _floored(candidate: Candidate, floor: float) -> Candidate:
    reason = f"BM25 {-candidate.bm25:.2f} is under the floor of {floor:.2f}"
    return replace(candidate, dropped_by="floor", reason=reason)


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
