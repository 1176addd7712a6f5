"""`memsift prompts`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.lean.json_text import printed_json
from engine.paths import state_dir
from engine.wording import counted
from tui.cli.declaring import argument, command, option
from tui.cli.options import ListForm
from tui.cli.output import picked
from tui.workspace import opening
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from engine.prompt import Prompt


@command()
def prompts(
    paths: Annotated[tuple[str, ...], argument(nargs=-1, metavar="[PATH]...")],
    include_sdk: Annotated[bool, option("--include-sdk")],
    form: ListForm,
) -> None:
    """List the prompts that people typed.

    PATH is a transcript of Claude Code, a session of Codex, Gemini CLI, Qwen Code or Copilot CLI, history.jsonl, an
    export of SpecStory (.specstory/history), .aider.chat.history.md, JSON lines, a database of claude-mem, a text file
    with a prompt per line, or a folder of these. Default: the transcripts and sessions of this project, or else what
    SpecStory and aider keep in it. A session that was exported twice counts once. Prompts of opencode come from the
    hook's log, which holds their text only while logging.prompts is set.

    Output: a line for each prompt, with its id and the beginning of its text; or as JSON a line {id, prompt, context:
    [{role, text}], session_id, cwd, timestamp, source}, and for a transcript that holds the texts of hooks:
    injected: [{hook, text}]. --prompts of other commands reads such lines; only `prompt` must be there.

    \b
    Examples:
      memsift prompts > prompts.jsonl
      memsift prompts ~/.claude/projects --include-sdk

    --include-sdk: Include prompts of `claude -p`, `codex exec` and the Agent SDK.
    """
    from engine.conversations.prompt_files import read_prompts

    if not paths:
        tell_untold()
    reading = read_prompts(opening.prompt_paths(paths, os.environ), include_sdk=include_sdk)
    for prompt in reading.prompts:
        click.echo(prompt_line(prompt, form))
    for skipped in reading.skipped:
        tell(f"skipped {skipped.where}: {skipped.reason}")


def tell_untold() -> None:
    """Tell how many prompts here are in the hook's log without their text, of agents whose sessions are not read."""
    from engine.agents.registry import unread_agents
    from engine.conversations.activity_log import read_log
    from engine.settings.roots import find_roots

    roots = find_roots(os.getcwd(), os.environ).roots  # noqa: PTH109 - the engine speaks in strings
    log = read_log(*(state_dir(root, os.environ) for root in roots))
    for agent in unread_agents():
        found = sum(decision.agent == agent.name and not decision.prompt for decision in log.decisions)
        if found:
            count = f"{counted(found, 'prompt')} of {agent.title} in the hook's log without text."
            tell(f"{count} To keep the text from now on: memsift config set logging.prompts true")


def prompt_line(prompt: Prompt, form: str) -> str:
    """A line: the prompt as JSON, or its id and the beginning of its text."""
    if form == "json":
        return printed_json(prompt_row(prompt))
    return visible(f"{prompt.id}  {' '.join(prompt.text.split())[:100]}")


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as `memsift prompts` prints it and `--prompts` reads it."""
    row = {"id": prompt.id, "prompt": prompt.text, "context": [picked(turn, "role", "text") for turn in prompt.turns]}
    row |= picked(prompt, "session_id", "cwd", "timestamp", "source", *(["kind"] if prompt.kind else []))
    # what hooks added: `hook` is empty for memsift's own, `text` for a hook that was silent
    injected = [picked(injection, "hook", "text") for injection in prompt.injections]
    return {**row, "injected": injected} if injected else row
