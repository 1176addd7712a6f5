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


def write(path: Path, *phrases: str, is_removed: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": "ledger", "phrase": text, "digest": "", "by": "me", "at": f"2026-01-0{number}T00:00:00.000Z"}
        | ({"removed": True} if is_removed else {})
        for number, text in enumerate(phrases, 1)
    ]
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{json.dumps(row)}\n" for row in rows))


def found(root: Path, environ: Mapping[str, str]) -> list[str]:
    with closing(open_index(str(root), environ)) as index:
        return [one.memory.id for one in retrieve(Query(typed_prompt(ASK)), index, OpenSystem(Config())).candidates]


def test_phrases_of_a_trusted_root_count_as_soon_as_it_is_trusted(root: Path, environ: dict[str, str]) -> None:
    assert found(root, environ) == []
    write(root / ".memsift/phrases.jsonl", PHRASE)
    assert found(root, environ) == []
    trust(str(root), environ)
    assert found(root, environ) == ["ledger"]


def test_phrases_in_the_users_own_folder_count_in_any_root(root: Path, environ: dict[str, str]) -> None:
    write(Path(state_dir(str(root), environ), "phrases.jsonl"), PHRASE)
    assert found(root, environ) == ["ledger"]


def test_a_changed_memory_keeps_its_phrases_and_a_removed_phrase_is_gone(root: Path, environ: dict[str, str]) -> None:
    file = Path(state_dir(str(root), environ), "phrases.jsonl")
    write(file, "unrelated words alone", PHRASE)
    assert found(root, environ) == ["ledger"]
    write_root(root, [memory("Ledger keys", memory_id="ledger"), *fillers(5)])
    assert found(root, environ) == ["ledger"]
    file.unlink()
    write(file, "unrelated words alone")
    assert found(root, environ) == []


def test_phrases_that_count_change_the_hash_by_which_results_are_kept(root: Path, environ: dict[str, str]) -> None:
    def hash_now() -> str:
        with closing(open_index(str(root), environ)) as index:
            return index.corpus_hash

    without = hash_now()
    write(root / ".memsift/phrases.jsonl", PHRASE)
    assert hash_now() == without, "nobody trusts the root"
    trust(str(root), environ)
    first = hash_now()
    assert first != without
    write(root / ".memsift/phrases.jsonl", PHRASE, "another phrase")
    assert hash_now() not in (without, first)
    (root / ".memsift/phrases.jsonl").unlink()
    assert hash_now() == without


def test_phrases_are_weighed_again_when_many_memories_come(root: Path, environ: dict[str, str]) -> None:
    write(Path(state_dir(str(root), environ), "phrases.jsonl"), PHRASE)

    def strength() -> float:
        with closing(open_index(str(root), environ)) as index:
            (one,) = retrieve(Query(typed_prompt(ASK)), index, OpenSystem(Config())).candidates
            return one.strength

    few = strength()
    write_root(root, [LEDGER, *fillers(200)])
    many = strength()
    fresh = {**environ, "HOME": f"{environ['HOME']}-of-another"}
    write(Path(state_dir(str(root), fresh), "phrases.jsonl"), PHRASE)
    environ |= fresh
    assert few < many == pytest.approx(strength())
