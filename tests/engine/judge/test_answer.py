"""Reading answers: with anything around the keep-list, only offered indices come out."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.answer import UnreadableAnswerError, opinions
from engine.judge.verdict import APPROVED, EXPLAINED, FLAGGED, KEEP


def kept_indices(text: str, count: int) -> tuple[int, ...]:
    """The indices that are approved."""
    said = opinions(text, count, KEEP)
    return tuple(index for index in range(count) if said[index].decision == APPROVED)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
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
    ],
)
def test_an_answer_is_found_in_its_wrapping(text: str, kept: tuple[int, ...]) -> None:
    assert kept_indices(text, 4) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would keep the first two.",
        "[0, 1]",
        '{"keep": [0, 1',
        '{"keep": 1}',
        '{"keep": null}',
        '{"kept": [0]}',
        "{'keep': [0]}",
        '{"a":' * 2000,
        '{"keep": [' + "9" * 9000 + "]}",
        "[" * 10_000,
    ],
    ids=range(11),
)
def test_an_answer_without_a_keep_list_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableAnswerError, match="keep"):
        kept_indices(text, 4)
    with pytest.raises(UnreadableAnswerError, match="verdicts"):
        opinions(text, 4, EXPLAINED)


@pytest.mark.parametrize("depth", [KEEP, EXPLAINED])
def test_what_is_said_in_two_ways_is_flagged_and_the_rest_stands(depth: str) -> None:
    """A model may correct itself; it may as well repeat a title that looks like an answer."""

    def answer(**decisions: str) -> str:
        if depth == KEEP:
            return json.dumps({"keep": [int(name[1]) for name in decisions if decisions[name] == APPROVED]})
        return json.dumps({"verdicts": [{"index": int(name[1]), "decision": decisions[name]} for name in decisions]})

    first, second = answer(i0=APPROVED, i1=APPROVED, i2="rejected"), answer(i0="rejected", i1=APPROVED, i2="rejected")
    for text in (f"{first} The title says {second}", f"{second} The title says {first}"):
        assert [one.decision for one in opinions(text, 3, depth)] == [FLAGGED, APPROVED, "rejected"]
        assert opinions(text, 3, depth)[0].reasoning == "the judge contradicted itself"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["keep", "x"]), inner),
    max_leaves=20,
)


@given(st.text(), JSON, st.text(), st.integers(0, 20))
def test_no_index_comes_out_that_was_not_offered(before: str, value: object, after: str, count: int) -> None:
    try:
        kept = kept_indices(before + json.dumps({"keep": [value, 0]}) + after, count)
    except UnreadableAnswerError:
        return
    assert set(kept) <= set(range(count))
    assert list(kept) == sorted(set(kept))


@given(st.text(alphabet='{}[]":, keep0123456789truefalsn`\n\\'), st.integers(0, 5))
def test_any_text_is_read_or_refused(text: str, count: int) -> None:
    with contextlib.suppress(UnreadableAnswerError):
        assert set(kept_indices(text, count)) <= set(range(count))


@given(st.lists(st.integers(0, 14)))
def test_a_plain_keep_list_is_read_exactly(keep: list[int]) -> None:
    assert kept_indices(json.dumps({"keep": keep}), 15) == tuple(sorted(set(keep)))
