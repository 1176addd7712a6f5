"""One prompt through a real coding agent: `python coding_agents.py '{...}'` prints what the agent said and sent.

Everything is on loopback: a server of others speaks the forms of the agents' models, and records each request.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TRUST = ["--dangerously-bypass-hook-trust"]
"""Codex runs a hook only after a person allowed it; no person is here."""


def codex(home: Path, project: str, base: str) -> dict[str, str]:
    provider = f'name = "fake"\nbase_url = "{base}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n'
    trusted = f'[projects.{json.dumps(project)}]\ntrust_level = "trusted"\n'
    text = f'model = "fake-model"\nmodel_provider = "fake"\n[model_providers.fake]\n{provider}{trusted}'
    write(home / ".codex/config.toml", text)
    return {"KEY": "dummy"}


def gemini(home: Path, project: str, base: str) -> dict[str, str]:
    write(home / ".gemini/trustedFolders.json", json.dumps({project: "TRUST_FOLDER"}))
    return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": base, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def qwen(_home: Path, _project: str, base: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_MODEL": "fake-model"}


def copilot(_home: Path, _project: str, base: str) -> dict[str, str]:
    named = {"BASE_URL": f"{base}/v1", "TYPE": "openai", "API_KEY": "dummy"}
    provider = {f"COPILOT_PROVIDER_{name}": value for name, value in named.items()}
    return {**provider, "COPILOT_MODEL": "fake-model", "COPILOT_OFFLINE": "true"}


def opencode(home: Path, _project: str, base: str) -> dict[str, str]:
    options = {"baseURL": f"{base}/v1", "apiKey": "dummy"}
    models = {"fake-model": {"name": "fake"}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": models}
    content = {"autoupdate": False, "model": "fake/fake-model", "provider": {"fake": provider}}
    write(home / ".config/opencode/opencode.json", json.dumps(content))
    return {"npm_config_fetch_retries": "0"}


PREPARE = {"codex": codex, "gemini": gemini, "qwen": qwen, "copilot": copilot, "opencode": opencode}
"""Name -> tells the agent where its model is, by files and by the variables that it returns."""

COMMANDS = {
    "codex": (["exec", "--skip-git-repo-check", *TRUST], ["exec", "--skip-git-repo-check", *TRUST, "resume", "--last"]),
    "gemini": (["-m", "gemini-2.5-flash", "-p"], ["-m", "gemini-2.5-flash", "--resume", "latest", "-p"]),
    "qwen": (["-p"], ["--continue", "-p"]),
    "copilot": (["--allow-all-tools", "--trust-folder", "-p"], ["--allow-all-tools", "--continue", "-p"]),
    "opencode": (["run"], ["run", "--continue"]),
}
"""Name -> the arguments before a prompt, of a new session and of the last session."""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@contextmanager
def serving(model_server: str, log: Path) -> Iterator[str]:
    """The address of a model's server, which records each request in *log*."""
    command = [sys.executable, model_server, "--port", "0", "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield f"http://127.0.0.1:{server.stdout.readline().split()[1]}"
        finally:
            server.kill()


def asked(command: list[str], project: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    nothing, most = subprocess.DEVNULL, 170
    return subprocess.run(
        command, cwd=project, env=environ, stdin=nothing, capture_output=True, text=True, timeout=most, check=False
    )


def run(
    agent: str, program: str, model_server: str, project: str, environ: dict[str, str], prompt: str, *, again: bool
) -> dict[str, Any]:
    """The exit code and text of the agent, and the bodies of its requests."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.jsonl"
        with serving(model_server, log) as base:
            variables = PREPARE[agent](Path(environ["HOME"]), project, base)
            environ = {"TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1", **environ, **variables}
            done = asked([program, *COMMANDS[agent][again], prompt], project, environ)
        rows = log.read_text("utf-8").splitlines() if log.exists() else []
    return {"exit": done.returncode, "said": done.stdout, "sent": [json.loads(row)["body"] for row in rows]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(**json.loads(sys.argv[1]))))
