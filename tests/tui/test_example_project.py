"""The example project of most tests: complete, and consistent with itself."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.tui.demo import DEMO
from tests.tui.demo import DEMO_ROOT as MEMORY

FOLDERS = {
    "sessions": "session_summary",
    "decisions": "decision",
    "runbooks": "runbook",
    "constraints": "constraint",
    "tech-debt": "tech_debt",
    "preferences": "preference",
}
KINDS = {"specific", "multi-topic", "ambiguous", "context-dependent", "identifier", "nothing-relevant"}
REQUIRED = {"schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content"}


def memory_files() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((MEMORY / folder).glob("*.json"))]


def memories() -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in memory_files()]


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


def qrels() -> list[tuple[str, str, int]]:
    fields = (line.split() for line in (DEMO / "qrels.txt").read_text(encoding="utf-8").splitlines())
    return [(prompt, memory, int(grade)) for prompt, _, memory, grade in fields]


def relevant_per_prompt() -> Counter[str]:
    return Counter(prompt for prompt, _, grade in qrels() if grade > 0)


def index_line(path: Path, memory: dict[str, Any]) -> str:
    where = f".claude/memory/{path.parent.name}/{path.name}"
    return f"- [{memory['category'].upper()}] {memory['title']} -> {where} #tags:{','.join(memory['tags'])}"


def test_there_are_enough_memories_in_each_of_the_six_categories() -> None:
    found = Counter(memory["category"] for memory in memories())
    assert sum(found.values()) >= 60
    assert set(found) == set(FOLDERS.values())
    assert min(found.values()) >= 8


def test_every_memory_is_complete_and_filed_under_its_id_in_the_folder_of_its_category() -> None:
    for path, memory in zip(memory_files(), memories(), strict=True):
        assert memory.keys() >= REQUIRED, path
        assert memory["schema_version"] == "1.0"
        assert (memory["id"], memory["category"]) == (path.stem, FOLDERS[path.parent.name])
        assert memory["content"], path
        assert all(memory["content"].values()), path
        assert 0 < len(memory["title"]) <= 120, path
        assert memory["tags"], path
        assert all(tag and tag == tag.strip() for tag in memory["tags"]), path
        created, updated = (datetime.fromisoformat(memory[name]) for name in ("created_at", "updated_at"))
        assert created <= updated, path
    assert len({memory["id"] for memory in memories()}) == len(memories())
    assert len({memory["title"] for memory in memories()}) == len(memories())


def test_a_retired_memory_says_when_and_why_and_is_never_relevant() -> None:
    retired = [memory for memory in memories() if memory["record_status"] == "retired"]
    assert retired
    assert all(memory["retired_at"] and memory["retired_reason"] for memory in retired)
    ids = {memory["id"] for memory in retired}
    assert not [pair for pair in qrels() if pair[1] in ids and pair[2] > 0]


def test_the_index_lists_exactly_the_active_memories() -> None:
    lines = (MEMORY / "index.md").read_text(encoding="utf-8").splitlines()
    pairs = zip(memory_files(), memories(), strict=True)
    active = [index_line(path, memory) for path, memory in pairs if memory["record_status"] == "active"]
    assert lines[:2] == ["# Memory Index", ""]
    assert sorted(lines[2:]) == sorted(active)


def test_the_demo_starts_with_the_judge_switched_off() -> None:
    retrieval = json.loads((MEMORY / "memory-config.json").read_text(encoding="utf-8"))["retrieval"]
    assert retrieval["enabled"] is True
    assert retrieval["max_inject"] == 3
    assert retrieval["judge"]["enabled"] is False


def test_there_are_enough_prompts_of_every_kind() -> None:
    found = Counter(row["kind"] for row in rows("prompts.jsonl"))
    assert sum(found.values()) >= 40
    assert set(found) == KINDS
    assert min(found.values()) >= 6
    assert found["nothing-relevant"] >= 8
    prompts = rows("prompts.jsonl")
    assert len({row["id"] for row in prompts}) == len({row["prompt"] for row in prompts}) == len(prompts)


def test_context_is_well_formed_and_there_where_a_prompt_depends_on_it() -> None:
    for row in rows("prompts.jsonl"):
        turns = row.get("context", [])
        assert all(turn["role"] in {"user", "assistant"} and turn["text"] for turn in turns), row["id"]
        assert row["kind"] != "context-dependent" or 2 <= len(turns) <= 5, row["id"]


def test_exactly_the_prompts_of_that_kind_have_nothing_relevant() -> None:
    relevant = relevant_per_prompt()
    for row in rows("prompts.jsonl"):
        wanted = {0} if row["kind"] == "nothing-relevant" else set(range(1, 6))
        assert relevant[row["id"]] in wanted, row["id"]


def test_every_judged_pair_names_a_prompt_and_a_memory_once() -> None:
    pairs = [(prompt, memory) for prompt, memory, _ in qrels()]
    assert len(set(pairs)) == len(pairs)
    assert {prompt for prompt, _ in pairs} == {row["id"] for row in rows("prompts.jsonl")}
    assert {memory for _, memory in pairs} <= {memory["id"] for memory in memories()}
    assert {grade for _, _, grade in qrels()} == {0, 1}


def test_the_script_answers_every_prompt_once_and_keeps_only_titles_that_exist() -> None:
    answered = [row["prompt"] for row in rows("judge.jsonl")]
    assert sorted(answered) == sorted(row["prompt"] for row in rows("prompts.jsonl"))
    titles = {memory["title"] for memory in memories() if memory["record_status"] == "active"}
    for row in rows("judge.jsonl"):
        assert set(row.get("keep", ())) <= titles, row["prompt"]


def test_the_script_shows_one_timeout_and_one_answer_that_cannot_be_read() -> None:
    script = rows("judge.jsonl")
    assert all(len({"keep", "answer", "status"} & row.keys()) == 1 for row in script)
    assert [row["status"] for row in script if "status" in row] == ["timeout"]
    assert ["{" in row["answer"] for row in script if "answer" in row] == [False]
    assert all(0 < row["delay_ms"] <= 3000 for row in script)
