"""What the rows of a report count."""

from collections.abc import Callable

from engine.lean.record import replace
from labels.measure.report import ReportOptions
from labels.report.first_lines import BY_WORST, IN_LABEL, NOTHING, scope_lines
from labels.report.section import CountedPrompts
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.workspace.report import MORE_COME, TARGETS, read_report
from tui.workspace.workspace import Workspace


def counted(workspace: Workspace, system: str, counts: Callable[[set[str], dict[str, bool]], bool]) -> set[str]:
    """The prompts of which *counts* is true, given the injected ids and the labels by id; counted by hand."""
    found = set()
    for prompt in workspace.prompts:
        retrieval = workspace.retrieval(prompt.id, system)
        labels = {pair[0]: one.verdict == "relevant" for pair, one in workspace.labels(prompt.id).items()}
        if retrieval and counts({one.memory.id for one in retrieval.injected}, labels):
            found.add(prompt.id)
    return found


def test_every_row_has_the_prompts_or_the_memory_that_it_counts(open_workspace: Opener) -> None:
    sources = ("codex:1", "transcript:1", "file:notes.jsonl")
    typed = [replace(prompt, source=sources[number % 3]) for number, prompt in enumerate(demo_prompts()[:24])]
    workspace = open_workspace(prompts=typed, cutoff=fresh_cutoff())
    replay_and_label(workspace)
    reading = read_report(workspace, ReportOptions(ranking=True, curves=True), 0.8)
    tables = {one.name: one.table for one in reading.sections if one.table}
    systems = [one.system for one in reading.report.systems]

    def rows(name: str) -> list[CountedPrompts]:
        return [row.counted for row in tables[name].rows if row.counted]

    for number, system in enumerate(systems):
        wrong = counted(workspace, system, lambda own, labels: any(labels[one] is False for one in own))
        assert set(rows("precision")[number].prompts) == wrong
        lost = counted(
            workspace, system, lambda own, labels: any(yes and one not in own for one, yes in labels.items())
        )
        assert set(rows("recall")[number].prompts) == lost
        nothing = counted(workspace, system, lambda own, labels: bool(own) and not any(labels.values()))
        assert set(rows("injecting")[number].prompts) == nothing
        silent = counted(workspace, system, lambda own, _: not own)
        assert set(rows("running")[number].prompts) >= silent
        assert rows("ranking")[number].prompts
    assert set(rows(f"judge-{systems[-1]}")[0].prompts) == counted(workspace, systems[-1], lambda own, _: bool(own))
    some = ("coverage", "history", "reliability", "confidence", "kind", "agent", "comparison")
    for name in some:
        assert all(row.counted and row.counted.prompts for row in tables[name].rows), name
    assert [row.cells[1] for row in tables["agent"].rows] == ["(no agent)", "Claude Code", "Codex"] * len(systems)
    of_codex = {prompt.id for prompt in typed if prompt.source == "codex:1"}
    assert set(rows("agent")[2].prompts) <= of_codex
    assert [one.memory for one in rows("worst-memories")] == [one.id for one in reading.report.worst_memories]
    assert known(reading.gate).system == "memsift+default"


def test_without_a_replay_there_is_no_answer_and_no_row(open_workspace: Opener) -> None:
    reading = read_report(open_workspace(prompts=demo_prompts("p01")), ReportOptions(), 0.8)
    assert reading.gate is None
    assert all(section.table is None for section in reading.sections)


def test_a_step_leads_somewhere_also_where_every_prompt_is_labelled(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts()[:24])
    for labelled, words, place in ((18, "without all labels", IN_LABEL), (None, MORE_COME, BY_WORST)):
        replay_and_label(workspace, labelled)
        steps = [read_report(workspace, least=least).step for least in TARGETS]
        assert all(step.place for step in steps if step != NOTHING)
        found = [step.place for step in steps if words in step.what]
        assert found == [place] * len(found) != []


def test_seen_prompts_without_a_label_are_told(open_workspace: Opener) -> None:
    prompts = demo_prompts()[:4]
    workspace = open_workspace(judge=None, prompts=prompts)
    replay_and_label(workspace, prompts=2)
    for number, said in ((1, ()), (2, ("1 prompt without a label was seen with ranks: Label asks about it last.",))):
        workspace.show(prompts[number].id)
        assert scope_lines(read_report(workspace).report.evidence) == said
