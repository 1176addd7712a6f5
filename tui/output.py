"""Records as rows for stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.judge.verdict import FLAGGED, OK
from engine.search.marks import snippet
from engine.search.query import query_terms

if TYPE_CHECKING:
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from engine.search.index import Index


def search_result(retrieval: Retrieval, index: Index) -> dict[str, Any]:
    """What `memsift search` prints: {query, total_results, results}, best first."""
    results = [_result(one, retrieval, index) for one in retrieval.injected]
    return {"query": retrieval.prompt.text, "total_results": len(results), "results": results}


def search_lines(result: dict[str, Any]) -> list[str]:
    """The same for people: a line with confidence, category and title, one with the path, one with the snippet.

    What the judge was not sure of, or could not be asked about, is marked.
    """
    lines = []
    for one in result["results"]:
        marks = ("" if one["status"] == "active" else f" [{one['status']}]") + _mark(one.get("verdict"))
        lines += [f"{one['confidence']:<6} {one['category']:<16} {one['title']}{marks}", f"       {one['path']}"]
        lines += [f"       {one['snippet']}", ""]
    return [visible(line) for line in lines]


def _mark(verdict: dict[str, Any] | None) -> str:
    if verdict is None or verdict["decision"] != FLAGGED:
        return ""
    return " [?]" if verdict["status"] == OK else f" [? {verdict['status']}]"


def visible(line: str) -> str:
    """*line* with a dot in place of each character that could command a terminal."""
    return "".join(character if character.isprintable() else "·" for character in line)


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """What `memsift prompts` prints for a prompt, and what `--prompts` reads."""
    return {
        "id": prompt.id,
        "prompt": prompt.text,
        "context": [{"role": turn.role, "text": turn.text} for turn in prompt.turns],
        "session_id": prompt.session_id,
        "cwd": prompt.cwd,
        "timestamp": prompt.timestamp,
        "source": prompt.source,
        **({"kind": prompt.kind} if prompt.kind else {}),
    }


def _verdict(one: Candidate) -> dict[str, Any]:
    if one.verdict is None:
        return {}
    from labels.exchange.runs import verdict_field

    return {"verdict": verdict_field(one.verdict)}


def _result(one: Candidate, retrieval: Retrieval, index: Index) -> dict[str, Any]:
    memory = index.memory(one.memory.id)
    return {
        "id": one.memory.id,
        "title": one.memory.title,
        "category": one.memory.category,
        "path": one.memory.path,
        "tags": list(one.memory.tags),
        "status": one.memory.status,
        "snippet": snippet(memory.body, query_terms(retrieval.prompt.text)) if memory else "",
        "updated_at": one.memory.updated_at,
        "score": round(one.score, 4),
        "confidence": one.confidence,
        **_verdict(one),
    }
