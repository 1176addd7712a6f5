"""The READMEs say what there is: every command, no link into nothing, and short enough to be read."""

import re
from pathlib import Path

from tui.cli import main

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
CORPUS = PROJECT / "tests" / "corpus"
PAGES = sorted((PROJECT / "docs").glob("*.md"))
ROOMS = sorted(
    path
    for part in ("engine", "labels", "tui", "tests")
    for path in (PROJECT / part).rglob("README.md")
    if CORPUS not in path.parents or path.parent == CORPUS
)


def links(readme: Path) -> list[str]:
    """The targets of the links and pictures of a README that lie in the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", readme.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target]


def anchors(readme: Path) -> set[str]:
    """The names by which a link reaches a heading: lower case, words joined by a minus sign."""
    headings = re.findall(r"^#+ (.+)$", readme.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_of_a_readme_leads_somewhere() -> None:
    for readme in [README, *PAGES, *ROOMS]:
        for link in links(readme):
            target, _, anchor = link.partition("#")
            path = (readme.parent / target) if target else readme
            assert path.exists(), link
            assert not anchor or anchor in anchors(path), link


def test_the_readme_of_the_project_leads_to_every_other_readme() -> None:
    """Directly, through the README of the tests, or through a page that it links to."""
    pages = (README, PROJECT / "tests" / "README.md", *PAGES)
    assert set(ROOMS) <= {(page.parent / link.partition("#")[0]).resolve() for page in pages for link in links(page)}


def test_the_page_of_commands_names_every_command_and_the_readme_shows_a_picture() -> None:
    text = (PROJECT / "tui" / "cli" / "README.md").read_text(encoding="utf-8")
    assert [name for name in main.table if f"`memsift {name}" not in text] == []
    assert {"tui/cli/README.md", *(f"docs/{page.name}" for page in PAGES)} <= {
        link.partition("#")[0] for link in links(README)
    }
    assert any(link.endswith(".svg") for link in links(README))


def test_a_readme_is_read_in_a_few_minutes() -> None:
    for readme in ROOMS:
        assert len(readme.read_text(encoding="utf-8").splitlines()) <= 100, readme
    assert len(README.read_text(encoding="utf-8").split()) <= 700


def test_every_module_that_a_readme_names_exists() -> None:
    """A name with folders is a path from the README's own folder or from the top of the project."""
    names = {path.name for part in ("engine", "labels", "tui", "tests") for path in (PROJECT / part).rglob("*.*")}
    for readme in [README, *PAGES, *ROOMS]:
        named = set(re.findall(r"`((?:\.\./)*[\w/]+\.(?:py|tcss|sh))`", readme.read_text(encoding="utf-8")))
        found = {
            name for name in named if name in names or (readme.parent / name).exists() or (PROJECT / name).exists()
        }
        assert [name for name in named - found if "NAME" not in name] == [], readme
