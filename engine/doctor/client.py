"""The coding agents: their settings files, the hooks that run at a prompt, and a test prompt through memsift's own.

The test prompt goes through the real process, as the agent starts it, without a judge and without a trace. It is in the
agent's own form.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from engine.agents.agent import ALLOWED
from engine.agents.hook_entry import hook_command
from engine.agents.installation import own_entries
from engine.agents.prompt_hooks import (
    OF_ORIGINAL,
    OURS,
    HookRuling,
    PromptHook,
    gone_paths,
    hook_ruling,
    own_hooks,
    prompt_hooks,
    remarks,
    removal,
)
from engine.agents.registry import DEFAULT, all_agents
from engine.agents.settings_files import settings_files
from engine.conversations.activity import LOG_FILE
from engine.conversations.activity_log import read_log
from engine.doctor import DoctorFinding, note, ok, problem
from engine.errors import RootError
from engine.lean.record import replace
from engine.opening import open_index
from engine.paths import cutoff_file, hook_start_file, state_dir
from engine.settings.sources import read_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.agents.agent import Agent
    from engine.agents.settings_files import SettingsFile

NOT_INSTALLED = "without it, no memory is injected"
NOT_IN, INSTALL = "{} is on this machine, without memsift", "To use it there: memsift install --agent {}"
MOST_COMMAND = 60
"""Characters of another program's command that are shown."""


def findings(folder: str, roots: Sequence[str], environ: Mapping[str, str]) -> list[DoctorFinding]:
    """*folder* is where an agent is started, *roots* are the roots that the hook uses there.

    Looked at are the agents in which memsift is installed; without any, the default agent. The rest of those on this
    machine are only named. Findings about another agent than the default have its name before the check.
    """
    known = [(agent, settings_files(agent, folder, environ)) for agent in all_agents()]
    served = [pair for pair in known if own_hooks(pair[1], environ)]
    looked_at = served or [pair for pair in known if pair[0].name == DEFAULT]
    found = [
        finding if agent.name == DEFAULT else replace(finding, check=f"{agent.title}: {finding.check}")
        for agent, files in looked_at
        for finding in _of_agent(agent, files, folder, roots, environ)
    ]
    others = [pair[0] for pair in known if pair not in looked_at and os.path.isdir(pair[0].home(environ))]
    return [*found, *(note("agents", NOT_IN.format(other.title), INSTALL.format(other.name)) for other in others)]


def _of_agent(
    agent: Agent, files: Sequence[SettingsFile], folder: str, roots: Sequence[str], environ: Mapping[str, str]
) -> list[DoctorFinding]:
    hooks, own = prompt_hooks(files, environ), own_hooks(files, environ)
    tried = own[0] if own else PromptHook("", hook_command(agent), OURS)
    return [
        *_files(files),
        *_hooks(hooks, own, hook_ruling(files, environ), gone_paths(files)),
        *_consent(agent, files, environ),
        *_timeouts(own, roots, environ),
        *(note("hooks", text, fix) for text, _, fix in (remark.partition(". ") for remark in remarks(files, environ))),
        *_last_prompts(agent, roots, environ),
        try_hook(agent, tried, folder, roots, environ),
    ]


def _consent(agent: Agent, files: Sequence[SettingsFile], environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Whether the person allowed memsift's hooks, for an agent that asks."""
    if (consent := agent.consent) is None:
        return
    for file in files:
        for path, entry in own_entries(file):
            state = consent(file.path, path, entry, environ)
            text = state.format(agent.title, file.path)
            yield ok("consent", text) if state == ALLOWED else problem("consent", text, agent.asks)


def _last_prompts(agent: Agent, roots: Sequence[str], environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """The prompts of the agent in the hook's log. Claude Code's command writes no name into it."""
    log = read_log(*(state_dir(root, environ) for root in roots))
    seen = [decision for decision in log.decisions if (decision.agent or DEFAULT) == agent.name]
    if seen:
        served = sum(bool(decision.injected) for decision in seen)
        yield ok("prompts", f"{len(seen)} in the log, {served} with memories, the last at {seen[-1].time}")
    else:
        yield note("prompts", "none in the log yet", f"Type a prompt in {agent.title}, then run memsift activity.")


def _files(files: Sequence[SettingsFile]) -> Iterator[DoctorFinding]:
    for file in files:
        if file.problem:
            yield problem("client settings", file.problem.rstrip("."), f"Open {file.path} at that line.")
    good = [file.path for file in files if file.text is not None and not file.problem]
    if good:
        yield ok("client settings", ", ".join(good))


def _hooks(
    hooks: Sequence[PromptHook], own: Sequence[PromptHook], ruling: HookRuling, gone: Mapping[str, str]
) -> Iterator[DoctorFinding]:
    """What keeps memsift's hook from running, then all hooks, which the client starts at the same time.

    *gone*: see `gone_paths`.
    """
    if ruling.key:
        yield problem("hooks", ruling.text, ruling.remedy)
    for source, path in gone.items():
        yield problem("hooks", f"{source} starts memsift at {path}, which is gone", AGAIN)
    for number, hook in enumerate(hooks, start=1):
        limit = f", timeout {hook.timeout:g} s" if hook.timeout is not None else ""
        name = "memsift" if hook.kind == OURS else hook.command[:MOST_COMMAND]
        place = f"{number} of {len(hooks)}, started at the same time: " if len(hooks) > 1 else ""
        text = f"{place}{name} ({hook.source}{limit})"
        if hook.kind == OF_ORIGINAL:
            yield problem("hooks", f"{text}: claude-memory injects, too", removal(hook))
        elif hook.kind != OURS or hook.source not in gone:
            yield ok("hooks", text)
    if not own:
        yield problem("hooks", f"memsift's hook is not in the settings: {NOT_INSTALLED}", "Run memsift install.")


def _timeouts(own: Sequence[PromptHook], roots: Sequence[str], environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """A hook that the client would end before its own deadline."""
    needed = max((read_config(root, environ).config.allowed_seconds for root in roots), default=0.0)
    for hook in own:
        if hook.timeout is not None and hook.timeout < needed:
            text = f"the client ends the hook after {hook.timeout:g} s, but the settings allow it {needed:g} s"
            yield note("hooks", text, "To set the timeout again: memsift install")


MOST_SECONDS = 60.0
SLOW_MS = 1000.0
ANY_PROMPT = "a test prompt of memsift doctor, about nothing"
AGAIN = "Run memsift install again: memsift was moved or upgraded, or its Python is gone."


def try_hook(
    agent: Agent, hook: PromptHook, folder: str, roots: Sequence[str], environ: Mapping[str, str]
) -> DoctorFinding:
    """Send the title of a memory through *hook*, twice: the first run may have to read the memories."""
    prompt = _title(roots, environ) or ANY_PROMPT
    try:
        with tempfile.TemporaryDirectory(prefix="memsift-doctor-") as place:
            _copy_state(place, roots, environ)
            _run(agent, hook, folder, prompt, place, environ)
            started = time.perf_counter()
            done = _run(agent, hook, folder, prompt, place, environ)
            whole_ms = (time.perf_counter() - started) * 1000
            row = _last_row(place)
    except (OSError, subprocess.TimeoutExpired) as error:
        return problem("test prompt", f"the hook's command does not start or end ({type(error).__name__})", AGAIN)
    if done.returncode:
        effect = "blocks every prompt" if done.returncode == 2 else "shows an error at every prompt"
        return problem("test prompt", f"the hook ended with exit code {done.returncode}, which {effect}", AGAIN)
    if not row and roots:
        return problem("test prompt", f"the hook did nothing, in {whole_ms:.0f} ms", AGAIN)
    stages = ", ".join(f"{name} {ms:.0f}" for name, ms in row.get("stages_ms", {}).items() if ms >= 1)
    silent = f"nothing injected: {row.get('reason', 'no memories')}"
    outcome = f"{len(row.get('injected', ()))} injected" if done.stdout else silent
    inside = f"{row.get('ms', 0):.0f} ms in the hook itself ({stages or 'no stage over 1'})"
    text = f"{whole_ms:.0f} ms, with {inside}; {outcome}"
    if whole_ms > SLOW_MS:
        return note("test prompt", text, "To see the slow prompts: memsift activity --only slow")
    return ok("test prompt", text)


def _run(
    agent: Agent, hook: PromptHook, folder: str, prompt: str, place: str, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook's command as the agent does, with *place* for its log. No judge is asked."""
    values = {"prompt": prompt, "cwd": folder, "session_id": os.urandom(8).hex()}
    request = {agent.hook.fields.get(name, name): value for name, value in values.items()}
    around = {**environ, "XDG_STATE_HOME": place, "MEMSIFT_JUDGE_ENABLED": "false", "CLAUDE_PLUGIN_ROOT": hook.folder}
    return subprocess.run(
        ["/bin/sh", "-c", hook.command],
        input=json.dumps(request).encode(),
        env=around,
        cwd=folder,
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
    )


def _last_row(place: str) -> Mapping[str, Any]:
    """The hook's last line in the log of whichever root; empty if it wrote none."""
    row: Mapping[str, Any] = {}
    for state, _, names in os.walk(place):
        if LOG_FILE in names:
            with open(os.path.join(state, LOG_FILE), encoding="utf-8") as file:
                row = json.loads(file.read().splitlines()[-1])
    return row


def _title(roots: Sequence[str], environ: Mapping[str, str]) -> str:
    """The longest title of the first root's memories, as a prompt that has an answer."""
    try:
        with closing(open_index(roots[0], environ)) as index:
            return max((summary.title for summary in index.summaries()), key=len, default="")
    except (RootError, IndexError):
        return ""


def _copy_state(place: str, roots: Sequence[str], environ: Mapping[str, str]) -> None:
    """Give the hook what it reads from the state folder: tuned cutoffs, and the plugin's record of the start."""
    sources, targets = (
        [hook_start_file(around), *(cutoff_file(state_dir(root, around)) for root in roots)]
        for around in (environ, {**environ, "XDG_STATE_HOME": place})
    )
    for source, target in zip(sources, targets, strict=True):
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
