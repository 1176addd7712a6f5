"""What prompts and memories are called, for people who know them by their texts and not by their ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Names:
    """What prompts say, of what kind they are, and what memories are called, by id. What is absent is not known."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)


NAMELESS = Names()
