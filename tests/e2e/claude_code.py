"""One prompt through the real Claude Code client: `python claude_code.py '{...}'` prints what the client sent and kept.

Everything is on loopback: a model's server of others, which records each request, and a judge that never answers.
"""

import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

from coding_agents import asked, serving  # the file beside this one: both run as scripts


class SilentJudge(ThreadingTCPServer):
    """Accepts every connection, counts the requests, and never answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Silence)
        self.requests = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Silence(BaseRequestHandler):
    def handle(self) -> None:
        if self.request.recv(1):
            self.server.requests += 1  # type: ignore[attr-defined]
            time.sleep(60)


def run(client: str, model_server: str, project: str, environ: dict[str, str], prompt: str) -> dict[str, Any]:
    """The text and requests of the client, the number of requests to the judge, and the transcript of the hook.

    Both judges count: the silent one, and the model's server, if the hook asks it. *environ* may name a folder for the
    client's own files; else it gets a new one.
    """
    judge = SilentJudge()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.jsonl"
        place = Path(environ.get("CLAUDE_CONFIG_DIR", f"{folder}/client"))
        earlier = {*place.glob("projects/*/*.jsonl")}
        with serving(model_server, log) as base:
            environ = {
                "CLAUDE_CONFIG_DIR": f"{folder}/client",
                **environ,
                "TERM": "xterm",
                "ANTHROPIC_API_KEY": "dummy",
                "ANTHROPIC_BASE_URL": base,
                "OPENAI_BASE_URL": f"http://127.0.0.1:{judge.server_address[1]}/v1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            }
            done = asked([client, "-p", "--model", "claude-haiku-4-5", prompt], project, environ)
        bodies = [row["body"] for row in rows(log) if row["path"].partition("?")[0] == "/v1/messages"]
        entries = [entry for file in {*place.glob("projects/*/*.jsonl")} - earlier for entry in rows(file)]
    sent = [body["messages"] for body in bodies if "output_config" not in body]
    judged = judge.requests + len(bodies) - len(sent)
    kept = [entry["attachment"] for entry in entries if entry.get("attachment")]
    hook = [one for one in kept if one.get("type", "").startswith("hook")]
    said = done.stdout + done.stderr
    skills = sorted({*re.findall(r"memsift:[a-z]+(?:-[a-z]+)*", json.dumps(bodies))})
    named = re.search(r"memory system at `([^`]+)/`", json.dumps(bodies))
    memory = named[1] if named else ""
    told = {"exit": done.returncode, "said": said, "sent": sent, "judged": judged, "hook": hook, "skills": skills}
    return {**told, "memory": memory}


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(**json.loads(sys.argv[1]))))
