"""`claude -p`: for people who have a subscription and no API key. Not for the hook, which it would call again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
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
POLL_S = 0.05
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
        """The output of the command.

        Input and output are files: nobody has to write while the output is read, and a process that the command leaves
        behind may hold them open.
        """
        with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as output:
            question.write(stdin.encode())
            question.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    stdin=question,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env={**self._environ, GUARD: "1"},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ProviderHttpError(f"`{COMMAND}` cannot be started ({type(error).__name__}).") from None
            ends, is_over = monotonic() + timeout_s, False
            try:
                while not is_over:
                    with suppress(subprocess.TimeoutExpired):
                        is_over = process.wait(POLL_S) is not None
                    if os.fstat(output.fileno()).st_size > ANSWER_BYTES:
                        raise ProviderHttpError(f"`{COMMAND} -p` wrote more than {ANSWER_BYTES // 1000:,} kB.")
                    if not is_over and monotonic() >= ends:
                        raise ProviderTimeoutError(f"No answer within {timeout_s:g} s. {SLOW}")
            finally:
                if not is_over:
                    with suppress(OSError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            output.seek(0)
            return output.read()


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
