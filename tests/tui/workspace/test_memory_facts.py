"""Facts about memories beside their text: the prompts that pulled them in, and their age."""

import os

from tests.engine import builders
from tests.tui.conftest import Opener
from tests.tui.demo import NOW, demo_prompts
from tui.widgets.lists.memories import age
from tui.widgets.memory_detail import prompt_line
from tui.workspace.curate.memory_facts import Facts, read_facts


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


def test_the_age_is_in_one_unit_and_empty_where_it_is_unknown() -> None:
    times = {
        "2026-10-31": "1d",
        "2026-10-10": "3w",
        "2026-03-01": "8mo",
        "2020-01-01": "7y",
        "2027-01-01": "0d",
        "x": "",
    }
    known = {time: builders.memory("one", updated_at=time).summary for time in times}
    assert {time: age(summary, Facts(now=NOW)) for time, summary in known.items()} == times
    assert age(known["2026-10-31"], Facts()) == ""
