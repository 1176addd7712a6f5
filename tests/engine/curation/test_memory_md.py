"""MEMORY.md is a person's text: a change of a memory changes its links there, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.curation.operations import Archive, Create, Edit, Operation, Rename, Restore, Retire
from engine.errors import CurationError, UnknownMemoryError
from engine.stores.markdown.auto_memory_writing import links
from engine.stores.markdown.front_matter import front_matter
from engine.stores.roots import read_corpus
from engine.stores.writing import Changes, Draft
from tests.engine.builders import put
from tests.engine.curation.roots import contents, perform, summary, undo

NAMES = ("alpha", "beta", "gamma", "feedback_delta")
NOTE = (
    "---\nname: {0}\ndescription: About {0}\ntype: project\nmodified: 2026-01-05T09:10:00Z\n---\n\n"
    "Text of {0}, see [[alpha]] and [it](alpha.md).\n"
)


def root_of(folder: Path, index: str) -> Path:
    for name in NAMES:
        put(folder / f"{name}.md", NOTE.format(name))
    put(folder / "MEMORY.md", index)
    return folder.resolve()


def index(root: Path) -> str:
    return (root / "MEMORY.md").read_bytes().decode("utf-8")


GONE = [
    ("- [A](alpha.md) · [B](beta.md)\n", "- [B](beta.md)\n"),
    ("- [B](beta.md) · [A](alpha.md) · [C](gamma.md)\n", "- [B](beta.md) · [C](gamma.md)\n"),
    ("- [B](beta.md) — of b · [A](alpha.md) — of a\n", "- [B](beta.md) — of b\n"),
    ("- Deploy: [A](./alpha.md#x), [B](beta.md)\r\n", "- Deploy: [B](beta.md)\r\n"),
    ("- [A](alpha.md) — by hand\n  and below\n- [B](beta.md)\n", "- [B](beta.md)\n"),
    ("- [A](alpha.md)\n  - [B](beta.md)\n", "  - [B](beta.md)\n"),
    ("- [A](alpha.md)\n  see [B](beta.md)\n", "  see [B](beta.md)\n"),
    ("[A](alpha.md) | [A](alpha.md) [B](beta.md)\n", "A | A [B](beta.md)\n"),
    ("See [A](alpha.md) before you ship.\n", "See A before you ship.\n"),
    ("- first [A](alpha.md), then [B](beta.md)\n", "- first A, then [B](beta.md)\n"),
    ("| [A](alpha.md) | of a |\n| [B](beta.md) | of b |\n", "| [B](beta.md) | of b |\n"),
    ("- [A](alpha.md)\n## Later\n- [Again](<alpha.md>)\nEnd", "## Later\nEnd"),
    ("- [B](beta.md)\n", "- [B](beta.md)\n"),
    ("- [web](https://x.org/alpha.md) [x](alpha.md.txt)\n", "- [web](https://x.org/alpha.md) [x](alpha.md.txt)\n"),
]
"""A MEMORY.md, and what is left of it without alpha."""


@pytest.mark.parametrize(("before", "after"), GONE)
def test_only_the_links_of_a_retired_memory_go_and_a_restored_memory_has_them_again(
    tmp_path: Path, before: str, after: str
) -> None:
    root = root_of(tmp_path / "memory", before)
    as_written = contents(root)
    for put_away in (Retire, Archive):
        perform(put_away(str(root), summary(root, "alpha"), "old"))
        assert index(root) == after
        perform(Restore(str(root), summary(root, "alpha")))
        assert contents(root) == as_written, "also its time: to restore it makes it no younger"


def test_a_restored_memory_comes_back_to_its_section_where_other_lines_changed(tmp_path: Path) -> None:
    root = root_of(tmp_path / "memory", "# Memory\n\n## One\n- [A](alpha.md) — by hand\n\n## Two\n- [B](beta.md)\n")
    perform(Archive(str(root), summary(root, "alpha"), "later"))
    perform(Archive(str(root), summary(root, "beta"), "later"))
    perform(Edit(str(root), summary(root, "alpha"), Changes(body="Edited while it was put away.")))
    (root / "MEMORY.md").write_text("Written above\n" + index(root), encoding="utf-8")
    perform(Restore(str(root), summary(root, "alpha")))
    assert index(root) == "Written above\n# Memory\n\n## One\n- [A](alpha.md) — by hand\n\n## Two\n"


SECTIONS = [
    ("# M\n\n## Feedback\n- [x](beta.md)\n\n## Project\nEnd\n", "feedback", 4),
    ("# M\n\n## Projects\nSome text.\n\n## Feedback\n\nEnd\n", "project", 4),
    ("# M\n\n## Regeln\n- [d](feedback_delta.md)\n\n## Stand\n- [b](beta.md)\n", "feedback", 4),
    ("- [b](beta.md)\n- [d](feedback_delta.md)\n\nProse\n", "feedback", 2),
    ("", "user", 0),
]
"""A MEMORY.md, the type of a new memory, and the number of its line there, from 0."""


@pytest.mark.parametrize(("before", "kind", "number"), SECTIONS)
def test_a_new_line_goes_into_the_section_of_its_type(tmp_path: Path, before: str, kind: str, number: int) -> None:
    root = root_of(tmp_path / "memory", before)
    (root / "feedback_delta.md").write_text("---\ntype: feedback\n---\nText\n", encoding="utf-8")
    perform(Create(str(root), Draft(kind, "New rule")))
    lines = index(root).splitlines()
    assert lines.pop(number) == "- [New rule](new-rule.md) — New rule"
    assert lines == before.splitlines()


@pytest.mark.parametrize("line", ["- [A](alpha.md): words by hand\n", "- [A](alpha.md) · [B](beta.md)\n"])
def test_a_hint_by_hand_stays(tmp_path: Path, line: str) -> None:
    root = root_of(tmp_path / "memory", line)
    perform(Edit(str(root), summary(root, "alpha"), Changes(title="Other")))
    assert index(root) == line


def test_a_line_beyond_what_the_client_loads_is_said_and_a_fact_is_changed_by_hand_only(tmp_path: Path) -> None:
    root = root_of(tmp_path / "memory", "line\n" * 199)
    done = perform(Create(str(root), Draft("project", "The last that fits")))
    assert "MEMORY.md" not in done.plan.summary
    done = perform(Create(str(root), Draft("project", "One more")))
    assert "MEMORY.md has 201 lines and" in done.plan.summary
    assert "Claude Code loads the first 200 lines" in done.plan.summary
    root = root_of(tmp_path / "memory", "## Build\n- run make\n")
    fact = next(one.summary for one in read_corpus(str(root)).memories if "#" in one.summary.id)
    with pytest.raises(UnknownMemoryError, match="change it in an editor"):
        perform(Retire(str(root), fact, "old"))


def test_a_rename_changes_every_link_and_is_undone(tmp_path: Path) -> None:
    root = root_of(
        tmp_path / "memory", "# M\n- [A](./alpha.md#x) — by hand · [B](beta.md)\nSee [it](<alpha.md>), alpha.\n"
    )
    before = contents(root)
    perform(Rename(str(root), summary(root, "alpha"), "Ship it"))
    assert index(root) == "# M\n- [A](./ship-it.md#x) — by hand · [B](beta.md)\nSee [it](<ship-it.md>), alpha.\n"
    texts = {path.name: path.read_text("utf-8") for path in root.glob("*.md")}
    assert texts["beta.md"].endswith("Text of beta, see [[ship-it]] and [it](ship-it.md).\n")
    assert front_matter(texts["ship-it.md"].splitlines()).values["name"] == ("ship-it",)
    assert "alpha.md" not in texts
    undo()
    assert contents(root) == before
    with pytest.raises(CurationError, match=r"beta\.md would be in the way"):
        perform(Rename(str(root), summary(root, "alpha"), "beta"))


LINK = st.builds(
    "[{1}]({2}{0}.md{3})".format,
    st.sampled_from(NAMES),
    st.sampled_from(["A", "b c", ""]),
    st.sampled_from(["", "./"]),
    st.sampled_from(["", "#x"]),
)
WORD = st.sampled_from(["words", "alpha.md", "[[alpha]]", "a, b", "—", "|", ":", "`x`", "é", "\u2028"])
LINE = st.builds(
    lambda start, parts, between, end: start + between.join(parts) + end,
    st.sampled_from(["", "- ", "* ", "  - ", "## ", "1. ", "| ", "\t", "Deploy: "]),
    st.lists(LINK | WORD, max_size=4),
    st.sampled_from([" · ", ", ", " ", "; ", " — ", " | "]),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
INDEX = st.builds(lambda lines, last: "".join(lines) + last, st.lists(LINE, max_size=8), st.sampled_from(["", "end"]))
STEPS = st.lists(
    st.tuples(st.sampled_from(["retire", "restore", "edit", "rename", "create"]), st.sampled_from(NAMES)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(INDEX, STEPS)
def test_any_change_leaves_other_links_and_all_undos_give_back_every_byte(
    before: str, steps: list[tuple[str, str]]
) -> None:
    with TemporaryDirectory() as folder:
        root = root_of(Path(folder) / "memory", before)
        stages, numbers = [contents(root)], []
        for kind, name in steps:
            operation = operation_of(root, kind, name)
            others = [link for line in index(root).split("\n") for link in links(line) if link != f"{name}.md"]
            try:
                done = perform(operation) if operation else None
            except CurationError:
                continue
            if done is None:
                continue
            now = [link for line in index(root).split("\n") for link in links(line)]
            own = (f"{name}.md", f"new-{name.replace('_', '-')}.md")
            assert [link for link in now if link not in own] == [link for link in others if link not in own]
            stages.append(contents(root))
            numbers.append(done.number)
        for number in reversed(numbers):
            assert contents(root) == stages.pop()
            undo(number)
        assert contents(root) == stages.pop()


def operation_of(root: Path, kind: str, name: str) -> Operation | None:
    """The operation on a memory; None if there is no such memory any more."""
    if kind == "create":
        return Create(str(root), Draft("user", f"New {name}"), is_forced=True)
    try:
        one = summary(root, name)
    except StopIteration:
        return None
    made: Mapping[str, Operation] = {
        "retire": Retire(str(root), one, "old"),
        "restore": Restore(str(root), one),
        "edit": Edit(str(root), one, Changes(title="Other title")),
        "rename": Rename(str(root), one, f"new {name}"),
    }
    return made[kind]
