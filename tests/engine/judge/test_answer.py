"""Reading answers: with anything around the keep-list, only offered indices come out."""

import contextlib
import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.answer import ANSWER_LIMIT, MAX_DEPTH, UnreadableAnswerError, objects, opinions
from engine.judge.verdict import APPROVED, DEPTHS, EXPLAINED, KEEP, REJECTED


def kept_indices(text: str, count: int) -> tuple[int, ...]:
    """The indices that are approved."""
    said = opinions(text, count, KEEP)
    return tuple(index for index in range(count) if said[index].decision == APPROVED)


def test_an_answer_is_found_in_its_wrapping() -> None:
    for text, kept in [
        ('{"keep": [0, 2]}', (0, 2)),
        ('{"keep": []}', ()),
        ('Sure! {"keep": [1]} Anything else?', (1,)),
        ('```json\n{"keep": [3, 1]}\n```', (1, 3)),
        ('{"keep": ["2", " 0 "]}', (0, 2)),
        ('{"keep": [1, 1, "1"]}', (1,)),
        ('{"keep": [true, false, 2]}', (2,)),
        ('{"keep": [4, -1, -4, 99, 3]}', (3,)),
        ('{"keep": [null, 1.5, {"keep": [0]}, [1], "two", "", "\\u00b2", 2]}', (2,)),
        ('{"keep": ["' + "9" * 5000 + '", 1]}', (1,)),
        ('{"reason": "a } b {", "keep": [1]}', (1,)),
        ('{"answer": {"keep": [2]}}', (2,)),
        ('{"keep": "none"} then {"keep": [0]}', (0,)),
        ('{"keep": [1]} I repeat: {"keep": [1]}', (1,)),
        ('<think>{"keep": [0, 1]}, or {"keep": [2]}?</think>{"keep": [3]}', (3,)),
        ('{"keep": [2.0, 1.5, 1e300, -0.0]}', (0, 2)),
        ('{ broken {"keep": [1]}', (1,)),
        ("{" * 5000 + '{"keep": [1]}', (1,)),
        ('{"keep": [1]} {"keep": [0', (1,)),
        ('\ufeff{"keep":[1]}', (1,)),
        ('{"thought": {"keep": [0]}, "answer": {"keep": [2]}}', (2,)),
        ('{"keep": [1], "because": {"keep": [3]}}', (1,)),
        ('{"a": ' * 30 + '{"keep": [1]}' + "}" * 30, (1,)),
        ("[1, 3]", (1, 3)),
        ("```json\n[2]\n```", (2,)),
    ]:
        assert kept_indices(text, 4) == kept, text


def test_an_answer_without_a_keep_list_is_unreadable() -> None:
    for text in [
        "",
        "I would keep the first two.",
        "Of these [0, 1]",
        '{"keep": [0, 1',
        '{"keep": 1}',
        '{"keep": null}',
        '{"kept": [0]}',
        "{'keep': [0]}",
        '{"a":' * 2000,
        '{"keep": [' + "9" * 9000 + "]}",
        "[" * 10_000,
    ]:
        with pytest.raises(UnreadableAnswerError, match="keep"):
            kept_indices(text, 4)
        with pytest.raises(UnreadableAnswerError, match="verdicts"):
            opinions(text, 4, EXPLAINED)


def answer(depth: str, **decisions: str) -> str:
    """An answer of a depth; the names of *decisions* are `i` and an index."""
    if depth == KEEP:
        return json.dumps({"keep": [int(name[1]) for name in decisions if decisions[name] == APPROVED]})
    return json.dumps({"verdicts": [{"index": int(name[1]), "decision": decisions[name]} for name in decisions]})


BETWEEN = (
    *("", "\nNo, wait: ", "\n```\n```json\n", ' a 5" disk {', "} ]\n", '{"note": "', "[" * 20, '{"keep": ['),
    "{" * 20,
)


def test_the_last_complete_object_that_fits_counts() -> None:
    for depth, between in product(DEPTHS, BETWEEN):
        first = answer(depth, i0=APPROVED, i1=REJECTED, i2=APPROVED)
        last = answer(depth, i0=REJECTED, i1=APPROVED, i2=REJECTED)
        for end in ("", "\nDone.", last[:-3], last.replace(":", "="), "{}", '{"keep": "all"}', '{"verdicts": null}'):
            found = opinions(f"Let me see. {first}{between}{last}{end}", 3, depth)
            assert [opinion.decision for opinion in found] == [REJECTED, APPROVED, REJECTED], (depth, between)


def test_an_object_of_another_form_does_not_fit() -> None:
    for depth, unfit in [
        (KEEP, '{"keep": ["indices"]}'),
        (KEEP, '{"keep": [null, true, 1.5, {"index": 0}]}'),
        (KEEP, '{"keep": {"0": true}}'),
        (KEEP, answer(EXPLAINED, i0=APPROVED)),
        (EXPLAINED, '{"verdicts": [{"index": 0, "decision": "approved or rejected"}]}'),
        (EXPLAINED, '{"verdicts": [{"decision": "approved"}]}'),
        (EXPLAINED, '{"verdicts": ["approved"]}'),
        (EXPLAINED, answer(EXPLAINED, i0=APPROVED)[:-2]),
        (EXPLAINED, answer(KEEP, i0=APPROVED)),
    ]:
        right = answer(depth, i0=REJECTED, i1=APPROVED)
        for text in (f"{unfit} {right}", f"{right} {unfit}"):
            assert [one.decision for one in opinions(text, 2, depth)] == [REJECTED, APPROVED], unfit
        with pytest.raises(UnreadableAnswerError):
            opinions(unfit, 2, depth)


def entry(index: object, decision: str, confidence: object = 0.8, reasoning: object = "Why.") -> object:
    return {"index": index, "reasoning": reasoning, "decision": decision, "confidence": confidence}


def test_an_odd_entry_of_an_explained_answer_does_not_spoil_the_others() -> None:
    silent = ("flagged", None, "the judge said nothing about it")
    for wrong, expected in [
        (entry(0, "flagged", 0), ("flagged", 0.0, "Why.")),
        (entry(0, "keep"), ("flagged", 0.8, "Why.")),
        (entry(0, "approved", 80), ("approved", None, "Why.")),
        (entry(0, "approved", "0.9"), ("approved", None, "Why.")),
        (entry(0, "approved", True), ("approved", None, "Why.")),
        (entry(0, "approved", reasoning=None), ("approved", 0.8, "")),
        (entry(0, "approved", reasoning="a\n\x1b[2J" + "b" * 900), ("approved", 0.8, "a [2J" + "b" * 295)),
        (entry("0", "approved"), ("approved", 0.8, "Why.")),
        (entry(True, "approved"), silent),
        (entry(4, "approved"), silent),
        ("approved", silent),
    ]:
        text = json.dumps({"verdicts": [wrong, entry(1, "approved", 1), entry(2, "rejected")]})
        first, second, third = opinions(text, 3, EXPLAINED)
        assert (first.decision, first.confidence, first.reasoning) == expected, wrong
        assert (second.decision, second.confidence, third.decision) == ("approved", 1.0, "rejected"), wrong
    twice = json.dumps({"verdicts": [entry(0, "approved"), entry(0, "rejected")]})
    (found,) = opinions(twice, 1, EXPLAINED)
    assert (found.decision, found.reasoning) == ("flagged", "the judge contradicted itself")


def test_the_end_of_a_long_answer_is_read() -> None:
    thoughts = 'Memory 0 is about "{keys}". ' * (2 * ANSWER_LIMIT // 20)
    assert kept_indices(f'{{"keep": [0]}} {thoughts} {{"keep": [1]}}', 4) == (1,)
    with pytest.raises(UnreadableAnswerError):
        kept_indices(f'{{"keep": [0]}} {thoughts}', 4)


UNITS = [
    *("{", "[", '"\\', '{"a":', '{"a":{', '{"', '{\\"', '{"{', '{":', "{}", "}{", "[{", '{"a\\\\"', '\\"{"'),
    *('{"keep": [', '{"keep": [0, ', '{"keep":1}', '{"keep":{}}', '{"keep":[x]}', "{'keep': "),
    *('{"verdicts": [{"index": 0, ', '{"keep": [{"keep": [', '{"a":[[{},', '<think>{"keep":', '{"keep":"{'),
]


@pytest.mark.slow
def test_each_character_of_a_hostile_answer_is_decoded_a_few_times_at_most() -> None:
    """The rest of the work is a search whose pattern never tries a second way."""
    sizes: list[int] = []

    def decode(part: str) -> object:
        sizes.append(len(part))
        return json.loads(part)

    for unit, depth in product(UNITS, DEPTHS):
        text = unit * (ANSWER_LIMIT // len(unit))
        for tail in ("", "}" * 200, "]}" * 200, '"}' * 200):
            sizes.clear()
            list(objects(text + tail, "keep" if depth == KEEP else "verdicts", list, decode))
            assert sum(sizes) <= 2 * MAX_DEPTH * len(text + tail), (unit, depth)


def test_a_megabyte_in_front_of_an_answer_does_not_hide_it() -> None:
    for unit in UNITS:
        noise = unit * (1_000_000 // len(unit))
        assert kept_indices(f'{noise}\n</think>\n{{"keep": [1]}}', 4) == (1,), unit


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["keep", "x"]), inner),
    max_leaves=20,
)


WITH_A_LIST = st.builds('{}{{"keep": [{}, 0]}}{}'.format, st.text(), JSON.map(json.dumps), st.text())


@given(WITH_A_LIST | st.text(alphabet='{}[]":, keep0123456789truefalsn`\n\\'), st.integers(0, 20))
def test_any_text_is_read_or_refused(text: str, count: int) -> None:
    for depth in DEPTHS:
        with contextlib.suppress(UnreadableAnswerError):
            assert len(opinions(text, count, depth)) == count
