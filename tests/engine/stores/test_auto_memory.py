"""Reading Claude Code's auto memory."""

from pathlib import Path

import pytest

from engine.inject import entry
from engine.memory import Memory, Section, content_digest
from engine.stores.markdown import auto_memory
from engine.stores.roots import read_corpus

ALPHA = """---
name: alpha-setup
description: "How the \\"alpha\\" app is wired: postcss, theme"
metadata:\x20
  node_type: memory
  type: feedback
  modified: 2026-01-05T09:10:00.000Z
---

The root `.postcssrc.json` is the only place.

---
Related: [[beta-conventions]].
"""


def read_one(root: Path, text: str, name: str = "note.md") -> Memory:
    """The memory in *root*, which MEMORY.md marks as Claude Code's own."""
    (root / "MEMORY.md").touch()
    (root / name).write_text(text, encoding="utf-8")
    corpus = read_corpus(str(root))
    assert corpus.skipped == ()
    return corpus.memories[0]


def test_front_matter_gives_title_type_and_time(tmp_path: Path) -> None:
    one = read_one(tmp_path, ALPHA, "alpha.md")
    summary = one.summary
    assert (summary.id, summary.category, summary.status) == ("alpha", "feedback", "active")
    assert summary.title == 'How the "alpha" app is wired: postcss, theme'
    assert (summary.tags, summary.path) == (("alpha-setup",), str(tmp_path / "alpha.md"))
    assert (summary.created_at, summary.updated_at) == ("2026-01-05T09:10:00.000Z", "2026-01-05T09:10:00.000Z")
    assert one.body.splitlines()[0] == "The root `.postcssrc.json` is the only place."
    assert one.body.splitlines()[-1] == "Related: [[beta-conventions]]."


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Use bunx over npx", "Use bunx over npx"),
        ("feedback_agent_team_gate", "Agent team gate"),
        ("feedback-plan", "Feedback plan"),
        ("envInput-singleton-bug", "envInput singleton bug"),
        ("브랜치", "브랜치"),
        ("bugs", ""),
    ],
)
def test_a_name_of_words_is_for_people_alone(tmp_path: Path, name: str, shown: str) -> None:
    """Title, digest and the injected line hold the description, as in version 1.0.0."""
    one = read_one(tmp_path, f"---\nname: {name}\ndescription: The **gate** opens late\ntype: feedback\n---\nText.")
    summary = one.summary
    assert (summary.name, summary.about) == ((shown, "The gate opens late") if shown else ("The gate opens late", ""))
    assert summary.title == "The **gate** opens late"
    assert summary.digest == content_digest("feedback", summary.title, (name,), (Section("", ("Text.",)),))
    assert ">The **gate** opens late -&gt; " in entry(summary, "high").replace("->", "-&gt;")


def test_without_front_matter_the_first_words_are_the_title_and_unknown_types_are_project(tmp_path: Path) -> None:
    one = read_one(tmp_path, "\n# Use tabs\n\nAlways.\n", "feedback_tabs.md")
    assert (one.summary.title, one.summary.category, one.summary.tags) == ("Use tabs", "feedback", ("feedback_tabs",))
    assert one.sections == (Section("Use tabs", ("Always.",)),)
    (tmp_path / "feedback_tabs.md").unlink()
    assert read_one(tmp_path, "---\ntype: User\n---\nx").summary.category == "user"
    assert read_one(tmp_path, "---\ntype: weird\n---\nx").summary.category == "project"
    assert read_one(tmp_path, "---\nname: 'quoted'\n---\nx").summary.tags == ("quoted",)
    one = read_one(tmp_path, "---\nname: x\n\nText\n")
    assert (one.summary.tags, "name: x" in one.body) == (("note",), True), "without an end it is text"


def notices(root: Path, text: str) -> dict[str, str]:
    (root / "MEMORY.md").write_text(text, encoding="utf-8")
    return {one.where: one.reason for one in read_corpus(str(root)).notices}


@pytest.mark.parametrize(
    ("line", "is_dead"),
    [
        ("- [Alpha](alpha.md) — the setup", False),
        ("- [Alpha](<alpha.md>) - the setup", False),
        ("  - [Two words](two%20words.md#part): text", False),
        ("- [Gone](gone.md) – text", True),
        ("Prose with [a link](gone.md) in it.", True),
        ("# Heading [x](sub/gone.md)", True),
        ("- [Web](https://example.org/gone.md) [Part](#part) [[gone]] gone.md", False),
        ("- [Odd](\0.md)", True),
    ],
)
def test_dead_links_of_the_list_are_noticed_wherever_they_stand(tmp_path: Path, line: str, is_dead: bool) -> None:
    for name in ("alpha.md", "two words.md"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    found = notices(tmp_path, f"# Memory\n{line}\n")
    assert list(found) == (["MEMORY.md:2"] if is_dead else [])
    assert all(reason.endswith("which does not exist") for reason in found.values())


def test_a_list_that_the_client_cuts_is_noticed_and_many_dead_links_are_counted(tmp_path: Path) -> None:
    for text, said in [
        ("line\n" * 200, None),
        ("line\n" * 201, "has 201 lines and 1.0 kB; Claude Code loads the first 200 lines or 25 kB only"),
        ("é" * 13_000, "has 1 lines and 26.0 kB; Claude Code loads the first 200 lines or 25 kB only"),
    ]:
        assert notices(tmp_path, text).get("MEMORY.md") == said
    found = notices(tmp_path, "".join(f"- [x](gone{number}.md)\n" for number in range(50)))
    assert len(found) == auto_memory.MOST_DEAD_LINKS + 1
    assert found["MEMORY.md"] == "has 30 more dead links"
