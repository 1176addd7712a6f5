"""`claude -p`: for people who have a subscription and no API key. Not for the hook, which it would call again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.config import GUARD
from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import Completion
from engine.judge.providers.credentials import known_secrets, presentable, without
from engine.judge.providers.messages_api import count, decoded

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.judge.provider import Question

COMMAND = "claude"
ANSWER_BYTES = 1_000_000
NO_COMMAND = (
    "The judge claude-cli needs the command `claude` on the PATH. Install Claude Code, or name the judge anthropic and "
    "set ANTHROPIC_API_KEY."
)
SLOW = f"`{COMMAND} -p` takes longer than the API."
SETTINGS = '{"disableAllHooks":true}'
OPTIONS = (
    *("-p", "--output-format", "json", "--settings", SETTINGS, "--tools", ""),
    *("--strict-mcp-config", "--no-session-persistence"),
)
"""No hooks, because ours would be called again. No tools, no servers and no transcript: a judgement is no session."""


class ClaudeCliProvider:
    """One process per completion, in an empty folder, so that no project's instructions are loaded.

    A call that takes too long is killed, with every process that it started.
    """

    name = "claude-cli"
    fingerprint = ""

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        self.model = model
        self._environ = environ

    def prepare(self) -> None:
        """See `Provider.prepare`. Raises ProviderHttpError where the client is not installed."""
        self._command()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises ProviderTimeoutError or ProviderHttpError."""
        command = [self._command(), *OPTIONS, "--model", self.model, "--system-prompt", question.system]
        with tempfile.TemporaryDirectory(prefix="memsift-judge-") as folder:
            stdout = self._run(command, question.user, folder, timeout_s)
        return _completion(stdout, known_secrets(self._environ))

    def close(self) -> None:
        """Nothing is held between calls."""

    def _command(self) -> str:
        found = shutil.which(COMMAND, path=self._environ.get("PATH", ""))
        if not found:
            raise ProviderHttpError(NO_COMMAND)
        return found

    def _run(self, command: list[str], stdin: str, folder: str, timeout_s: float) -> bytes:
        """The output of the command. It goes into a file, because a pipe would have to be read whole."""
        with tempfile.TemporaryFile() as stdout:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=stdout,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env={**self._environ, GUARD: "1"},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ProviderHttpError(f"`{COMMAND}` cannot be started ({type(error).__name__}).") from None
            _finish(process, stdin, timeout_s)
            stdout.seek(0)
            return stdout.read(ANSWER_BYTES)


def _finish(process: subprocess.Popen[bytes], stdin: str, timeout_s: float) -> None:
    """Wait for *process*; kill it and its children if it takes too long."""
    with process:
        try:
            process.communicate(stdin.encode(), timeout_s)
        except subprocess.TimeoutExpired:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s. {SLOW}") from None
        finally:
            if process.poll() is None:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)


def _completion(stdout: bytes, secrets: Collection[str]) -> Completion:
    answer: dict[str, Any] = decoded(stdout)
    text = answer.get("result")
    if not isinstance(text, str):
        raise ProviderHttpError(f"`{COMMAND} -p` gave no answer. Run it once by hand to see why.")
    if answer.get("is_error"):
        raise ProviderHttpError(f"`{COMMAND} -p` says: {presentable(text, secrets)}")
    usage = answer.get("usage")
    return Completion(
        text=without(text, secrets),
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        stop_reason=str(answer.get("stop_reason")),
    )
