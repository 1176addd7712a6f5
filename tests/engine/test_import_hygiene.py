"""What is loaded on the hook's path: the standard library, and little of it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.paths import state_dir
from engine.search.stamps import TICK_NS
from tests.engine.builders import memory, write_root
from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.engine.models import content, write_model

PROJECT = Path(__file__).resolve().parent.parent.parent
HEAVY = {"anthropic", "textual", "rich", "click", "sqlite_utils", "httpx", "httpx2", "pydantic"}
SLOW = {
    *("argparse", "asyncio", "collections", "contextlib", "dataclasses", "datetime", "enum", "functools", "hashlib"),
    *(
        "html",
        "http",
        "importlib.metadata",
        "inspect",
        "json",
        "logging",
        "pathlib",
        "random",
        "re",
        "shutil",
        "signal",
    ),
    *("site", "sqlite3", "subprocess", "tempfile", "threading", "tomllib", "typing", "urllib"),
}
"""Of the standard library: each costs a cold process 1 to 46 ms; a retrieval costs less than 3."""

ORDINARY = {
    *("__future__", "_json", "_sha256", "_sha2", "_sqlite3", "math", "unicodedata"),
    *("_abc", "_collections_abc", "_stat", "abc", "genericpath", "os", "os.path", "posixpath", "stat"),
}
"""The modules of the standard library that an ordinary prompt may load. `os` brings the second row."""

LOADED = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
{code}
print("\\n".join(sorted(set(sys.modules) - before)))
"""
ANSWER = """
import engine.hook.process
payload = sys.stdin.buffer.read()
given = dict(pair.split("=", 1) for pair in sys.argv[4:])
answer = engine.hook.process.respond(payload, {"HOME": sys.argv[2], **given}, sys.stderr)
assert ("<result " in answer) is (sys.argv[3] == "injected"), answer
"""


def loaded(code: str, *arguments: str, stdin: str = "") -> set[str]:
    """The modules that *code* loads in an isolated interpreter without site packages' .pth files."""
    command = [sys.executable, "-I", "-S", "-c", LOADED.replace("{code}", code), str(PROJECT), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def top_level(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


def assert_lean(modules: set[str]) -> None:
    assert top_level(modules) <= set(sys.stdlib_module_names) | {"engine"}
    assert modules & (HEAVY | SLOW) == set()
    assert {name for name in modules if name.startswith("engine.judge.providers")} == set()


def test_importing_the_hook_loads_only_the_standard_library() -> None:
    modules = loaded("import engine.hook.process")
    assert_lean(modules)
    assert "engine.pipeline" in modules


@pytest.mark.parametrize(
    ("prompt", "outcome"), [("what is the cache rule", "injected"), ("zanzibar treasure", "silent")]
)
def test_answering_without_a_judge_loads_nothing_more(tmp_path: Path, prompt: str, outcome: str) -> None:
    write_root(tmp_path / "project/.claude/memory", [memory("cache rule é 数据", "cache", body="text")])
    (tmp_path / "project/.claude/memory/memory-config.json").write_text('{"retrieval": {"max_inject": 2}}', "utf-8")
    payload = json.dumps({"prompt": prompt, "cwd": str(tmp_path / "project"), "session_id": "s"})
    modules = loaded(ANSWER, str(tmp_path / "home"), outcome, stdin=payload)
    assert_lean(modules)
    assert "engine.judge.judge" not in modules


@pytest.mark.parametrize("configured", [{}, {"max_inject": 2, "judge": {"enabled": False}}])
def test_an_ordinary_prompt_loads_what_it_needs_and_nothing_else(tmp_path: Path, configured: dict[str, object]) -> None:
    root = write_root(tmp_path / "project/.claude/memory", [memory("cache rule é 数据", "cache", body="text")])
    if configured:
        (root / "memory-config.json").write_text(json.dumps({"retrieval": configured}), encoding="utf-8")
    (tmp_path / "t.jsonl").write_text("{}", encoding="utf-8")

    def ask(prompt: str, session_id: str, outcome: str) -> set[str]:
        place = {"cwd": str(tmp_path / "project"), "transcript_path": str(tmp_path / "t.jsonl")}
        payload = json.dumps({"prompt": prompt, "session_id": session_id, **place})
        return loaded(ANSWER, str(tmp_path / "home"), outcome, stdin=payload)

    time.sleep(2 * TICK_NS / 1e9)  # what changed just now is looked at again at the next prompt
    assert "engine.search.updating" in ask("what is the cache rule", "first", "injected")
    for prompt, outcome in [("what is the cache rule", "injected"), ("zanzibar treasure", "silent")]:
        modules = ask(prompt, "second", outcome)
        assert {name for name in modules if top_level({name}) != {"engine"}} <= ORDINARY
        assert "engine.cutoff" not in modules

    if not configured:
        write_model(Path(state_dir(str(root), {"HOME": str(tmp_path / "home")})), content())
        assert "engine.cutoff" in ask("what is the cache rule", "third", "injected")


def test_a_judge_without_a_key_does_not_load_the_sdk(tmp_path: Path) -> None:
    root = write_root(tmp_path / "project/.claude/memory", [memory("cache rule", "cache")])
    (root / "memory-config.json").write_text('{"retrieval": {"judge": {"enabled": true}}}', "utf-8")
    payload = json.dumps({"prompt": "what is the cache rule", "cwd": str(tmp_path / "project")})
    modules = loaded(ANSWER, str(tmp_path / "home"), "injected", stdin=payload)
    assert {name for name in modules if name.startswith("engine.judge.providers.")} == {
        "engine.judge.providers.registry",
        "engine.judge.providers.anthropic",
        "engine.judge.providers.credentials",
        "engine.judge.providers.messages_api",
    }
    assert modules & (HEAVY | {"http", "ssl", "socket"}) == set()


@pytest.mark.parametrize("name", ["", "anthropic", "anthropic-http"])
def test_a_judge_that_answers_loads_no_third_party_module(tmp_path: Path, name: str) -> None:
    root = write_root(tmp_path / "project/.claude/memory", [memory("cache rule", "cache"), memory("cache file")])
    config = {"judge": {"enabled": True, "split_over": 1}}
    (root / "memory-config.json").write_text(json.dumps({"retrieval": config}), "utf-8")
    payload = json.dumps({"prompt": "what is the cache rule", "cwd": str(tmp_path / "project")})
    with ApiServer(kept_titles("cache rule")) as server:
        given = ("ANTHROPIC_API_KEY=sk-test", f"ANTHROPIC_BASE_URL={server.url}", f"MEMSIFT_JUDGE={name}")
        modules = loaded(ANSWER, str(tmp_path / "home"), "injected", *given, stdin=payload)
        assert len(server.requests) == 2
    assert top_level(modules) <= set(sys.stdlib_module_names) | {"engine"}
    assert "http.client" in modules
    assert modules & {"asyncio", "logging", "site", "concurrent.futures"} == set()


def imports(path: Path) -> set[str]:
    """The top-level packages that a file imports anywhere in it, functions included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_the_engine_imports_neither_labels_nor_screens() -> None:
    files = list((PROJECT / "engine").rglob("*.py"))
    assert len(files) > 20
    assert {str(path): imports(path) & {"labels", "tui"} for path in files if imports(path) & {"labels", "tui"}} == {}
