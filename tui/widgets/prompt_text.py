"""A whole prompt as text: the turns before it, oldest first, and the prompt itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import plain

if TYPE_CHECKING:
    from engine.prompt import Prompt


def prompt_text(prompt: Prompt) -> Content:
    """The conversation as a person reads it; each part under the name of who said it."""
    parts = [*((turn.role, turn.text) for turn in prompt.turns), ("prompt", prompt.text)]
    return Content("\n\n").join(
        plain(f"{who}\n").stylize_before("bold $text-primary") + plain(text) for who, text in parts
    )
