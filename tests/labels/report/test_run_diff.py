"""The difference between two runs: which memories a prompt gained and lost, and what the labels say of them."""

from labels.measure.metrics import Ratio
from labels.records import NOT_RELEVANT, RELEVANT, SINGLE, UNSURE, Gold
from labels.report.run_diff import (
    ComparedRuns,
    PromptDiff,
    RunDiff,
    Side,
    by_labels,
    by_qrels,
    diff_markdown,
    diff_runs,
    diff_text,
    head_lines,
    shares_of,
)
from labels.run_settings import changed_between
from labels.runs import InjectedMemory
from labels.store import LabelStore
from tests.labels.samples import ROOT, record, retrieval


def sets(**prompts: str) -> dict[str, tuple[InjectedMemory, ...]]:
    """prompt id -> memories, each a letter; a capital is the same memory with another text."""
    return {
        name: tuple(InjectedMemory(one.lower(), f"text-{one}", f"Title {one}") for one in ids)
        for name, ids in prompts.items()
    }


def gold(pairs: dict[tuple[str, str], str]) -> list[Gold]:
    """Consensus by (prompt id, letter of the memory's text)."""
    return [Gold(prompt, one.lower(), f"text-{one}", verdict, SINGLE, 1) for (prompt, one), verdict in pairs.items()]


def letters(diff: PromptDiff) -> tuple[str, str, str]:
    groups = (diff.gained, diff.lost, diff.same)
    gained, lost, same = ("".join(one.memory.memory_id for one in group) for group in groups)
    return gained, lost, same


def lines(diff: RunDiff) -> list[str]:
    side = Side("", "", 0)
    return head_lines(ComparedRuns(side, side, diff, (), {}))


def by_id(diff: RunDiff) -> dict[str, PromptDiff]:
    return {one.prompt_id: one for one in diff.prompts}


def test_each_prompt_tells_the_memories_that_it_gained_lost_and_kept() -> None:
    diff = diff_runs(sets(p="ab", q="c", old="x"), sets(q="c", p="bd", new="y"), by_labels([]))
    found = by_id(diff)
    assert list(found) == ["q", "p", "new", "old"]  # in the order of the later run
    assert letters(found["p"]) == ("d", "a", "b")
    assert letters(found["q"]) == ("", "", "c")
    assert letters(found["new"]) == letters(found["old"]) == ("", "", "")  # nothing is gained where nothing was before
    assert [one.prompt_id for one in diff.changed] == ["p"]
    assert lines(diff)[-1] == "Prompts that are not compared: 1 only before and 1 only now."
    assert diff_runs(sets(p="ab"), sets(p="ba"), by_labels([])).changed == ()


def test_labels_count_only_for_the_text_that_a_run_injected_and_only_on_common_prompts() -> None:
    labels = {("p", "a"): RELEVANT, ("p", "B"): NOT_RELEVANT, ("p", "c"): UNSURE, ("old", "x"): RELEVANT}
    diff = diff_runs(sets(p="ab", old="x"), sets(p="Bc"), by_labels(gold(labels)))
    prompt = by_id(diff)["p"]
    assert [(one.memory.memory_id, one.is_relevant) for one in prompt.before or ()] == [("a", True), ("b", None)]
    assert [(one.is_relevant, one.is_edited) for one in prompt.now or ()] == [(False, True), (None, False)]
    assert [one.precision for one in shares_of(diff)] == [Ratio(1, 1), Ratio(0, 1)]
    assert prompt.worth == -1  # a relevant memory is lost; the edited one was kept, and c has no verdict
    assert (diff.lost_relevant, diff.new_unlabelled) == (1, 1)
    edited = diff_runs(sets(p="a", q="d"), sets(p="A", q="dd"), by_labels(gold({("p", "a"): RELEVANT})))
    assert (edited.lost_relevant, edited.new_unlabelled) == (0, 1), "the new text of an edited memory has no label"


def test_a_prompt_is_served_by_a_relevant_memory_unless_it_was_graded_as_a_small_help() -> None:
    labels = {("p", "a"): RELEVANT, ("p", "b"): RELEVANT, ("q", "c"): RELEVANT, ("r", "d"): NOT_RELEVANT}
    before, now = sets(p="b", q="", r="d", old="x"), sets(p="a", q="", r="")
    plain, graded = (diff_runs(before, now, by_labels(gold(labels), slight)) for slight in (set(), {("p", "b")}))
    assert [one.served for one in shares_of(plain)] == [Ratio(1, 2), Ratio(1, 2)]
    assert [one.served for one in shares_of(graded)] == [Ratio(0, 2), Ratio(1, 2)]
    assert lines(graded)[2] == "Of the prompts in need, served are: before 0 of 2 (0 %), now 1 of 2 (50 %)."


def test_a_file_that_tells_no_texts_takes_the_labels_on_which_all_texts_agree() -> None:
    labels = {("p", "a"): RELEVANT, ("p", "b"): RELEVANT, ("p", "B"): NOT_RELEVANT}
    judge = by_labels(gold(labels))
    assert [judge.of("p", InjectedMemory(one)) for one in "abc"] == [True, None, None]
    of_file = by_qrels({"p": {"a": False}})
    assert [of_file.of("p", InjectedMemory(one, f"text-{one}")) for one in "ab"] == [False, None]


def test_the_text_has_the_answer_first_and_no_line_is_wider_than_the_terminal() -> None:
    hostile = InjectedMemory("m", "d", "[red]\x1b[31m\u202e title \U0001f600 " + "long " * 60)
    before, now = {"p": (InjectedMemory("a", "d", "A"),), "q": ()}, {"p": (hostile,), "r": ()}
    labels = by_labels([Gold("p", "a", "d", NOT_RELEVANT, SINGLE, 1)])
    runs = ComparedRuns(
        Side("11112222", "memsift", 2, "2026-01-02T03:04:05.678+00:00"),
        Side("run.jsonl", "bm25", 2),
        diff_runs(before, now, labels),
        ("max_inject was 3, is 1",),
        {"p": "a prompt\nof two lines \x07"},
    )
    text = diff_text(runs, 60)
    lines = text.splitlines()
    assert lines[:2] == [
        "Before: memsift · 2 prompts · 2026-01-02 03:04 UTC · 111122…",
        "Now:    bm25 · 2 prompts · run.jsonl",
    ]
    flat = " ".join(text.split())
    assert "1 of 1 prompt differs: 1 memory gained (1 without a label), 1 memory lost (1 not relevant)." in flat
    assert "relevant are: before 0 of 1 (0 %), now none has one." in flat
    assert "Changed in between: max_inject was 3, is 1." in flat
    assert "Prompts that are not compared: 1 only before and 1 only now." in flat
    assert "  - not relevant: A (a)" in lines
    assert max(map(len, lines)) <= 60
    assert text.replace("\n", "").isprintable()
    summary = diff_markdown(runs, 5)
    assert "- 0 relevant memories were lost; 1 memory came in without a label (allowed: 5)." in summary
    *_, row = summary.splitlines()
    assert row.startswith("| a prompt of two lines ")
    assert " | \\[red\\]" in row
    assert row.endswith(" | not relevant: A (a) |")
    assert summary.replace("\n", "").isprintable()


def test_runs_come_back_from_the_store_with_their_injected_sets(store: LabelStore) -> None:
    record(store, retrieval(["b", "a"], {"c": "cap"}), retrieval([], prompt_id="p2"))
    record(store, retrieval(["a"], digests={"a": "new"}), corpus_hash="c2")
    record(store, retrieval(["z"]), root="/another")
    record(store, retrieval(["a"], prompt_id="p3"))
    first, second = store.saved_runs(ROOT)
    assert [(one.corpus_hash, one.prompts, one.system) for one in (first, second)] == [
        ("c1", 3, "bm25"),
        ("c2", 1, "bm25"),
    ]
    found = store.injected_sets(first.run_id)
    assert [(name, [one.memory_id for one in own]) for name, own in found.items()] == [
        ("p1", ["b", "a"]),
        ("p2", []),
        ("p3", ["a"]),
    ]
    assert store.injected_sets(second.run_id) == {"p1": (InjectedMemory("a", "new", "Title of a"),)}
    assert changed_between("bm25", second.settings, first.settings) == ("the memories changed in between",)
