"""`memsift list`, `memsift show` and `memsift prompts`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.errors import UnknownMemoryError
from engine.lean.json_text import printed_json
from engine.paths import state_dir
from engine.stores.writing import STATUSES
from engine.wording import aligned, counted
from tui.cli.declaring import argument, command, option
from tui.cli.options import EachRoot, ListForm, ListFormOrIds, MemoryId
from tui.cli.output import output, picked, report_notices, report_skipped, write_output
from tui.workspace import opening
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from engine.prompt import Prompt

FIELDS = ("id", "title", "category", "path", "tags", "status", "created_at", "updated_at", "digest")
PRIVATE = ("session_id", "cwd", "source")
"""Fields of a prompt that name folders and sessions of a person."""


@command("list")
def list_(
    roots: EachRoot,
    status: Annotated[str, option("--status", type=click.Choice([*STATUSES, "all"]), default="all")],
    category: Annotated[tuple[str, ...], option("--category", metavar="NAME")],
    tag: Annotated[tuple[str, ...], option("--tag", metavar="NAME")],
    text: Annotated[str, option("--text", metavar="WORDS", default="")],
    form: ListFormOrIds,
) -> None:
    """List memories.

    Output: a line for each memory, with id, status, category and title; or as JSON [{root, id, title, category, path,
    tags, status, created_at, updated_at, digest}].

    \b
    Examples:
      memsift list --status active --tag deploy
      memsift list --text "old login" --format ids | memsift retire -

    --status: Only this status.
    --category: Only this category. Repeatable.
    --tag: Only memories with this tag. Repeatable: with all of them.
    --text: Only memories that hold all of these words, best first.
    --root: the memories of all are listed.
    """
    from engine.search.query import filter_terms
    from tui.workspace.curate.curating import FoundMemory, distinct_ids, resolved

    found = []
    for root in resolved(roots):
        with opening.opened_index(root) as index:
            report_skipped(index.skipped)
            report_notices(index.notices)
            found += [
                FoundMemory(root, memory)
                for memory in index.matching(filter_terms(text))
                if status in ("all", memory.status)
                and (not category or memory.category in category)
                and set(tag) <= set(memory.tags)
            ]
    rows = [{"root": memory.root, **picked(memory.memory, *FIELDS)} for memory in found]
    if form == "ids":
        lines = [memory.memory.id for memory in found]
    else:
        summaries = zip(distinct_ids(found), (memory.memory for memory in found), strict=True)
        lines = aligned([(name, memory.status, memory.category, memory.title) for name, memory in summaries])
    click.echo(output(form, rows, lines), nl=False)


@command()
def show(memory_id: MemoryId, roots: EachRoot, form: ListForm) -> None:
    """Print the whole memory ID.

    Output: title, facts and text; or as JSON {root, id, title, category, path, tags, status, created_at, updated_at,
    digest, sections: [{heading, lines}]}.

    \b
    Example:
      memsift show deploys-use-make

    --root: the memory is looked for in all of them.
    """
    from tui.workspace.curate.curating import chosen, resolved

    (found,) = chosen([memory_id], resolved(roots))
    with opening.opened_index(found.root) as index:
        memory = index.memory(found.memory.id)
    if memory is None:
        raise UnknownMemoryError(f"{found.memory.file} has just changed, or is gone. Try again.")
    sections = [{"heading": section.heading, "lines": section.lines} for section in memory.sections]
    summary = memory.summary
    facts = {**picked(summary, "id", "status", "category"), "tags": ", ".join(summary.tags)}
    facts |= {"created": summary.created_at, "updated": summary.updated_at, "file": summary.file}
    lines = [summary.title, "", *(f"{name + ':':<10}{value}" for name, value in facts.items() if value)]
    for section in memory.sections:
        lines += ["", *([section.heading] if section.heading else []), *(f"  {line}" for line in section.lines)]
    click.echo(output(form, {"root": found.root, **picked(summary, *FIELDS), "sections": sections}, lines), nl=False)


@command()
def prompts(
    paths: Annotated[tuple[str, ...], argument(nargs=-1, metavar="[PATH]...")],
    include_sdk: Annotated[bool, option("--include-sdk")],
    file: Annotated[str | None, option("--output", metavar="FILE")],
    form: ListForm,
) -> None:
    """List the prompts that people typed.

    PATH is a transcript of Claude Code, a session of Codex, Gemini CLI, Qwen Code or Copilot CLI, history.jsonl, an
    export of SpecStory (.specstory/history), .aider.chat.history.md, JSON lines, a database of claude-mem, a text file
    with a prompt per line, or a folder of these. Default: the transcripts and sessions of this project, or else the
    exports of SpecStory and aider in it. A session that was exported twice counts once. Prompts of opencode come from
    the hook's log, which holds their text only if logging.prompts is set.

    Output: a line for each prompt, with its id and the beginning of its text; or as JSON a line {id, prompt, context:
    [{role, text}], session_id, cwd, timestamp, source}, and for a transcript that holds the texts of hooks:
    injected: [{hook, text}]. --prompts of other commands reads such lines; only `prompt` must be there.

    \b
    Examples:
      memsift prompts --output .memsift/prompts.jsonl
      memsift prompts ~/.claude/projects --include-sdk

    --include-sdk: Include prompts of `claude -p`, `codex exec` and the Agent SDK.
    --output: Write them to FILE as JSON lines, to be shared: without session_id, cwd and source, which name your
        folders.
    """
    from engine.conversations.prompt_files import read_prompts

    if not paths:
        tell_untold()
    reading = read_prompts(opening.prompt_paths(paths, os.environ), include_sdk=include_sdk)
    for skipped in reading.skipped:
        tell(f"skipped {skipped.where}: {skipped.reason}")
    if file:
        rows = ({name: part for name, part in prompt_row(own).items() if part} for own in reading.prompts)
        shared = ({name: part for name, part in row.items() if name not in PRIVATE} for row in rows)
        write_output("".join(f"{printed_json(row)}\n" for row in shared), file)
        return
    for prompt in reading.prompts:
        click.echo(prompt_line(prompt, form))


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
            count = f"The hook's log has {counted(found, 'prompt')} of {agent.title} without text."
            tell(f"{count} To log texts from now on: memsift config set logging.prompts true")


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
