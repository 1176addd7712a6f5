"""The example that `memsift demo` opens: a project with three weeks of a hook's log, and labels of two people.

Memories, phrases, prompts, true labels and a judge's answers are files in this folder. The phrases are put into the
user's own folder, where they count in a root that nobody trusts. Log and labels are made at the first
start from what memsift does with these files, so they are three weeks old on any day.
"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import inject
from engine.config import SYSTEMS
from engine.conversations.activity import LOG_FILE, Activity
from engine.conversations.prompt_files import read_prompts
from engine.lean.sha256 import hex_digest
from engine.paths import cache_dir, state_dir
from engine.phrases.file import phrases_files
from engine.pipeline import OpenSystem, Query, retrieve
from engine.roots import open_together, together
from engine.stores.files import write_whole
from labels.exchange.files import read_source
from labels.exchange.trec import read_grades
from labels.records import NOT_RELEVANT, RELEVANT
from labels.store import LabelStore
from tui.workspace.judging import JudgeOptions
from tui.workspace.opening import open_workspace, read_settings
from tui.workspace.retrievals import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labels.records import Pool
    from tui.workspace.workspace import Workspace

    Grades = Mapping[tuple[str, str], int]

FILES = Path(__file__).parent
PROMPTS = FILES / "prompts.jsonl"
SCRIPT = FILES / "judge.jsonl"
JUDGE = JudgeOptions(f"scripted:{SCRIPT}")
FIRST = "p55"
"""The prompt on the first screen: one useful memory, and one that only BM25 finds."""

DAYS = 21
DAYS_WITHOUT_CUTOFF = 8
"""The first days of the log: the hook ran without a cutoff then, so the numbers of the later weeks are better."""

PROMPTS_A_SESSION = 6
DAYS_OF_LABELS = timedelta(days=9)


def open_demo(environ: Mapping[str, str], *, fresh: bool, now: datetime | None = None) -> Workspace:
    """The workspace of the example, with a label store and a copy of the memories in the cache folder.

    They are kept between starts; *fresh* begins anew. *now*: the end of the three weeks.
    """
    place = Path(cache_dir(environ)) / "demo"
    root = place / "cairn" / ".claude" / "memory"
    if fresh:
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(state_dir(str(root), environ), ignore_errors=True)
    if not root.exists():
        for file in (FILES / "memory").iterdir():
            write_whole(str(root / file.name), file.read_bytes(), lasts=False)
        write_whole(phrases_files(str(root), environ)[-1], (FILES / "phrases.jsonl").read_bytes(), lasts=False)
    store = root.parent.parent / "labels.db"
    is_new = not store.exists()
    if is_new:
        write_log(str(root), environ, now or datetime.now(UTC))
    workspace = open_workspace(str(root), [str(PROMPTS)], JUDGE, str(store), environ, is_trusted=True, asks_first=True)
    if is_new:
        fill(workspace, now or datetime.now(UTC))
    workspace.wanted_prompt = FIRST
    return workspace


def times(number: int, now: datetime) -> Iterator[datetime]:
    """The times of *number* prompts, oldest first: the same number each day, from nine in the morning on."""
    a_day = -(-number // DAYS)
    for place in range(number):
        day, hour = divmod(place, a_day)
        yield (now - timedelta(days=DAYS - day)).replace(hour=9 + hour, minute=place * 17 % 60, second=place * 7 % 60)


def write_log(root: str, environ: Mapping[str, str], now: datetime) -> None:
    """The log of a hook that was asked every prompt."""
    opened = together([read_settings(root, environ, JUDGE, is_trusted=True)], environ)
    prompts = read_prompts([str(PROMPTS)]).prompts
    folder = state_dir(root, environ)
    Path(folder, LOG_FILE).unlink(missing_ok=True)
    with closing(open_together([root], environ)) as index:
        for place, (prompt, at) in enumerate(zip(prompts, times(len(prompts), now), strict=True)):
            has_cutoff = at > now - timedelta(days=DAYS - DAYS_WITHOUT_CUTOFF)
            system = SYSTEMS["memsift+default" if has_cutoff else "memsift"]
            chosen = OpenSystem(system.of(opened.config), opened.cutoff if has_cutoff else None)
            found = retrieve(Query(prompt), index, chosen)
            activity = Activity(count(step=0.004 + place % 5 / 2_000).__next__)
            activity.stage("search")
            activity.note(session_id=f"demo-{place // PROMPTS_A_SESSION}", prompt=prompt.text)
            activity.note(prompt_sha256=hex_digest(prompt.text))
            text = inject.context(found, opened.config, root) if found.injected else ""
            activity.note_retrieval(found, inject.length(text))
            activity.append(folder, at.timestamp())


def fill(workspace: Workspace, now: datetime) -> None:
    """Replay all prompts, and label the pools of some as two people did."""
    config, texts = workspace.config, cache(workspace.memory)
    with workspace.store.together():
        for prompt in workspace.prompts:
            for system in workspace.systems:
                found = workspace.run(prompt, system)
                workspace.adopt(found)
                record(found, workspace.store, workspace.index, config, workspace.judge, workspace.cutoff, texts)
        pools = [pool for prompt in workspace.prompts if (pool := workspace.pool(prompt.id))]
    grades = read_grades(read_source(FILES / "qrels.txt"))
    for row in (FILES / "people.jsonl").read_text("utf-8").splitlines():
        person = json.loads(row)
        mine = pools[person["first"] - 1 : person["last"]]
        label(workspace, person["annotator"], mine, {**grades, **otherwise(person)}, now)


def otherwise(person: dict[str, Any]) -> Grades:
    """The grades that only this person gives."""
    return {(prompt_id, memory_id): grade for prompt_id, memory_id, grade in person["otherwise"]}


def label(workspace: Workspace, name: str, pools: Sequence[Pool], grades: Grades, now: datetime) -> None:
    """The labels that one person gave in the days before *now*, with the answers to list cards."""
    events = sum(len(pool.cards) + len(pool.listed) + 1 for pool in pools)
    times = (now - DAYS_OF_LABELS * (1 - place / events) for place in count())
    paces = (2_000 + place * 977 % 9_000 for place in count())
    with LabelStore.open(workspace.store.path, now=times.__next__) as store, store.together():
        for pool in pools:
            for card in pool.cards:
                grade = grades.get((pool.prompt.id, card.memory.id), 0)
                how: dict[str, Any] = {"seed": workspace.seed, "blind": True, "elapsed_ms": next(paces)}
                verdict = RELEVANT if grade else NOT_RELEVANT
                store.label(name, pool.prompt.id, card, verdict, grade=grade, titles=pool.titles, **how)
            if pool.listed:
                helped = [card.pair for card in pool.listed if grades.get((pool.prompt.id, card.memory.id))]
                how = {"seed": workspace.seed, "blind": True, "elapsed_ms": next(paces)}
                store.answer_list(name, pool.prompt.id, pool.listed, helped, **how)
