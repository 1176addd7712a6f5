"""The index finds memories by the phrases in the root's file, as far as the root is the user's own or trusted."""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from engine.config import Config
from engine.opening import open_index
from engine.paths import state_dir
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.settings.trust import trust
from tests.engine.builders import fillers, memory, write_root

LEDGER = memory("Idempotency keys of the ledger", memory_id="ledger", body="Every write carries a key.")
ASK = "why was the customer charged twice"
PHRASE = "customers are charged twice"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_root(tmp_path / "project/.claude/memory", [LEDGER, *fillers(5)]).resolve()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def write(path: Path, *phrases: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": "ledger", "phrase": text, "digest": "", "by": "me", "at": f"2026-01-0{number}T00:00:00.000Z"}
        for number, text in enumerate(phrases, 1)
    ]
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{json.dumps(row)}\n" for row in rows))


def find(root: Path, environ: Mapping[str, str]) -> tuple[dict[str, float], str]:
    """The ids that ASK finds, with their strengths, and the hash by which results are kept."""
    with closing(open_index(str(root), environ)) as index:
        candidates = retrieve(Query(typed_prompt(ASK)), index, OpenSystem(Config())).candidates
        return {one.memory.id: one.strength for one in candidates}, index.corpus_hash


def test_phrases_of_a_root_count_once_it_is_trusted_and_change_the_hash_by_which_results_are_kept(
    root: Path, environ: dict[str, str]
) -> None:
    file = root / ".memsift/phrases.jsonl"
    without = find(root, environ)
    assert without[0] == {}
    write(file, PHRASE)
    assert find(root, environ) == without, "nobody trusts the root"
    trust(str(root), environ)
    found, first = find(root, environ)
    assert ([*found], first != without[1]) == (["ledger"], True)
    write(file, PHRASE, "another phrase")
    assert find(root, environ)[1] not in (without[1], first)
    file.unlink()
    assert find(root, environ) == without


def test_phrases_in_the_users_own_folder_count_in_any_root_until_they_are_removed_though_a_memory_changed(
    root: Path, environ: dict[str, str]
) -> None:
    file = Path(state_dir(str(root), environ), "phrases.jsonl")
    write(file, "unrelated words alone", PHRASE)
    assert [*find(root, environ)[0]] == ["ledger"]
    write_root(root, [memory("Ledger keys", memory_id="ledger"), *fillers(5)])
    assert [*find(root, environ)[0]] == ["ledger"]
    file.unlink()
    write(file, "unrelated words alone")
    assert find(root, environ)[0] == {}


def test_phrases_are_weighed_again_when_many_memories_come(root: Path, environ: dict[str, str]) -> None:
    write(Path(state_dir(str(root), environ), "phrases.jsonl"), PHRASE)
    few = find(root, environ)[0]["ledger"]
    write_root(root, [LEDGER, *fillers(200)])
    many = find(root, environ)[0]["ledger"]
    fresh = {**environ, "HOME": f"{environ['HOME']}-of-another"}
    write(Path(state_dir(str(root), fresh), "phrases.jsonl"), PHRASE)
    assert few < many == pytest.approx(find(root, fresh)[0]["ledger"])
