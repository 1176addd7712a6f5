"""The UserPromptSubmit hook: reads a prompt from stdin and prints memories as context, without ever being in the way.

It always exits with 0 and prints one JSON object or nothing. Exit code 2 would block the person's prompt, and anything
else on stdout would reach the model as it is.
"""

from __future__ import annotations

import os
import sys
import unicodedata

from engine import inject
from engine.config import GUARD, MEMSIFT, Config, config_json
from engine.conversations.activity import (
    MAX_REASON,
    NO_INDEX,
    NOTHING_FOUND,
    NOTHING_IN_OLD,
    Activity,
    append_unfinished,
)
from engine.cutoff import chosen_cutoff
from engine.hook.deadline import ALARM_S, Watchdog
from engine.hook.session import is_first, load_session, save_session
from engine.lean.json_text import dumps, loads
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.opening import empty_index, hook_index, index_file, index_of
from engine.paths import SESSION_FOLDER, is_in_place, mute_file, state_dir, state_home
from engine.pipeline import BY_KEYWORDS, NO_FTS5, OpenSystem, Query, retrieve
from engine.prompt import is_human_prompt, is_slash_command, parted, typed_prompt
from engine.search.index import BEHIND, UNBUILT, Index
from engine.search.strategies.memsift import TURNS
from engine.settings.roots import find_roots, trust_in
from engine.settings.sources import SettingsReading, read_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TextIO

    from engine.agents.agent import Agent
    from engine.judge.judge import Judge
    from engine.prompt import Turn
    from engine.retrieval import Retrieval, Session
    from engine.roots import OpenIndex, OpenRoots
    from engine.settings.roots import RootSearch

MAX_STDIN_BYTES = 8_000_000
MIN_PROMPT_CHARACTERS = 10
OPT_OUT = "[nomem]"
NO_ROOT = "no folder of memories was taken"
LATE = "no answer within the deadline"
OF_LAG = {UNBUILT: NO_INDEX, BEHIND: NOTHING_IN_OLD, "": NOTHING_FOUND}
"""The lag of an index -> the reason where no candidate was found in it. Of several roots, the first of these counts."""


class Request(Record):
    """A prompt on its way to the model, as it was typed; `added` is what the editor added to it.

    `source` says who submitted it. Fields that the client lacks are empty.
    """

    prompt: str
    added: tuple[Turn, ...]
    prompt_id: str
    session_id: str
    cwd: str
    transcript_path: str
    source: str


def main() -> None:
    """Answer the prompt on stdin and end the process with exit code 0. `os._exit` skips a slow clean-up."""
    try:
        _run()
    finally:  # a hook that fails must look like a hook that found nothing
        os._exit(0)


def respond(stdin: bytes, environ: Mapping[str, str], stderr: TextIO, agent: Agent | None = None) -> str:
    """The JSON to print for a request; empty for no memories. The decision goes to the root's activity log."""
    decision = HookAnswer(environ, stderr, agent=agent)
    answer = decision.answer(stdin)
    decision.remember()
    decision.close()
    return answer


def parse_request(stdin: bytes, environ: Mapping[str, str], agent: Agent | None = None) -> Request | None:
    """The request, or None for input that is not a JSON object with a prompt. Fields of a wrong type count as empty."""
    try:
        content = loads(stdin.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("prompt"), str):
        return None
    content = agent.request(content, environ) if agent else content
    texts = {name: value for name, value in content.items() if isinstance(value, str)}
    typed, added = parted(texts["prompt"])
    others = {name: texts.get(name, "") for name in ("prompt_id", "session_id", "transcript_path", "source")}
    return Request(prompt=typed, added=added, cwd=texts.get("cwd") or os.getcwd(), **others)


def skip_reason(request: Request) -> str:
    """The reason to look for no memories for this prompt; empty if there is none."""
    text = request.prompt
    if not is_human_prompt(text, request.source):
        return "a slash command" if is_slash_command(text) else "not typed by a person"
    # A wide character (Han, Kana, Hangul) counts twice: it says as much as two.
    start = text[:MIN_PROMPT_CHARACTERS]
    if len(start) + sum(unicodedata.east_asian_width(character) in "WF" for character in start) < MIN_PROMPT_CHARACTERS:
        return f"under {MIN_PROMPT_CHARACTERS} characters"
    return f"{OPT_OUT} in the prompt" if OPT_OUT in text else ""


def warning(retrieval: Retrieval) -> str:
    """A line for stderr if the judge could not answer, else empty. The client shows it in its debug log only."""
    if retrieval.fallback == NO_FTS5:
        return f"memsift-hook: {BY_KEYWORDS}"
    detail = " ".join(retrieval.judgement.detail.split()) if retrieval.judgement else ""
    return f"memsift-hook: {detail or retrieval.fallback}" if retrieval.fallback else ""


class HookAnswer:
    """The memories for one prompt. `answer` decides; `remember` writes the log and the session.

    The answer is printed between the two, so a memory counts as given only if it was printed. *allow* is called with
    the seconds that the whole run may take, as soon as the configuration is known. *agent* is the one that the command
    names; without one, the hook speaks as Claude Code wants it.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        stderr: TextIO | None,
        allow: Callable[[float], None] | None = None,
        agent: Agent | None = None,
    ) -> None:
        self.activity = Activity()
        self._environ, self._stderr, self._allow, self._agent = environ, stderr, allow, agent
        self._folder = self._started_in = ""
        self._request: Request | None = None
        self._session: Session | None = None
        self._retrieval: Retrieval | None = None
        self._indexes: list[Index] = []
        self._late = LATE
        self._said: list[str] = []

    def answer(self, stdin: bytes) -> str:
        """The JSON to print, or nothing. Never raises an Exception once the root is known."""
        self.activity.stage("read")
        request = self._request = parse_request(stdin, self._environ, self._agent)
        if request is None or self._environ.get(GUARD):
            return ""
        digest = hex_digest(request.prompt)
        self.activity.note(session_id=request.session_id, prompt_sha256=digest)
        if self._agent:
            self.activity.note(agent=self._agent.name)
        self.activity.stage("parse")
        variable = self._agent.session_folder if self._agent else SESSION_FOLDER
        self._started_in = self._environ.get(variable, "")
        search = find_roots(request.cwd, self._environ, self._started_in)
        roots = search.roots
        if not (roots or search.said):
            return ""
        try:
            folder = state_dir(roots[0], self._environ) if roots else state_home(self._environ)
            self.activity.stage("root")
            if not is_first(folder, request.session_id, request.prompt_id, digest):
                return ""  # and no line in the log: a prompt counts once
            self._folder = folder
            append_unfinished(folder)
            self._note_unused(search)
            return self._decide(request, roots) if roots else ""
        except Exception as error:  # noqa: BLE001 - see main; here it can still be logged
            self.activity.note_reason(f"{type(error).__name__}: {error}")
            return ""

    def remember(self) -> None:
        """Save the session and append the decision to the log. Never raises OSError."""
        if self._request and self._session and self._retrieval:
            request = self._request
            prompt = (request.prompt_id, hex_digest(request.prompt))
            save_session(self._folder, request.session_id, self._session, self._retrieval.injected, prompt)
            self.activity.stage("save")
        if self._folder:
            self.activity.append(self._folder)

    def give_up(self) -> None:
        """Log that time ran out. Nothing was printed, so the session stays as it was."""
        self.activity.note(injected=[], characters=0)
        self.activity.note_reason(self._late)
        self._session = self._retrieval = None
        self.remember()

    def close(self) -> None:
        """Close the indexes. The hook's own process ends without it."""
        for index in self._indexes:
            index.close()

    def _note_unused(self, search: RootSearch) -> None:
        """Say which folders of memories were not taken, on stderr and in the log: without a root, in `state_home`."""
        if search.said:
            self.activity.note(refused=list(search.said))
        if not search.roots:
            self.activity.note_reason(NO_ROOT)
        if len(search.roots) > 1:
            self.activity.note(roots=list(search.roots))
        for reason in search.said:
            self._warn(f"memsift-hook: {reason}")

    def _decide(self, request: Request, roots: tuple[str, ...]) -> str:
        readings = [read_config(root, self._environ) for root in roots]
        for reading in readings:
            self._note_settings(reading)
        readings = [reading for reading in readings if reading.config.enabled] or readings[:1]
        joint = None
        if len(readings) > 1:
            from engine.roots import together

            joint = together(readings, self._environ)
        config = joint.config if joint else readings[0].config
        if self._allow:
            self._allow(config.allowed_seconds)
        self.activity.note(config=hex_digest(config_json(config))[:16])
        if config.logging.prompts:
            self.activity.note(prompt=request.prompt)
        self.activity.stage("config")
        reason = skip_reason(request) if config.enabled else "retrieval.enabled is false"
        if not reason and os.path.exists(mute_file(self._folder)):
            from engine.settings.muting import is_muted

            reason = "muted" if is_muted(self._folder, request.session_id) else ""
        if reason:
            self.activity.note_reason(reason)
            return ""
        self.activity.leave(self._folder, config.allowed_seconds + ALARM_S)
        path, agent = request.transcript_path, self._agent
        living = lambda: transcripts_of(agent).living_prompts(path) if path else None  # noqa: E731 - few prompts need it
        session = load_session(self._folder, request.session_id, living)
        self.activity.stage("session")
        retrieval = self._retrieve(request, readings, joint, session)
        lag = min((index.lag for index in self._indexes), key=[*OF_LAG].index)
        if lag:
            self.activity.note(index=lag)
        # A hint that nothing fits would be false before the memories were read.
        context = inject.context(retrieval, config, request.cwd) if retrieval.injected or not lag else ""
        nothing = OF_LAG[lag] if lag else self._nothing(retrieval)
        self.activity.note_retrieval(retrieval, inject.length(context), nothing)
        self.activity.stage("inject")
        self._session, self._retrieval = session, retrieval
        self._warn(warning(retrieval))
        if not context:
            return ""
        if self._agent:
            return self._agent.answer(context)
        return dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}})

    def _note_settings(self, reading: SettingsReading) -> None:
        """Tell stderr and the log about settings that do not count. Those of the user are the same for each root."""
        new = [line for line in reading.lines if line not in self._said]
        self._said += new
        if self._said:
            self.activity.note(mistakes=list(self._said))
        if reading.notice:
            self.activity.note(untrusted=reading.notice)
        for line in filter(None, (*new, reading.notice)):
            self._warn(f"memsift-hook: {line}")

    def _retrieve(
        self, request: Request, readings: list[SettingsReading], joint: OpenRoots | None, session: Session
    ) -> Retrieval:
        config = joint.config if joint else readings[0].config
        share_s, is_alone = config.deadline / len(readings), len(readings) == 1
        indexes = [self._open(reading.root, share_s, is_alone=is_alone) for reading in readings]
        self.activity.stage("index")
        judge = _judge(config, self._environ)
        turns = self._turns(request, config, has_judge=judge is not None)
        prompt = typed_prompt(request.prompt, (*turns, *request.added))
        question = Query(prompt, session=session)
        if joint:
            from engine.roots import JointIndex

            index: OpenIndex = JointIndex(indexes, joint.others)
            cutoff, problem = joint.cutoff, joint.problem
        else:
            (index,) = indexes
            place = (state_dir(readings[0].root, self._environ), readings[0].root)
            cutoff, problem = chosen_cutoff([place], config, trust_in(self._environ))
        if problem:
            self.activity.note(cutoff=f"ignored: it {problem}"[:MAX_REASON])
        retrieval = retrieve(question, index, OpenSystem(config, cutoff, judge))
        self.activity.note(corpus=indexes[0].corpus_hash)
        self.activity.stage("retrieve")
        return retrieval

    def _turns(self, request: Request, config: Config, *, has_judge: bool) -> tuple[Turn, ...]:
        """The last turns of the conversation, for the query and for a judge.

        With a judge they leave the machine, so only a transcript is ever read, and only if the configuration allows it.
        """
        if has_judge:
            wanted = config.judge.context_turns if config.judge.include_conversation_context else 0
        else:
            wanted = TURNS if config.match_strategy == MEMSIFT else 0
        path, folder = request.transcript_path, self._agent.home(self._environ) if self._agent else ""
        if not wanted or not is_in_place(path, self._environ, folder):
            return ()
        turns: tuple[Turn, ...] = transcripts_of(self._agent).last_turns(path, wanted)
        return turns

    def _open(self, root: str, deadline_s: float, *, is_alone: bool) -> Index:
        """The index of a root, empty if there is none yet. A root that cannot be read takes no other root with it."""
        self._late = LATE if os.path.exists(index_file(root, self._environ)) else NO_INDEX
        try:
            found = hook_index(root, self._environ, deadline_s)
            index = empty_index(root) if found is None else found  # an empty index is false
        except Exception as error:
            if is_alone:
                raise
            from engine.memory import Corpus

            self.activity.note(unread=f"{root}: {error}"[:MAX_REASON])
            index = index_of(Corpus(root, ()))
        self._late = LATE
        if self._agent and self._request:
            loads_file, environ, folder = self._agent.loads_file, self._environ, self._started_in or self._request.cwd
            index.is_loaded = lambda memory: loads_file(memory.file, folder, environ)
        self._indexes.append(index)
        return index

    def _nothing(self, retrieval: Retrieval) -> str:
        """The reason where no candidate was found: that there is no memory at all, if that is so, and why."""
        if retrieval.candidates or any(map(len, self._indexes)):
            return NOTHING_FOUND
        reasons = [f"{file.where} {file.reason}" for index in self._indexes for file in index.skipped[:1]]
        return "; ".join(reasons) or NOTHING_FOUND

    def _warn(self, line: str) -> None:
        """Print a line on stderr, if there is one: a closed or full stderr must not cost the memories.

        Text that it quotes cannot command the terminal.
        """
        if line and self._stderr:
            try:
                print("".join(c if c.isprintable() else "·" for c in line), file=self._stderr, flush=True)
            except (OSError, ValueError):
                self._stderr = None


def _run() -> None:
    agent = None
    if sys.argv[1:2] == ["--agent"]:  # the module with the agents is loaded only where the command names one
        from engine.agents.registry import agent_of

        agent = agent_of(sys.argv[2])
    decision = HookAnswer(os.environ, sys.stderr, lambda seconds: watchdog.allow(seconds), agent)
    watchdog = Watchdog(Config().deadline, decision.give_up)
    answer = decision.answer(sys.stdin.buffer.read(MAX_STDIN_BYTES))
    with watchdog.printing:
        watchdog.answered()
        sys.stdout.write(answer)
        sys.stdout.flush()
    decision.remember()


def transcripts_of(agent: Agent | None) -> Any:
    """The module that reads the sessions of *agent*, by default Claude Code's. It is loaded only for this."""
    return __import__(agent.reader if agent else "engine.agents.claude_code.transcripts", fromlist=["last_turns"])


def _judge(config: Config, environ: Mapping[str, str]) -> Judge | None:
    """The judge of this root, imported only if one is enabled."""
    if not config.judge.enabled:
        return None
    from engine.judge.judge import Judge
    from engine.judge.providers.registry import HTTP, NO_JUDGE, make_hook_provider

    name = config.judge.provider or HTTP
    return None if name == NO_JUDGE else Judge(make_hook_provider(name, config.judge, environ), config.judge)
