"""Every command and option of the code is in the reference, and every command line in a README can be typed."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tui.cli import main
from tui.cli.declaring import SUBJECTS, declarations, help_of, name_of, with_options
from tui.cli.options import BulkOptions, judge_of

PROJECT = Path(__file__).resolve().parent.parent
REFERENCE = PROJECT / "tui/cli/README.md"
FOLDERS = (".", "docs", "engine", "labels", "tui")
PAGES = sorted(
    path
    for folder in FOLDERS
    for path in (PROJECT / folder).glob("*.md" if folder == "." else "**/*.md")
    if path.name != "CHANGELOG.md" and PROJECT / "tui" / "demo" not in path.parents
)
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z-]*")
HELP = {"--help", "-h"}
OF_OTHER_PROGRAMS = {"--snapshot-update"}


def commands(command: click.Command = main, name: str = "memsift") -> Iterator[tuple[str, click.Command]]:
    """Each command with its name, those of groups by their path. A group that only lists its commands has no row."""
    context = click.Context(command, info_name=name)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield name, command
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found
            yield from commands(found, f"{name} {each}")


COMMANDS = dict(commands())


def options_of(command: click.Command) -> set[str]:
    """The options that its help shows."""
    shown = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    return {name for option in shown for name in (*option.opts, *option.secondary_opts)}


def names_of(make: Callable[..., object]) -> set[str]:
    """The names of the options in the annotations of *make*."""
    command = click.Command("")
    with_options(command, declarations(make), help_of(make)[1])  # type: ignore[arg-type]
    return options_of(command)


GROUPS = {"*judge*": names_of(judge_of), "*many calls*": names_of(BulkOptions)}


def rows() -> dict[str, str]:
    """Command -> its row in the reference."""
    found = {}
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| `(memsift[^`]*)` \| ", line):
            words = [word for word in match[1].split() if word.islower()]
            found[" ".join(words)] = line
    return found


ROWS = rows()


def test_every_command_has_a_row_in_the_reference_and_every_row_a_command() -> None:
    assert set(ROWS) == set(COMMANDS)


def test_the_reference_and_the_help_sort_the_commands_alike() -> None:
    sections = re.split(r"^## ", REFERENCE.read_text(encoding="utf-8"), flags=re.MULTILINE)[2:]
    found = [{*re.findall(r"^\| `memsift ([a-z-]+)", one, re.MULTILINE)} for one in sections]
    assert found == [{*map(name_of, places.split())} for places in SUBJECTS.values()]


def test_the_row_of_a_command_names_its_options_and_no_other() -> None:
    for name in COMMANDS:
        row = ROWS[name].replace(f"`{name}", "", 1)
        named = set(OPTION.findall(row)).union(*(names for group, names in GROUPS.items() if group in row))
        assert named == options_of(COMMANDS[name]), name


def test_the_reference_explains_the_options_that_have_no_row_of_their_own() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    explained = set(OPTION.findall(text[: text.index("## The app")]))
    assert set().union(*GROUPS.values()) <= explained
    assert {"--root", "--prompts", "--db", "--format", "--dry-run", "--full"} <= explained


def typed_lines(page: Path) -> Iterator[str]:
    """The command lines of memsift in the code of a page: between backticks, and in blocks."""
    text = page.read_text(encoding="utf-8").replace("\\|", "|")
    blocks = re.findall(r"^```\w*\n(.*?)^```|^((?: {4}.*\n)+)", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    for piece in (*inline, *(line for block in blocks for line in "".join(block).splitlines())):
        line = piece.strip().removeprefix("$ ")
        yield from (part.strip() for part in re.split(r"&&|[|#]", line) if re.match(r"memsift(\s|$)", part.strip()))


def test_every_command_line_and_every_option_in_a_page_can_be_typed() -> None:
    every = HELP.union(OF_OTHER_PROGRAMS, *map(options_of, COMMANDS.values()))
    for page in PAGES:
        for line in typed_lines(page):
            words = line.split()
            name = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
            if len(words) > 1 and words[1][0].islower():
                assert name in COMMANDS or name in ("memsift phrases", "memsift quality"), line
            known = options_of(COMMANDS.get(name, main)) | HELP
            assert set(OPTION.findall(line)) <= known, line
        assert set(re.findall(r"`(--[a-z][a-z-]*)[^`]*`", page.read_text(encoding="utf-8"))) <= every, page
