"""The corpus holds together: labels name memories that exist, and its README counts right."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parent / "corpus"
ROOTS = sorted(path for path in CORPUS.iterdir() if path.is_dir())
KINDS = set("concrete vague paraphrase negated several error followup language spelling none".split())


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def parts(path: Path) -> list[str]:
    """What a label can name behind `#`: headings and bullets of a text, entities of a memory server."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".json":
        return [row["name"] for row in map(json.loads, lines) if row["type"] == "entity"]
    return [part[1] for line in lines if (part := re.match(r"\s*(?:#+|[-*]) (.+)", line))]


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_every_label_names_one_memory(root: Path) -> None:
    for row in rows(root / "labels.jsonl"):
        for memory, grade in row["labels"].items():
            path, _, name = memory.partition("#")
            assert (root / path).stat().st_size > 0, memory
            assert grade in (1, 2), memory
            if name:
                found = [part for part in parts(root / path) if part.startswith(name)]
                assert len(found) == 1 or found.count(name) == 1, memory


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_a_prompt_needs_a_memory_unless_its_kind_is_none(root: Path) -> None:
    prompts = rows(root / "prompts.jsonl")
    labels = {row["id"]: row["labels"] for row in rows(root / "labels.jsonl")}
    assert list(labels) == [row["id"] for row in prompts]
    assert len(labels) == len({json.dumps([row["prompt"], row.get("context")]) for row in prompts}) == len(prompts)
    for row in prompts:
        assert (row["kind"] != "none") == (2 in labels[row["id"]].values()), row["id"]
        assert row["kind"] in (("followup", "none") if "context" in row else KINDS - {"followup"}), row["id"]


def test_the_readme_counts_right() -> None:
    counts = []
    for root in ROOTS:
        kinds = Counter(row["kind"] for row in rows(root / "prompts.jsonl"))
        assert set(kinds) == KINDS
        files = sum(path.is_file() and path.suffix != ".jsonl" for path in root.rglob("*"))
        counts.append((root.name, files, kinds.total(), kinds["none"]))
    text = (CORPUS / "README.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert [(name, *map(int, numbers)) for name, *numbers in table] == counts
