from labels.measure.evidence import Evidence
from labels.measure.intervals import headline_interval
from labels.measure.metrics import (
    Ratio,
    Worst,
)
from labels.measure.report import Captions, SystemReport, build_report
from tests.labels.samples import Found, outcome

# Groups


PEOPLE = {"p1": {"a": True, "b": False}, "p2": {"a": False}}


def groups(evidence: Evidence, **captions: dict[str, str]) -> SystemReport:
    (system,) = build_report(evidence, Captions(**captions)).systems
    return system


def test_precision_is_counted_for_each_known_confidence() -> None:
    rows = [
        outcome(["a", "b"], found=(Found(-2.0, "high"), Found(-1.0, "low"))),
        outcome(["a", "unlabelled"], prompt_id="p2", found=(Found(-2.0, "high"), Found(-1.0, "high"))),
    ]
    high, low = groups(Evidence(rows, PEOPLE)).by_confidence
    assert (high.name, high.prompts, high.injected, high.precision.ratio) == ("high", 2, 3, Ratio(1, 2))
    assert high.precision.interval == headline_interval([(1, 1), (0, 1)])
    assert (low.name, low.prompts, low.injected, low.precision.ratio) == ("low", 1, 1, Ratio(0, 1))
    assert groups(Evidence([outcome(["a"])], PEOPLE)).by_confidence == ()


def test_kinds_have_precision_served_and_false_fires() -> None:
    rows = [
        outcome(["a", "b"], kind="specific"),
        outcome(["a"], prompt_id="p2"),
        outcome(["b"], prompt_id="p3", kind="specific"),
        outcome([], prompt_id="p4", kind="vague"),
    ]
    evidence = Evidence(rows, PEOPLE | {"p3": {"a": True, "b": False}, "p4": {"a": True}})
    unnamed, specific, vague = groups(evidence).by_kind
    assert (unnamed.name, unnamed.precision.ratio) == ("(no kind)", Ratio(0, 1))
    assert (unnamed.served, unnamed.false_fires) == (Ratio(0, 0), Ratio(1, 1))
    assert (specific.name, specific.precision.ratio) == ("specific", Ratio(1, 3))
    assert (specific.served, specific.false_fires) == (Ratio(1, 2), Ratio(0, 0))
    assert [group.name for group in groups(evidence, kinds={"p2": "ambiguous"}).by_kind] == [
        "ambiguous",
        "specific",
        "vague",
    ]
    assert vague.is_known, "silence is no precision, but a prompt that is not served"
    assert (vague.precision.ratio, vague.served) == (Ratio(0, 0), Ratio(0, 1))


def test_without_kinds_or_a_second_agent_there_are_no_groups() -> None:
    evidence = Evidence([outcome(["a", "b"]), outcome(["a"], prompt_id="p2")], PEOPLE)
    found = groups(evidence, agents={"p1": "Codex"})
    assert (found.by_kind, found.by_agent) == ((), ())
    first, second = groups(evidence, agents={"p1": "Codex", "p2": "Claude Code"}).by_agent
    assert (first.name, first.precision.ratio, first.false_fires) == ("Claude Code", Ratio(0, 1), Ratio(1, 1))
    assert (second.name, second.precision.ratio, second.false_fires) == ("Codex", Ratio(1, 2), Ratio(0, 0))


# The worst


JUDGED = {
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


def test_the_worst_memories_and_prompts_are_irrelevant_most_often() -> None:
    """Two systems that inject the same for one prompt count once. A single irrelevant pair is not listed."""
    report = build_report(Evidence(ROWS, JUDGED), Captions(memories={"b": "Use B"}, prompts={"p1": "one"}))
    assert report.worst_memories == (Worst("b", "Use B", irrelevant=3, relevant=0),)
    assert report.worst_prompts == (Worst("p3", "", irrelevant=2, relevant=0), Worst("p1", "one", 2, 1))


def test_the_list_of_the_worst_is_short() -> None:
    rows = [outcome(["m", "n"], prompt_id=f"p{number:02}") for number in range(30)]
    people = {f"p{number:02}": {"m": False, "n": False} for number in range(30)}
    report = build_report(Evidence(rows, people))
    assert [each.id for each in report.worst_prompts] == [f"p{number:02}" for number in range(10)]
