"""`memsift prompts`."""

from __future__ import annotations

import json
import os

import click

from tui.cli.telling import tell
from tui.workspace import opening


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--include-sdk", is_flag=True, help="Also prompts from `claude -p` and the Agent SDK.")
def prompts(paths: tuple[str, ...], include_sdk: bool) -> None:
    """Print the prompts that people typed, as JSON lines.

    PATH is a transcript, a history.jsonl, JSON lines, a text file or a folder. Default: this project's transcripts.
    """
    from engine.claude_code.prompt_files import read_prompts
    from tui.cli.output import prompt_row

    reading = read_prompts(list(paths) or [opening.transcripts_folder(os.environ)], include_sdk=include_sdk)
    for prompt in reading.prompts:
        click.echo(json.dumps(prompt_row(prompt), ensure_ascii=False))
    for skipped in reading.skipped:
        tell(f"skipped {skipped.where}: {skipped.reason}")
