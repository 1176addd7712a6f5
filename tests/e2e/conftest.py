"""The real Claude Code client, where it is there, and an installation of memsift for it."""

import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.hook.installation import Installation
from tests.engine.hook.world import ASK

CLIENT = ".cache/memsift-real-client/{}/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
DRIVER = Path(__file__).with_name("claude_code.py")
ALONE = ["unshare", "-n", "bash", "-c", 'ip link set lo up; exec "$@"', "_"]
"""A network that holds nothing but loopback."""


class Reached:
    """What one prompt did. `skills` are those of memsift that the client told the model about."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.exit, self.said, self.judged, self.skills = told["exit"], told["said"], told["judged"], told["skills"]
        self.requests = len(told["sent"])
        self.memories = json.dumps(told["sent"]).count("<result ")
        self.hook = [one["type"] for one in told["hook"]]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.fixture
def client(version: str) -> Path:
    """The program of the real client. The test is skipped where it is not there."""
    found = Path(pwd.getpwuid(os.getuid()).pw_dir) / CLIENT.format(version)
    if not found.exists() or not shutil.which("unshare") or os.geteuid() != 0:
        pytest.skip(f"Claude Code {version}, or a network of its own for it, is not there")
    return found


@pytest.fixture
def drive(client: Path, shared_data: Path) -> Any:
    """Sends a prompt through the client that is started in a folder, with the environment of its user."""
    model_server = shared_data.parent / "tools/real_client/fake_anthropic.py"

    def drive(folder: Path, environ: dict[str, str], prompt: str) -> dict[str, Any]:
        wanted = {"client": str(client), "model_server": str(model_server), "project": str(folder), "prompt": prompt}
        wanted["environ"] = {"PATH": os.environ["PATH"], **environ}  # type: ignore[assignment]
        command = [*ALONE, sys.executable, str(DRIVER), json.dumps(wanted)]
        done = subprocess.run(command, capture_output=True, timeout=180, check=False)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    return drive


@pytest.fixture
def reach(drive: Any, installation: Installation) -> Any:
    """Sends a prompt through the client, with the settings as they are."""
    return lambda prompt=ASK: Reached(drive(installation.world.project, installation.world.environ, prompt))


@pytest.fixture
def ask(reach: Any, installation: Installation) -> Any:
    """Sends a prompt through the client, with *entry* as the hook in the project's settings."""

    def ask(entry: dict[str, Any], prompt: str = ASK) -> Reached:
        settings = {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
        (installation.world.project / ".claude/settings.json").write_text(json.dumps(settings), encoding="utf-8")
        return reach(prompt)  # type: ignore[no-any-return]

    return ask
