"""Records as rows for stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from engine.config import MEMSIFT
from engine.search.marks import Marker, snippet
from engine.search.query import query_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from engine.search.index import Index


def search_result(retrieval: Retrieval, index: Index) -> dict[str, Any]:
    """What `memsift search` prints: {query, total_results, results}, best first."""
    marker = Marker(query_terms(retrieval.prompt.text), by_stem=retrieval.strategy == MEMSIFT)
    results = [_result(one, marker, index) for one in retrieval.injected]
    return {"query": retrieval.prompt.text, "total_results": len(results), "results": results}


def search_lines(result: dict[str, Any]) -> list[str]:
    """The same for people: a line with confidence, category and title, one with the path, one with the snippet.

    The matches in the snippet are bold, for a terminal to show: `click.echo` leaves that out where there is none.
    """
    lines: list[str] = []
    for one in result["results"]:
        retired = "" if one["status"] == "active" else f" [{one['status']}]"
        lines += [visible(f"{one['confidence']:<6} {one['category']:<16} {one['title']}{retired}")]
        lines += [visible(f"       {one['path']}"), f"       {bold(one['snippet'], one['matches'])}", ""]
    return lines


def bold(text: str, places: Iterable[tuple[int, int]]) -> str:
    """*text*, visible, with these character ranges of it bold."""
    shown, position, pieces = visible(text), 0, []
    for start, end in places:
        pieces += [shown[position:start], click.style(shown[start:end], bold=True)]
        position = end
    return "".join([*pieces, shown[position:]])


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


def _result(one: Candidate, marker: Marker, index: Index) -> dict[str, Any]:
    memory = index.memory(one.memory.id)
    shown = snippet(memory.body if memory else "", marker)
    return {
        "id": one.memory.id,
        "title": one.memory.title,
        "category": one.memory.category,
        "path": one.memory.path,
        "tags": list(one.memory.tags),
        "status": one.memory.status,
        "snippet": shown.text,
        "updated_at": one.memory.updated_at,
        "score": round(one.score, 4),
        "confidence": one.confidence,
        "matches": [list(place) for place in shown.matches],
    }
