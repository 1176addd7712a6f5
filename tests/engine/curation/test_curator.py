"""The curator: every change is whole, in step with the index, refused where it must be, and can be undone."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.files import diff_of
from engine.curation.journal import INCOMPLETE, PENDING, Deed
from engine.curation.operations import Archive, Create, Edit, Merge, Move, Restore, Retire, Rewrite, Tag
from engine.errors import (
    ChangedSinceError,
    CurationError,
    InvalidMemoryError,
    JournalError,
    StatusError,
    TombstoneError,
    UnknownMemoryError,
)
from engine.paths import journal_file
from engine.stores.writing import Changes, Draft, writing_of
from tests.engine.curation.roots import (
    CONTENT,
    HEADER,
    NOW,
    contents,
    curator,
    document,
    perform,
    read,
    rebuilt_index,
    summary,
    undo,
    write_documents,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    documents = [document("alpha"), document("beta"), document("gamma", "runbook"), document("delta", "preference")]
    return write_documents(tmp_path / "project/.claude/memory", documents)


def deeds() -> list[Deed]:
    """The operations in the journal."""
    with closing(curator()) as one:
        return one.journal.deeds()


def index(root: Path) -> str:
    return (root / "index.md").read_text(encoding="utf-8")


def fields_of(category: str, **others: str) -> Changes:
    """The fields of a valid memory, as a person types them."""
    given = {name: json.dumps(value) if isinstance(value, list) else value for name, value in CONTENT[category].items()}
    return Changes(fields=tuple((name, (str(value),)) for name, value in {**given, **others}.items()))


def meddle(root: Path, memory_id: str) -> Path:
    """Another program changes the file of a memory."""
    path = Path(summary(root, memory_id).file)
    path.write_text(path.read_text("utf-8").replace("Use one.", "Use three."), encoding="utf-8")
    return path


def test_a_retired_memory_has_its_date_and_reason_and_a_restored_memory_has_neither(
    root: Path, private_home: Path
) -> None:
    alpha, before = summary(root, "alpha"), index(root)
    Path(alpha.file).chmod(0o640)
    with closing(curator()) as curating:
        shown = diff_of(curating.plan(Retire(str(root), alpha, "too old")).effect.files)
    assert '+  "retired_reason": "too old",\n' in shown
    assert "-- [DECISION] Title of alpha -> .claude/memory/decisions/alpha.json #tags:tag-alpha,shared\n" in shown
    assert (read(root, "alpha"), index(root)) == (document("alpha"), before), "a plan changes nothing"
    perform(Retire(str(root), alpha, "too old"))
    one = read(root, "alpha")
    assert (one["record_status"], one["retired_at"], one["retired_reason"]) == ("retired", NOW, "too old")
    change = {"date": NOW, "summary": "Retired: too old", "field": "record_status", "old_value": "active"}
    assert one["changes"] == [{**change, "new_value": "retired"}]
    assert one["updated_at"] == "2026-01-01T00:00:00Z", "a new status makes no text newer"
    assert "times_updated" not in one
    assert writing_of(str(root)).reason(json.dumps(one)) == "too old"
    assert index(root) == rebuilt_index(root) != before
    assert stat.S_IMODE(Path(alpha.file).stat().st_mode) == 0o640
    assert stat.S_IMODE((private_home / ".local/share/memsift/journal.db").stat().st_mode) == 0o600
    for operation in (Retire(str(root), alpha, ""), Archive(str(root), alpha, "")):
        with pytest.raises(StatusError, match=r"alpha is retired.*memsift restore alpha"):
            perform(operation)
    perform(Restore(str(root), alpha))
    assert read(root, "alpha")["record_status"] == "active"
    assert not {"retired_at", "retired_reason"} & set(read(root, "alpha"))
    assert index(root) == before
    with pytest.raises(StatusError, match="alpha is active, so it cannot be restored"):
        perform(Restore(str(root), alpha))


def test_every_operation_is_undone_byte_for_byte_across_restarts(root: Path, tmp_path: Path) -> None:
    other = write_documents(tmp_path / "other/.claude/memory", [document("omega")])
    operations = [
        Retire(str(root), summary(root, "alpha"), "x"),
        Archive(str(root), summary(root, "alpha"), "x"),
        Edit(str(root), summary(root, "alpha"), Changes(title="Another", fields=(("rationale", ("a", "b")),))),
        Tag(str(root), summary(root, "gamma"), ("New",), ("shared",)),
        Merge(str(root), summary(root, "alpha"), (summary(root, "beta"), summary(root, "gamma")), "the same"),
        Move(str(root), summary(root, "delta"), str(other)),
        Create(str(root), Draft("preference", "A new one", ("x",), fields_of("preference"))),
    ]
    for operation in operations:
        before = contents(root, other)
        outcome = perform(operation)
        after = contents(root, other)
        assert after != before
        assert undo().plan.undoes == outcome.number
        assert contents(root, other) == before
        undo(outcome.number + 1)
        assert contents(root, other) == after
        undo(outcome.number)
        assert contents(root, other) == before


def test_a_change_is_refused_with_the_difference_if_another_program_changed_the_file(root: Path) -> None:
    alpha = summary(root, "alpha")
    number = perform(Retire(str(root), summary(root, "beta"), "x")).number
    with closing(curator()) as curating:
        plan = curating.plan(Tag(str(root), alpha, ("new",)))
        meddle(root, "alpha")
        path, before = meddle(root, "beta"), contents(root)
        with pytest.raises(ChangedSinceError, match="was changed since it was read") as refused:
            curating.perform(plan)
        assert '+    "decision": "Use three.",' in refused.value.detail
        with pytest.raises(ChangedSinceError, match="was changed after operation") as refused:
            curating.plan_undo(number)
        assert '-    "decision": "Use one.",' in refused.value.detail
        for operation in (Retire(str(root), alpha, "x"), Edit(str(root), alpha, Changes(title="New"))):
            with pytest.raises(ChangedSinceError, match="was changed since it was read"):
                curating.plan(operation)
        assert contents(root) == before
        assert len(curating.journal.deeds()) == 1
        beta = summary(root, "beta")
        path.unlink()
        with pytest.raises(UnknownMemoryError, match="does not exist, so the memory beta cannot be changed"):
            curating.plan(Restore(str(root), beta))


def test_an_interrupted_operation_leaves_a_file_that_changed_since_and_is_incomplete(root: Path) -> None:
    one = curator()
    plan = one.plan(Merge(str(root), summary(root, "alpha"), (summary(root, "beta"),)))
    deed = Deed(0, NOW, plan.kind, plan.summary, plan.memories, plan.roots, PENDING, None, None)
    one.journal.begin(deed, plan.effect)
    one.close()
    path = meddle(root, "beta")
    changed = path.read_bytes()
    two = curator()
    assert [(each.number, each.state) for each in two.recovered] == [(1, INCOMPLETE)]
    assert path.read_bytes() == changed
    assert read(root, "alpha")["tags"] == ["tag-alpha", "shared", "tag-beta"]
    assert index(root) == rebuilt_index(root)
    with pytest.raises(JournalError, match="is incomplete, so it cannot be undone"):
        two.plan_undo(1)
    two.close()


def test_a_journal_that_cannot_be_used_is_said_and_nothing_is_changed(root: Path) -> None:
    before = contents(root)
    path = Path(journal_file(os.environ))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(JournalError, match=r"journal\.db cannot be used .* Move the file"):
        perform(Retire(str(root), summary(root, "alpha"), "x"))
    path.unlink()
    path.mkdir()
    with pytest.raises(JournalError, match=r"cannot be used .* Look whether the disk has room"):
        perform(Retire(str(root), summary(root, "alpha"), "x"))
    path.rmdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma user_version = 2")
    with pytest.raises(JournalError, match="newer memsift"):
        perform(Retire(str(root), summary(root, "alpha"), "x"))
    assert contents(root) == before


def test_a_merge_keeps_one_memory_with_the_tags_and_files_of_all(root: Path) -> None:
    path = Path(summary(root, "beta").file)
    path.write_text(json.dumps(document("beta", related_files=["b.py"]), indent=2) + "\n", encoding="utf-8")
    perform(Merge(str(root), summary(root, "alpha"), (summary(root, "beta"),), "same rule"))
    kept = read(root, "alpha")
    assert (kept["tags"], kept["related_files"]) == (["tag-alpha", "shared", "tag-beta"], ["b.py"])
    with pytest.raises(CurationError, match="two or more different"):
        perform(Merge(str(root), summary(root, "alpha"), (summary(root, "alpha"),)))


def test_a_new_memory_must_keep_the_rules_of_its_category(root: Path) -> None:
    topic = Changes(fields=(("topic", ("x",)),))
    for draft, message in (
        (Draft("preference", "Short", changes=topic), "value is missing; it must be a text"),
        (Draft("nonsense", "Short"), "category must be one of session_summary"),
        (Draft("constraint", "Rate limit", ("A", "a", "b,c"), fields_of("runbook")), "trigger is no field"),
        (Draft("decision", "Alpha", ("x",), fields_of("decision")), "There is a file decisions/alpha"),
    ):
        with pytest.raises(InvalidMemoryError, match=message):
            perform(Create(str(root), draft))


def test_a_mistake_that_was_there_before_does_not_stop_a_change(root: Path) -> None:
    path = Path(summary(root, "alpha").file)
    long = document("alpha", title="x" * 200, tags=[], oddity={"kept": [1.50, None]})
    path.write_text(json.dumps(long, indent=2), encoding="utf-8")
    perform(Edit(str(root), summary(root, "alpha"), Changes(fields=(("context", ("New.",)),))))
    with pytest.raises(InvalidMemoryError, match="title has 121 characters"):
        perform(Edit(str(root), summary(root, "alpha"), Changes(title="x" * 121)))
    perform(Retire(str(root), summary(root, "alpha"), "messy"))
    assert read(root, "alpha")["oddity"] == {"kept": [1.5, None]}


def test_an_editor_may_not_change_what_identifies_a_memory(root: Path) -> None:
    alpha = summary(root, "alpha")
    text = Path(alpha.file).read_text("utf-8")
    for wrong, message in (
        (text.replace('"alpha"', '"aleph"', 1), "id may not be changed"),
        (text.replace('"active"', '"retired"'), "record_status may not"),
        (text[:-5], "not a JSON object"),
    ):
        with pytest.raises(InvalidMemoryError, match=message):
            perform(Rewrite(str(root), alpha, text, wrong))
    perform(Rewrite(str(root), alpha, text, text.replace("Use one.", "Use two.")))
    assert read(root, "alpha")["times_updated"] == 1


def test_a_text_that_was_rejected_is_not_made_again_until_the_rejection_is_taken_back(root: Path) -> None:
    draft = Draft(
        "preference", "Tabs", ("x",), fields_of("preference", value="Always tabs; never spaces, in any file.")
    )
    perform(Create(str(root), draft))
    number = perform(Retire(str(root), summary(root, "tabs"), "nonsense", is_wrong=True)).number
    changed = fields_of("preference", value="ALWAYS  tabs never spaces in any file")
    again = Draft("preference", "Tabs everywhere", ("y",), changed)
    with pytest.raises(TombstoneError, match=r"rejected on 2026-05-01 as 'Tabs' \(nonsense\).*--force"):
        perform(Create(str(root), again))
    perform(Create(str(root), again, is_forced=True))
    undo()
    undo(number)
    perform(Create(str(root), again))
    undo()
    perform(Retire(str(root), summary(root, "tabs"), "nonsense", is_wrong=True))
    perform(Restore(str(root), summary(root, "tabs")))
    perform(Create(str(root), again))


def test_the_journal_forgets_the_oldest_operations_beyond_its_bounds(root: Path) -> None:
    one = curator(most=3)
    forgotten = []
    for number in range(5):
        plan = one.plan(Tag(str(root), summary(root, "alpha"), (f"new-{number}",)))
        forgotten.append(one.perform(plan).forgotten)
    assert forgotten == [0, 0, 0, 1, 1]
    assert [deed.number for deed in one.journal.deeds()] == [3, 4, 5]
    with pytest.raises(JournalError, match="no operation 1"):
        one.plan_undo(1)
    one.close()
    tiny = curator(most_bytes=1)
    plan = tiny.plan(Tag(str(root), summary(root, "alpha"), ("last",)))
    assert tiny.perform(plan).forgotten == 3
    assert [deed.number for deed in tiny.journal.deeds()] == [6]
    tiny.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_root_that_cannot_be_written_is_left_as_it_is(root: Path) -> None:
    (root / "decisions").chmod(0o500)
    before = contents(root)
    with pytest.raises(CurationError, match="cannot be written"):
        perform(Retire(str(root), summary(root, "alpha"), "x"))
    (root / "decisions").chmod(0o700)
    assert contents(root) == before
    assert deeds() == []


def test_a_file_that_a_link_leads_out_of_the_root_is_not_written(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(index(root), encoding="utf-8")
    (root / "index.md").unlink()
    (root / "index.md").symlink_to(outside)
    before = contents(root, tmp_path / "project")
    with pytest.raises(CurationError, match="points outside the root"):
        perform(Retire(str(root), summary(root, "alpha"), "x"))
    assert contents(root, tmp_path / "project") == before
    assert deeds() == []


def test_a_missing_index_stays_missing_except_in_an_empty_root(root: Path, tmp_path: Path) -> None:
    (root / "index.md").unlink()
    perform(Retire(str(root), summary(root, "alpha"), "x"))
    perform(Restore(str(root), summary(root, "alpha")))
    assert not (root / "index.md").exists()
    empty = tmp_path / "empty"
    (empty / "preferences").mkdir(parents=True)
    perform(Create(str(empty), Draft("preference", "First", ("x",), fields_of("preference"))))
    assert index(empty) == rebuilt_index(empty) != HEADER
