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


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def texts(name: str, half: int) -> list[str]:
    """The texts of a half of a data file. The rules were written with the development half only."""
    found = [row["text"] for row in rows(name)]
    return [text for text in found if int(sha256(text.encode()).hexdigest(), 16) % 2 == half]
