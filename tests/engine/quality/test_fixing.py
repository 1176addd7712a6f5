"""From findings to changes: what `quality fix` changes, what it never changes, and one undo for all of it."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from engine.curation.operations import MASK
from engine.quality.checks.secrets import secrets_of
from engine.quality.fixing import Fix, join_fixes, plan_fixes
from engine.quality.registry import BY_DEFAULT, LIST, CheckedRoot, Finding, findings
from engine.stores.markdown.auto_memory import cut
from engine.stores.markdown.parts import LOADED_LINES
from engine.stores.roots import read_corpus
from tests.engine.builders import memory
from tests.engine.curation.roots import (
    CONTENT,
    contents,
    document,
    perform,
    read,
    rebuilt_index,
    undo,
    write_documents,
)
from tests.engine.quality.samples import corpus_roots

KEY, SECOND = "AKIA" + "IOSFODNN7EXAMPL3", "aws_secret_access_key=" + "wJalrXUtnFEMIxK7MDENG" + "bPxRfiCYq9ZTWEKEYab"
ESCAPED = "p\\q-Zq9-hunter"
COPY = {**CONTENT["decision"], "decision": "Reads of the catalogue go through the cache for one hour, then expire."}
NOTE = "---\nname: {0}\ndescription: rule {0}\ntype: project\n---\nText of {0}.\n"


def rule(text: str) -> dict[str, object]:
    return {**CONTENT["constraint"], "rule": text}


def found(root: Path) -> list[Finding]:
    corpus = read_corpus(str(root))
    return findings(CheckedRoot(corpus.root, corpus.memories, corpus.notices), BY_DEFAULT, {})


def fixes_of(root: Path) -> list[Fix]:
    return plan_fixes(str(root), found(root), read_corpus(str(root)).memories)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    secret = rule(f'Use {KEY} with {SECOND}; password = "hunter2-Zq9" at night.')
    documents = [
        document("key", "constraint", content=secret),
        document("copy-1", title="Cache for the catalogue", content=COPY),
        document("copy-2", title="Cache for the catalogue", content=COPY, updated_at="2026-02-01T00:00:00Z"),
        document("old", content={**CONTENT["decision"], "decision": "Superseded by copy-2. Ask the shelf first."}),
        document("titled", "preference", title="Prefer long words"),
    ]
    root = write_documents(tmp_path / "project/.claude/memory", documents)
    index = root / "index.md"
    lines = index.read_text("utf-8").replace("Prefer long words", "Another title").splitlines(keepends=True)
    gone = "- [DECISION] Gone -> .claude/memory/decisions/gone.json #tags:gone\n"
    outside = "- [DECISION] Outside -> ../../../etc/nothing.json #tags:x\n"
    kept = [line for line in lines if "key.json" not in line]
    index.write_text("".join([*kept, gone, outside]), encoding="utf-8")
    return root


def test_fix_takes_secrets_out_and_brings_a_generated_list_in_step_and_retires_nothing(root: Path) -> None:
    before = contents(root)
    made = fixes_of(root)
    assert [change.check for change in made] == ["secrets", "drift", "drift"]
    number = perform(join_fixes(made)).number
    names = ("key", "copy-1", "copy-2", "old", "titled")
    assert {read(root, name)["record_status"] for name in names} == {"active"}
    assert (root / "index.md").read_text("utf-8").replace(
        "- [DECISION] Outside -> ../../../etc/nothing.json #tags:x\n", ""
    ) == rebuilt_index(root)
    assert fixes_of(root) == []
    assert {finding.check for finding in found(root)} == {"duplicates", "staleness", "drift"}
    undo(number)
    assert contents(root) == before


@pytest.mark.slow
def test_on_real_shaped_notes_fix_and_undo_give_all_bytes_back_and_the_client_loads_as_much(tmp_path: Path) -> None:
    changed = 0
    for name, place in corpus_roots().items():
        root = tmp_path / name
        copytree(place, root)
        before, index = contents(root), root / "MEMORY.md"
        loaded = index.read_text("utf-8").splitlines()[:LOADED_LINES] if index.exists() else []
        made = fixes_of(root)
        assert {change.check for change in made} <= {"drift"}, name
        if not made:
            continue
        changed += len(made)
        number = perform(join_fixes(made)).number
        after = contents(root)
        assert {path for path in before if after[path] != before[path]} == {str(index)}, name
        now = index.read_text("utf-8")
        assert (cut(now), [line for line in loaded if line not in now.splitlines()]) == ("", []), name
        undo(number)
        assert contents(root) == before, name
    assert changed >= 6


def test_a_list_gets_no_line_for_a_note_that_it_links_or_names_and_none_past_what_the_client_loads(
    tmp_path: Path,
) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    for name in ("one_rule", "two_rule", "three_rule", "four_rule", "five_rule", "lost_a", "lost_b", "lost_c"):
        (root / f"{name}.md").write_text(NOTE.format(name), encoding="utf-8")
    named = "- [One](one_rule.md) · [Two](two_rule.md), again [One](one_rule.md)\n"
    named += "See three_rule and [[four_rule]], `five_rule.md`.\n"
    (root / "MEMORY.md").write_text(named + "- a fact of ours\n" * (LOADED_LINES - 4), encoding="utf-8")
    unlisted = [finding for finding in found(root) if "does not list" in finding.reason]
    assert [(finding.memory_id, finding.change) for finding in unlisted] == [
        ("lost_a", (LIST, "lost_a.md")),
        ("lost_b", (LIST, "lost_b.md")),
        ("lost_c", ()),
    ]
    perform(join_fixes(fixes_of(root)))
    text = (root / "MEMORY.md").read_text("utf-8")
    assert (cut(text), text.count("_rule.md")) == ("", named.count("_rule.md"))


def test_a_wrapped_line_that_begins_with_superseded_is_no_finding(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    text = NOTE.format("a") + "The old importer is gone, it was\nsuperseded by the new one in May.\n"
    (root / "a.md").write_text(text, encoding="utf-8")
    (root / "MEMORY.md").write_text("- [A](a.md)\n", encoding="utf-8")
    assert found(root) == []


def test_what_is_no_single_secret_without_doubt_stays(root: Path) -> None:
    perform(join_fixes(fixes_of(root)))
    for text in (
        "needs SSH secrets: `DEPLOY_HOST`, `DEPLOY_USER`",
        "The password is in the vault, the token too: ask Ines.",
        "api_key=<your key here>, token = $DEPLOY_TOKEN",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\nAAK\n-----END RSA PRIVATE KEY-----",
    ):
        assert secrets_of(memory("keys", body=text)) == (), text


def test_a_secret_leaves_every_place_of_the_file_also_its_list_of_changes(root: Path) -> None:
    perform(join_fixes(fixes_of(root)))
    text = (root / "constraints/key.json").read_text("utf-8")
    assert all(secret not in text for secret in (KEY, SECOND[30:], "hunter2"))
    assert (
        read(root, "key")["content"]["rule"]
        == f'Use {MASK} with aws_secret_access_key={MASK}; password = "{MASK}" at night.'
    )
    assert read(root, "key")["times_updated"] == 1


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("Pushes use ghp_a8Fk29dLmQ0xZt73RbVw5YcJ1uHn6KpEs4Tg.", ["ghp_a8Fk29dLmQ0xZt73RbVw5YcJ1uHn6KpEs4Tg"]),
        ("postgres://app:s3cr3t-pw-9@db.internal:5432/app", ["s3cr3t-pw-9"]),
        ("The password is in the vault.", []),
    ],
)
def test_the_whole_secret_is_taken_out_and_not_only_the_part_that_the_library_names(
    line: str, taken: list[str]
) -> None:
    assert list(secrets_of(memory("keys", body=line))) == taken


def test_a_secret_with_characters_that_json_escapes_is_taken_out(tmp_path: Path) -> None:
    text = f"password = '{ESCAPED}' for the gate"
    root = write_documents(tmp_path / "memory", [document("gate", "constraint", content=rule(text))])
    perform(join_fixes(fixes_of(root)))
    assert read(root, "gate")["content"]["rule"] == f"password = '{MASK}' for the gate"
    assert "Zq9-hunter" not in json.dumps(read(root, "gate"))
