"""The modules that the hook loads: few of the standard library, and none of other packages."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.paths import state_dir
from engine.search.database import TICK_NS
from engine.settings.trust import trust
from tests.engine.builders import memory, write_root
from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.engine.models import content, write_model

PROJECT = Path(__file__).resolve().parent.parent.parent
ORDINARY = {
    *("__future__", "_json", "_sha256", "_sha2", "_sqlite3", "math", "unicodedata"),
    *("_abc", "_collections_abc", "_stat", "abc", "genericpath", "os", "os.path", "posixpath", "stat"),
    *("_collections", "_functools", "_operator", "collections", "functools", "itertools", "keyword", "operator"),
    *("reprlib", "types"),
}
"""The standard library's modules that an ordinary prompt may load: `os` brings the second row, `_sqlite3` the rest."""

MOST_FILES = 35
"""Files of ours that an ordinary prompt passes. Each costs time at every prompt, and everybody who follows one."""

TRANSCRIPTS = {"engine.agents", "engine.agents.claude_code", "engine.agents.claude_code.transcripts"}
"""Read once a session was given memories: does the conversation still hold them?"""

SLOW = {
    *("argparse", "asyncio", "contextlib", "dataclasses", "datetime", "enum", "hashlib", "html", "http"),
    *("importlib.metadata", "inspect", "json", "logging", "pathlib", "random", "re", "shutil", "signal"),
    *("site", "sqlite3", "subprocess", "tempfile", "threading", "tomllib", "typing", "urllib"),
}
"""Modules of the standard library that the hook does not load either when it updates the index: see engine/lean."""

LOADED = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
import engine.hook.process
payload = sys.stdin.buffer.read()
given = dict(pair.split("=", 1) for pair in sys.argv[4:])
answer = engine.hook.process.respond(payload, {"HOME": sys.argv[2], **given}, sys.stderr)
assert ("<result " in answer) is (sys.argv[3] == "injected"), answer
print("\\n".join(sorted(set(sys.modules) - before)))
"""


class Project:
    """A root, and a hook whose loaded modules can be listed."""

    def __init__(self, folder: Path, **retrieval: object) -> None:
        self.folder, self.home = folder, folder / "home"
        self.root = write_root(folder / "project/.claude/memory", [memory("cache rule é 数据", "cache", body="text")])
        (self.root / "memory-config.json").write_text(json.dumps({"retrieval": retrieval}), encoding="utf-8")
        trust(str(self.root), {"HOME": str(self.home)})
        (folder / "t.jsonl").write_text("{}", encoding="utf-8")
        self.state = Path(state_dir(str(self.root), {"HOME": str(self.home)}))

    def loaded(self, prompt: str = "what is the cache rule", session_id: str = "", **environ: str) -> set[str]:
        """The modules that an isolated interpreter loads to answer; nothing is found only for the word `zanzibar`."""
        request = {"prompt": prompt, "session_id": session_id, "transcript_path": str(self.folder / "t.jsonl")}
        payload = json.dumps({**request, "cwd": str(self.folder / "project")})
        given = [f"{name}={value}" for name, value in environ.items()]
        arguments = [str(PROJECT), str(self.home), "silent" if "zanzibar" in prompt else "injected", *given]
        command = [sys.executable, "-I", "-S", "-c", LOADED, *arguments]
        done = subprocess.run(command, input=payload, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "engine"}


def files(modules: set[str]) -> list[str]:
    """Our modules without the packages, whose own files hold next to nothing."""
    return [name for name in ours(modules) if not (PROJECT / name.replace(".", "/")).is_dir()]


def top_level(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("configured", [{}, {"max_inject": 2, "judge": {"enabled": False}}])
def test_a_prompt_without_a_judge_loads_what_it_needs_and_nothing_else(
    tmp_path: Path, configured: dict[str, object]
) -> None:
    project = Project(tmp_path, **configured)
    time.sleep(2 * TICK_NS / 1e9)  # a file that changed just now is read again at the next prompt
    building = project.loaded(session_id="first")
    assert top_level(building) <= sys.stdlib_module_names | {"engine"}
    assert building & SLOW == set()
    for prompt in ("what is the cache rule", "zanzibar treasure"):
        ordinary = project.loaded(prompt, "second")
        assert ordinary - ours(ordinary) <= ORDINARY
        assert ours(ordinary) - TRANSCRIPTS < ours(building)
        assert len(files(ordinary - TRANSCRIPTS)) <= MOST_FILES
        assert not any(name.startswith(("engine.judge", "engine.errors")) for name in ordinary)

    write_model(project.state, content(threshold=0.0, doubt=0.0, fit=content()["fit"] | {"max_inject": 2}))
    with_cutoff = project.loaded(session_id="third")
    assert "engine.cutoff" in with_cutoff
    assert with_cutoff - ours(with_cutoff) <= ORDINARY


def test_the_users_file_is_parsed_only_for_settings_of_the_hook(tmp_path: Path) -> None:
    project = Project(tmp_path)
    file = project.home / ".config/memsift/config.toml"
    time.sleep(2 * TICK_NS / 1e9)
    project.loaded(session_id="first")
    for text, is_parsed in (('[theme]\nname = "x"\n', False), ("[retrieval]\nmax_inject = 2\n", True)):
        file.write_text(text, encoding="utf-8")
        assert ("tomllib" in project.loaded(session_id=text)) is is_parsed


def test_a_judge_without_a_key_loads_no_network(tmp_path: Path) -> None:
    modules = Project(tmp_path, judge={"enabled": True}).loaded()
    assert "engine.judge.judge" in modules
    assert top_level(modules) <= sys.stdlib_module_names | {"engine"}
    assert modules & {"http", "ssl", "socket"} == set()


@pytest.mark.parametrize("name", ["", "anthropic", "anthropic-http"])
def test_a_judge_that_answers_loads_the_standard_library_only(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path, judge={"enabled": True, "split_over": 1})
    write_root(project.root, [memory("cache rule", "cache"), memory("cache file")])
    with ApiServer(kept_titles("cache rule")) as server:
        given = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": server.url, "MEMSIFT_JUDGE": name}
        modules = project.loaded(**given)
        assert len(server.requests) == 2
    assert top_level(modules) <= sys.stdlib_module_names | {"engine"}
    assert "http.client" in modules
    assert modules & {"asyncio", "logging", "site", "concurrent.futures"} == set()
