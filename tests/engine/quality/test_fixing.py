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
COPY = {**CONTENT["decision"], "decision": "Reads of the catalogue go through the cache for one hour, then expire."}
NOTE = "---\nname: {0}\ndescription: rule {0}\ntype: project\n---\nText of {0}.\n"
OUTSIDE = "- [DECISION] Outside -> ../../../etc/nothing.json #tags:x\n"


def rule(text: str) -> dict[str, object]:
    return {**CONTENT["constraint"], "rule": text}


def found(root: Path) -> list[Finding]:
    corpus = read_corpus(str(root))
    return findings(CheckedRoot(corpus.root, corpus.memories, corpus.notices), BY_DEFAULT, {})


def fixes_of(root: Path) -> list[Fix]:
    return plan_fixes(str(root), found(root), read_corpus(str(root)).memories)


def notes(folder: Path, index: str, *names: str) -> Path:
    """A root of auto memory with a note for each name."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.md").write_text(NOTE.format(name), encoding="utf-8")
    (folder / "MEMORY.md").write_text(index, encoding="utf-8")
    return folder


def test_fix_takes_secrets_out_and_brings_a_generated_list_in_step_and_retires_nothing(tmp_path: Path) -> None:
    secret = rule(f'Use {KEY} with {SECOND}; password = "hunter2-Zq9" at night.')
    documents = [
        document("key", "constraint", content=secret),
        document("gate", "constraint", content=rule("password = 'p\\q-Zq9-hunter' for the gate")),
        document("copy-1", title="Cache for the catalogue", content=COPY),
        document("copy-2", title="Cache for the catalogue", content=COPY, updated_at="2026-02-01T00:00:00Z"),
        document("old", content={**CONTENT["decision"], "decision": "Superseded by copy-2. Ask the shelf first."}),
        document("titled", "preference", title="Prefer long words"),
    ]
    root = write_documents(tmp_path / "project/.claude/memory", documents)
    index = root / "index.md"
    lines = index.read_text("utf-8").replace("Prefer long words", "Another title").splitlines(keepends=True)
    gone = "- [DECISION] Gone -> .claude/memory/decisions/gone.json #tags:gone\n"
    kept = [line for line in lines if "key.json" not in line]
    index.write_text("".join([*kept, gone, OUTSIDE]), encoding="utf-8")
    before, made = contents(root), fixes_of(root)
    assert sorted(change.check for change in made) == ["drift", "drift", "secrets", "secrets"]
    number = perform(join_fixes(made)).number
    assert {read(root, one["id"])["record_status"] for one in documents} == {"active"}
    assert index.read_text("utf-8").replace(OUTSIDE, "") == rebuilt_index(root)
    text = (root / "constraints/key.json").read_text("utf-8") + json.dumps(read(root, "gate"))
    assert all(secret not in text for secret in (KEY, SECOND[30:], "hunter")), "also not in the list of changes"
    said = f'Use {MASK} with aws_secret_access_key={MASK}; password = "{MASK}" at night.'
    assert (read(root, "key")["content"]["rule"], read(root, "key")["times_updated"]) == (said, 1)
    assert read(root, "gate")["content"]["rule"] == f"password = '{MASK}' for the gate"
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
    named = "- [One](one_rule.md) · [Two](two_rule.md), again [One](one_rule.md)\n"
    named += "See three_rule and [[four_rule]], `five_rule.md`.\n"
    names = ("one_rule", "two_rule", "three_rule", "four_rule", "five_rule", "lost_a", "lost_b", "lost_c")
    root = notes(tmp_path / "memory", named + "- a fact of ours\n" * (LOADED_LINES - 4), *names)
    unlisted = [finding for finding in found(root) if "does not list" in finding.reason]
    assert [(finding.memory_id, finding.change) for finding in unlisted] == [
        ("lost_a", (LIST, "lost_a.md")),
        ("lost_b", (LIST, "lost_b.md")),
        ("lost_c", ()),
    ]
    perform(join_fixes(fixes_of(root)))
    text = (root / "MEMORY.md").read_text("utf-8")
    assert (cut(text), text.count("_rule.md")) == ("", named.count("_rule.md"))


def test_only_a_whole_secret_without_doubt_is_taken_out() -> None:
    token = "ghp_a8Fk29dLmQ0xZt73RbVw5YcJ1uHn6KpEs4Tg"
    for line, taken in [
        (f"Pushes use {token}.", (token,)),
        ("postgres://app:s3cr3t-pw-9@db.internal:5432/app", ("s3cr3t-pw-9",)),
        ("needs SSH secrets: `DEPLOY_HOST`, `DEPLOY_USER`", ()),
        ("The password is in the vault, the token too: ask Ines.", ()),
        ("api_key=<your key here>, token = $DEPLOY_TOKEN", ()),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\nAAK\n-----END RSA PRIVATE KEY-----", ()),
    ]:
        assert secrets_of(memory("keys", body=line)) == taken, line
