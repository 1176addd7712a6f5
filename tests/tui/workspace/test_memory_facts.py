"""Facts about memories beside their text: the prompts that pulled them in, their age, orders and filters by finding."""

import os

from engine.memory import MemorySummary
from engine.quality.registry import Finding
from tests.tui.conftest import Opener
from tests.tui.demo import NOW, demo_prompts
from tui.widgets.lists.memories import age, worst_finding
from tui.widgets.memory_detail import prompt_line
from tui.workspace.curate.memory_facts import ANY, FINDINGS, Facts, Narrowing, counts, ordered, read_facts


def summary(memory_id: str, updated_at: str = "", status: str = "active") -> MemorySummary:
    return MemorySummary(memory_id, "decision", memory_id, (), "", "", status, "", updated_at, "")


def finding(check: str, severity: float) -> Finding:
    return Finding(check, "", severity, "reason", "action")


MEMORIES = [summary("plain"), summary("old", status="retired"), summary("risky"), summary("two")]
FACTS = Facts(
    findings={
        "old": (finding("staleness", 0.5),),
        "risky": (finding("safety", 0.9),),
        "two": (finding("staleness", 0.5), finding("size", 0.3)),
    },
    now=NOW,
)


def test_a_prompt_has_the_label_and_the_verdict_of_the_judge_only_when_it_may_be_seen(open_workspace: Opener) -> None:
    prompt = demo_prompts("p01")[0]
    workspace = open_workspace(prompts=(prompt,))
    judged = workspace.run(prompt, "memsift+judge")
    workspace.keep(judged)
    memory = judged.injected[0].memory.id

    def facts() -> Facts:
        return read_facts(workspace.index, workspace.store.path, workspace.annotator, os.environ, NOW)

    assert facts().hidden[memory] == (prompt.id,)
    assert memory not in facts().prompts
    workspace.show(prompt.id)
    seen = facts()
    assert memory not in seen.hidden
    (pulled,) = seen.prompts[memory]
    assert (pulled.prompt_id, pulled.label, pulled.decision) == (prompt.id, "", "approved")
    assert prompt_line(pulled, seen).endswith("(the judge: approved)")


def test_the_worst_findings_come_first_and_then_the_most() -> None:
    assert [one.id for one in ordered(MEMORIES, FINDINGS, FACTS)] == ["risky", "two", "old", "plain"]
    assert [worst_finding(one, FACTS) for one in MEMORIES] == ["", "stale", "safety", "stale +1"]


def test_memories_are_narrowed_to_a_check_or_to_any_finding_and_to_a_status() -> None:
    def narrowed(narrowing: Narrowing) -> list[str]:
        return [one.id for one in narrowing.of(MEMORIES, FACTS)]

    assert narrowed(Narrowing(check=ANY)) == ["old", "risky", "two"]
    assert narrowed(Narrowing(check="staleness")) == ["old", "two"]
    assert narrowed(Narrowing(check="staleness", status="active")) == ["two"]
    assert narrowed(Narrowing()) == ["plain", "old", "risky", "two"]
    numbers = counts(MEMORIES, FACTS)
    assert numbers["check"] == {ANY: 3, "staleness": 2, "safety": 1, "size": 1}
    assert numbers["status"] == {"active": 3, "retired": 1}


def test_the_age_is_in_one_unit_and_empty_where_it_is_unknown() -> None:
    times = {
        "2026-10-31": "1d",
        "2026-10-10": "3w",
        "2026-03-01": "8mo",
        "2020-01-01": "7y",
        "2027-01-01": "0d",
        "x": "",
    }
    assert {time: age(summary("one", time), FACTS) for time in times} == times
    assert age(summary("one", "2026-10-31"), Facts()) == ""
