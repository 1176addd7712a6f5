"""A memory's body, priority and digest."""

from hypothesis import given
from hypothesis import strategies as st

from engine.memory import Memory, Section, content_digest
from tests.engine.builders import memory

TEXT = st.text(alphabet=st.sampled_from(["a", "b", "\0", "\n", '"', ",", "é", "\ud800"]), max_size=4)
SECTIONS = st.lists(st.builds(Section, TEXT, st.lists(TEXT, max_size=3).map(tuple)), max_size=3).map(tuple)
CONTENT = st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=3).map(tuple), SECTIONS)


def test_the_body_has_no_headings_and_the_digest_ignores_times_status_and_spelling() -> None:
    whole = Memory(memory("A").summary, (Section("Context", ("one", "two")), Section("Rationale", ("three",))))
    assert whole.body == "one\ntwo\nthree"
    first = memory("A", "x", "y", body="text")
    second = memory("A", "y", "x", body="text", status="retired", updated_at="2030-01-01", memory_id="other")
    assert first.summary.digest == second.summary.digest
    assert len(first.summary.digest) == 64
    for other in [
        memory("A!", "x", body="text"),
        memory("A", body="text"),
        memory("A", "x", body="text\nmore"),
        memory("A", "x", body="text", category="runbook"),
    ]:
        assert other.summary.digest != memory("A", "x", body="text").summary.digest, other
    assert content_digest("d", "é", (), ()) == content_digest("d", "e\u0301", (), ())
    assert content_digest("d", "\ud800", (), ()) != content_digest("d", "\udfff", (), ())


@given(CONTENT, CONTENT)
def test_different_contents_have_different_digests(
    one: tuple[str, str, tuple[str, ...], tuple[Section, ...]],
    other: tuple[str, str, tuple[str, ...], tuple[Section, ...]],
) -> None:
    same = one[:2] == other[:2] and sorted(one[2]) == sorted(other[2]) and one[3] == other[3]
    assert (content_digest(*one) == content_digest(*other)) is same
