"""`memsift label`: the progress of labelling, and the next prompts."""

from pathlib import Path

import pytest

from engine.conversations.activity_log import last_injected, read_log
from engine.conversations.injected import with_log
from engine.conversations.prompt_files import read_prompts
from engine.prompt import Injection, typed_prompt
from labels.store import LabelStore
from tests.engine.builders import memory, write_memory, write_root
from tests.engine.hook.world import ASK, World
from tests.tui.cli.command_line import jsonl, memsift, printed, refused, rows
from tests.tui.demo import make_workspace
from tui.workspace.workspace import Workspace

TEXTS = ("who is signing the keys?", "signing keys rotate", "people and tables", "nothing of the kind")


@pytest.fixture
def place(tmp_path: Path, no_cutoff: None) -> list[str]:  # noqa: ARG001
    """The options that name a root of three memories, four prompts and an empty label store."""
    root = write_root(tmp_path / "root", [memory(f"signing {word}") for word in ("keys", "people", "tables")])
    prompts = jsonl(tmp_path / "prompts.jsonl", *({"id": f"p{n}", "prompt": text} for n, text in enumerate(TEXTS)))
    LabelStore.open(tmp_path / "labels.db").close()
    return ["--root", str(root), "--prompts", str(prompts), "--db", str(tmp_path / "labels.db")]


def workspace_of(tmp_path: Path, annotator: str) -> Workspace:
    prompts = [typed_prompt(text) for text in TEXTS]
    return make_workspace(
        tmp_path / "labels.db", root=tmp_path / "root", judge=None, prompts=prompts, annotator=annotator
    )


def label_everything(tmp_path: Path, annotator: str, verdict: str) -> int:
    """Label every card. Returns their number."""
    workspace, given = workspace_of(tmp_path, annotator), 0
    for prompt in workspace.prompts:
        workspace.keep(workspace.run(prompt, "memsift"))
        pool = workspace.pool(prompt.id)
        for card in pool.cards if pool else ():
            workspace.store.label(annotator, prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=4000)
            given += 1
    workspace.close()
    return given


def test_before_the_first_label_it_says_where_to_begin_and_lists_the_prompts_that_come_next(
    place: list[str], tmp_path: Path
) -> None:
    result = memsift("label", *place, MEMSIFT_ANNOTATOR="ann")
    assert result.stdout.splitlines() == ["0 of 4 prompts done by ann", "no labels yet. To start: memsift, then L"]
    listed = rows(memsift("label", *place, "--next", "3", "--format", "json", MEMSIFT_ANNOTATOR="ann"))
    assert (len({row["id"] for row in listed}), {row["prompt"] for row in listed} <= set(TEXTS)) == (3, True)
    text = memsift("label", *place, "--next", "3", MEMSIFT_ANNOTATOR="ann").stdout
    assert text.splitlines() == [f"{row['id']}  {row['prompt']}" for row in listed]
    for option in ("--adjudicate", "--last"):
        assert "needs a terminal" in refused(memsift("label", *place, option))
    assert "leave one out" in memsift("label", *place, "--last", "--adjudicate").stderr

    # replayed prompts need no file any more
    assert memsift("replay", "--save", *place).exit_code == 0
    without = [*place[:2], *place[4:]]
    progress = memsift("label", *without)
    assert (" of 4 prompts done" in progress.stdout, progress.stderr) == (True, "")
    counts = [len(memsift("label", "--next", "9", *where).stdout.splitlines()) for where in (without, place)]
    assert counts[0] == counts[1]
    (tmp_path / "none.jsonl").touch()
    done = memsift("replay", *place[:2], "--prompts", tmp_path / "none.jsonl")
    assert (done.stdout, "so nothing was replayed" in done.stderr) == ("", True)


def test_answered_list_cards_are_counted_beside_the_labels(place: list[str], tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, "ann")
    first, second, *_ = workspace.prompts
    for prompt in (first, second):
        workspace.keep(workspace.run(prompt, "memsift"))
    pools = [pool for prompt in (first, second) if (pool := workspace.pool(prompt.id))]
    workspace.store.answer_list("ann", second.id, pools[1].cards, (), seed=1, blind=True, elapsed_ms=9000)
    assert "ann: 0 labels, 0 given blind, 1 list card" in memsift("label", *place).stdout
    workspace.store.label("ann", first.id, pools[0].cards[0], "not", seed=1, blind=True, elapsed_ms=4000)
    workspace.close()
    assert "ann: 1 label (1 not relevant), 1 given blind, 1 list card" in memsift("label", *place).stdout
    (ann,) = printed(memsift("label", *place, "--format", "json"))["people"]
    assert (ann["labels"], ann["lists"]) == (1, 1)


def test_it_counts_people_disputes_pace_and_stale_labels_and_says_when_nothing_comes_next(
    place: list[str], tmp_path: Path
) -> None:
    place[3] = str(jsonl(tmp_path / "typed.jsonl", *({"prompt": text} for text in TEXTS)))
    given = label_everything(tmp_path, "ann", "relevant")
    label_everything(tmp_path, "bob", "not")
    made = printed(memsift("label", *place, "--format", "json", MEMSIFT_ANNOTATOR="ann"))
    assert (made["annotator"], made["seconds_per_card"]) == ("ann", 4.0)
    assert (made["prompts"], made["done"]) == (4, 4)
    ann, bob = made["people"]
    assert (ann["annotator"], ann["labels"], ann["verdicts"]["relevant"], ann["blind"]) == ("ann", given, given, given)
    assert (bob["annotator"], bob["verdicts"]["not"]) == ("bob", given)
    assert (made["disputed"], made["settled"], made["stale"]) == (given, 0, 0)
    text = memsift("label", *place, MEMSIFT_ANNOTATOR="ann")
    assert f"people disagree about {given} memories. To settle them: memsift label --adjudicate" in text.stdout
    assert f"ann: {given} labels ({given} relevant), {given} given blind" in text.stdout
    assert text.stderr == ""
    result = memsift("label", *place, "--next", "3", MEMSIFT_ANNOTATOR="ann")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("memsift: Every prompt is labelled.")
    write_memory(tmp_path / "root", memory("signing keys", body="new"))
    assert printed(memsift("label", *place, "--format", "json"))["stale"] == 4


def test_without_prompts_it_says_how_to_name_some(place: list[str]) -> None:
    for line in ("", "--next 3", "--format json", "--next 3 --format json"):
        result = memsift("label", *place[:2], *place[4:], *line.split())
        assert result.exit_code == 0
        assert result.stderr.startswith("memsift: There are no prompts to label. Name some with --prompts FILE")
        assert ("--next" in line) == (result.stdout == "")


def test_the_last_prompt_that_got_memories_is_found_by_its_hash_also_with_a_pasted_text(
    tmp_path: Path,
    no_cutoff: None,  # noqa: ARG001
) -> None:
    world, other = World(tmp_path), typed_prompt("what about bananas and apples?")
    pasted = f'{ASK}: \n\n<pasted_content id="12cd">\nalpha <b>\n</pasted_content id="12cd">\n'
    assert world.context(pasted, session_id="3")
    world.send(other.text, session_id="2")
    decisions = read_log(str(world.state)).decisions
    assert [bool(one.injected) for one in decisions] == [True, False]
    message = {"role": "user", "content": pasted}
    row = {"type": "user", "uuid": "1", "sessionId": "3", "message": message}
    (prompt,) = read_prompts([str(jsonl(tmp_path / "3.jsonl", row))]).prompts
    assert prompt.text == f"{ASK}: \n\nalpha <b>"
    assert last_injected(decisions, (other, prompt)) == prompt
    assert last_injected(decisions, (other,)) is None
    assert [one.injections for one in with_log([prompt], decisions)] == [(Injection("", ids=decisions[0].injected),)]
