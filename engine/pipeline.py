"""prompt -> Retrieval: every stage, in the one function that the hook, search, replay and the screens all call."""

from __future__ import annotations

import time

from engine import inject
from engine.config import AUTO, FTS5_BM25, SEARCH, TITLE_TAGS
from engine.judge.verdict import APPROVED, FLAGGED, NO_KEY, OK
from engine.record import replace
from engine.retrieval import Candidate, Retrieval
from engine.search.index import FULL_TEXT, HEADLINE
from engine.search.keyword import keyword_score, keywords
from engine.search.query import query_terms
from engine.search.ranking import Scored, below_floor, order, rank, score_hits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from engine.config import Config
    from engine.judge.verdict import Judgement
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.search.index import Hit, Index
    from engine.sessions import Session

    class Judge(Protocol):
        """What the pipeline needs of a judge: an answer about these candidates, never an exception."""

        def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement: ...


BM25, BM25_JUDGE = "bm25", "bm25+judge"
SYSTEMS = (BM25, BM25_JUDGE)
NO_FTS5 = "no_fts5"
RECENT_SECONDS = 30 * 86400


def retrieve(
    prompt: Prompt,
    index: Index,
    config: Config,
    *,
    mode: str = AUTO,
    judge: Judge | None = None,
    session: Session | None = None,
    include_retired: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    now: Callable[[], float] = time.time,
) -> Retrieval:
    """Everything one prompt brings up, with the stage that dropped each candidate.

    Without *judge* the system is `bm25`; with it `bm25+judge`. `search` mode looks into bodies, takes `max_results`
    and drops nothing for being weak; `auto` is the hook's. *clock* and *now* are in seconds.
    """
    started = clock()
    strategy, scored = _scored(prompt.text, index, config, mode, now, include_retired=include_retired)
    candidates = rank(scored, config, include_retired=include_retired)
    candidates = _by_status(candidates, include_retired=include_retired)
    if mode == AUTO and strategy != TITLE_TAGS:
        candidates = below_floor(candidates, config.noise_floor)
    judgement = _judgement(prompt, candidates, mode, judge) if strategy != TITLE_TAGS else None
    candidates = _by_judge(candidates, judgement, mode)
    candidates = _by_cap(candidates, _cap(config, mode, judgement))
    candidates = _by_session(candidates, session)
    candidates = _by_budget(candidates, config) if mode == AUTO else candidates
    return Retrieval(
        prompt=prompt,
        system=BM25_JUDGE if judge else BM25,
        mode=mode,
        strategy=strategy,
        candidates=tuple(candidates),
        judgement=judgement,
        fallback=_fallback(judgement, index),
        elapsed_ms=(clock() - started) * 1000,
    )


def _scored(
    text: str, index: Index, config: Config, mode: str, now: Callable[[], float], *, include_retired: bool
) -> tuple[str, list[Scored]]:
    """The strategy that finds the pool, and the pool."""
    size = config.judge.candidate_pool_size if mode == AUTO else config.max_results
    if config.match_strategy == TITLE_TAGS or not index.has_fts5:
        return TITLE_TAGS, _by_keywords(text, index, size, now)
    fields = HEADLINE if mode == AUTO else FULL_TEXT
    terms = query_terms(text)
    hits = index.search(terms, fields, size)
    while mode == SEARCH and not include_retired and len(hits) == size and _active(hits) < config.max_results:
        size *= 2  # a retired memory must not take the place of an active one
        hits = index.search(terms, fields, size)
    return FTS5_BM25, score_hits(hits, terms, with_bonus=mode == AUTO)


def _active(hits: Sequence[Hit]) -> int:
    return sum(hit.summary.status == "active" for hit in hits)


def _by_keywords(text: str, index: Index, size: int, now: Callable[[], float]) -> list[Scored]:
    recent_since = time.strftime("%Y-%m-%d", time.gmtime(now() - RECENT_SECONDS))
    words = keywords(text)
    scores = ((summary, keyword_score(words, summary, recent_since)) for summary in index.summaries())
    scored = (Scored(summary, score, 0, matched) for summary, (score, matched) in scores if matched)
    best = sorted(scored, key=order)[:size]
    shown = {summary.id for summary in index.unchanged([one.memory for one in best])}
    return [one for one in best if one.memory.id in shown]


def _judgement(prompt: Prompt, candidates: list[Candidate], mode: str, judge: Judge | None) -> Judgement | None:
    asked = [one.memory for one in candidates if one.injected]
    return judge.evaluate(prompt, asked, mode) if judge and asked else None


def _by_status(candidates: list[Candidate], *, include_retired: bool) -> list[Candidate]:
    if include_retired:
        return candidates
    return [
        one if one.memory.status == "active" else _dropped(one, "status", f"its record is {one.memory.status}")
        for one in candidates
    ]


def _by_judge(candidates: list[Candidate], judgement: Judgement | None, mode: str) -> list[Candidate]:
    """Attach the verdicts; what the judge did not approve is dropped, unless it could not answer at all.

    What it was not sure of stays in mode `search`, where a person looks at it.
    """
    if judgement is None:
        return candidates
    judged = [replace(one, verdict=judgement.verdict_on(one.memory.id)) for one in candidates]
    if judgement.status != OK:
        return judged
    kept = (APPROVED,) if mode == AUTO else (APPROVED, FLAGGED)
    return [
        _dropped(one, "judge", one.verdict.reasoning or "the judge did not keep it")
        if one.verdict and one.verdict.decision not in kept
        else one
        for one in judged
    ]


def _cap(config: Config, mode: str, judgement: Judgement | None) -> int:
    """How many may be injected: fewer where the judge was asked and could not answer (a missing key is no judge)."""
    most = config.max_inject if mode == AUTO else config.max_results
    failed = judgement is not None and judgement.status not in (OK, NO_KEY)
    return min(most, config.judge.fallback_top_k) if failed else most


def _by_cap(candidates: list[Candidate], most: int) -> list[Candidate]:
    kept = [one.memory.id for one in candidates if one.injected][:most]
    return [
        one if not one.injected or one.memory.id in kept else _dropped(one, "cap", f"only {most} are injected")
        for one in candidates
    ]


def _by_session(candidates: list[Candidate], session: Session | None) -> list[Candidate]:
    if session is None:
        return candidates
    return [
        _dropped(one, "repeat", "this session has it already")
        if one.injected and session.injected.get(one.memory.id) == one.memory.digest
        else one
        for one in candidates
    ]


def _by_budget(candidates: list[Candidate], config: Config) -> list[Candidate]:
    """Whole entries only, as many as fit."""
    left = config.max_characters - inject.FRAME_CHARACTERS
    result = []
    for one in candidates:
        size = inject.length(inject.entry(one.memory, one.confidence, config.output_mode)) + 1 if one.injected else 0
        if size > left:
            one = _dropped(one, "budget", f"it does not fit into {config.max_characters:,} characters")
        else:
            left -= size
        result.append(one)
    return result


def _dropped(candidate: Candidate, stage: str, reason: str) -> Candidate:
    return replace(candidate, dropped_by=stage, reason=reason) if candidate.injected else candidate


def _fallback(judgement: Judgement | None, index: Index) -> str:
    if not index.has_fts5:
        return NO_FTS5
    return judgement.status if judgement is not None and judgement.status != OK else ""
