"""SECURITY.md tells the truth: its tests exist, and only the named parts open connections or start programs."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PAGE = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
THREATS = PAGE[PAGE.index("## Threats") :]
ROWS = [line for line in THREATS.splitlines() if line.startswith("| ")][2:]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")

CONNECTING = {"aiohttp", "anthropic", "distributed", "ftplib", "http", "httpx", "httpx2", "smtplib", "socket", "ssl"}
CONNECTING |= {"textual_serve", "urllib.request", "webbrowser"}
MAY_CONNECT = {
    "engine/judge/providers/http.py",
    "engine/judge/providers/sdk_client.py",
    "tui/app.py",  # hands a link that a person clicked to the browser
    "tui/cli/app.py",
    "tui/workspace/replay/jobs.py",
}
STARTING = {"subprocess", "multiprocessing", "pty"}
STARTING_CALLS = re.compile(
    r"os\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork\w*|startfile)\(|click\.(edit|launch)\("
)
MAY_START = {
    "engine/doctor/client.py": "the hook of memsift",
    "engine/judge/providers/claude_cli.py": "the client, as a judge",
    "engine/opening.py": "the process that updates an index",
    "engine/quality/repository.py": "git, for the check of what is gone; no program that the repository names",
    "tui/workspace/curate/curating.py": "the person's editor",
    "tui/workspace/curate/tasks.py": "the checks of many memories",
    "tui/workspace/replay/jobs.py": "the processes of a large replay",
}


IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import\b|import ([\w., ]+))", re.MULTILINE)


def imports(source: str) -> set[str]:
    """The modules that *source* imports, and their packages, also within functions."""
    names = {name.split(" as ")[0].strip() for found in IMPORT.findall(source) for name in "".join(found).split(",")}
    return names | {name.partition(".")[0] for name in names}


@pytest.fixture(scope="module")
def sources() -> dict[str, tuple[str, set[str]]]:
    """Each module of memsift: its text, and what it imports."""
    paths = [path for part in ("engine", "labels", "tui") for path in (PROJECT / part).rglob("*.py")]
    texts = {path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {name: (text, imports(text)) for name, text in texts.items()}


def test_only_the_judge_the_cluster_and_the_served_app_use_the_network(
    sources: dict[str, tuple[str, set[str]]],
) -> None:
    assert {name for name, (_, imported) in sources.items() if imported & CONNECTING} == MAY_CONNECT


def test_only_named_parts_start_programs(sources: dict[str, tuple[str, set[str]]]) -> None:
    found = {name for name, (text, imported) in sources.items() if imported & STARTING or STARTING_CALLS.search(text)}
    assert found == MAY_START.keys()


def test_the_test_of_each_threat_exists() -> None:
    for row in ROWS:
        tests = NAMED.findall(row)
        assert tests, row
        for file, name in tests:
            source = (PROJECT / file).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE), f"{file}::{name}"


def test_the_table_has_every_attacker() -> None:
    attackers = {row.split("|")[1].strip() for row in ROWS} - {""}
    words = ("repository", "prompt", "transcript", "import of labels", "server", "other users")
    assert [word for word in words if not any(word in one for one in attackers)] == []
    assert len(ROWS) >= 20
