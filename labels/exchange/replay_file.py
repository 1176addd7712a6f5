"""Run files of `memsift replay`: JSON lines, a row for each prompt and system. Written, read, and resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.judge.verdict import APPROVED, CACHE, FLAGGED, REJECTED
from engine.lean.record import fields
from labels.exchange.files import FileLine, is_number, is_whole, nfc, read_source, unreadable
from labels.records import JudgeCall, Outcome, picked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from engine.judge.verdict import Judgement, Verdict
    from engine.retrieval import Retrieval
    from labels.exchange.files import Node

DECISIONS = (APPROVED, REJECTED, FLAGGED)

ROW_START = b'{"prompt_id":'
"""The beginning of every row. A last line that begins differently is not a row of ours that was cut off."""


INJECTED_COLUMNS = ("rank", "score", "confidence")
CANDIDATE_COLUMNS = ("bm25", "body_bonus", "score", "matched", "probability")


def run_row(retrieval: Retrieval, *, is_phrase: bool = False) -> dict[str, Any]:
    """The row of one retrieval; `rank` is the rank among the candidates, `score` SQLite's: lower is better.

    *is_phrase*: the prompt is a phrase of a memory, so no number counts it. Other rows do not have this field.
    """
    candidates = []
    for found in retrieval.candidates:
        end = {"verdict": fields_without("memory_id", found.verdict), "dropped_by": found.dropped_by}
        candidates.append({"id": found.memory.id, **picked(found, CANDIDATE_COLUMNS), **end})
    return {
        "prompt_id": retrieval.prompt.id,
        "system": retrieval.system,
        "injected": [
            {"id": found.memory.id, "path": found.memory.path, **picked(found, INJECTED_COLUMNS)}
            for found in retrieval.injected
        ],
        "candidates": candidates,
        "judgement": fields_without("verdicts", retrieval.judgement),
        "fallback": retrieval.fallback,
        "ms": round(retrieval.elapsed_ms, 3),
        **({"is_phrase": True} if is_phrase else {}),
    }


def fields_without(left_out: str, record: Verdict | Judgement | None) -> dict[str, Any] | None:
    """The fields of a record but one, which is said elsewhere in the row."""
    return {name: value for name, value in fields(record).items() if name != left_out} if record else None


def read_outcomes(path: Path) -> tuple[Outcome, ...]:
    """The outcomes of a run file in its order; ExchangeError with the line and field of the first fault.

    Needed are `prompt_id`, `system`, `injected[].id` and `candidates[].id`. A prompt and system may come once. All rows
    must be of one root, and all rows of a system judged with one template: otherwise no number describes them together.
    """
    outcomes: dict[tuple[str, str], Outcome] = {}
    templates: dict[str, str] = {}
    root: object = None
    for row in read_source(path).rows():
        outcome = outcome_of(row)
        if outcomes and row.value.get("root") != root:
            raise row.wrong("root", f"{root!r}, as in the earlier rows: a file for each root")
        root = row.value.get("root")
        key = outcome.prompt_id, outcome.system
        if key in outcomes:
            raise row.wrong("prompt_id", f"one row for {key[0]!r} and system {key[1]!r}, but an earlier line is one")
        judgement = row.child("judgement")
        template = judgement.text("template_hash") if judgement else ""
        if template and templates.setdefault(outcome.system, template) != template:
            wanted = f"{templates[outcome.system]!r}, as in the earlier rows of {outcome.system!r}"
            raise row.wrong("judgement.template_hash", wanted)
        outcomes[key] = outcome
    return tuple(outcomes.values())


def outcome_of(row: Node) -> Outcome:
    """The outcome in a row. Scores, confidences and probabilities that are missing or of another type are unknown."""
    prompt_id, system = nfc(row.name("prompt_id")), row.name("system")
    injected, candidates = with_ids(row, "injected"), with_ids(row, "candidates")
    verdicts = [candidate.child("verdict") for candidate in candidates.values()]
    decisions = tuple(verdict.one_of("decision", DECISIONS) if verdict else None for verdict in verdicts)
    elapsed_ms = row.number("ms", 0.0)
    if elapsed_ms < 0:
        raise row.wrong("ms", "a number of milliseconds, not negative")
    found = [(node.value, candidates[name].value if name in candidates else {}) for name, node in injected.items()]
    matched = [candidate.get("matched") for _, candidate in found]
    probabilities = {name: number(candidate.value.get("probability")) for name, candidate in candidates.items()}
    return Outcome(
        prompt_id=prompt_id,
        system=system,
        injected=tuple(injected),
        candidates=tuple(candidates),
        decisions=decisions,
        fallback=row.text("fallback", ""),
        elapsed_ms=elapsed_ms,
        is_asked=any(decisions),
        confidences=tuple(word(memory.get("confidence")) if candidate else "" for memory, candidate in found),
        matched=tuple(len(words) or None if isinstance(words, list) else None for words in matched),
        scores=tuple((number(candidate.get("score")) or 0.0) if candidate else None for _, candidate in found),
        probabilities={name: value for name, value in probabilities.items() if value is not None},
        is_phrase=row.value.get("is_phrase") is True,
        call=call_of(row.child("judgement"), verdicts),
    )


def with_ids(row: Node, field: str) -> dict[str, Node]:
    """memory id -> the object with this id in a list of the row."""
    nodes = row.children(field, needed=True)
    by_id = {nfc(node.name("id")): node for node in nodes}
    if len(by_id) < len(nodes):
        raise row.wrong(field, "each id once")
    return by_id


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    return float(value) if is_number(value) else None


def call_of(asked: Node | None, verdicts: Iterable[Node | None]) -> JudgeCall | None:
    """The call of the judge in the field `judgement` of a row; None without a time."""
    if asked is None or not is_number(asked.value.get("elapsed_ms")):
        return None
    said, cost = [verdict.value for verdict in verdicts if verdict], asked.value.get("cost_usd")
    answers = max((own for verdict in said if is_whole(own := verdict.get("samples", 1))), default=0)
    is_live = not said or any(verdict.get("source") != CACHE for verdict in said)
    return JudgeCall(asked.value["elapsed_ms"], cost if is_number(cost) else None, answers, is_live)


@dataclass(frozen=True)
class UnfinishedRun:
    """The rows of a run file to which the missing rows can be added.

    `pairs` are (prompt id, system) of its rows, `judges` (provider, model, template hash) of the rows that were judged.
    `content` holds these rows as bytes. Not among them are a last line that was cut off, and `failed` rows whose judge
    did not answer: their prompts are asked again.
    """

    pairs: frozenset[tuple[str, str]] = frozenset()
    judges: frozenset[tuple[str, ...]] = frozenset()
    content: bytes = b""
    failed: int = 0


def read_unfinished(path: Path, systems: Collection[str]) -> UnfinishedRun:
    """The run file at *path*, empty if there is none. *systems* are the systems to resume.

    Raises ExchangeError for a line that is no row, or for a last line that is not the beginning of a row.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return UnfinishedRun()
    except OSError as error:
        raise unreadable(path, error) from error
    size = content.rfind(b"\n") + 1
    if not ROW_START.startswith(content[size:][: len(ROW_START)]):
        raise FileLine(path, content.count(b"\n") + 1, "").wrong("row", "a row of a run, or the beginning of one")
    pairs, judges, kept, failed = set(), set(), [], 0
    for number, line in enumerate(content[:size].split(b"\n")[:-1], start=1):
        if not line.strip():
            continue
        row = FileLine(path, number, line.decode("utf-8", "replace")).row()
        outcome = outcome_of(row)
        if "root" in row.value:
            raise row.wrong("root", "none: a replay over several roots cannot be resumed")
        # the fallback of a judge that did not answer is its status
        if outcome.system in systems and outcome.is_unanswered:
            failed += 1
            continue
        kept.append(line + b"\n")
        pairs.add((row.value["prompt_id"], outcome.system))
        if asked := row.child("judgement"):
            judges.add(tuple(str(asked.value.get(name)) for name in ("provider", "model", "template_hash")))
    return UnfinishedRun(frozenset(pairs), frozenset(judges), b"".join(kept), failed)
