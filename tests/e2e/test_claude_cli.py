"""The judge through the real Claude Code client, on loopback and without any other network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ALONE

PROJECT = Path(__file__).resolve().parents[2]
DRIVER = """
import json, os, subprocess, sys
fake, log, project = sys.argv[1:]
sys.path.insert(0, project)
from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.claude_cli import ClaudeCliProvider
from engine.prompt import typed_prompt
from tests.engine.judge.cases import pool
said = '```json\\n{"keep": [1]}\\n```'
server = subprocess.Popen([sys.executable, fake, "--port", "0", "--log", log, "--text", said], stdout=subprocess.PIPE)
try:
    port = server.stdout.readline().decode().split()[1]
    environ = {**os.environ, "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
    judge = Judge(ClaudeCliProvider("claude-haiku-4-5", environ), JudgeConfig(timeout_per_call=60))
    judgement = judge.evaluate(typed_prompt("how do we rotate keys"), pool(3), "auto")
    print(json.dumps([judgement.status, judgement.detail, [one.decision for one in judgement.verdicts]]))
finally:
    server.kill()
    server.wait()
"""


@pytest.mark.long
@pytest.mark.parametrize("version", ["2.1.330"])
def test_the_real_client_judges_without_hooks_tools_or_a_transcript(
    client: Path, shared_data: Path, private_home: Path, tmp_path: Path
) -> None:
    fake = shared_data.parent / "tools/real_client/fake_anthropic.py"
    hooked, log, settings = tmp_path / "hooked", tmp_path / "log.jsonl", private_home / ".claude/settings.json"
    settings.parent.mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch {hooked}"}]}
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [hook]}}), encoding="utf-8")
    done = subprocess.run(
        [*ALONE, sys.executable, "-c", DRIVER, str(fake), str(log), str(PROJECT)],
        env={"HOME": str(private_home), "PATH": f"{client.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    status, detail, decisions = json.loads(done.stdout)
    assert (status, detail, decisions.count("approved"), len(decisions)) == ("ok", "", 1, 3)
    (asked,) = [
        row["body"] for row in map(json.loads, log.read_text("utf-8").splitlines()) if "/messages" in row["path"]
    ]
    assert asked["model"] == "claude-haiku-4-5"
    assert not asked.get("tools")
    assert "You decide which stored memories" in asked["system"][-1]["text"]
    assert not hooked.exists()
    assert list((private_home / ".claude").rglob("projects/*/*.jsonl")) == []
