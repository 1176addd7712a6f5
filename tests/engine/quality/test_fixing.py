"""From findings to changes: what is changed without a person's judgement, what is not, and one undo for all of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.curation.operations import MASK
from engine.quality.checks.secrets import secrets_of
from engine.quality.fixing import fixes, together
from engine.quality.registry import CHECKS, CheckedRoot, findings
from engine.stores.roots import read_corpus
from tests.engine.builders import memory
from tests.engine.curation.roots import (
    CONTENT,
    contents,
    document,
    perform,
    read,
    rebuilt_index,
    summary,
    undo,
    write_documents,
)

if TYPE_CHECKING:
    from pathlib import Path

    from engine.quality.fixing import Fix
    from engine.quality.registry import Finding

KEY, SECOND = "AKIA" + "IOSFODNN7EXAMPL3", "wJalrXUtnFEMIxK7MDENG" + "bPxRfiCYq9ZTWEKEYab"
ESCAPED = "p\\q-Zq9-hunter"
COPY = {**CONTENT["decision"], "decision": "Reads of the catalogue go through the cache for one hour, then expire."}


def rule(text: str) -> dict[str, object]:
    return {**CONTENT["constraint"], "rule": text}


def found(root: Path) -> list[Finding]:
    corpus = read_corpus(str(root))
    return findings(CheckedRoot(corpus.root, corpus.memories, corpus.notices), CHECKS, {})


def fixes_of(root: Path) -> list[Fix]:
    return fixes(str(root), found(root), read_corpus(str(root)).memories)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    documents = [
        document("key", "constraint", content=rule(f'Use {KEY} with {SECOND}; password = "hunter2-Zq9" at night.')),
        document("copy-1", title="Cache for the catalogue", content=COPY),
        document("copy-2", title="Cache for the catalogue", content=COPY, updated_at="2026-02-01T00:00:00Z"),
        document("copy-3", title="Cache for the catalogue", content=COPY, updated_at="2026-03-01T00:00:00Z"),
        document("old", content={**CONTENT["decision"], "decision": "Superseded by copy-3. Ask the shelf first."}),
        document(
            "long", "preference", title="Prefer long words", content={**CONTENT["preference"], "value": "w " * 3000}
        ),
    ]
    root = write_documents(tmp_path / "project/.claude/memory", documents)
    index = root / "index.md"
    lines = index.read_text("utf-8").replace("Prefer long words", "Another title").splitlines(keepends=True)
    gone = "- [DECISION] Gone -> .claude/memory/decisions/gone.json #tags:gone\n"
    outside = "- [DECISION] Outside -> ../../../etc/nothing.json #tags:x\n"
    kept = [line for line in lines if "key.json" not in line]
    index.write_text("".join([*kept, gone, outside]), encoding="utf-8")
    return root


def test_findings_that_need_no_judgement_are_settled_by_one_operation_with_one_undo(root: Path) -> None:
    before = contents(root)
    made = fixes_of(root)
    assert [one.check for one in made] == ["secrets", "duplicates", "staleness", "drift", "drift"]
    number = perform(together(made)).number
    assert {one: read(root, one)["record_status"] for one in ("key", "copy-1", "copy-2", "copy-3", "old", "long")} == {
        **dict.fromkeys(("key", "copy-3", "long"), "active"),
        **dict.fromkeys(("copy-1", "copy-2", "old"), "retired"),
    }
    assert (root / "index.md").read_text("utf-8").replace(
        "- [DECISION] Outside -> ../../../etc/nothing.json #tags:x\n", ""
    ) == rebuilt_index(root)
    assert fixes_of(root) == []
    assert {one.check for one in found(root)} == {"drift", "size"}
    undo(number)
    assert contents(root) == before


def test_a_secret_leaves_every_place_of_the_file_also_its_list_of_changes(root: Path) -> None:
    perform(together(fixes_of(root)))
    text = (root / "constraints/key.json").read_text("utf-8")
    assert all(secret not in text for secret in (KEY, SECOND, "hunter2"))
    assert read(root, "key")["content"]["rule"] == f'Use {MASK} with {MASK}; password = "{MASK}" at night.'
    assert read(root, "key")["times_updated"] == 1


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("Pushes use ghp_a8Fk29dLmQ0xZt73RbVw5YcJ1uHn6KpEs4Tg.", ["ghp_a8Fk29dLmQ0xZt73RbVw5YcJ1uHn6KpEs4Tg"]),
        ("postgres://app:s3cr3t-pw-9@db.internal:5432/app", ["s3cr3t-pw-9"]),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\nAAK\n-----END RSA PRIVATE KEY-----", None),
        ("The password is in the vault.", []),
    ],
)
def test_the_whole_secret_is_taken_out_and_not_only_the_part_that_the_library_names(
    line: str, taken: list[str] | None
) -> None:
    assert list(secrets_of(memory("keys", body=line))) == ([line] if taken is None else taken)


def test_a_secret_with_characters_that_json_escapes_is_taken_out(tmp_path: Path) -> None:
    text = f"password = '{ESCAPED}' for the gate"
    root = write_documents(tmp_path / "memory", [document("gate", "constraint", content=rule(text))])
    perform(together(fixes_of(root)))
    assert read(root, "gate")["content"]["rule"] == f"password = '{MASK}' for the gate"
    assert "Zq9-hunter" not in json.dumps(read(root, "gate"))


def test_copies_with_other_titles_or_pairs_that_are_only_alike_wait_for_a_person(tmp_path: Path) -> None:
    other = "Reads of the catalogue go through the cache for one hour, then they are asked for again at the shelf."
    documents = [
        document("one", title="Cache for the catalogue", content=COPY),
        document("two", title="Cache for the catalogue", content={**COPY, "decision": other}),
    ]
    root = write_documents(tmp_path / "memory", documents)
    assert [one.check for one in found(root)] == ["duplicates"]
    assert fixes_of(root) == []


def test_a_memory_is_changed_once(tmp_path: Path) -> None:
    text = f"Superseded by new-keys. The key is {KEY}."
    root = write_documents(tmp_path / "memory", [document("key", "constraint", content=rule(text))])
    (root / "index.md").write_text("# Memory Index\n", encoding="utf-8")
    assert {one.check for one in found(root)} == {"secrets", "staleness", "drift"}
    (made,) = fixes_of(root)
    perform(together([made]))
    assert [one.check for one in fixes_of(root)] == ["staleness"]
    assert summary(root, "key").status == "active"
