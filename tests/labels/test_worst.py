from __future__ import annotations

from labels.measure.names import Names
from labels.measure.worst import Worst, injected_pairs, worst_memories, worst_prompts
from tests.labels.samples import outcome

PEOPLE = {
    "p1": {"a": True, "b": False, "c": False},
    "p2": {"b": False, "c": True},
    "p3": {"b": False, "d": False, "never injected": False},
}
ROWS = [
    outcome(["a", "b"]),
    outcome(["b", "c"], system="other"),
    outcome(["b", "c", "unlabelled"], prompt_id="p2"),
    outcome(["b", "d"], prompt_id="p3"),
    outcome(["z"], prompt_id="p4"),
]


def test_the_worst_memories_are_injected_for_most_prompts_in_vain() -> None:
    """Two systems that inject the same for one prompt count once; a memory that was wrong once is not listed."""
    found = worst_memories(injected_pairs(ROWS, PEOPLE), Names(memories={"b": "Use B"}))
    assert found == (Worst("b", "Use B", irrelevant=3, relevant=0),)


def test_the_worst_prompts_draw_most_that_is_irrelevant() -> None:
    found = worst_prompts(injected_pairs(ROWS, PEOPLE), Names(prompts={"p1": "one"}))
    assert [(each.id, each.text, each.irrelevant, each.relevant) for each in found] == [
        ("p3", "", 2, 0),
        ("p1", "one", 2, 1),
    ]


def test_no_more_are_listed_than_one_reads() -> None:
    rows = [outcome(["m", "n"], prompt_id=f"p{number:02}") for number in range(30)]
    people = {f"p{number:02}": {"m": False, "n": False} for number in range(30)}
    found = worst_prompts(injected_pairs(rows, people))
    assert [each.id for each in found] == [f"p{number:02}" for number in range(10)]
