"""The newest retrieval of each prompt and system, read back as outcomes."""

from __future__ import annotations

from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from labels.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from labels.database import LabelDatabase
    from labels.records import Pair

    Result = tuple[Any, ...]
    """Of a candidate: rank, memory id, decision, digest, probability; if injected also confidence, words, score."""

    Results = dict[tuple[str, str], dict[str, Result]]
    """(run id, prompt id) -> memory id -> result."""

NEWEST = """
    SELECT max(retrieval.retrieval_id) FROM retrieval JOIN run USING (run_id)
    LEFT JOIN judge_call USING (run_id, prompt_id)
    WHERE (:root IS NULL OR run.root = :root)
      AND (judge_call.template_hash IS NULL OR (run.system, judge_call.template_hash) IN (
          SELECT asked.system, latest.template_hash FROM judge_call AS latest JOIN run AS asked USING (run_id)
          WHERE latest.call_id IN (
              SELECT max(call_id) FROM judge_call JOIN run AS any_run USING (run_id)
              WHERE :root IS NULL OR any_run.root = :root GROUP BY any_run.system
          )
      ))
    GROUP BY retrieval.prompt_id, run.system
"""
"""The retrievals that count. What a judge said to another wording than its latest is another judge's, and left out."""

OF_RUNS = "(:root IS NULL OR run.root = :root)"

JUDGED = "LEFT JOIN judge_call USING (run_id, prompt_id) LEFT JOIN judge_verdict USING (call_id, memory_id)"
INJECTED = f"run CROSS JOIN result USING (run_id) {JUDGED} WHERE {OF_RUNS} AND result.injected"
LABELLED = f"""label_event CROSS JOIN result USING (prompt_id, memory_id) CROSS JOIN run USING (run_id)
    {JUDGED} WHERE {OF_RUNS} AND NOT result.injected"""
"""What was injected, and what somebody was asked about beside it, once for each event. SQLite keeps the order of a
cross join: from what is few to what is many."""

SCORE, PROBABILITY = "result.score", "result.probability"
RESULT = (
    "result.run_id",
    "result.prompt_id",
    "result.rank",
    "result.memory_id",
    "judge_verdict.decision",
    "result.digest",
    PROBABILITY,
)
INJECTED_RESULT = (*RESULT, "result.confidence", "nullif(json_array_length(result.matched), 0)", SCORE)
RANK = itemgetter(0)
NO_COLUMNS: tuple[tuple[Any, ...], ...] = ((),) * 8
NEW_OUTCOME = partial(tuple.__new__, Outcome)


class Replays(NamedTuple):
    """The newest `outcomes` of each prompt and system, oldest first.

    `brought_up` are the memories that any run, also an older one, injected or that somebody was asked about: prompt id
    -> memory ids.
    """

    outcomes: tuple[Outcome, ...]
    brought_up: Mapping[str, Set[str]]


def newest_replays(db: LabelDatabase, root: str | None, scored: bool = True) -> Replays:
    """The newest retrieval of each prompt and system, of one root or of all.

    Of its candidates only what was injected or somebody was asked about: no number needs the others.
    """
    heads = db.tuples(
        f"""SELECT retrieval.run_id, retrieval.prompt_id, run.system, fallback, retrieval.elapsed_ms, kind,
                   EXISTS (SELECT 1 FROM judge_verdict WHERE judge_verdict.call_id = judge_call.call_id)
            FROM retrieval JOIN run USING (run_id) JOIN prompt USING (prompt_id)
            LEFT JOIN judge_call USING (run_id, prompt_id)
            WHERE retrieval_id IN ({NEWEST}) ORDER BY retrieval_id""",
        {"root": root},
    )
    injected = results(db, INJECTED_RESULT, INJECTED, root, scored)
    labelled = results(db, RESULT, LABELLED, root, scored)
    none: Mapping[str, Result] = {}
    at = [head[:2] for head in heads]
    outcomes = map(outcome, heads, [injected.get(x, none) for x in at], [labelled.get(x, none) for x in at])
    brought_up: dict[str, set[str]] = {}
    for (_, prompt_id), found in chain(injected.items(), labelled.items()):
        brought_up.setdefault(prompt_id, set()).update(found)
    return Replays(tuple(outcomes), brought_up)


def results(db: LabelDatabase, names: Sequence[str], source: str, root: str | None, scored: bool) -> Results:
    """Those candidates of every run over *root*, or any."""
    rows: Iterable[tuple[tuple[str, str], Result]]
    if scored:
        every = db.tuples(f"SELECT {', '.join(names)} FROM {source}", {"root": root})
        rows = [(row[:2], row[2:]) for row in every]
    else:
        texts = ["NULL" if name in (SCORE, PROBABILITY) else name for name in names]
        columns = db.columns(texts, source, {"root": root})
        rows = zip(zip(*columns[:2], strict=True), zip(*columns[2:], strict=True), strict=True)
    found: Results = {}
    for retrieval, result in rows:
        found.setdefault(retrieval, {})[result[1]] = result
    return found


def outcome(head: Sequence[Any], brought: Mapping[str, Result], asked: Mapping[str, Result]) -> Outcome:
    run, prompt_id, system, fallback, elapsed_ms, kind, is_asked = head
    injected = sorted(brought.values(), key=RANK)
    ranked = sorted([*injected, *asked.values()], key=RANK) if asked else injected
    _, ids, _, _, _, confidences, matched, scores = zip(*injected, strict=True) if injected else NO_COLUMNS
    _, known, decisions, digests, probabilities, *_ = zip(*ranked, strict=False) if ranked else NO_COLUMNS
    is_tuned = probabilities.count(None) < len(probabilities)
    return NEW_OUTCOME(
        (
            prompt_id,
            system,
            ids,
            known,
            decisions,
            fallback,
            elapsed_ms,
            run,
            kind,
            bool(is_asked),
            confidences,
            matched,
            scores,
            {one: told for one, told in zip(known, probabilities, strict=True) if told is not None} if is_tuned else {},
            dict(zip(known, digests, strict=True)),
        )
    )


def newest_texts(db: LabelDatabase, root: str | None, known: Set[Pair]) -> Set[Pair]:
    """Every memory text that those retrievals brought up, whether or not it was injected or labelled.

    *known* are some of them; where the store holds no other text, there is no need to look at every result.
    """
    if known >= set(db.tuples("SELECT memory_id, digest FROM memory_version")):
        return known
    rows = db.tuples(
        f"""SELECT DISTINCT memory_id, digest FROM retrieval JOIN result USING (run_id, prompt_id)
            WHERE retrieval_id IN ({NEWEST})""",
        {"root": root},
    )
    return set(rows)
