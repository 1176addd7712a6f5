"""LoCoMo as memories, prompts and judgements. The data set is not part of the project: its folder is an argument."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from engine.config import Config
from engine.memory import Memory
from engine.prompt import Prompt
from labels.exchange.trec import read_qrels
from labels.tuning.examples import JudgedPrompt, Truth, judged_prompts
from tests.engine.builders import memory, open_index


def judged(folder: Path, config: Config) -> list[JudgedPrompt]:
    """The memories that reach the cutoff for each question; its group is the collection."""
    facts = collections(folder)
    truth = Truth.from_qrels(read_qrels(folder / "qrels.txt"), excludes=False)
    questions = list(rows(folder / "prompts.jsonl"))
    found = []
    with ExitStack() as opened:
        for name, memories in facts.items():
            index = opened.enter_context(open_index(*memories))
            own = [Prompt(row["id"], row["prompt"]) for row in questions if row["collection"] == name]
            found += judged_prompts(own, index, config, truth, name)
    return found


def collections(folder: Path) -> dict[str, list[Memory]]:
    """The memories of each collection."""
    facts: dict[str, list[Memory]] = {}
    for row in rows(folder / "memories.jsonl"):
        fact = memory(
            row["fact"][:120],
            row["speaker"].lower(),
            f"session-{row['session']}",
            body=f"{row['fact']}\nSaid on {row['date']}",
            category="session_summary",
            memory_id=row["id"],
        )
        facts.setdefault(row["collection"], []).append(fact)
    return facts


def rows(path: Path) -> Iterator[dict[str, str]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())
