"""A prompt over several roots: each is searched by itself, and one injected set is chosen from all.

The hook calls it, and the app and the commands through `engine.joint`. Loaded only where there are several roots.
Candidates are ordered by P(relevant), else by strength. The places, the budget and the judge are those of the first
root's settings.
"""

from __future__ import annotations

import time

from engine.config import AUTO
from engine.lean.record import Record, replace
from engine.pipeline import by_places, cap, retrieve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.config import Config
    from engine.hook.session import Session
    from engine.judge.verdict import Judgement
    from engine.memory import MemorySummary
    from engine.pipeline import Cutoff, Judge
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from engine.search.index import Index

PLACES = ("cap", "repeat", "budget")
"""The stages that a root cannot decide by itself."""

TWICE = "another root has the same memory"


class Root(Record):
    """A root to search: its index, settings and cutoff."""

    index: Index
    config: Config
    cutoff: Cutoff | None


class Share:
    """A root's share of the single call to a judge, in the place of a judge: it notes the memories, then answers."""

    def __init__(self) -> None:
        self.memories: list[MemorySummary] = []
        self.answer: Judgement | None = None

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:  # noqa: ARG002
        from engine.judge.verdict import APPROVED, OK, Judgement, Verdict

        if self.answer is not None:
            return self.answer
        self.memories = [*candidates]
        return Judgement(OK, tuple(Verdict(candidate.id, APPROVED, OK) for candidate in candidates), "", "", "", 0.0)


def retrieve_from(
    prompt: Prompt,
    roots: Sequence[Root],
    config: Config,
    judge: Judge | None,
    session: Session,
    *,
    mode: str = AUTO,
    include_retired: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Retrieval:
    """One retrieval over *roots*, the first of which has the settings *config*. *clock* gives seconds.

    *judge* is asked once, and only about roots whose own settings name the same judge: the settings of a project cannot
    send the titles of a user's notes away.
    """
    shares = [Share() if judge is not None and root.config.judge == config.judge else None for root in roots]

    def searched() -> list[Retrieval]:
        return [
            retrieve(
                *(prompt, one.index, one.config),
                mode=mode,
                judge=share,
                cutoff=one.cutoff,
                include_retired=include_retired,
                clock=clock,
            )
            for one, share in zip(roots, shares, strict=True)
        ]

    if judge is not None:
        searched()
        _ask(prompt, [one for one in shares if one], judge, mode)
    found = searched()
    asked = next((one for one in found if one.judgement), found[0])
    judgement = asked.judgement
    elapsed_ms = sum(one.elapsed_ms for one in found) + (judgement.elapsed_ms if judgement else 0.0)
    return replace(
        found[0],
        candidates=tuple(chosen([one.candidates for one in found], config, judgement, session, mode=mode)),
        judgement=judgement,
        fallback=asked.fallback,
        elapsed_ms=elapsed_ms,
    )


def chosen(
    found: Sequence[Sequence[Candidate]],
    config: Config,
    judgement: Judgement | None,
    session: Session | None = None,
    *,
    mode: str = AUTO,
) -> list[Candidate]:
    """The candidates of all roots in one order. The best of them get the places."""
    candidates = _in_order([one for each in found for one in each])
    return by_places(candidates, config, mode, cap(config, mode, judgement), session)


def _ask(prompt: Prompt, shares: Sequence[Share], judge: Judge, mode: str) -> None:
    """Ask the judge about the memories of all shares at once, and give each share its verdicts.

    Two roots may have memories with the same id, so the judge sees them under other ids.
    """
    asked = [(share, memory) for share in shares for memory in share.memories]
    named = [replace(one, id=str(number)) for number, (_, one) in enumerate(asked)]
    judgement = judge.evaluate(prompt, named, mode)
    verdicts = [
        (share, replace(judgement.verdicts[number], memory_id=one.id)) for number, (share, one) in enumerate(asked)
    ]
    for share in shares:
        share.answer = replace(judgement, verdicts=tuple(verdict for of, verdict in verdicts if of is share))


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of all roots, best first, as they were before places were given. A memory counts only once."""
    is_likely = all(candidate.probability is not None for candidate in candidates if _is_open(candidate))
    ordered = sorted(candidates, key=lambda one: (not _is_open(one), _weakness(one, is_likely=is_likely)))
    given: set[str] = set()
    result = []
    for rank, one in enumerate(ordered, start=1):
        dropped_by, reason = one.dropped_by, one.reason
        if _is_open(one):
            dropped_by, reason = ("repeat", TWICE) if one.memory.digest in given else (None, "")
            given.add(one.memory.digest)
        result.append(replace(one, rank=rank, dropped_by=dropped_by, reason=reason))
    return result


def _is_open(candidate: Candidate) -> bool:
    return candidate.dropped_by is None or candidate.dropped_by in PLACES


def _weakness(candidate: Candidate, *, is_likely: bool) -> float:
    return -(candidate.probability or 0.0) if is_likely else candidate.score
