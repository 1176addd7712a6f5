"""Records as rows for stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.prompt import Prompt


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
