"""`claude -p`: for people who have a subscription and no API key. Not for the hook, which it would call again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.config import GUARD
from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import Completion, Provider
from engine.judge.providers.chat_server import count, decoded, text_of
from engine.judge.providers.credentials import known_secrets, presentable, without

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.judge.provider import Question

COMMAND = "claude"
ANSWER_BYTES = 1_000_000
CHUNK_BYTES, POLL_S = 1 << 16, 0.05
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


class ClaudeCliProvider(Provider):
    """One process per completion, in an empty folder, so that no project's instructions are loaded.

    A call that takes too long is killed, with every process that it started.
    """

    name = "claude-cli"

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        self.model = model
        self._environ = environ

    def hide(self, text: str) -> str:
        """See `Provider.hide`."""
        return without(text, known_secrets(self._environ))

    def prepare(self) -> None:
        """See `Provider.prepare`. Raises ProviderHttpError where the client is not installed."""
        self._command()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises ProviderTimeoutError or ProviderHttpError."""
        command = [self._command(), *OPTIONS, "--model", self.model, "--system-prompt", question.system]
        with tempfile.TemporaryDirectory(prefix="memsift-judge-") as folder:
            stdout = self._run(command, question.user, folder, timeout_s)
        return _completion(stdout, known_secrets(self._environ))

    def _command(self) -> str:
        found = shutil.which(COMMAND, path=self._environ.get("PATH", ""))
        if not found:
            raise ProviderHttpError(NO_COMMAND)
        return found

    def _run(self, command: list[str], stdin: str, folder: str, timeout_s: float) -> bytes:
        """The output of the command. Its input is a file, so that nobody has to write while the output is read."""
        with tempfile.TemporaryFile() as question:
            question.write(stdin.encode())
            question.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    stdin=question,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env={**self._environ, GUARD: "1"},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ProviderHttpError(f"`{COMMAND}` cannot be started ({type(error).__name__}).") from None
        with process:
            try:
                return _output(process, monotonic() + timeout_s)
            except (TimeoutError, subprocess.TimeoutExpired):
                raise ProviderTimeoutError(f"No answer within {timeout_s:g} s. {SLOW}") from None
            finally:
                if process.poll() is None:
                    with suppress(OSError):
                        os.killpg(process.pid, signal.SIGKILL)


def _output(process: subprocess.Popen[bytes], ends: float) -> bytes:
    """Everything that *process* writes until it ends, at most ANSWER_BYTES.

    A process that it leaves behind may hold the pipe open, so the end of the pipe is not awaited. Raises TimeoutError
    or TimeoutExpired at *ends*, and ProviderHttpError for a larger output.
    """
    assert process.stdout is not None
    output = bytearray()
    with DefaultSelector() as selector:
        selector.register(process.stdout, EVENT_READ)
        while (left := ends - monotonic()) > 0:
            has_ended = process.poll() is not None
            if selector.select(0 if has_ended else min(left, POLL_S)):
                chunk = os.read(process.stdout.fileno(), CHUNK_BYTES)
                output += chunk
                if len(output) > ANSWER_BYTES:
                    raise ProviderHttpError(f"`{COMMAND} -p` wrote more than {ANSWER_BYTES // 1000:,} kB.")
                if chunk:
                    continue
                process.wait(max(0.0, ends - monotonic()))
                return bytes(output)
            if has_ended:
                return bytes(output)
    raise TimeoutError


def _completion(stdout: bytes, secrets: Collection[str]) -> Completion:
    answer: dict[str, Any] = decoded(stdout)
    text = text_of(answer.get("result"))
    if not isinstance(answer.get("result"), str | list):
        raise ProviderHttpError(f"`{COMMAND} -p` gave no answer. Run it once by hand to see why.")
    if answer.get("is_error"):
        raise ProviderHttpError(f"`{COMMAND} -p` says: {presentable(text, secrets)}")
    usage = answer.get("usage")
    return Completion(
        text=text,
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        stop_reason=str(answer.get("stop_reason")),
    )
