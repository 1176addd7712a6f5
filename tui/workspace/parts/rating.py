"""Ratings of memories in parts: which memories are left, and what a worker does with some of them."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from engine.lean.json_text import printed_json
from engine.lean.record import Record, replace
from engine.quality.judging.store import row_of
from tui.workspace.judging import Terms
from tui.workspace.parts.run_folder import describe, judged_size, part_name, read_size, run_parts
from tui.workspace.quality.rating import known, opened_quality_judge, rate, read_rows
from tui.workspace.replay.replaying import Ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.config import Config
    from engine.quality.judging.judge import CostEstimate
    from engine.quality.judging.rating import Assessment
    from tui.workspace.parts.executors import Executor
    from tui.workspace.quality.rating import Keep, Key, RatedMemory, RatingPlan


RATING_S = 5.0
"""A guess of the time of a rating, in seconds."""


class RatingSetup(Record):
    """What is the same for all parts of a run. `configs`: root -> its settings, which may name the judge."""

    plan: RatingPlan
    configs: Mapping[str, Config]


class Block(Record):
    """The memories of a part that have no answer yet, and the rows of the others."""

    left: tuple[RatedMemory, ...]
    before: bytes


class RatedBlock(Record):
    """All rows of a part, and the new assessments."""

    text: bytes
    found: tuple[tuple[Key, Assessment], ...]


def rate_part(setup: RatingSetup, block: Block) -> RatedBlock:
    """Rate the memories of a part. Raises MemsiftError."""
    plan, asking = setup.plan, setup.plan.asking
    found: list[tuple[Key, Assessment]] = []
    for root, group in groupby(block.left, key=lambda subject: subject.root):
        memories = list(group)
        terms = Terms(asking)
        with opened_quality_judge(plan, setup.configs[root], terms.around) as asked:
            if not asking.judge.is_cached_only and asked.estimate([memory.memory for memory in memories]).asked:
                asked.prepare()
            rate(asked, memories, lambda subject, rated: found.append((subject.key, rated)), terms)
    rows = (row_of(key[0], plan.rubric.name, plan.threshold, rated) for key, rated in found)
    return RatedBlock(block.before + b"".join(f"{printed_json(row)}\n".encode() for row in rows), tuple(found))


class RatingRun:
    """The ratings of *subjects* in a folder. A memory without an answer is asked again.

    *size*: memories in a part; None for a plan. `rated` has the assessments: those that the folder has, and after
    `over` the new ones. Raises MemsiftError where the folder belongs to another run.
    """

    def __init__(
        self,
        plan: RatingPlan,
        configs: Mapping[str, Config],
        subjects: Sequence[RatedMemory],
        folder: Path,
        size: int | None,
        executor: Executor,
    ) -> None:
        asking, self._most = plan.asking.shared(executor.workers)
        plan = replace(plan, asking=asking)
        self._setup = RatingSetup(plan, configs)
        self._subjects = {subject.key: subject for subject in subjects}
        self._folder, self._executor = folder, executor
        wanted = self._described()
        size = read_size(folder, wanted, size) or judged_size(len(subjects), executor.workers, plan.asking, RATING_S)
        describe(folder, wanted, size)
        self.rated: dict[Key, Assessment] = {}
        self._blocks: dict[str, Block] = {}
        for number, start in enumerate(range(0, len(subjects), size)):
            self._blocks[part_name(number)] = self._block(part_name(number), subjects[start : start + size])

    def estimates(self) -> dict[tuple[str, str, str], CostEstimate]:
        """The cost of the memories that are left, for each judge, by its identity."""
        found: dict[tuple[str, str, str], CostEstimate] = {}
        left = (subject for block in self._blocks.values() for subject in block.left)
        for root, group in groupby(left, key=lambda subject: subject.root):
            with opened_quality_judge(self._setup.plan, self._setup.configs[root]) as judge:
                now = judge.estimate([subject.memory for subject in group])
                found[judge.identity] = now.plus(found[judge.identity]) if judge.identity in found else now
        return found

    def over(self, keep: Keep) -> Ending:
        """Rate the memories that are left. *keep* gets each new assessment. Returns the end, in memories."""

        def keep_all(part: RatedBlock) -> None:
            for key, found in part.found:
                self.rated[key] = found
                keep(self._subjects[key], found)

        left = [(name, partial(self._blocks.__getitem__, name)) for name, block in self._blocks.items() if block.left]
        finished = len(self._blocks) - len(left)
        work = partial(rate_part, self._setup)
        ending = run_parts(self._executor, work, left, self._folder, keep_all, "Rating parts", finished, self._most)
        return Ending(len(self.rated), len(self._subjects), ending.is_interrupted)

    def _block(self, name: str, subjects: Sequence[RatedMemory]) -> Block:
        rows = read_rows(self._folder / name)
        self.rated |= {subject.key: found for subject in subjects if (found := known(rows, subject))}
        before = "".join(f"{printed_json(rows[subject.key])}\n" for subject in subjects if subject.key in rows)
        return Block(tuple(subject for subject in subjects if subject.key not in rows), before.encode())

    def _described(self) -> dict[str, object]:
        """The judges, the rubric and the memories, as a later start must name them again."""
        plan = self._setup.plan
        judges = set()
        for config in self._setup.configs.values():
            with opened_quality_judge(plan, config) as judge:
                judges.add(judge.identity)
        keys = printed_json(list(self._subjects))
        return {
            "rubric": plan.rubric.name,
            "threshold": plan.threshold,
            "judges": sorted(map(list, judges)),
            "samples": plan.asking.judge.samples or 1,
            "memories": hashlib.sha256(keys.encode()).hexdigest(),
        }
