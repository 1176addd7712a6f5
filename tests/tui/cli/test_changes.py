"""`memsift list`, `show`, and the commands that change memories, undo changes and list them."""

import json
import shlex
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.files import write
from engine.curation.journal import PENDING, Deed
from engine.curation.operations import Move
from tests.engine.builders import put
from tests.engine.curation.roots import NOW, contents, curator, document, read, summary, write_documents
from tests.tui.cli.command_line import memsift, printed, refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    documents = [
        document("alpha", title="Use one cache"),
        document("beta", "preference", record_status="retired", retired_reason="old"),
        document("gamma", "runbook", tags=["cache", "shared"]),
    ]
    return write_documents(tmp_path / "project/.claude/memory", documents)


def ids(root: Path, *arguments: str) -> list[str]:
    return [one["id"] for one in printed(memsift("list", "--root", root, "--format", "json", *arguments))]


def test_list_filters_by_status_category_tag_and_words_and_show_prints_a_whole_memory(root: Path) -> None:
    assert ids(root) == ["alpha", "beta", "gamma"]
    assert ids(root, "--status", "retired") == ["beta"]
    assert ids(root, "--category", "runbook", "--category", "preference") == ["beta", "gamma"]
    assert ids(root, "--tag", "shared", "--tag", "cache") == ["gamma"]
    assert ids(root, "--text", "one cache") == ["alpha"]
    text = memsift("list", "--root", root, "--status", "active", "--format", "text").stdout
    assert text == "alpha  active  decision  Use one cache\ngamma  active  runbook   Title of gamma\n"
    one = printed(memsift("show", "alpha", "--root", root, "--format", "json"))
    assert (one["id"], one["status"], one["tags"]) == ("alpha", "active", ["tag-alpha", "shared"])
    assert {"heading": "Decision", "lines": ["Use one."]} in one["sections"]
    text = memsift("show", "alpha", "--root", root, "--format", "text").stdout
    assert text.startswith("Use one cache\n\nid:       alpha\nstatus:   active\n")
    assert "\nDecision\n  Use one.\n" in text


def test_of_several_changes_none_is_made_if_one_is_refused(root: Path, tmp_path: Path) -> None:
    assert "There is 'alpha'." in refused(memsift("show", "alpa", "--root", root))
    before = contents(root)
    assert "There is no memory 'nothing'" in refused(memsift("retire", "alpha", "nothing", "--root", root))
    assert "beta is retired" in refused(memsift("archive", "alpha", "beta", "--root", root))
    assert contents(root) == before
    both = ("--root", root, "--root", write_documents(tmp_path / "other", [document("alpha")]))
    assert "Name a single root with --root" in refused(memsift("retire", "alpha", *both))
    assert memsift("retire", "gamma", *both).exit_code == 0


def test_a_change_says_what_it_did_and_how_to_undo_it(root: Path) -> None:
    before = contents(root)
    done = memsift("retire", "alpha", "--reason", "too old", "--root", root)
    assert done.stderr == "memsift: Retired alpha: too old. To undo: memsift undo 1\n"
    assert (done.exit_code, done.stdout) == (0, "")
    assert read(root, "alpha")["retired_reason"] == "too old"
    undone = "memsift: Undid 1 (Retired alpha: too old). To do it again: memsift undo 2\n"
    assert memsift("undo", "1").stderr == undone
    assert contents(root) == before


CHANGES = (
    ("edit", "alpha", "--title", "Other", "--set", "rationale=a", "--set", "rationale=b"),
    ("edit", "alpha", "--body", "Use two."),
    ("tag", "alpha", "gamma", "--add", "new", "--remove", "shared"),
    ("archive", "alpha", "gamma"),
    ("restore", "beta"),
    ("merge", "alpha", "gamma", "--note", "same"),
)


def test_a_dry_run_changes_nothing_and_every_command_is_undone_by_the_next(root: Path) -> None:
    before = contents(root)
    for arguments in CHANGES:
        done = printed(memsift("history", "--format", "json"))
        shown = memsift(*arguments, "--root", root, "--dry-run")
        name = {"alpha": "decisions/alpha.json", "beta": "preferences/beta.json"}[arguments[1]]
        assert (shown.exit_code, f"+++ b/{name}" in shown.stdout) == (0, True)
        assert "Nothing was changed" in shown.stderr
        assert (contents(root), printed(memsift("history", "--format", "json"))) == (before, done), arguments
        assert memsift(*arguments, "--root", root).exit_code == 0
        assert contents(root) != before
        assert memsift("undo").exit_code == 0
        assert contents(root) == before, arguments


def test_a_new_root_is_markdown(tmp_path: Path) -> None:
    for files in ((), ("README.md",), ("memory-config.json",)):
        new = tmp_path / "-".join(("project", *files)) / ".claude/memory"
        new.mkdir(parents=True)
        for name in files:
            put(new / name, "{}")
        line = ("--title", "Deploys use make", "--body", "Run make deploy.", "--root", new)
        assert "type must be one of user, feedback" in refused(memsift("create", "--category", "runbook", *line))
        assert memsift("create", "--category", "project", *line).exit_code == 0
        assert sorted(path.name for path in new.iterdir()) == sorted([*files, "MEMORY.md", "deploys-use-make.md"])
        assert ids(new) == ["deploys-use-make"]
        assert memsift("undo").exit_code == 0
        assert "deploys-use-make.md" not in [path.name for path in new.iterdir()]


def test_create_and_move_write_new_files_and_a_rejected_text_only_by_force(root: Path, tmp_path: Path) -> None:
    fields = ("--set", "topic=style", "--set", "value=Tabs", "--set", "reason=width", "--set", "strength=soft")
    make = ("create", "--category", "preference", "--title", "Use tabs", "--tag", "style", *fields, "--root", root)
    memsift(*make)
    assert read(root, "use-tabs")["content"]["value"] == "Tabs"
    wrong = refused(memsift("create", "--category", "preference", "--title", "X", "--root", root))
    assert "value is missing" in wrong
    assert "Give a field with --set FIELD=VALUE" in wrong
    other = write_documents(tmp_path / "other", [])
    memsift("move", "use-tabs", "--to", other, "--root", root)
    assert ids(root) == ["alpha", "beta", "gamma"]
    assert ids(other) == ["use-tabs"]
    assert "There is no folder" in refused(memsift("move", "alpha", "--to", tmp_path / "no", "--root", root))
    memsift("retire", "use-tabs", "--wrong", "--reason", "no", "--root", other)
    assert "This text was rejected on" in refused(memsift(*make))
    assert memsift(*make, "--force").exit_code == 0


def test_edit_opens_the_editor_and_refuses_what_breaks_a_rule(root: Path, tmp_path: Path) -> None:
    edit = ("edit", "alpha", "--root", root)
    assert memsift(*edit, EDITOR="sed -i 's/Use one/Use two/'", VISUAL="").exit_code == 0
    assert read(root, "alpha")["content"]["decision"] == "Use two."
    assert "unchanged" in memsift(*edit, EDITOR="true", VISUAL="").stderr
    done = memsift(*edit, EDITOR="sed -i s/accepted/maybe/", VISUAL="")
    kept, reason = done.stderr.splitlines()
    assert "status must be one of" in reason
    path = Path(kept.removeprefix("memsift: Your text is in ").removesuffix("."))
    assert '"status": "maybe"' in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert read(root, "alpha")["content"]["status"] == "accepted"
    note = tmp_path / "memory/note.md"
    put(note.with_name("MEMORY.md"), "")
    note.write_bytes(b"\xef\xbb\xbf---\r\nname: note\r\n---\r\nOld text")
    assert "unchanged" in memsift("edit", "note", "--root", note.parent, EDITOR="true", VISUAL="").stderr
    assert memsift("edit", "note", "--root", note.parent, EDITOR="sed -i s/Old/New/", VISUAL="").exit_code == 0
    assert note.read_bytes() == b"\xef\xbb\xbf---\r\nname: note\r\n---\r\nNew text", "line ends stay"


def test_a_file_that_changed_under_the_editor_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    path = root / "decisions/alpha.json"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nsed -i "s/one/two/" "$1"\nsed -i "s/We had/They had/" "{path}"\n', encoding="utf-8")
    editor.chmod(0o755)
    done = memsift("edit", "alpha", "--root", root, EDITOR=shlex.quote(str(editor)), VISUAL="")
    assert done.exit_code == 2
    _, first, *rest = done.stderr.splitlines()
    assert "was changed since it was read. Look at it" in first
    assert '+    "context": "They had two.",' in rest
    assert "They had" in path.read_text("utf-8")


def test_history_tells_which_operations_were_undone(root: Path) -> None:
    memsift("retire", "alpha", "--root", root)
    memsift("archive", "gamma", "--root", root)
    memsift("undo", "1")
    rows = printed(memsift("history", "alpha", "--format", "json", "--diff"))
    assert [(row["number"], row["kind"], row["undone_by"], row["undoes"]) for row in rows] == [
        (1, "retire", 3, None),
        (3, "undo", None, 1),
    ]
    assert '+  "record_status": "retired",' in rows[0]["diff"]
    text = memsift("history", "--format", "text").stdout.splitlines()
    assert [line.split("  ")[2:4] for line in (one.strip() for one in text)] == [
        ["Retired alpha [undone by 3]", f"({root})"],
        ["Archived gamma", f"({root})"],
        ["Undid 1 (Retired alpha)", f"({root})"],
    ]
    assert "There are changes of 'alpha'" in refused(memsift("history", "alpa"))
    assert printed(memsift("history", "--root", root.parent, "--format", "json")) == []


def test_an_interrupted_operation_is_finished_at_the_next_start_and_its_memory_found_where_it_went(
    root: Path, tmp_path: Path
) -> None:
    other = write_documents(tmp_path / "other/.claude/memory", [])
    die_in_a_move(root, "alpha", other)
    assert "decisions/alpha.json" in (root / "index.md").read_text("utf-8")
    assert memsift("tag", "alpha", "--add", "late", "--root", root, "--root", other).stderr.splitlines() == [
        f"memsift: Operation 1 (Moved alpha to {other}) was interrupted, and it is finished now.",
        "memsift: Changed the tags of alpha. To undo: memsift undo 2",
    ]
    assert "late" in read(other, "alpha")["tags"]
    assert "decisions/alpha.json" not in (root / "index.md").read_text("utf-8")
    die_in_a_move(root, "gamma", other)
    done = memsift("retire", "gamma", "--root", root)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[1].endswith(f" Operation 3 moved it to {other}: name that with --root.")


def test_a_format_that_is_only_read_says_so(tmp_path: Path) -> None:
    put(tmp_path / "vault/tabs.md", "# Use tabs\n\nAlways tabs.\n")
    (memory_id,) = ids(tmp_path / "vault")
    before = contents(tmp_path / "vault")
    told = refused(memsift("retire", memory_id, "--root", tmp_path / "vault"))
    assert "holds memories in the format markdown, which memsift only reads" in told
    assert contents(tmp_path / "vault") == before


def test_text_that_is_no_unicode_is_written_harmless(root: Path) -> None:
    reason = "line\nnext \udcff\x1b[2J"
    done = memsift("retire", "alpha", "--reason", reason, "--wrong", "--root", root)
    assert done.exit_code == 0, done.output
    assert read(root, "alpha")["retired_reason"] == reason
    assert printed(memsift("history", "--format", "json"))[0]["summary"] == "Retired alpha: line next [2J"


def test_a_memory_that_is_a_link_is_written_through_it_and_moved_without_its_target(root: Path, tmp_path: Path) -> None:
    real = root / "decisions/.real"
    (root / "decisions/alpha.json").rename(real)
    (root / "decisions/alpha.json").symlink_to(real)
    memsift("tag", "alpha", "--add", "new", "--root", root)
    assert (root / "decisions/alpha.json").is_symlink()
    assert json.loads(real.read_text("utf-8"))["tags"] == ["tag-alpha", "shared", "new"]
    other = write_documents(tmp_path / "other", [])
    memsift("move", "alpha", "--to", other, "--root", root)
    assert ids(other) == ["alpha"]
    assert real.exists()
    assert not (root / "decisions/alpha.json").is_symlink()


def die_in_a_move(root: Path, memory_id: str, to: Path) -> None:
    """What a process leaves that dies when the memory has arrived, and is still in its old place."""
    with closing(curator()) as one:
        plan = one.plan(Move(str(root), summary(root, memory_id), str(to)))
        deed = Deed(0, NOW, plan.kind, plan.summary, plan.memories, plan.roots, PENDING, None, None)
        one.journal.begin(deed, plan.effect)
        write(plan.effect.files[0])


COPY = "decisions/quasar (conflicted copy).json"


def test_a_conflict_copy_is_shown_by_every_list_left_alone_and_named_by_every_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_documents(tmp_path / "project/.claude/memory", [document("quasar", title="Quasar is here")])
    (root / COPY).write_text(json.dumps(document("quasar", title="Quasar was there")), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    listed = memsift("list", "--format", "text")
    assert listed.stdout == "quasar  active  decision  Quasar is here\n"
    assert f"{COPY}: has the id 'quasar'" in listed.stderr
    assert COPY in " ".join(memsift("doctor").stdout.split())
    (row,) = printed(memsift("quality", "check", "--check", "drift", "--format", "json"))["findings"]
    assert (row["memory_id"], row["where"]) == ("quasar", COPY)
    other = write_documents(tmp_path / "other/.claude/memory", [])
    assert COPY in refused(memsift("move", "quasar", "--to", other)), "the copy would become the memory"
    done = memsift("retire", "quasar", "--reason", "old")
    assert f" quasar: old ({COPY} with the same id stays as before). To undo: memsift undo 1\n" in done.stderr
    assert json.loads((root / COPY).read_text("utf-8"))["record_status"] == "active"
    assert printed(memsift("search", "quasar"))["total_results"] == 0
