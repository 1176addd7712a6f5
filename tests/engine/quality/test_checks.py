"""Each check with planted cases, and with cases that only look like one."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.lean.record import replace
from engine.memory import Memory, Section
from engine.paths import project_of
from engine.phrases.file import PhraseRow
from engine.quality.checks.memories import tokens
from engine.quality.registry import BY_DEFAULT, CheckedRoot, Finding, Usage, findings
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, put, write_memory, write_root
from tests.engine.curation.roots import CONTENT, document, write_documents
from tests.engine.quality.samples import corpus_roots, rows

NOW = 1_750_000_000.0
DAY = 86400
KEY = "AKIA" + "IOSFODNN7EXAMPL3"


def subject(*memories: Memory, **given: object) -> CheckedRoot:
    return CheckedRoot("/root", memories, now=NOW, **given)  # type: ignore[arg-type]


def find(check: str, given: CheckedRoot) -> list[Finding]:
    return findings(given, [check], {})


def ids(found: list[Finding]) -> list[str]:
    return [one.memory_id for one in found]


# Duplicates


def pairs(kind: str) -> tuple[int, int]:
    """How many pairs of a kind the data has, and how many are found among all their memories; no others are found."""
    planted = [(row["first"], row["second"]) for row in rows("pairs.jsonl") if row["kind"] == kind]
    memories = [
        memory(text, memory_id=f"{number}{side}")
        for number, pair in enumerate(planted)
        for side, text in zip("ab", pair, strict=True)
    ]
    found = find("duplicates", subject(*memories))
    assert all({one.memory_id[:-1]} == {other[:-1] for other in one.others} for one in found)
    return len(planted), len(found)


def test_memories_in_other_words_are_duplicates_and_alike_ones_that_differ_seldom() -> None:
    planted, found = pairs("paraphrase")
    assert planted >= 20
    assert found >= 0.8 * planted
    planted, found = pairs("alike")
    assert planted >= 20
    assert found <= 0.15 * planted


def test_of_copies_each_older_one_is_found_once_beside_the_newest_which_the_action_keeps() -> None:
    copies = [
        memory("cache rule", body="Reads go through the cache.", memory_id=f"m{year}", updated_at=f"{year}-01-01")
        for year in range(2020, 2025)
    ]
    retired = memory("cache rule", body="Reads go through the cache.", memory_id="old", status="retired")
    found = find("duplicates", subject(*copies, retired))
    assert {(one.memory_id, *one.others) for one in found} == {("m2024", f"m{year}") for year in range(2020, 2024)}
    assert {one.severity for one in found} == {1.0}
    assert found[0].action.endswith(f"memsift merge m2024 {found[0].others[0]}")


def test_hundreds_of_copies_of_one_note_are_found_each_once() -> None:
    copies = [
        memory("cache rule for reads", body="Keep it an hour.", memory_id=f"m{number:03}") for number in range(300)
    ]
    others = [memory(f"topic {number}", body=f"Something else about item {number}.") for number in range(100)]
    found = find("duplicates", subject(*copies, *others))
    assert len({one.memory_id for one in found if one.memory_id.startswith("m")}) >= 299
    assert len(found) < 2 * len(copies)


LATER = "Checked again in autumn."


def test_planted_copies_are_found_among_real_shaped_notes_and_little_else() -> None:
    for name, place in corpus_roots().items():
        notes = [note for note in read_corpus(str(place)).memories if len(note.body) > 200]
        planted = [
            replace(
                note,
                summary=replace(note.summary, id=f"copy-{note.summary.id}", path=f"copy/{note.summary.path}"),
                sections=(Section("", (*note.body.splitlines()[: -1 if note.body.count("\n") > 4 else None], LATER)),),
            )
            for note in notes[::5]
        ]
        pairs = {(finding.memory_id, *finding.others) for finding in find("duplicates", subject(*notes, *planted))}
        wanted = {frozenset((note.summary.id, f"copy-{note.summary.id}")) for note in notes[::5]}
        found = {frozenset(pair) for pair in pairs}
        assert len(wanted & found) >= 0.9 * len(wanted), name
        assert len(found - wanted) <= 1, name


# Age and staleness


def test_the_age_that_counts_depends_on_the_category_and_a_memory_that_says_so_is_superseded() -> None:
    for days, category, is_old in [(100, "session_summary", True), (100, "decision", False), (800, "decision", True)]:
        stamp = datetime.fromtimestamp(NOW - days * DAY, UTC).isoformat()
        given = subject(memory("cache rule", updated_at=stamp, category=category))
        assert ids(find("age", given)) == ["cache-rule"] * is_old
    for body, is_superseded in [
        ("Superseded by use-redis.", True),
        ("This decision was replaced by ADR 12.", True),
        ("Deprecated since March.", True),
        ("The limit is replaced by the server's own.", False),
        ("We deprecated the old API for customers.", False),
        ("The list is gone, it was\nsuperseded by the shelf.", False),
    ]:
        assert bool(find("staleness", subject(memory("cache rule", body=body)))) is is_superseded, body


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src/api").mkdir(parents=True)

    def git(*command: str) -> None:
        own = ("-c", "user.name=Mei", "-c", "user.email=mei@yomi.example")
        subprocess.run(["git", "-C", str(folder), *own, *command], check=True)

    git("init", "-q")
    put(folder / "lib/loans.py", "def lend(book):\n    return get_children(book)\n")
    git("add", ".")
    git("commit", "-qm", "loans")
    git("rm", "-q", "lib/loans.py")
    git("commit", "-qm", "no loans")
    (folder / ".gitignore").write_text("bundle.js\n", encoding="utf-8")
    (folder / "src/api/users.py").write_text("def load_user(number):\n    return number\n", encoding="utf-8")
    (folder / "requirements.txt").write_text("pandas==2.2.1\n", encoding="utf-8")
    (folder / "uv.lock").write_text('[[package]]\nname = "flask"\nversion = "3.0.2"\n', encoding="utf-8")
    (folder / "package-lock.json").write_text(
        json.dumps({"packages": {"node_modules/react": {"version": "18.3.1"}}}), encoding="utf-8"
    )
    (folder / "Cargo.lock").write_text('[[package]]\nname = "serde"\nversion = "1.0.200"\n', encoding="utf-8")
    (folder / "go.mod").write_text("module x\ngo 1.22\nrequire github.com/gin-gonic/gin v1.9.1\n", encoding="utf-8")
    return folder


def test_files_functions_and_versions_are_compared_with_the_repository(project: Path, tmp_path: Path) -> None:
    for body, gone in [
        ("See src/api/users.py for it.", None),
        ("The code is in `orders.py`.", None),
        ("The code is in `loans.py`.", "loans.py"),
        ("The code is in lib/loans.py.", "lib/loans.py"),
        ("`loans.py`, which is lib/loans.py, holds it.", "lib/loans.py"),
        ("The plan: src/api/orders.py does it.", None),
        ("Never write `lib/loans.py` again.", None),
        ("Symptom: `lend(book)` lost the book.", None),
        ("Taken out in May:\n- `lib/loans.py`", "lib/loans.py"),
        ("Removed in May:\n- `lend(book)`\n- `lib/loans.py`", None),
        ("It is written to src/api/<name>.py and src/api/xxx.py.", None),
        ("The bundle is src/api/bundle.js.", None),
        ("We removed src/api/orders.py in May.", None),
        ("Read https://example.com/src/api/orders.py first.", None),
        ("It mentions other/place/file.py of another project.", None),
        ("Call `load_order(number)` first.", None),
        ("Call `lend(book)` first.", "lend(book)"),
        ("Call `get_children()` of the engine first.", None),
        ("Call `load_user(number)` first.", None),
        ("We run pandas 1.5 in the jobs.", "pandas 1.5"),
        ("We run pandas 2.2 in the jobs.", None),
        ("It needs flask==2.3.1 or later.", "flask==2.3.1"),
        ("The app uses react 17.0.2 today.", "react 17.0.2"),
        ("We need serde 1.0 or newer.", None),
        ("The server is built with gin v1.7.0.", None),
    ]:
        found = find("staleness", subject(memory("cache rule", body=body), project=str(project)))
        assert [one.where for one in found] == ([gone] if gone else []), body
    (project / "notes").mkdir()
    (tmp_path / "other/.claude/memory").mkdir(parents=True)
    found = [project_of(str(folder)) for folder in (project / "notes", tmp_path / "other/.claude/memory", tmp_path)]
    assert found == [str(project), str(tmp_path / "other"), ""]


# Drift


def drifted(root: Path) -> list[Finding]:
    corpus = read_corpus(str(root))
    return find("drift", CheckedRoot(corpus.root, corpus.memories, corpus.notices))


def test_drift_finds_dead_missing_and_wrong_lines_and_those_that_the_client_does_not_load(tmp_path: Path) -> None:
    root = write_root(tmp_path / "memory", [memory("one rule", "a"), memory("two rule", "b"), memory("old rule", "c")])
    assert drifted(root) == []
    index = root / "index.md"
    (root / "decisions/old-rule.json").unlink()
    index.write_text(index.read_text("utf-8").replace("] two rule", "] another title"), encoding="utf-8")
    write_memory(root, memory("three rule", "d"))
    found = {(one.memory_id, one.where) for one in drifted(root)}
    assert found == {("", "index.md:5"), ("two-rule", "index.md:4"), ("three-rule", "index.md")}
    root = tmp_path / "projects/x/memory"
    put(root / "a.md", "---\nname: a\ndescription: one rule\n---\nText.\n")
    (root / "MEMORY.md").write_text("- [A](a.md) — one rule\n- [B](b.md) — gone\n" + "\nmore" * 250, encoding="utf-8")
    reasons = [one.reason for one in drifted(root)]
    assert any("lines" in reason for reason in reasons)
    assert any("b.md" in reason for reason in reasons)


def test_a_list_that_is_too_large_to_read_is_told_by_drift_alone(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("cache rule")])
    (root / "index.md").write_text("- [DECISION] cache rule -> decisions/cache-rule.json\n" * 20_000, "utf-8")
    corpus = read_corpus(str(root))
    assert (len(corpus.memories), corpus.skipped) == (1, ())
    assert [(one.where, one.reason[:30]) for one in drifted(root)] == [("index.md", "index.md is larger than 1,000 ")]


# Usage and size


def test_usage_finds_what_was_never_injected_and_what_was_injected_in_vain() -> None:
    made = [memory(name) for name in ("never", "vain", "fine", "few", "seldom")]
    new = memory("new", updated_at="2025-06-14T00:00:00Z")
    counts = {"vain": Usage(30, 1, 9), "fine": Usage(30, 9, 1), "few": Usage(30, 0, 4), "seldom": Usage(2, 0, 9)}
    found = find("usage", subject(*made, new, usage=counts, log_days=30.0, log_prompts=500))
    assert ids(found) == ["vain", "never"]
    assert "injected 30 times, but only 1 of 10 labels say relevant" in found[0].reason
    assert ids(find("usage", subject(*made, usage=counts, log_days=3.0, log_prompts=500))) == ["vain"]


def test_size_finds_only_texts_that_no_prompt_can_hold() -> None:
    long, short = memory("t" * 300, memory_id="long"), memory("short", body="b" * 9000)
    body = memory("body", body="word " * 1801)
    assert [(finding.memory_id, finding.where) for finding in find("size", subject(long, short, body))] == [
        ("body", "text")
    ]
    assert tokens("日本語") == 3
    assert tokens("abcd" * 10) == 10


def test_fields_finds_what_breaks_the_rules_of_the_format(tmp_path: Path) -> None:
    odd = {**CONTENT["constraint"], "severity": "urgent", "steps": ["a"]}
    del odd["impact"]
    documents = [document("good"), document("odd", "constraint", content=odd, tags=[])]
    root = write_documents(tmp_path / "memory", documents)
    corpus = read_corpus(str(root))
    (found,) = find("fields", CheckedRoot(corpus.root, corpus.memories))
    assert found.memory_id == "odd"
    assert all(
        word in found.reason for word in ("severity must be one of", "no field steps", "impact is missing", "tags")
    )
    notes = tmp_path / "notes"
    put(notes / "a.md", "# A\n\nText.\n")
    assert find("fields", CheckedRoot(str(notes), read_corpus(str(notes)).memories)) == []


# Secrets


RANDOM = "zK7pQ2mX9vB4nT6wR8cY3hL5jF1gD0sA" * 3
"""What keys are made of here, so that no whole key stands in this file."""

SECRETS = [
    f"aws_access_key_id = {KEY}",
    f"aws_secret_access_key={RANDOM[:40]}",
    f"The key is sk-ant-{'api03'}-{RANDOM[:93]}.",
    f"sk-proj-{RANDOM[:60]}",
    f"AIza{RANDOM[:35]}",
    f"github_pat_{RANDOM[:22]}_{RANDOM[:59]}",
    f"ghp_{RANDOM[:36]}",
    f"hf_{'aBcDeFgHiJkLmNoPqRsTuVwXyZ' + 'kLmNoPqR'}",
    f"npm_{RANDOM[:36]}",
    f"curl -H 'Authorization: Bearer {RANDOM[:32]}' https://api.internal",
    f'{{"apiKey": "{RANDOM[:24]}"}}',
    f"https://hooks.internal/run?token={RANDOM[:30]}&dry=1",
    f"xoxb-123456789012-123456789012-{RANDOM[:24]}",
    "DB_PASSWORD=hunter2-Zq9",
    "DB_PASSWORD=hunterwinter",
    'password = "hunter2-Zq9"',
    "**Password:** `hunter2-Zq9`",
    "| Password | hunter2-Zq9 |",
    "curl -u admin:hunter2-Zq9 https://box.internal",
    "-----BEGIN RSA PRIVATE KEY-----",
    "postgres://app:s3cr3tpw@db.internal/app",
]
NO_SECRETS = [
    "The password is in the vault under app/db.",
    "commit 3f2a9c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    "RSVP tokens: public links, e-mail integration, response tracking.",
    "needs SSH secrets: `DEPLOY_HOST`, `DEPLOY_USER`",
    "secret: `DEPLOY_KEY_2`, password: `db_password`, token: prod-db-credentials-v2",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key=" + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "api_key = ${API_KEY}",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.internal",
    "Authorization: Bearer <your-key>",
    "ANTHROPIC_API_KEY=sk-ant-... or sk-ant-api03-your-anthropic-key-here",
    f"ghp_{'x' * 36}",
    "api_key=YOUR_API_KEY",
    "DB_PASSWORD=changeme",
    "DB_PASSWORD=/run/secrets/db",
    "**A second pass**: OPS-151 covered the invites",
    "**UAT PASS:** `run-e2e15-knowledge7` on 2026-07-14",
    "Token: `C:/Users/mei/.claude/skills/mail/token_mei444.json`, api_key: keys/mail4-live2.txt",
    'password = "[secret removed]"',
    "password = os.environ['PASSWORD']",
    "password: get_password('db-2')",
    "password: argon2id, at least 12 characters",
    "postgres://user:password@localhost/app",
    "max_tokens=4096",
    "basic fritidshusförsäkring and the Bearer authentication-middleware",
]


def test_secrets_are_found_and_never_shown_and_names_placeholders_and_prose_are_none() -> None:
    for line in SECRETS:
        found = find("secrets", subject(memory("keys", body=f"first\n{line}")))
        assert found, line
        for one in found:
            assert one.where == "line 2", line
            assert all(part not in str(one) for part in (KEY, RANDOM[:16], "hunter2", "s3cr3tpw")), line
    found = find("secrets", subject(memory("prose", body="\n".join(NO_SECRETS))))
    assert [(one.where, one.reason) for one in found] == []


# Phrases


def test_old_phrases_are_found_and_missing_ones_only_where_most_memories_have_some() -> None:
    memories = [memory("t", memory_id=name) for name in ("asked", "old", "new", "none")]

    def found(*names: str) -> list[str]:
        rows = {name: (PhraseRow(name, "why so slow", memories[0].summary.digest[:16], "ana", ""),) for name in names}
        rows |= {"old": (PhraseRow("old", "why so slow", "0" * 16, "ana", ""),)} if "old" in rows else {}
        return ids(findings(replace(subject(*memories), phrases=rows), ["asked"], {}))

    assert found() == []
    assert found("asked") == []
    assert found("old") == ["old"]
    assert found("asked", "old") == ["old", "new", "none"]
    assert "asked" not in BY_DEFAULT
