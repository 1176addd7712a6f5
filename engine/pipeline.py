"""From a prompt to a Retrieval: all stages, in one function. Hook, commands and screens call it."""

from __future__ import annotations

import time

from engine import inject
from engine.config import AUTO, MEMSIFT, OFF, SEARCH, TITLE_TAGS, system_of
from engine.lean.record import Record, replace
from engine.memory import UNSCANNED
from engine.retrieval import Candidate, Retrieval, Session
from engine.search.ranking import below_floor, rank
from engine.search.strategies import memsift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.verdict import Judgement
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.roots import OpenIndex
    from engine.search.postings import Postings
    from engine.search.ranking import CandidatePool

    class Judge(Protocol):
        """A judge, as the pipeline needs it: it answers about the candidates, and never raises."""

        def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement: ...


class OpenSystem(Record):
    """A system, ready to answer: its configuration, and the cutoff and the judge if it has them.

    A cutoff acts only on the strategy that it was made for, in mode `auto`. *clock* and *now* are in seconds.
    """

    config: Config
    cutoff: Cutoff | None = None
    judge: Judge | None = None
    clock: Callable[[], float] = time.perf_counter
    now: Callable[[], float] = time.time


class Query(Record):
    """A prompt, and what is asked about it.

    Mode `search` injects up to `max_results` memories, however weak. `session`: what the conversation was given.
    """

    prompt: Prompt
    mode: str = AUTO
    session: Session | None = None
    include_retired: bool = False


NO_FTS5 = "no_fts5"
BY_KEYWORDS = "SQLite has no FTS5 here, so memories are found by keywords and no judge is asked"
"""The fallback NO_FTS5 in words."""

WAITS = "possible instruction to the assistant, waits for approval"
"""The reason for a memory whose risk is at least `max_risk`."""

LOADED = "its client loads it into every conversation by itself"
"""The reason for a memory that `repeat_loaded` does not let the hook repeat."""

TWICE = "another root has the same memory"
"""The reason for a memory with the text of a stronger one in another root."""

SHARE_BEFORE_CHOICE = 0.5
"""How high the floors are where a cutoff or a judge comes after them, as a share of their usual height. Only `memsift`.

A cutoff and a judge drop weak candidates by themselves. Floors of the usual height would drop relevant memories before
they are looked at, as LoCoMo shows.
"""


class _Rules:
    """The settings for each memory: those of the system. Those of a root in `limits` make its own memories rarer.

    The judge is not asked about the memories of the roots `unasked`: their settings name another one.
    """

    def __init__(self, system: OpenSystem, index: OpenIndex) -> None:
        self.config, others = system.config, index.others
        self.limits = {root: other.config for root, other in others.items() if other.is_limited}
        self.unasked = {root for root, other in others.items() if other.config.judge != system.config.judge}

    def of(self, memory: MemorySummary) -> Config:
        """The settings for a memory; of numbers that limit it, the stricter."""
        own = self.config
        if (limit := self.limits.get(memory.root)) is None:
            return own
        most = {"max_risk": min(own.max_risk, limit.max_risk), "max_inject": min(own.max_inject, limit.max_inject)}
        return replace(own, **most, repeat_loaded=own.repeat_loaded and limit.repeat_loaded)


def retrieve(question: Query, index: OpenIndex, system: OpenSystem) -> Retrieval:
    """Find candidates for a prompt, and let each stage in turn drop some. The rest is the injected set.

    With a cutoff and a judge, the cutoff keeps sure candidates, drops hopeless ones, and leaves the others to the
    judge; if the judge cannot answer, the cutoff decides alone.
    """
    started = system.clock()
    prompt, mode, config, judge = question.prompt, question.mode, system.config, system.judge
    cutoff, rules = system.cutoff, _Rules(system, index)
    if cutoff and not (mode == AUTO and index.has_fts5 and cutoff.strategy == config.match_strategy):
        cutoff = None
    size = pool_size(config, mode, has_judge=judge is not None, has_cutoff=cutoff is not None)
    strategy, pool = first_pool(question, index, system, size)
    cutoff = cutoff and cutoff.of(has_phrases=pool.has_phrases)
    system = replace(system, cutoff=cutoff)
    risks: dict[str, float] = {} if judge is None else index.risks([scored.memory for scored in pool.memories])
    while True:
        held = _hold_back(pool, index, rules, risks, mode)
        candidates = _by_status(pool, config, held, include_retired=question.include_retired)
        candidates, judgement = _later_stages(question, strategy, pool, candidates, system, rules)
        late = index.risks([found.memory for found in candidates if found.injected and found.memory.id not in risks])
        if not late:
            break
        risks |= late
    has_failed = judgement is not None and not judgement.is_answer
    return Retrieval(
        prompt=prompt,
        system=system_of(config, has_judge=judge is not None, cutoff=cutoff.kind if cutoff else OFF).name,
        mode=mode,
        strategy=strategy,
        candidates=tuple(
            [
                replace(found, memory=replace(found.memory, risk=risks.get(found.memory.id, found.memory.risk)))
                for found in candidates
            ]
        ),
        judgement=judgement,
        fallback=NO_FTS5 if not index.has_fts5 else judgement.status if judgement and has_failed else "",
        elapsed_ms=(system.clock() - started) * 1000,
    )


def first_pool(question: Query, index: OpenIndex, system: OpenSystem, size: int) -> tuple[str, CandidatePool]:
    """The strategy that is used, and its pool. Strategies other than the default are imported only when asked for."""
    config, text = system.config, question.prompt.text
    strategy, in_bodies = config.match_strategy, question.mode == SEARCH
    if strategy == TITLE_TAGS or not index.has_fts5:
        from engine.search.strategies import title_tags

        return TITLE_TAGS, title_tags.find(text, index, size, now=system.now())

    def find(postings: Postings) -> CandidatePool:
        if strategy == MEMSIFT:
            strengths = memsift.Strengths.of(postings, question.prompt, question.mode, has_phrases=config.phrases)
            return memsift.find(strengths, size, include_retired=question.include_retired)
        from engine.search.strategies import fts5_bm25

        return fts5_bm25.find(postings, text, size, in_bodies=in_bodies, include_retired=question.include_retired)

    return strategy, index.pool(find)


def _later_stages(
    question: Query,
    strategy: str,
    pool: CandidatePool,
    candidates: list[Candidate],
    system: OpenSystem,
    rules: _Rules,
) -> tuple[list[Candidate], Judgement | None]:
    """Every candidate after floors, cutoff, judge and places, and the judge's answer if it was asked."""
    config, judge, cutoff, mode = system.config, system.judge, system.cutoff, question.mode
    has_floor = mode == AUTO and strategy != TITLE_TAGS

    def drop_weak(found: list[Candidate], *, has_choice: bool) -> list[Candidate]:
        share = floor_share(strategy, has_choice=has_choice)
        left = below_floor(found, share * config.floor, share * (config.min_strength * pool.rare))
        for root in {*rules.limits, *rules.unasked}:
            limit, own = rules.limits.get(root, config), share if cutoff or root not in rules.unasked else 1.0
            stricter = below_floor(found, own * limit.floor, own * (limit.min_strength * pool.rare))
            pairs = zip(left, stricter, strict=True)
            left = [new if new.memory.root == root and old.injected else old for old, new in pairs]
        return left

    def cut(found: list[Candidate], *, has_judge: bool) -> list[Candidate]:
        limits = {root: limit.cutoff_threshold for root, limit in rules.limits.items()}
        return cutoff.drop(found, has_judge=has_judge, limits=limits, unasked=rules.unasked) if cutoff else found

    if has_floor:
        candidates = drop_weak(candidates, has_choice=bool(judge or cutoff))
    if cutoff:
        candidates = cut(cutoff.weigh(candidates, pool), has_judge=judge is not None)
    asked = [
        candidate.memory
        for candidate in candidates
        if candidate.injected
        and candidate.memory.root not in rules.unasked
        and not (cutoff and cutoff.is_sure(candidate))
    ]
    judgement = judge.evaluate(question.prompt, asked, mode) if judge and asked and strategy != TITLE_TAGS else None
    candidates = _by_judge(candidates, judgement, mode)
    if has_floor and judgement is not None and not judgement.is_answer:
        candidates = drop_weak(candidates, has_choice=cutoff is not None)
        candidates = cut(candidates, has_judge=False)
    return _by_places(candidates, rules, mode, cap(config, mode, judgement), question.session), judgement


def pool_size(config: Config, mode: str, *, has_judge: bool, has_cutoff: bool) -> int:
    """The number of active memories that a strategy gives to the later stages.

    `memsift`, or a cutoff, without a judge gets three times `max_inject`, and at least a small pool, in which a cutoff
    compares memories: the weaker ones would not pass, but cost time.
    """
    if mode != AUTO:
        return config.max_results
    size = config.judge.candidate_pool_size
    is_small = not has_judge and (has_cutoff or config.match_strategy == MEMSIFT)
    return min(size, max(memsift.SMALL_POOL, 3 * config.max_inject)) if is_small else size


def floor_share(strategy: str, *, has_choice: bool) -> float:
    """The height of the floors, as a share of the usual height. *has_choice*: a cutoff or a judge comes after them."""
    return SHARE_BEFORE_CHOICE if has_choice and strategy == MEMSIFT else 1.0


def _hold_back(
    pool: CandidatePool, index: OpenIndex, rules: _Rules, risks: Mapping[str, float], mode: str
) -> dict[str, str]:
    """Memories that are not injected, by id, with the reason: risky ones that wait for a person, and in mode `auto`
    those that a client loads by itself.

    *risks*: those of memories that the index had not scanned. The others of these do not wait here: they are scanned
    before they are injected.
    """
    found = [scored.memory for scored in pool.memories]
    once = [memory for memory in found if memory.is_loaded and mode == AUTO and not rules.of(memory).repeat_loaded]
    loaded = [memory for memory in once if index.is_loaded(memory)]
    known = [memory for memory in found if memory.risk != UNSCANNED or memory.id in risks]
    scanned = [replace(memory, risk=risks.get(memory.id, memory.risk)) for memory in known]
    risky = [memory for memory in scanned if memory.risk >= rules.of(memory).max_risk and not index.is_accepted(memory)]
    return {memory.id: reason for ones, reason in ((loaded, LOADED), (risky, WAITS)) for memory in ones}


def _by_status(
    pool: CandidatePool, config: Config, held: Mapping[str, str], *, include_retired: bool
) -> list[Candidate]:
    """The candidates of *pool* in rank order. Drop the memories in *held* for their reasons, and retired memories."""
    result = []
    for candidate in rank(pool.memories, config, include_retired=include_retired, held=held):
        if candidate.memory.id in held:
            candidate = _drop(candidate, "status", held[candidate.memory.id])
        elif candidate.memory.status != "active" and not include_retired:
            candidate = _drop(candidate, "status", f"its record is {candidate.memory.status}")
        result.append(candidate)
    return result


def _by_judge(candidates: list[Candidate], judgement: Judgement | None, mode: str) -> list[Candidate]:
    """Attach the verdicts, and drop rejected candidates, unless the judge could not answer at all.

    Flagged candidates are dropped as well in mode `auto`, but stay in mode `search`, where a person looks at them.
    """
    if judgement is None:
        return candidates
    judged = [replace(candidate, verdict=judgement.verdict_on(candidate.memory.id)) for candidate in candidates]
    if not judgement.is_answer:
        return judged
    from engine.judge.verdict import APPROVED, FLAGGED

    kept = (APPROVED,) if mode == AUTO else (APPROVED, FLAGGED)
    return [
        _drop(candidate, "judge", candidate.verdict.reasoning or "the judge did not keep it")
        if candidate.injected and candidate.verdict and candidate.verdict.decision not in kept
        else candidate
        for candidate in judged
    ]


def cap(config: Config, mode: str, judgement: Judgement | None) -> int:
    """The largest number of injected memories. It may be smaller if the judge was asked, and if it could not answer."""
    most = config.max_inject if mode == AUTO else config.max_results
    if judgement is None:
        return most
    if judgement.is_failure:
        return min(most, config.judge.fallback_top_k)
    modes = config.judge.modes
    return min(most, (modes.auto if mode == AUTO else modes.search).max_output or most)


def _by_places(
    candidates: list[Candidate], rules: _Rules, mode: str, most: int, session: Session | None
) -> list[Candidate]:
    """Fill *most* places in rank order.

    A memory that the session has already keeps its place: the model knows it. A memory that does not fit into the text
    gives its place to the next. An entry is never cut to fit. Mode `search` has no limit of characters.
    """
    config = rules.config
    left = config.max_characters - inject.FRAME_CHARACTERS if mode == AUTO else float("inf")
    places = most
    of_root: dict[str, int] = {}
    given: dict[str, str] = {}
    result = []
    for candidate in candidates:
        memory = candidate.memory
        if candidate.dropped_by is not None:
            pass
        elif given.get(memory.digest, memory.root) != memory.root:
            candidate = _drop(candidate, "repeat", TWICE)
        elif not places:
            candidate = _drop(candidate, "cap", f"only {most} are injected")
        elif mode == AUTO and of_root.get(memory.root, 0) >= (most_of_root := rules.of(memory).max_inject):
            candidate = _drop(candidate, "cap", f"only {most_of_root} of its root are injected")
        elif session and session.has(memory):
            candidate = _drop(candidate, "repeat", "this session has it already")
            places -= 1
        elif (size := inject.length(inject.entry(memory, candidate.confidence, config.output_mode)) + 1) > left:
            candidate = _drop(candidate, "budget", f"it does not fit into {config.max_characters:,} characters")
        else:
            places -= 1
            left -= size
            given[memory.digest] = memory.root
            of_root[memory.root] = of_root.get(memory.root, 0) + 1
        result.append(candidate)
    return result


def _drop(candidate: Candidate, stage: str, reason: str) -> Candidate:
    return replace(candidate, dropped_by=stage, reason=reason)
