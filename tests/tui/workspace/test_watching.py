"""The watcher without an app: where the system gives no notices, and folders that come, go and come back."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest
import watchfiles

from tui.workspace.sources import MEMORIES, PROMPTS, SETTINGS, Watcher

PATIENCE_S = 20.0


@contextmanager
def watched(watcher: Watcher) -> Iterator[SimpleQueue[str]]:
    """The kinds that *watcher* tells of, one after the other, from the first look on."""
    kinds: SimpleQueue[str] = SimpleQueue()

    def run() -> None:
        for found in watcher.changes():
            for kind in found:
                kinds.put(kind)

    thread = Thread(target=run, daemon=True)
    thread.start()
    assert kinds.get(timeout=PATIENCE_S) == MEMORIES, "the first look"
    try:
        yield kinds
    finally:
        watcher.stop()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def without_room(asked: list[bool]) -> Any:
    """As `watchfiles.watch` where inotify has no room: only polling works. *asked*: whether polling was asked for."""

    def watch(*paths: str, **options: Any) -> Any:
        asked.append(bool(options["force_polling"]))
        if not options["force_polling"]:
            raise OSError("OS file watch limit reached.")
        return watchfiles.watch(*paths, **options | {"poll_delay_ms": 50})

    return watch


@pytest.mark.slow
def test_without_room_for_notices_files_are_looked_at_from_time_to_time(tmp_path: Path) -> None:
    asked: list[bool] = []
    with watched(Watcher({MEMORIES: [str(tmp_path)]}, without_room(asked))) as kinds:
        (tmp_path / "a.md").write_text("text", "utf-8")
        assert kinds.get(timeout=PATIENCE_S) == MEMORIES
    assert asked == [False, True]


@pytest.mark.slow
def test_a_folder_that_comes_later_or_comes_back_is_watched(tmp_path: Path) -> None:
    root, transcripts, file = tmp_path / "root", tmp_path / "transcripts", tmp_path / "config.toml"
    root.mkdir()
    with watched(Watcher({MEMORIES: [str(root)], SETTINGS: [str(file)], PROMPTS: [str(transcripts)]})) as kinds:
        file.write_text("", "utf-8")
        assert kinds.get(timeout=PATIENCE_S) == SETTINGS
        transcripts.mkdir()
        assert kinds.get(timeout=PATIENCE_S) == PROMPTS
        shutil.rmtree(root)
        root.mkdir()
        for name in ("seen with the new folder", "seen in the new folder"):
            while kinds.get(timeout=PATIENCE_S) != MEMORIES:
                pass
            (root / f"{name}.md").write_text("text", "utf-8")


def test_hidden_files_are_no_memories_and_only_json_lines_and_exports_are_prompts(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    changed = [tmp_path / ".git" / "index", prompts / "notes.txt", prompts / "new.jsonl", prompts / "export.md"]

    def watch(*_: str, **__: Any) -> Any:
        return [set(), *({(1, str(path))} for path in changed)]

    watcher = Watcher({MEMORIES: [str(tmp_path)], PROMPTS: [str(prompts)]}, watch)
    told = list(islice(watcher.changes(), 5))
    assert told == [{MEMORIES}, set(), {MEMORIES}, {MEMORIES, PROMPTS}, {MEMORIES, PROMPTS}]
