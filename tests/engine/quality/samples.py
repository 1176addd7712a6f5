"""The attack texts and the harmless texts that look dangerous, each in two halves."""

import json
from hashlib import sha256
from pathlib import Path

DATA = Path(__file__).parent / "data"
DEVELOPMENT, HELD_OUT = 0, 1
CORPUS = Path(__file__).parents[2] / "corpus"


def corpus_roots() -> dict[str, Path]:
    """The folders of notes in tests/corpus, by the name of their project."""
    return {
        "card_game": CORPUS / "card_game/memory",
        "feuerwehr_dienst": CORPUS / "feuerwehr_dienst/.claude/memory",
        "trail_map": CORPUS / "trail_map/.claude/memory",
        "velo_share": CORPUS / "velo_share",
        "memory_bank": CORPUS / "velo_share/memory-bank",
        "yomi_reader": next((CORPUS / "yomi_reader/home/.claude/projects").glob("*/memory")),
    }


def rows(name: str, half: int | None = None) -> list[dict[str, str]]:
    """The rows of a data file, or of a half of it. The rules were written with the development half only."""
    found = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    return [row for row in found if half is None or int(sha256(row["text"].encode()).hexdigest(), 16) % 2 == half]


def texts(name: str, half: int | None = None) -> list[str]:
    return [row["text"] for row in rows(name, half)]
