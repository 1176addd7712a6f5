"""A project with a root, a private home, and a client that calls the hook."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine.config import CONFIG_FILE
from engine.hook.process import respond
from engine.inject import length
from engine.paths import state_dir, transcripts_dir
from engine.settings.trust import trust
from tests.engine.builders import NO_CUTOFF, memory, write_root

PROJECT = Path(__file__).resolve().parents[3]
ASK = "how do we handle the cache rule"
RULES = [memory(f"cache rule {number}", "cache", body="the cache is cold") for number in range(5)]
RUN_HOOK = "from engine.hook.launch import main; main()"
NO_FTS5 = "from engine.search import database as s; s.SEARCHABLE = s.SEARCHABLE.replace('{module}', 'no_such_module')"
"""Makes the SQLite of a process one that was built without FTS5."""

LAUNCHER = PROJECT / "engine/hook/launch.py"
SCRIPT = Path(sys.executable).with_name("memsift-hook")
FORMS = {
    "launcher": [sys.executable, "-I", "-S", str(LAUNCHER)],
    "script": [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-c", RUN_HOOK],
}
"""The command lines that people put into their settings."""

NOT_REQUESTS = {
    "empty": b"",
    "cut": b'{"prompt": "how do we handle the cache rule',
    "text": b"how do we handle the cache rule",
    "list": b'["how do we handle the cache rule"]',
    "null": b"null",
    "number": b"42",
    "no prompt": b'{"session_id": "s", "cwd": "/"}',
    "prompt of a wrong type": b'{"prompt": ["how do we handle the cache rule"]}',
    "prompt is null": b'{"prompt": null}',
    "deep": b"[" * 200_000,
    "long number": b'{"prompt": ' + b"9" * 5000 + b"}",
    "binary": bytes(range(256)) * 100,
    "utf-16": '{"prompt": "how do we handle the cache rule"}'.encode("utf-16"),
    "nan": b"NaN",
}


NOT_TYPED = [
    '<teammate-message teammate_id="reviewer" color="blue">\nwhat is the cache rule?\n</teammate-message>',
    '<agent-message from="worker">the cache rule is done</agent-message>\nRead it.',
    '<cross-session-message\nfrom="other">how is the cache rule</cross-session-message>',
    '<channel source="telegram" chat="1">what is the cache rule</channel>',
    "<tick>12:00, the cache rule</tick>",
    "  <task-notification>the cache rule</task-notification> Read the output.",
]
"""Texts that the client sends as prompts, and writes into transcripts in a person's name."""


class World:
    """One project on disk. `send` calls the hook in this process, `run` as a command.

    Its memories resemble each other, so a cutoff would drop them all: without *has_cutoff* there is none.
    """

    def __init__(self, folder: Path, *, has_cutoff: bool = False) -> None:
        self.folder = folder / "world"
        self.project = self.folder / "project"
        self.root = write_root(self.project / ".claude/memory", RULES)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.transcript = self.folder / "transcript.jsonl"
        self.environ = {"HOME": str(self.home), **({} if has_cutoff else NO_CUTOFF)}
        self.stderr = io.StringIO()

    def payload(self, prompt: object = ASK, **changes: object) -> dict[str, object]:
        return {
            "session_id": "session-1",
            "prompt_id": os.urandom(8).hex(),
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
            **changes,
        }

    def send(self, prompt: object = ASK, **changes: object) -> str:
        return respond(json.dumps(self.payload(prompt, **changes)).encode(), self.environ, self.stderr)

    def context(self, prompt: object = ASK, **changes: object) -> str:
        return context_of(self.send(prompt, **changes))

    def configure(self, **retrieval: object) -> None:
        """Settings of a root that the user trusts."""
        self.receive(**retrieval)
        trust(str(self.root), self.environ)

    def receive(self, **retrieval: object) -> None:
        """Settings as they come with a cloned repository."""
        (self.root / CONFIG_FILE).write_text(json.dumps({"retrieval": retrieval}), encoding="utf-8")

    @property
    def auto_memory(self) -> Path:
        """The folder of the project's auto memory, which may not exist."""
        return Path(transcripts_dir(str(self.project.resolve()), self.environ)) / "memory"

    @property
    def state(self) -> Path:
        return Path(state_dir(str(self.root), self.environ))

    def log(self) -> list[dict[str, Any]]:
        path = self.state / "activity.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line] if path.exists() else []

    def run(self, stdin: bytes, code: str = RUN_HOOK, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return self.start([sys.executable, "-c", code], stdin, **options)

    def start(self, command: list[str], stdin: bytes | int, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a command line on bytes, or on what an open descriptor gives."""
        environ = {**self.environ, "PYTHONPATH": str(PROJECT), "PATH": os.environ.get("PATH", "")}
        source = {"stdin": stdin} if isinstance(stdin, int) else {"input": stdin}
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder, **source, **options}
        return subprocess.run(command, env=environ, timeout=60, check=False, **given)


class Prompted:
    """What a process of the hook said: its context, the number of memories, its lines on stderr, its row in the log.

    Each is a new session, unless *payload* says otherwise.
    """

    def __init__(self, world: World, command: list[str] = FORMS["launcher"], **payload: object) -> None:
        request = world.payload(**{"session_id": str(len(world.log())), **payload})
        done = world.start(command, json.dumps(request).encode())
        assert done.returncode == 0
        self.context = context_of(done.stdout.decode()) if done.stdout else ""
        self.injected = self.context.count("<result ")
        self.stderr = done.stderr.decode().splitlines()
        self.row: dict[str, Any] = world.log()[-1] if world.log() else {}


def context_of(answer: str) -> str:
    """The context in an answer, which holds nothing else."""
    content = json.loads(answer)
    assert list(content) == ["hookSpecificOutput"]
    assert content["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    text = content["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    assert 0 < length(text) <= 9000
    return text
