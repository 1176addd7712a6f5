"""The typed part of a prompt: the question, without the code, the logs and the prose that were pasted beside it."""

import pytest

from engine.search.strategies import memsift
from engine.search.typed_part import typed_part
from tests.engine.builders import memory, open_index, pool_of

QUESTION = "Why does the hold queue lose its order when a patron is merged?"
CODE = "\n".join(f"    loan_{i} = branch.renewals[{i}].apply(limit={i}, now=clock())" for i in range(60))
LOG = "\n".join(
    f"2026-03-0{i % 9 + 1}T11:20:{i:02}Z INFO api.loans: renewed loan {i} at the north branch" for i in range(50)
)
PROSE = "\n\n".join(
    f"Chapter {i} is about the gardens of the north. They were planted long ago, by people who liked shade and water, "
    "and who walked there in the evening to talk about the harvest and the weather of the coming winter."
    for i in range(20)
)
PASTES = pytest.mark.parametrize("paste", [CODE, LOG, PROSE], ids=["code", "log", "prose"])


@PASTES
@pytest.mark.parametrize("gap", ["\n\n", "\n"], ids=["paragraph", "line"])
def test_of_a_question_before_a_paste_only_the_question_counts(paste: str, gap: str) -> None:
    assert typed_part(f"{QUESTION}{gap}{paste}").strip() == QUESTION


@PASTES
def test_of_a_question_behind_a_paste_the_question_counts(paste: str) -> None:
    assert typed_part(f"{paste}\n\n{QUESTION}").strip().endswith(QUESTION)


@pytest.mark.parametrize(
    ("before", "after"),
    [("```python", "```"), ("~~~", "~~~"), ('<pasted_content id="12cd">', '</pasted_content id="12cd">')],
)
def test_nothing_between_fences_or_paste_tags_counts(before: str, after: str) -> None:
    words = "\n".join(["plain words without any sign of code"] * 20)
    assert typed_part(f"{QUESTION}\n{before}\n{words}\n{after}\nThanks a lot").split("\n") == [QUESTION, "Thanks a lot"]


def test_a_fence_within_a_tagged_paste_does_not_end_it() -> None:
    paste = "\n".join(["```sh", "run it", "```", *["plain words without any sign of code"] * 20])
    text = f'{QUESTION}\n<pasted_content id="1">\n{paste}\n</pasted_content id="1">\n'
    assert typed_part(text).strip() == QUESTION


def test_what_follows_a_question_in_its_paragraph_and_both_sides_of_a_paste_count() -> None:
    more = "It worked before we moved the expiry job."
    assert typed_part(f"{QUESTION} {more}\n\n{LOG}") == f"{QUESTION} {more}"
    found = typed_part(f"Rename the column in the export.\n\n{CODE}\n\nKeep the old name as an alias.")
    assert found.split("\n") == ["Rename the column in the export.", "Keep the old name as an alias."]


@pytest.mark.parametrize(
    "end", ["- an item of the list", '"""The end of the module."""', "is it a question? " + "word " * 60]
)
def test_the_end_of_a_paste_is_no_remark(end: str) -> None:
    assert typed_part(f"Rename the column in the export.\n\n{PROSE}\n\n{end}") == "Rename the column in the export."


def test_a_short_prompt_and_a_long_one_without_a_paste_count_whole() -> None:
    text = f"{QUESTION}\n\n" + "\n".join(CODE.splitlines()[:8])
    assert memsift.pick_terms(text)[0] is text
    text = "\n\n".join(PROSE.split("\n\n")[:4])
    assert 100 < len(text.split()) <= 200
    assert typed_part(text) is text


def test_a_memory_is_found_by_the_question_and_by_the_paste_only_where_the_question_says_nothing() -> None:
    order = memory("Merging patrons keeps the order of the hold queue")
    renewal = memory("Loans are renewed at the north branch")
    with open_index(order, renewal) as index:
        for paste in (CODE, LOG, PROSE):
            pool = pool_of(index, f"{QUESTION}\n\n{paste}", 3, include_retired=False)
            assert [one.memory.title for one in pool.memories] == [order.summary.title]
    with open_index(renewal, memory("Deploys happen on Mondays")) as index:
        pool = pool_of(index, f"fix this\n\n{LOG}", 3, include_retired=False)
        assert [one.memory.title for one in pool.memories] == [renewal.summary.title]
