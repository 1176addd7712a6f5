"""`memsift install --agent` with the real agents beside Claude Code: from nothing to a memory in the model's request.

The agents are npm packages in ~/.cache/memsift-real-client/agents: see the versions in `engine/agents`.
"""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.agents.agent import PROJECT, USER
from engine.agents.registry import DEFAULT, NAMES, agent_of
from tests.e2e.conftest import ALONE
from tests.engine.hook.installation import Installation
from tests.engine.hook.world import ASK

pytestmark = [
    pytest.mark.long,
    pytest.mark.parametrize("scope", [USER, PROJECT]),
    pytest.mark.parametrize("name", [name for name in NAMES if name != DEFAULT]),
]

PACKAGES = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache/memsift-real-client/agents/node_modules")
PROGRAMS = {"opencode": "opencode-linux-x64/bin/opencode"}
DRIVER = Path(__file__).with_name("coding_agents.py")
LINE = re.compile(
    r'[<‹]result category="DECISION" confidence="high"[>›](cache rule \d) (?:->|→) (\S+) #tags:cache[<‹]/result'
)
AGAIN, SMALL_TALK = "tell me again how we handle the cache rule", "good morning, how are you?"

SETTINGS = {
    "gemini": '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n',
    "qwen": '{\r\n\t"$version": 4, // mine\r\n\t"security": {"auth": {"selectedType": "openai"}}\r\n}\r\n',
    "codex": '{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
}
"""What stands in a person's own settings before."""


class Asked(NamedTuple):
    """What one prompt did. `memories` are the results in the last request, each a title and a path."""

    exit: int
    is_answered: bool
    memories: list[tuple[str, str]]


Ask = Callable[..., Asked]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Everything lies below a folder with spaces and quotes."""
    folder = tmp_path / 'it\'s "a" $place'
    folder.mkdir()
    return Installation(folder)


@pytest.fixture
def ask(name: str, shared_data: Path, installation: Installation) -> Ask:
    """Sends a prompt through the agent."""
    program = PACKAGES / PROGRAMS.get(name, f".bin/{name}")
    if not program.exists() or not shutil.which("unshare") or os.geteuid() != 0:
        pytest.skip(f"{name}, or a network of its own for it, is not there")
    world = installation.world
    subprocess.run(["git", "init", "-q"], cwd=world.project, check=True)

    def ask(prompt: str = ASK, *, again: bool = False) -> Asked:
        wanted = {
            "agent": name,
            "program": str(program),
            "model_server": str(shared_data.parent / "tools/agents/fake_models.py"),
            "project": str(world.project),
            "environ": {"PATH": os.environ["PATH"], **world.environ},
            "prompt": prompt,
            "again": again,
        }
        done = subprocess.run(
            [*ALONE, sys.executable, str(DRIVER), json.dumps(wanted)], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        texts = [text for text in map(_text, told["sent"]) if prompt in text]
        return Asked(told["exit"], "ok from fake" in told["said"], LINE.findall(texts[-1]) if texts else [])

    return ask


def _text(body: object) -> str:
    """All texts of a request, without JSON's own signs."""
    return json.dumps(body, ensure_ascii=False).replace('\\"', '"')


def test_from_nothing_to_a_memory_and_out_again(name: str, scope: str, installation: Installation, ask: Ask) -> None:
    """The same words in each agent, once a session, and none for small talk."""
    world, agent = installation.world, agent_of(name)
    path = Path(agent.settings_path(scope, str(world.project), world.environ))
    own = Path(agent.settings_path(USER, "", world.environ))
    if name in SETTINGS:
        own.parent.mkdir(parents=True)
        own.write_bytes(SETTINGS[name].encode())
    assert ask() == Asked(0, True, [])
    before = path.read_bytes() if path.exists() else None
    where = [f"--{scope}", "--agent", name]
    installation.memsift("install", *where)
    first = ask()
    assert (first.exit, first.is_answered) == (0, True)
    assert [title for title, _ in first.memories] == [f"cache rule {number}" for number in range(3)]
    assert {path.rpartition("/")[0] for _, path in first.memories} == {".claude/memory/decisions"}
    assert ask(AGAIN, again=True) == first
    assert ask(SMALL_TALK) == Asked(0, True, [])
    installation.memsift("uninstall", *where)
    assert (path.read_bytes() if path.exists() else None) == before
    assert ask() == Asked(0, True, [])
