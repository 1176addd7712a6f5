"""Rating memories: the memories that a command names, the judge that is asked, and how it agrees with a person."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from engine.errors import ConfigError, MemsiftError
from engine.judge.providers.registry import SEARCHING, STRUCTURED
from engine.lean.record import Record
from engine.quality.decisions import ACCEPTED, QUALITY, decisions
from engine.quality.judging.judge import QualityJudge
from engine.quality.judging.rating import UNANSWERED, UNDECIDED
from engine.quality.judging.rubric import template
from engine.quality.judging.store import RatingStore
from engine.stores.writing import ACTIVE
from tui.workspace import opening
from tui.workspace.curate.curating import FoundMemory, memories_of, named
from tui.workspace.judging import make_means
from tui.workspace.replay.jobs import opened_pool, run
from tui.workspace.stderr import report_skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.config import Config
    from engine.judge.limits import Limits
    from engine.memory import Memory
    from engine.quality.judging.rating import Assessment
    from engine.quality.judging.rubric import Rubric
    from engine.quality.judging.store import Rated
    from labels.measure.agreement import Concord
    from tui.workspace.judging import JudgeOptions
    from tui.workspace.replay.jobs import Ending

    Keep = Callable[["RatedMemory", Assessment], None]
    Key = tuple[str, str, str]
    """(root, memory id, digest)."""

MOST_SEARCHES = 3
"""Web searches for a memory."""

NO_JUDGE = (
    "There is no judge to ask. Name one with --judge, such as --judge anthropic, or in MEMSIFT_JUDGE. Its calls may "
    "cost money."
)
NO_SEARCH = f"--web-search works only with the judges {' and '.join(SEARCHING)}, which have a search tool."


class RatedMemory(Record):
    """A whole memory to rate, and its root."""

    root: str
    memory: Memory

    @property
    def key(self) -> Key:
        return self.root, self.memory.summary.id, self.memory.summary.digest

    @property
    def words(self) -> int:
        return len(self.memory.summary.title.split()) + len(self.memory.body.split())


class RatingPlan(Record):
    """The rubric and the least score of an accepted memory, whether the model searches the web, and how it is asked."""

    rubric: Rubric
    threshold: float
    has_search: bool
    judge: JudgeOptions


def subjects(roots: Sequence[str], ids: Sequence[str]) -> list[RatedMemory]:
    """The memories with these ids, or all active memories; by root. Raises UnknownMemoryError and RootError."""
    found = memories_of(roots)
    chosen = named([*dict.fromkeys(ids)], found) if ids else [held for held in found if held.memory.status == ACTIVE]
    by_root = {root: [held for held in chosen if held.root == root] for root in roots}
    return [subject for root, own in by_root.items() if own for subject in _whole(root, own)]


def _whole(root: str, found: Sequence[FoundMemory]) -> list[RatedMemory]:
    with opening.opened_index(root) as index:
        report_skipped(index.skipped)
        memories = [index.memory(memory.memory.id) for memory in found]
    return [RatedMemory(root, memory) for memory in memories if memory]


@contextmanager
def opened_quality_judge(plan: RatingPlan, config: Config, limits: Limits | None = None) -> Iterator[QualityJudge]:
    """The chosen judge. Raises MemsiftError if none is named, and ConfigError for a search that it cannot make."""
    means = make_means(plan.judge, config, os.environ, limits)
    if means is None:
        raise MemsiftError(NO_JUDGE)
    provider, how = means
    if plan.has_search and provider.name not in SEARCHING:
        raise ConfigError(NO_SEARCH)
    searches = MOST_SEARCHES if plan.has_search else 0
    wording = template(plan.rubric, is_structured=provider.name in STRUCTURED, searches=searches)
    judge = QualityJudge(provider, plan.rubric, wording, config=config.judge, threshold=plan.threshold, **how)
    with closing(judge):
        yield judge


def rate(asked: QualityJudge, left: Sequence[RatedMemory], keep: Keep, plan: RatingPlan, limits: Limits) -> Ending:
    """Rate the memories of one root. *keep* gets each with its assessment. Raises MemsiftError."""
    by_id = {subject.memory.summary.id: subject for subject in left}

    def kept(found: Assessment) -> None:
        if plan.judge.is_cached_only and found.decision == UNANSWERED:
            raise MemsiftError(found.judgement.detail)
        keep(by_id[found.memory.id], found)

    def work(subject: RatedMemory) -> list[Assessment]:
        return [asked.evaluate(subject.memory)]

    with opened_pool(limits=limits) as pool:
        return run(left, work, kept, limits, pool, "Rating")


MODEL, PERSON = "model", "person"
EVERYTHING = "all"
SHORT_WORDS = 30
SHORT, LONG = f"up to {SHORT_WORDS} words", f"more than {SHORT_WORDS} words"
"""Models are known to rate terse technical notes too low, so their length is looked at."""


class Compared(Record):
    """A rating beside the person's decision on the same text."""

    rated: Rated
    is_kept: bool

    @property
    def is_accepted(self) -> bool:
        return self.rated.decision == ACCEPTED


class RatingAgreement(Record):
    """The table of each group of memories, and the memories on which model and person differ.

    `undecided` counts the memories with a decision whose samples were split.
    """

    groups: tuple[tuple[str, Concord], ...]
    differing: tuple[Compared, ...]
    undecided: int


def rating_agreement(roots: Sequence[str], rubric: str, environ: Mapping[str, str]) -> RatingAgreement:
    """The agreement on all texts of *roots* that have a rating by *rubric* and a decision.

    Raises DecisionsError.
    """
    pairs: list[Compared] = []
    with closing(RatingStore(environ)) as store:
        for root in roots:
            decided = decisions(root, environ)
            for rated in store.ratings(root, rubric):
                verdict = decided.get((QUALITY, rated.memory_id, rated.digest))
                pairs += [Compared(rated, verdict == ACCEPTED)] if verdict else []
    clear = [pair for pair in pairs if pair.rated.decision != UNDECIDED]
    return RatingAgreement(
        groups=tuple(_tables(clear)),
        differing=tuple(pair for pair in clear if pair.is_accepted != pair.is_kept),
        undecided=len(pairs) - len(clear),
    )


def _tables(pairs: Sequence[Compared]) -> list[tuple[str, Concord]]:
    """A table for everything, then for each category, then for short and long memories."""
    from labels.measure.agreement import concord

    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    categories = sorted({pair.rated.category for pair in pairs})
    for name in (EVERYTHING, *categories, SHORT, LONG):
        counts[name] = Counter()
    for pair in pairs:
        length = SHORT if pair.rated.words <= SHORT_WORDS else LONG
        for name in (EVERYTHING, pair.rated.category, length):
            counts[name][pair.is_accepted, pair.is_kept] += 1
    return [(name, concord(MODEL, PERSON, count)) for name, count in counts.items() if count]
