"""Run files: JSONL, a row for each prompt and system, as `memsift replay` writes them."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED
from engine.lean.record import fields
from labels.exchange.lines import read_lines
from labels.records import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from engine.judge.verdict import Judgement, Verdict
    from engine.retrieval import Candidate, Retrieval
    from labels.exchange.lines import Line

DECISIONS = (APPROVED, REJECTED, FLAGGED)


def write_row(retrieval: Retrieval) -> dict[str, Any]:
    """The row of one retrieval; `rank` is the rank among the candidates, `score` SQLite's: lower is better."""
    return {
        "prompt_id": retrieval.prompt.id,
        "system": retrieval.system,
        "injected": [injected_field(candidate) for candidate in retrieval.injected],
        "candidates": [candidate_field(candidate) for candidate in retrieval.candidates],
        "judgement": judgement_field(retrieval.judgement),
        "fallback": retrieval.fallback,
        "ms": round(retrieval.elapsed_ms, 3),
    }


def injected_field(candidate: Candidate) -> dict[str, Any]:
    return {
        "id": candidate.memory.id,
        "path": candidate.memory.path,
        "rank": candidate.rank,
        "score": candidate.score,
        "confidence": candidate.confidence,
    }


def candidate_field(candidate: Candidate) -> dict[str, Any]:
    return {
        "id": candidate.memory.id,
        "bm25": candidate.bm25,
        "body_bonus": candidate.body_bonus,
        "score": candidate.score,
        "matched": list(candidate.matched),
        "probability": candidate.probability,
        "verdict": verdict_field(candidate.verdict),
        "dropped_by": candidate.dropped_by,
    }


def verdict_field(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {name: value for name, value in fields(verdict).items() if name != "memory_id"}


def judgement_field(judgement: Judgement | None) -> dict[str, Any] | None:
    """How the judge was asked and how it went; the verdicts stand with the candidates."""
    if judgement is None:
        return None
    return {name: value for name, value in fields(judgement).items() if name != "verdicts"}


def read_runs(path: Path) -> tuple[Outcome, ...]:
    """The outcomes of a run file in its order; ExchangeError with the line and field of the first fault.

    Read are `prompt_id`, `system`, `injected[].id`, `candidates[].id`, their `verdict.decision`, and, where they are
    there, `score`, `confidence`, `matched`, `probability`, `judgement.template_hash`, `fallback`, `ms` and `root`. A
    prompt and system may come once, and a system is judged by one template: what was asked in two ways is not one
    number, and neither is what was found in two roots.
    """
    outcomes: dict[tuple[str, str], Outcome] = {}
    templates: dict[str, str] = {}
    root: object = None
    for line in read_lines(path):
        row = row_of(line)
        outcome = outcome_of(line, row)
        if outcomes and row.get("root") != root:
            raise line.wrong("root", f"{root!r}, as in the earlier rows: a file for each root")
        root = row.get("root")
        key = outcome.prompt_id, outcome.system
        if key in outcomes:
            raise line.wrong("prompt_id", f"one row for {key[0]!r} and system {key[1]!r}, but an earlier line is one")
        template = template_hash(line, row)
        if template and templates.setdefault(outcome.system, template) != template:
            wanted = f"{templates[outcome.system]!r}, as in the earlier rows of {outcome.system!r}"
            raise line.wrong("judgement.template_hash", wanted)
        outcomes[key] = outcome
    return tuple(outcomes.values())


def row_of(line: Line) -> dict[str, Any]:
    try:
        row = json.loads(line.text)
    except (ValueError, RecursionError) as error:
        raise line.wrong("row", f"a JSON object ({error})") from None
    if not isinstance(row, dict):
        raise line.wrong("row", "a JSON object")
    return row


def outcome_of(line: Line, row: dict[str, Any]) -> Outcome:
    return Outcome(
        prompt_id=text(line, row, "prompt_id"),
        system=text(line, row, "system"),
        injected=ids(line, row, "injected"),
        candidates=ids(line, row, "candidates"),
        decisions=decisions(line, row),
        fallback=fallback(line, row),
        elapsed_ms=milliseconds(line, row),
        is_asked=any(decisions(line, row)),
        **found(row),
    )


def found(row: dict[str, Any]) -> dict[str, Any]:
    """How candidates were found; what is missing or of another type is not known, and no fault."""
    candidates = {each["id"]: each for each in row["candidates"]}
    injected = [(each, candidates.get(each["id"])) for each in row["injected"]]
    probabilities = {name: number(candidate.get("probability")) for name, candidate in candidates.items()}
    return {
        "confidences": tuple([confidence(each) if candidate else "" for each, candidate in injected]),
        "matched": tuple([matched(candidate) if candidate else None for _, candidate in injected]),
        "scores": tuple([number(candidate.get("score")) or 0.0 if candidate else None for _, candidate in injected]),
        "probabilities": {name: value for name, value in probabilities.items() if value is not None},
    }


def confidence(injected: dict[str, Any]) -> str:
    value = injected.get("confidence")
    return value if isinstance(value, str) else ""


def matched(candidate: dict[str, Any]) -> int | None:
    words = candidate.get("matched")
    return (len(words) or None) if isinstance(words, list) else None


def number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def template_hash(line: Line, row: dict[str, Any]) -> str:
    """The wording that the judge was asked in; empty where no judge was asked, or by an older memsift."""
    judgement = row.get("judgement") or {}
    value = judgement.get("template_hash") if isinstance(judgement, dict) else None
    if judgement and not isinstance(value, str):
        raise line.wrong("judgement", "null or an object with a template_hash")
    return value or ""


def text(line: Line, row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise line.wrong(field, "a text that is not empty")
    return value


def ids(line: Line, row: dict[str, Any], field: str) -> tuple[str, ...]:
    values = row.get(field)
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise line.wrong(field, "a list of objects")
    found = tuple(text(line, each, "id") for each in values)
    if len(set(found)) < len(found):
        raise line.wrong(field, "each id once")
    return found


def decisions(line: Line, row: dict[str, Any]) -> tuple[str | None, ...]:
    return tuple([decision(line, each.get("verdict")) for each in row["candidates"]])


def decision(line: Line, verdict: object) -> str | None:
    if verdict is None:
        return None
    value = verdict.get("decision") if isinstance(verdict, dict) else None
    if value not in DECISIONS:
        raise line.wrong("candidates.verdict", f"null or an object whose decision is one of {', '.join(DECISIONS)}")
    return str(value)


def fallback(line: Line, row: dict[str, Any]) -> str:
    value = row.get("fallback") or ""
    if not isinstance(value, str):
        raise line.wrong("fallback", "a text")
    return value


def milliseconds(line: Line, row: dict[str, Any]) -> float:
    value = row.get("ms", 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise line.wrong("ms", "a number of milliseconds")
    return float(value)
