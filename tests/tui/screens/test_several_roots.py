"""The app over several roots of several formats: one list, one injected set, and changes where they may be written."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.paths import root_key
from engine.settings.trust import trust
from tests.engine.curation.roots import document, write_documents
from tests.labels.samples import known
from tests.tui.apps import SIZE, press, reads, shown, starting_in, told, until, widget
from tests.tui.cli.command_line import jsonl
from tests.tui.demo import replay
from tui.app import MemsiftApp
from tui.widgets.bars import where_facts
from tui.widgets.lists.columns import ColumnHeads
from tui.widgets.lists.memories import MemoryList
from tui.workspace import opening
from tui.workspace.curate.memory_facts import root_label
from tui.workspace.judging import JudgeOptions
from tui.workspace.replay.explain_rows import explanations
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

ASK = "how long does the token cache live?"


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two folders of claude-memory with a memory of the same id, and a folder of notes."""
    titles = {"cache": "Token cache rule", "zeta": "Nothing else"}
    first = write_documents(tmp_path / "one", [document(name, title=title) for name, title in titles.items()])
    second = write_documents(tmp_path / "two", [document("cache", title="Token cache of the client")])
    notes = tmp_path / "vault"
    notes.mkdir()
    (notes / "note.md").write_text("# Token cache note\n", encoding="utf-8")
    return first, second, notes


@pytest.fixture
def workspace(tmp_path: Path, roots: tuple[Path, ...], no_cutoff: None) -> Iterator[Workspace]:  # noqa: ARG001
    first, *others = (str(one) for one in roots)
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    judge = JudgeOptions(is_off=True)
    db = str(tmp_path / "labels.db")
    opened = opening.open_workspace(first, [str(prompts)], judge, db, os.environ, others=others)
    yield opened
    opened.close()


def status_of(folder: Path, name: str) -> str:
    return str(json.loads((folder / "decisions" / f"{name}.json").read_text("utf-8"))["record_status"])


@pytest.mark.slow
async def test_memories_of_all_roots_are_listed_and_changed_where_they_lie(
    workspace: Workspace, roots: tuple[Path, Path, Path]
) -> None:
    other = f"cache@{root_key(str(roots[1]))}"
    assert where_facts(workspace, "s") == ["one and 2 more"]
    async with MemsiftApp(workspace).run_test(size=SIZE, notifications=True) as pilot:
        table = pilot.app.screen.query_one(MemoryList)
        assert [one.id for one in table.records] == ["cache", "zeta", other, "note"]
        rows = ["".join(text for text, _ in table.row_cells(number, 80)).split()[1] for number in range(4)]
        assert rows == ["one", "one", "two", "vault"]
        assert "Root" in pilot.app.screen.query_one(ColumnHeads).render().plain
        await press(pilot, "down", "down")
        await reads(pilot, "#detail-text", "Token cache of the client")
        await press(pilot, "x", "1")
        await told(pilot, "Retired cache: stale. u takes it back.")
        assert (status_of(roots[0], "cache"), status_of(roots[1], "cache")) == ("active", "retired")
        assert {one.id: one.status for one in table.records}[other] == "retired"
        await press(pilot, "u")
        await told(pilot, "Took back: Retired cache: stale.")
        assert status_of(roots[1], "cache") == "active"
        await press(pilot, "G", "x")
        await told(pilot, "which memsift only reads")
        await press(pilot, "g", "space", "down", "space", "m")
        await told(pilot, "They lie in 2 folders. Move them into one with M")


@pytest.mark.parametrize(
    ("root", "label"),
    [
        ("/p/web/.claude/memory", "web"),
        ("/home/me/.claude/projects/-p-web/memory", "auto memory"),
        ("/home/me/vault", "vault"),
        ("/p/web/AGENTS.md", "AGENTS.md"),
        ("/memory", "/memory"),
        ("/", "/"),
    ],
)
def test_roots_have_short_names(root: str, label: str) -> None:
    assert root_label(root) == label


async def test_replay_injects_from_all_roots_and_explains(workspace: Workspace, roots: tuple[Path, Path, Path]) -> None:
    """A label on a memory of the second root counts in the report over all of them."""
    other = f"cache@{root_key(str(roots[1]))}"
    prompt = workspace.prompts[0]
    found = workspace.run(prompt, workspace.first.name)
    workspace.keep(found)
    assert {one.memory.id for one in found.injected} == {"cache", other, "note"}
    for card in known(workspace.pool(prompt.id)).cards:
        verdict = "relevant" if card.memory.id == other else "not"
        workspace.store.label(workspace.annotator, prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=1)
    (system,) = workspace.report().systems
    assert (system.precision.part, system.precision.whole) == (1, 3)
    (explained,) = explanations(workspace, [answer for answer in workspace.answers(prompt.id) if answer], other)
    assert (explained.memory.id, explained.outcome) == (other, "injected")
    workspace.reload()
    assert workspace.roots == tuple(map(str, roots))


async def test_what_if_tries_settings_on_all_roots_and_says_that_they_count_only_if_their_root_is_trusted(
    workspace: Workspace,
) -> None:
    prompt = workspace.prompts[0]
    replay(workspace)
    for card in known(workspace.pool(prompt.id)).cards:
        workspace.store.label("me", prompt.id, card, "relevant", seed=1, blind=True, elapsed_ms=1)
    async with starting_in("whatif", workspace).run_test(size=(160, 48)) as pilot:
        await reads(pilot, "#numbers", "1 labelled prompt")
        await reads(pilot, "KnobList", "Settings for all 3 roots, from …")
        await reads(pilot, "#numbers", "3/3")
        widget(pilot, "KnobList").go_to("Most memories")
        await press(pilot, "left")
        await reads(pilot, "#numbers", "2/2")
        await reads(pilot, "#state", "Settings of this root count for its own memories only, until you trust it")
        trust(workspace.root, os.environ)
        await press(pilot, "right", "left")
        await until(pilot, lambda: "trust" not in shown(pilot, "#state"))
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: '"max_inject": 2' in Path(workspace.root, "memory-config.json").read_text())
        await until(pilot, lambda: len(workspace.run(prompt, workspace.systems[0]).injected) == 2)
