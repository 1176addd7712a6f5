"""Clocks that run backwards, files rewritten where they are, times that say nothing: what a file says counts."""

import json
import os
import random
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.config import Config
from engine.opening import hook_index, index_of
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.search.index import Index
from engine.stores.roots import read_corpus
from tests.engine.builders import document, memory, write_memory
from tests.engine.faults.answers import PATIENT_S, PROMPTS, TICK_S, FaultyRoot, shown, tries
from tests.labels.samples import known

FAR = (0, 1, 10**9, 1_600_000_000, 4_000_000_000)[:: tries(1, 2)]
"""Modification times in seconds: long ago, and long from now."""

STEPS = tries(15, 9)


def shown_first(root: FaultyRoot) -> Path:
    """The memory that the first of PROMPTS brings up first."""
    return root.root / root.hook()[0].split(" -> .claude/memory/", 1)[1].split(" #tags:", 1)[0]


def rewrite(path: Path, title: str) -> None:
    """Another title for a memory, where it is: neither its folder nor its name changes."""
    path.write_text(json.dumps(document(memory(title, "cache", body=title, memory_id=path.stem))), "utf-8")


def set_time(path: Path, seconds: int) -> None:
    """A time that is no whole second: where it is one, the system may have no others, and it is trusted late."""
    os.utime(path, ns=(seconds * 10**9 + 1, seconds * 10**9 + 1))


def assert_right(root: FaultyRoot) -> None:
    """Everything is as in a fresh build, and the hook shows what is there; once times can be trusted, the same."""
    right = root.fresh()
    assert root.opened() == right
    assert {one for text in root.hook() for one in shown(text)} <= root.there()
    time.sleep(TICK_S)
    assert root.opened() == right
    assert root.hook() == right[0]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", FAR)
def test_files_folders_and_lists_with_any_time_are_seen_to_have_changed(root: FaultyRoot, seconds: int) -> None:
    path = shown_first(root)
    for number in range(3):
        rewrite(path, f"cache rule of clock {number}")
        os.utime(path, (seconds, seconds))
        assert f"clock {number}" in root.hook()[0]
        assert_right(root)
    for number in range(3):
        write_memory(root.root, memory(f"cache rule 0 of clock {number}", "cache", memory_id=f"0{number}"))
        for path in (root.root, *root.root.rglob("*")):
            set_time(path, seconds)
        assert_right(root)


def test_what_was_added_or_changed_in_place_is_scored_as_in_a_fresh_build(root: FaultyRoot) -> None:
    first = shown_first(root)
    for number in range(20):
        write_memory(root.root, memory(f"cache rule added {number}", "cache"))
    for change in (lambda: None, lambda: rewrite(first, "the cache rule that we handle")):
        change()
        with closing(index_of(read_corpus(str(root.root)))) as index:
            right = scores(index)
        with closing(known(hook_index(str(root.root), root.environ, PATIENT_S))) as index:
            assert scores(index) == right


def scores(index: Index) -> list[tuple[str, float]]:
    found = retrieve(Query(typed_prompt(PROMPTS[0])), index, OpenSystem(Config())).candidates
    return [(one.memory.title, round(one.score, 6)) for one in found]


def test_a_file_that_changed_is_read_again_whatever_its_time_and_size(root: FaultyRoot) -> None:
    """`git checkout`, `cp -p` and a restored backup leave the time that the file had then."""
    path = shown_first(root)
    before, text = path.stat(), path.read_text("utf-8")
    rewrite(path, "cache rule with quite another title")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size != before.st_size
    assert "quite another title" in root.hook()[0]
    assert_right(root)
    path.write_text(text.replace("cache rule", "rule cache"), "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "rule cache" in root.hook()[0]
    assert_right(root)
    older = path.with_suffix(".older")
    rewrite(older, "cache rule from a backup")
    os.utime(older, (1_500_000_000, 1_500_000_000))
    older.rename(path)
    assert "from a backup" in root.hook()[0]
    assert_right(root)


@pytest.mark.slow
def test_every_one_of_many_quick_edits_is_seen(root: FaultyRoot) -> None:
    """Within one tick of the kernel's clock two writes get the same time."""
    path = shown_first(root)
    for number in range(40):
        rewrite(path, f"cache rule {number:03}")
        assert f"cache rule {number:03}" in root.hook()[0]
    assert_right(root)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(tries(3, 1)))
def test_any_edit_at_any_time_is_seen(root: FaultyRoot, seed: int) -> None:
    made = random.Random(seed)
    for step in range(STEPS):
        path = made.choice(sorted(root.root.rglob("*.json")))
        match made.choice(["rewrite", "rename", "remove", "add", "retire", "break", "same id", "list", "folder"]):
            case "rewrite":
                rewrite(path, f"auth cache rule {step}")
            case "rename":
                path.rename(path.with_name(f"renamed-{step}.json"))
            case "remove":
                path.unlink()
            case "add":
                write_memory(root.root, memory(f"cache rule {step}", "auth"))
            case "retire":
                write_memory(root.root, memory("cache rule", memory_id=path.stem, status="retired"))
            case "break":
                path.write_text("{", "utf-8")
            case "same id":
                path.write_text(json.dumps(document(memory("cache rule", memory_id=f"cache-rule-{step}"))), "utf-8")
            case "list":
                write_memory(root.root / "notes", memory(f"migration {step}"))
                lines = f"- [DECISION] x -> notes/decisions/migration-{step}.json\n- [DECISION] y -> ../../z.json\n"
                (root.root / "index.md").write_text(lines, "utf-8")
            case "folder":
                shutil.rmtree(root.root / "runbooks", ignore_errors=True)
                if made.random() < 0.5:
                    write_memory(root.root, memory("migration run", category="runbook"))
        touched = made.choice([path, path.parent, root.root, root.root / "index.md"])
        if touched.exists():
            set_time(touched, made.choice(FAR))
        assert_right(root)
