"""The numbers of each system in a report: what is counted, and over which prompts."""

from labels.measure.evidence import Evidence, evidence_from_qrels
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio, Worst
from labels.measure.report import Captions, SystemReport, build_report
from labels.records import Judgements, Outcome
from tests.labels.samples import Found, outcome

PEOPLE = {"p1": {"a": True, "b": False}, "p2": {"a": False, "b": False}, "p3": {"a": True}}


def measured(*rows: Outcome, people: Judgements = PEOPLE) -> SystemReport:
    """The numbers of the first system."""
    return build_report(Evidence(rows, people)).systems[0]


def test_precision_is_unknown_and_not_zero_when_nothing_was_judged() -> None:
    assert measured(outcome(["x"]), people={}).precision.value is None
    silent = measured(outcome([]))
    assert (silent.precision.value, silent.bounds) == (None, None)


def test_a_silent_system_serves_nobody_and_a_prompt_without_a_needed_memory_does_not_count() -> None:
    people = {"p1": {"a": True, "b": True}, "p2": {"c": True}, "p3": {"d": False}, "p4": {"e": True}}
    found = {"p1": ["x", "b"], "p2": ["x"], "p3": ["d"], "p4": ["e"]}
    loud = [outcome(own, prompt_id=name, system="loud") for name, own in found.items()]
    silent = [outcome([], prompt_id=name, system="silent") for name in found]
    report = build_report(evidence_from_qrels([*loud, *silent], people, slight={("p4", "e")}))
    assert [own.served.relevant for own in report.systems] == [Ratio(1, 2), Ratio(0, 2)]


def found_by(*matched: int | None) -> tuple[Found, ...]:
    return tuple(Found(-1.0, "high", number) for number in matched)


def test_a_prompt_is_polluted_by_an_irrelevant_memory_with_one_matched_word_where_their_number_is_known() -> None:
    rows = [
        outcome(["a", "b"], found=found_by(1, 1)),
        outcome(["a", "b"], prompt_id="p2", found=found_by(2, 3)),
        outcome(["a"], prompt_id="p3", found=found_by(1)),
    ]
    assert measured(*rows).polluted_rate == Ratio(1, 3)
    rows = [
        outcome(["a"], found=found_by(None)),
        outcome(["a", "b"], prompt_id="p2"),
        outcome([], prompt_id="p3"),
        outcome(["a"], prompt_id="not labelled", found=found_by(1)),
        outcome(["a"], prompt_id="p3", system="other"),
    ]
    assert measured(*rows).polluted_rate == Ratio(0, 1)


def test_the_pool_holds_injected_memories_and_judged_candidates_and_recall_of_all_known_also_others() -> None:
    rows = [outcome(["a"], decisions={"a": None, "b": None, "c": None}), outcome(["d"], system="other")]
    assert measured(*rows, people={"p1": {"a": True, "b": True, "elsewhere": True}}).recall_in_pool == Ratio(1, 2)
    rows = [outcome(["a", "b", "c"]), outcome(["a", "b"], prompt_id="p2"), outcome([], prompt_id="p3")]
    found = measured(*rows, people={**PEOPLE, "p1": {"a": True, "b": False, "never found": True}})
    assert (found.recall_of_known, found.recall_in_pool) == (Ratio(1, 3), Ratio(1, 1))


def test_a_prompt_has_nothing_relevant_only_if_its_whole_pool_is_judged() -> None:
    rows = [outcome(["a"], prompt_id="p2"), outcome(["a", "unjudged"], prompt_id="p2", system="other")]
    assert measured(rows[0]).false_fire_rate == Ratio(1, 1)
    assert measured(*rows).false_fire_rate == Ratio(0, 0)


# Parts of a system


TWO = {"p1": {"a": True, "b": False}, "p2": {"a": False}}


def groups(evidence: Evidence, **captions: dict[str, str]) -> SystemReport:
    (system,) = build_report(evidence, Captions(**captions)).systems
    return system


def test_precision_is_counted_for_each_known_confidence() -> None:
    rows = [
        outcome(["a", "b"], found=(Found(-2.0, "high"), Found(-1.0, "low"))),
        outcome(["a", "unlabelled"], prompt_id="p2", found=(Found(-2.0, "high"), Found(-1.0, "high"))),
    ]
    high, low = groups(Evidence(rows, TWO)).by_confidence
    assert (high.name, high.prompts, high.injected, high.precision.ratio) == ("high", 2, 3, Ratio(1, 2))
    assert high.precision.interval == headline_interval([(1, 1), (0, 1)])
    assert (low.name, low.prompts, low.injected, low.precision.ratio) == ("low", 1, 1, Ratio(0, 1))
    assert groups(Evidence([outcome(["a"])], TWO)).by_confidence == ()


def test_kinds_have_precision_served_and_false_fires() -> None:
    rows = [
        outcome(["a", "b"], kind="specific"),
        outcome(["a"], prompt_id="p2"),
        outcome(["b"], prompt_id="p3", kind="specific"),
        outcome([], prompt_id="p4", kind="vague"),
    ]
    evidence = Evidence(rows, TWO | {"p3": {"a": True, "b": False}, "p4": {"a": True}})
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
    evidence = Evidence([outcome(["a", "b"]), outcome(["a"], prompt_id="p2")], TWO)
    found = groups(evidence, agents={"p1": "Codex"})
    assert (found.by_kind, found.by_agent) == ((), ())
    first, second = groups(evidence, agents={"p1": "Codex", "p2": "Claude Code"}).by_agent
    assert (first.name, first.precision.ratio, first.false_fires) == ("Claude Code", Ratio(0, 1), Ratio(1, 1))
    assert (second.name, second.precision.ratio, second.false_fires) == ("Codex", Ratio(1, 2), Ratio(0, 0))


# The worst


def test_the_worst_memories_and_prompts_are_irrelevant_most_often_and_few() -> None:
    """Two systems that inject the same for one prompt count once. A single irrelevant pair is not listed."""
    people = {
        "p1": {"a": True, "b": False, "c": False},
        "p2": {"b": False, "c": True},
        "p3": {"b": False, "d": False, "never injected": False},
    }
    rows = [
        outcome(["a", "b"]),
        outcome(["b", "c"], system="other"),
        outcome(["b", "c", "unlabelled"], prompt_id="p2"),
        outcome(["b", "d"], prompt_id="p3"),
        outcome(["z"], prompt_id="p4"),
    ]
    report = build_report(Evidence(rows, people), Captions(memories={"b": "Use B"}, prompts={"p1": "one"}))
    assert report.worst_memories == (Worst("b", "Use B", irrelevant=3, relevant=0),)
    assert report.worst_prompts == (Worst("p3", "", irrelevant=2, relevant=0), Worst("p1", "one", 2, 1))
    rows = [outcome(["m", "n"], prompt_id=f"p{number:02}") for number in range(30)]
    people = {f"p{number:02}": {"m": False, "n": False} for number in range(30)}
    report = build_report(Evidence(rows, people))
    assert [each.id for each in report.worst_prompts] == [f"p{number:02}" for number in range(10)]
