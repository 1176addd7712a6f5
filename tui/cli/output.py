"""Records as rows for stdout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.prompt import Prompt


def visible(line: str) -> str:
    """*line* with a dot in place of each character that could command a terminal."""
    return "".join(character if character.isprintable() else "·" for character in line)


def of_roots(made: Mapping[str, str], form: str) -> str:
    """What a command prints for each root, by root, as one output: of one root as it is.

    Of several, JSON documents become an array of objects with `root` first, "jsonl" rows get it each, and texts stand
    one after the other under their roots.
    """
    if len(made) == 1:
        return next(iter(made.values()))
    if form == "json":
        rows = [{"root": root, **json.loads(text)} for root, text in made.items()]
        return f"{json.dumps(rows, indent=2, ensure_ascii=False)}\n"
    if form == "jsonl":
        lines = [(root, line) for root, text in made.items() for line in text.splitlines()]
        return "".join(f"{json.dumps({'root': root, **json.loads(line)})}\n" for root, line in lines)
    mark = "# " if form == "markdown" else ""
    return "\n".join(f"{mark}{visible(root)}\n\n{text}" for root, text in made.items())


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
