"""The UserPromptSubmit hook: a prompt on stdin, memories out as context, never in the way.

Whatever happens it exits with 0 and prints one JSON object or nothing: exit code 2 would block the person's prompt, and
anything else on stdout would reach the model as it is.
"""

from __future__ import annotations

import json
import os
import sys

from engine import activity, inject
from engine.config import load_config
from engine.paths import state_dir
from engine.pipeline import NO_FTS5, retrieve
from engine.prompt import typed_prompt
from engine.record import record
from engine.search.index import Index
from engine.sessions import load_session, save_session
from engine.stores.roots import find_root, read_corpus
from engine.transcripts import compactions, is_human_prompt, last_turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.prompt import Turn
    from engine.retrieval import Retrieval

MIN_PROMPT_CHARACTERS = 10
MAX_STDIN_BYTES = 8_000_000
OPT_OUT = "[nomem]"


@record
class Request:
    """What the client tells about a prompt. `source` is who submitted it, where the client says so."""

    prompt: str
    session_id: str
    cwd: str
    transcript_path: str
    source: str


def main() -> None:
    """The `memsift-hook` command."""
    try:
        answer = respond(sys.stdin.buffer.read(MAX_STDIN_BYTES), os.environ, sys.stderr)
        if answer:
            sys.stdout.write(answer)
            sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - a hook that fails must look like a hook that found nothing
        pass
    os._exit(0)


def respond(stdin: bytes, environ: Mapping[str, str], stderr: TextIO) -> str:
    """The JSON to print for a request, or nothing. Reasons for silence go to the root's activity log."""
    request = parse_request(stdin)
    if request is None:
        return ""
    root = find_root(request.cwd, environ, request.transcript_path)
    if root is None:
        return ""
    folder = state_dir(root, environ)
    try:
        reason = skip_reason(request)
        if reason:
            activity.log_silence(folder, request.session_id, reason)
            return ""
        return _answer(request, root, folder, environ, stderr)
    except Exception as error:  # noqa: BLE001 - see main; here it can still be logged
        activity.log_silence(folder, request.session_id, f"{type(error).__name__}: {error}")
        return ""


def parse_request(stdin: bytes) -> Request | None:
    """The request, or None if it is not a JSON object with a prompt."""
    try:
        content = json.loads(stdin.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("prompt"), str):
        return None
    texts = {name: value for name, value in content.items() if isinstance(value, str)}
    return Request(
        prompt=texts["prompt"],
        session_id=texts.get("session_id", ""),
        cwd=texts.get("cwd") or os.getcwd(),
        transcript_path=texts.get("transcript_path", ""),
        source=texts.get("source", ""),
    )


def skip_reason(request: Request) -> str:
    """Why this prompt asks for no memories; empty if it does."""
    text = request.prompt.strip()
    if not is_human_prompt(text, request.source):
        return "not typed by a person"
    if len(text) < MIN_PROMPT_CHARACTERS:
        return f"under {MIN_PROMPT_CHARACTERS} characters"
    return f"{OPT_OUT} in the prompt" if OPT_OUT in text else ""


def warning(retrieval: Retrieval) -> str:
    """One line on what stood in for the judge; empty if nothing did. The client shows it only in its debug log."""
    if retrieval.fallback == NO_FTS5:
        return "memsift-hook: SQLite has no FTS5 here, so memories are found by keywords and no judge is asked"
    detail = " ".join(retrieval.judgement.detail.split()) if retrieval.judgement else ""
    return f"memsift-hook: {detail or retrieval.fallback}" if retrieval.fallback else ""


def _answer(request: Request, root: str, folder: str, environ: Mapping[str, str], stderr: TextIO) -> str:
    config = load_config(root, environ)
    if not config.enabled:
        activity.log_silence(folder, request.session_id, "retrieval.enabled is false")
        return ""
    compacted = compactions(request.transcript_path) if request.transcript_path else 0
    session = load_session(folder, request.session_id, compacted)
    index = Index(read_corpus(root))
    try:
        judge = _judge(config, environ)
        prompt = typed_prompt(request.prompt, _turns(request, config) if judge else ())
        retrieval = retrieve(prompt, index, config, judge=judge, session=session)
    finally:
        index.close()
    context = inject.block(retrieval.injected)
    activity.log_retrieval(folder, request.session_id, retrieval, inject.length(context))
    if line := warning(retrieval):
        print(line, file=stderr)
    if not context:
        return ""
    save_session(folder, request.session_id, compacted, session, retrieval.injected)
    return json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}})


def _turns(request: Request, config: Config) -> tuple[Turn, ...]:
    wanted = config.judge.context_turns if config.judge.include_conversation_context else 0
    return last_turns(request.transcript_path, wanted) if wanted and request.transcript_path else ()


def _judge(config: Config, environ: Mapping[str, str]) -> Judge | None:
    """The judge of this root, imported only where one is enabled."""
    if not config.judge.enabled:
        return None
    from engine.judge.judge import Judge
    from engine.judge.providers.registry import make_provider

    return Judge(make_provider(environ.get("MEMSIFT_JUDGE", "anthropic"), config.judge, environ), config.judge)
