"""The attack texts and the harmless texts that look dangerous, each in two halves."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

DATA = Path(__file__).parent / "data"
DEVELOPMENT, HELD_OUT = 0, 1


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def texts(name: str, half: int) -> list[str]:
    """The texts of a half of a data file. The rules were written with the development half only."""
    found = [row["text"] for row in rows(name)]
    return [text for text in found if int(sha256(text.encode()).hexdigest(), 16) % 2 == half]
