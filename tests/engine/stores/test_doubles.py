"""Conflict copies of a file, as programs that keep folders in step make them, do not take the place of the memory."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from engine.opening import open_index
from engine.stores.roots import original_stem, read_corpus
from tests.engine.builders import put

COPIES = (
    *("quasar 2", "quasar (1)", "quasar (conflicted copy)", "quasar (Ann's conflicted copy 2026-01-02)", "quasar-HOST"),
    *("quasar (Case Conflict 1)", "quasar.sync-conflict-20260102-101010-ABCDEF7"),
)
FORMATS = {
    "claude-memory": (".claude/memory/decisions/{}.json", '{{"id": "quasar", "title": "{}", "updated_at": "{}"}}'),
    "auto memory": ("projects/-p/memory/{}.md", "---\nname: quasar\ndescription: {}\nmodified: {}\n---\n\nText.\n"),
    "notes": ("notes/{}.md", "---\ntitle: quasar\npermalink: notes/quasar\nmodified: {1}\n---\n\n{0}\n"),
}


class Synced:
    """A root in a folder that is kept in step with other machines."""

    def __init__(self, folder: Path, form: str) -> None:
        self.path, self.text = FORMATS[form]
        self.folder = folder
        self.root = (folder / self.path.format("x")).parent
        if form == "claude-memory":
            self.root = self.root.parent

    def write(self, stem: str, words: str, day: int) -> Path:
        path = self.folder / self.path.format(stem)
        put(path, self.text.format(words, f"2026-01-{day:02}T00:00:00Z"))
        return path

    def read(self) -> dict[str, str]:
        """Id -> file name, as a fresh reading has it; an index that was there before has the same."""
        corpus = read_corpus(str(self.root))
        with closing(open_index(str(self.root), os.environ)) as index:
            assert [one.summary.file for one in corpus.memories] == [one.file for one in index.summaries()]
            assert corpus.skipped == index.skipped
        return {one.summary.id: one.summary.file.rpartition("/")[2] for one in corpus.memories}


@pytest.fixture(params=FORMATS)
def synced(tmp_path: Path, request: pytest.FixtureRequest) -> Synced:
    return Synced(tmp_path, request.param)


@pytest.mark.parametrize("is_copy_first", [False, True])
def test_the_file_that_is_named_like_its_id_is_the_memory(synced: Synced, is_copy_first: bool) -> None:
    copies, real = [], ""
    for is_copy in (is_copy_first, not is_copy_first):
        if is_copy:
            copies = [synced.write(stem, "there", 9).name for stem in COPIES]
        else:
            real = synced.write("quasar", "here", 1).name
        assert len(synced.read()) == 1
    assert synced.read() == {"quasar": real}
    skipped = read_corpus(str(synced.root)).skipped
    assert sorted(one.where.rpartition("/")[2] for one in skipped) == sorted(copies)
    assert {one.double_of for one in skipped} == {"quasar"}
    assert all(real in one.reason for one in skipped)


def test_of_copies_alone_the_newer_is_the_memory(synced: Synced) -> None:
    older, newer = synced.write("quasar (conflicted copy)", "old", 1), synced.write("quasar 2", "new", 2)
    assert synced.read() == {"quasar": newer.name}
    real = synced.write("quasar", "real", 1)
    assert synced.read() == {"quasar": real.name}
    real.unlink()
    newer.unlink()
    assert synced.read() == {"quasar": older.name}


def test_without_times_in_the_files_the_one_that_was_written_last_is_the_memory(tmp_path: Path) -> None:
    synced = Synced(tmp_path, "claude-memory")
    synced.text = '{{"id": "quasar", "title": "{}"}}'
    for number, stem in enumerate(("b", "c", "a")):
        os.utime(synced.write(stem, stem, 1), (number % 2, number % 2))
    assert synced.read() == {"quasar": "c.json"}
    synced.text = f'{{{{"id": "{"x" * 100_000}", "title": "{{}}"}}}}'
    for stem in "bca":
        synced.write(stem, stem, 1)
    assert all(len(one.reason) < 200 for one in read_corpus(str(synced.root)).skipped)


def test_an_ordinary_name_is_no_copy(tmp_path: Path) -> None:
    for stem, inside in [
        *(("meeting 2", ""), ("meeting 2", "Meeting"), ("plan-b", "plan"), ("plan-B-side", "plan"), ("plan_2", "plan")),
        *(("note (draft)", "note"), ("note (conflicting views)", ""), ("quasar", "quasar"), ("2", ""), ("(1)", "")),
        *(("feedback-testing", "feedback"), ("Section 2", "Sections"), (".sync-conflict-1", "")),
    ]:
        assert original_stem(stem, inside) == stem, stem
    for name in ("Standup", "Standup 2", "Standup-HOST", "Standup (1)"):
        (tmp_path / f"{name}.md").write_text("---\ntitle: Standup\n---\n\n# Standup\nText\n", encoding="utf-8")
    assert len(read_corpus(str(tmp_path)).memories) == 4


def test_a_copy_of_the_list_of_an_auto_memory_is_no_memory(tmp_path: Path) -> None:
    root = tmp_path / "projects/-p/memory"
    for name in ("MEMORY", "MEMORY 2", "MEMORY (conflicted copy)", "MEMORY-HOST"):
        put(root / f"{name}.md", "- [Note](note.md) — A note\n")
    put(root / "note.md", "Text\n")
    corpus = read_corpus(str(root))
    assert [one.summary.id for one in corpus.memories] == ["note"]
    assert {one.reason for one in corpus.skipped} == {"is a copy of MEMORY.md"}


def test_what_only_a_copied_file_of_bullets_or_rows_has_is_kept(tmp_path: Path) -> None:
    text = "## 10:00\n<!-- session:1 -->\n- one\n"
    (tmp_path / "2026-02-09.md").write_text(text, encoding="utf-8")
    (tmp_path / "2026-02-09 (conflicted copy).md").write_text(f"{text}- two\n", encoding="utf-8")
    for name, words in (("rows", "here"), ("rows 2", "there")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "a", "text": words}), encoding="utf-8")
        os.utime(tmp_path / f"{name}.jsonl", (1, 1))
    corpus = read_corpus(str(tmp_path))
    assert sorted(one.summary.title for one in corpus.memories) == ["here", "one", "two"]
    assert len(corpus.skipped) == 2
