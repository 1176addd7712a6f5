"""`memsift prompts`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.lean.json_text import printed_json
from tui.cli.options import argument, command, option
from tui.cli.output import picked
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from engine.prompt import Prompt


@command()
def prompts(
    paths: Annotated[tuple[str, ...], argument(nargs=-1, metavar="[PATH]...")],
    include_sdk: Annotated[bool, option("--include-sdk")],
) -> None:
    """Print the prompts that people typed, as JSON lines.

    PATH is a transcript of Claude Code, a session of Codex, Gemini CLI or Qwen Code, history.jsonl, an export of
    SpecStory (.specstory/history), .aider.chat.history.md, JSON lines, a database of claude-mem, a text file with a
    prompt per line, or a folder of these. Default: the transcripts and sessions of this project, or else what
    SpecStory and aider keep in it. A session that was exported twice counts once.

    Each line is {id, prompt, context: [{role, text}], session_id, cwd, timestamp, source}, and for a transcript that
    holds the texts of hooks: injected: [{hook, text}]. --prompts of other commands reads such lines; only `prompt` must
    be there.

    --include-sdk: Include prompts of `claude -p`, `codex exec` and the Agent SDK.
    """
    from engine.conversations.prompt_files import read_prompts

    reading = read_prompts(opening.prompt_paths(paths, os.environ), include_sdk=include_sdk)
    for prompt in reading.prompts:
        click.echo(printed_json(prompt_row(prompt)))
    for skipped in reading.skipped:
        tell(f"skipped {skipped.where}: {skipped.reason}")


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as `memsift prompts` prints it and `--prompts` reads it."""
    row = {"id": prompt.id, "prompt": prompt.text, "context": [picked(turn, "role", "text") for turn in prompt.turns]}
    row |= picked(prompt, "session_id", "cwd", "timestamp", "source", *(["kind"] if prompt.kind else []))
    # what hooks added: `hook` is empty for memsift's own, `text` for a hook that was silent
    injected = [picked(injection, "hook", "text") for injection in prompt.injections]
    return {**row, "injected": injected} if injected else row
