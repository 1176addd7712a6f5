"""Claude Code: its settings files, the hooks that it runs at a prompt, and a test prompt through memsift's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.claude_code.hook_entry import bare_interpreter, hook_command, may_block, slow_start
from engine.claude_code.prompt_hooks import (
    OF_ORIGINAL,
    OURS,
    PromptHook,
    all_hooks_are_off,
    of_one_machine,
    prompt_hooks,
    removal,
    several,
)
from engine.claude_code.settings_files import settings_files
from engine.doctor.finding import note, ok, problem
from engine.doctor.trial import try_hook
from engine.settings.sources import read_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from engine.claude_code.settings_files import SettingsFile
    from engine.doctor.finding import DoctorFinding

NOT_INSTALLED = "without it, no memory is injected"
MOST_COMMAND = 60
"""Characters of another program's command that are shown."""


def findings(folder: str, roots: Sequence[str], environ: Mapping[str, str]) -> list[DoctorFinding]:
    """*folder* is where the client is started, *roots* are the roots that the hook uses there."""
    files = settings_files(folder, environ)
    hooks = prompt_hooks(files, environ)
    own = [hook for hook in hooks if hook.kind == OURS]
    tried = own[0] if own else PromptHook("", hook_command(), OURS)
    return [
        *_files(files),
        *_hooks(hooks, own),
        *_timeouts(own, roots, environ),
        *_notes((*several(own), *of_one_machine(files), *_of_commands([hook.command for hook in own], environ))),
        try_hook(tried, folder, roots, environ),
    ]


def _files(files: Sequence[SettingsFile]) -> Iterator[DoctorFinding]:
    for file in files:
        if file.problem:
            yield problem("client settings", file.problem.rstrip("."), f"Open {file.path} at that line.")
    good = [file.path for file in files if file.text is not None and not file.problem]
    if good:
        yield ok("client settings", ", ".join(good))
    if off := all_hooks_are_off(files):
        yield problem("hooks", f"{off} switches all hooks off", f"Take disableAllHooks out of {off}.")


def _hooks(hooks: Sequence[PromptHook], own: Sequence[PromptHook]) -> Iterator[DoctorFinding]:
    """The hooks one by one, then whether memsift's is missing. The client starts all at the same time."""
    for number, hook in enumerate(hooks, start=1):
        limit = f", timeout {hook.timeout:g} s" if hook.timeout is not None else ""
        name = "memsift" if hook.kind == OURS else hook.command[:MOST_COMMAND]
        place = f"{number} of {len(hooks)}, started at the same time: " if len(hooks) > 1 else ""
        text = f"{place}{name} ({hook.source}{limit})"
        if hook.kind == OF_ORIGINAL:
            yield problem("hooks", f"{text}: claude-memory injects, too", removal(hook))
        else:
            yield ok("hooks", text)
    if not own:
        yield problem("hooks", f"memsift's hook is not in the settings: {NOT_INSTALLED}", "Run memsift install.")


def _of_commands(commands: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    return (*may_block(commands), *slow_start(commands, bare_interpreter(), environ))


def _notes(sentences: Iterable[str]) -> Iterator[DoctorFinding]:
    for sentence in sentences:
        text, _, fix = sentence.partition(". ")
        yield note("hooks", text, fix)


def _timeouts(own: Sequence[PromptHook], roots: Sequence[str], environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """A hook that the client would end before its own deadline."""
    needed = max((read_config(root, environ).config.allowed_seconds for root in roots), default=0.0)
    for hook in own:
        if hook.timeout is not None and hook.timeout < needed:
            text = f"the client ends the hook after {hook.timeout:g} s, but the settings allow it {needed:g} s"
            yield note("hooks", text, "Run memsift install again: it sets the timeout anew.")
