"""The command line. stdout is data, stderr is for people; 0 is fine, 1 a check did not hold, 2 setup or usage.

Each command imports what it needs when it runs: `memsift search` loads neither Textual nor the label store.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.config import AUTO, SEARCH, load_config
from engine.errors import MemsiftError
from engine.judge.verdict import OK, TIMEOUT
from engine.paths import labels_file
from engine.pipeline import retrieve
from engine.prompt import typed_prompt
from engine.record import replace
from engine.systems import SYSTEMS, system_of
from engine.version import __version__
from tui import opening
from tui.judge_options import REPLAY_SAMPLES, JudgeOptions, judge_options, opened_judge
from tui.output import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config
    from engine.judge.judge import Judge
    from engine.memory import Skipped
    from engine.retrieval import Retrieval
    from engine.systems import System
    from labels.measure.report import Report
    from labels.store import LabelStore
    from tui.replaying import Ending, Job
    from tui.workspace import Workspace

ROOT = click.option("--root", metavar="PATH", help="Folder of memories. Default: this project's.")
DB = click.option("--db", metavar="FILE", envvar="MEMSIFT_DB", help="Label store. Default: one per user.")
STRICT = click.option("--strict", is_flag=True, help="Exit with 1 if the samples of any verdict disagree.")
AT_ONCE = "How many prompts the judge is asked about at once."
RETRIES = "Ask again after a rate limit or a server's error, when the server says."
BATCH = "Ask in batches: half the price, and up to a day to wait. Only with the judge anthropic."
MAX_COST = "Stop before the judge has cost more than this, in US dollars."
PROMPTS = click.option(
    "--prompts",
    metavar="FILE",
    multiple=True,
    help="Prompts: transcripts, history.jsonl, JSON lines, text or a folder.",
)


class Memsift(click.Group):
    """Turns errors that a person can act on into one line on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MemsiftError as error:
            tell(str(error))
            ctx.exit(2)


@click.group(cls=Memsift, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memsift")
@ROOT
@PROMPTS
@judge_options
@DB
@click.pass_context
def main(ctx: click.Context, root: str | None, prompts: tuple[str, ...], judge: JudgeOptions, db: str | None) -> None:
    """See, label and measure the memories that coding assistants inject into prompts.

    Without a command: the app, on this project's memories and prompts.
    """
    if ctx.invoked_subcommand is None:
        found = opening.resolve_root(root, os.environ)
        require_terminal()
        run_app(opening.open_workspace(found, prompts, judge, db, os.environ))


@main.command()
@click.option("--fresh", is_flag=True, help="Forget the labels of earlier demos first.")
def demo(fresh: bool) -> None:
    """The app on bundled example memories, prompts and a scripted judge; your own labels are not touched."""
    require_terminal()
    run_app(opening.open_demo(os.environ, fresh=fresh))


@main.command()
@click.argument("query")
@ROOT
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=SEARCH, show_default=True, help="auto: as the hook.")
@click.option("--include-retired", is_flag=True, help="Find retired and archived memories too.")
@click.option("--max-results", type=click.IntRange(1, 1000), metavar="N", help="Default: 10, or 3 in auto mode.")
@judge_options
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="json", show_default=True)
@click.option(
    "--explain", is_flag=True, help="Say why each result is there, and in auto mode what was dropped, and why."
)
@click.option("--memory", "memory_id", metavar="ID", help="Explain what became of this memory, found or not.")
def search(
    query: str,
    root: str | None,
    mode: str,
    include_retired: bool,
    max_results: int | None,
    judge: JudgeOptions,
    form: str,
    explain: bool,
    memory_id: str | None,
) -> None:
    """Find memories that hold words of QUERY, best first. A judge, if one is named, leaves out the unrelated."""
    from tui.search_rows import explanations, output_width, printed

    found = opening.resolve_root(root, os.environ)
    config = judge.applied(load_config(found, os.environ), os.environ)
    if max_results:
        config = replace(config, max_results=max_results, max_inject=max_results)
    explained = None
    with opened_judge(judge, config) as asked, opening.opened_index(found) as index:
        if asked:
            asked.prepare()
        report_skipped(index.skipped)
        prompt = typed_prompt(query)
        retrieval = retrieve(prompt, index, config, mode=mode, judge=asked, include_retired=include_retired)
        refuse_a_miss(judge, retrieval)
        if explain or memory_id is not None:
            explained = explanations(retrieval, index, config, memory_id, include_retired=include_retired)
        click.echo(printed(retrieval, index, form, explained, output_width(), is_one=memory_id is not None))
    report_fallback(retrieval)


@main.command()
@click.argument("prompt")
@ROOT
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=AUTO, show_default=True, help="auto: as the hook.")
@judge_options
@STRICT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def judge(prompt: str, root: str | None, mode: str, judge: JudgeOptions, strict: bool, form: str) -> None:
    """Ask the judge about the memories that PROMPT brings up; print its verdict on each."""
    from tui.verdicts import verdict_lines, verdict_rows

    found = opening.resolve_root(root, os.environ)
    config = load_config(found, os.environ)
    enabled = replace(config, judge=replace(config.judge, enabled=True))  # who runs this wants a judge
    config = judge.applied(enabled, os.environ)
    with opened_judge(judge, config) as asked, opening.opened_index(found) as index:
        if asked is None:
            raise MemsiftError("There is no judge to ask. Name one with --judge, such as --judge anthropic.")
        asked.prepare()
        report_skipped(index.skipped)
        retrieval = retrieve(typed_prompt(prompt), index, config, mode=mode, judge=asked)
        refuse_a_miss(judge, retrieval)
    report_fallback(retrieval)
    rows = verdict_rows(retrieval)
    click.echo("\n".join(verdict_lines(rows)) if form == "text" else json.dumps(rows, indent=2, ensure_ascii=False))
    if strict:
        require_agreement(disputed(retrieval))


@main.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--include-sdk", is_flag=True, help="Also prompts from `claude -p` and the Agent SDK.")
def prompts(paths: tuple[str, ...], include_sdk: bool) -> None:
    """Print the prompts that people typed, as JSON lines.

    PATH is a transcript, a history.jsonl, JSON lines, a text file or a folder. Default: this project's transcripts.
    """
    from engine.prompt_files import read_prompts
    from tui.output import prompt_row

    reading = read_prompts(list(paths) or [opening.transcripts_folder(os.environ)], include_sdk=include_sdk)
    for prompt in reading.prompts:
        click.echo(json.dumps(prompt_row(prompt), ensure_ascii=False))
    for skipped in reading.skipped:
        tell(f"skipped {skipped.where}: {skipped.reason}")


@main.command()
@ROOT
@click.option("--prompts", "files", metavar="FILE", multiple=True, required=True, help="Prompts to replay.")
@click.option("--systems", metavar="NAMES", help=f"Comma-separated, of {', '.join(SYSTEMS)}. Default: what there is.")
@judge_options
@STRICT
@click.option("--concurrency", type=click.IntRange(1, 128), metavar="N", default=8, show_default=True, help=AT_ONCE)
@click.option("--retries", type=click.IntRange(0, 20), metavar="N", default=4, show_default=True, help=RETRIES)
@click.option("--batch", is_flag=True, help=BATCH)
@click.option("--batch-poll", type=click.FloatRange(0.01, 3600), metavar="SECONDS", default=30, show_default=True)
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help=MAX_COST)
@click.option("--resume", metavar="FILE", help="Write the rows to FILE, behind those that it holds from before.")
@click.option("--save", is_flag=True, help="Record the retrievals in the label store, for `memsift report`.")
@DB
def replay(
    root: str | None,
    files: tuple[str, ...],
    systems: str | None,
    judge: JudgeOptions,
    strict: bool,
    concurrency: int,
    retries: int,
    batch: bool,
    batch_poll: float,
    max_cost: float | None,
    resume: str | None,
    save: bool,
    db: str | None,
) -> None:
    """Run prompts through systems; print a JSON line for each prompt and system.

    Ctrl-C keeps what is done: the same command with --resume FILE goes on where FILE ends.
    """
    from labels.exchange.runs import write_row
    from tui import batching, replaying
    from tui.recording import record
    from tui.run_output import opened_output

    found = opening.resolve_root(root, os.environ)
    config = judge.applied(load_config(found, os.environ), os.environ)
    terms = replaying.Terms(retries, max_cost)
    batches = batching.batches_of_user(os.environ, batch_poll, tell) if batch else None
    if batch:
        judge, config = judge.in_batches(max_cost), batching.unsplit(config)
    reading = opening.project_prompts(files, os.environ)
    disagreements = 0
    with (
        opened_judge(judge.sampling(REPLAY_SAMPLES), config, (batches or terms).around) as asked,
        opening.opened_index(found) as index,
        opened_store(db) if save else nullcontext() as store,
        opened_output(resume) as (before, write),
    ):
        chosen = chosen_systems(systems, config, asked)
        has_judge = asked is not None and any(system.has_judge for system in chosen)
        if asked and has_judge:
            replaying.refuse_another_judge(before, asked, AUTO)
            asked.prepare()
        report_skipped((*index.skipped, *reading.skipped))

        def keep(retrieval: Retrieval) -> None:
            nonlocal disagreements
            refuse_a_miss(judge, retrieval)
            if store:
                record(retrieval, store, index, SYSTEMS[retrieval.system].of(config))
            write(write_row(retrieval))
            disagreements += disputed(retrieval)

        def work(job: Job) -> list[Retrieval]:
            return replaying.retrievals(job, index, config, asked)

        jobs = replaying.jobs_left(reading.prompts, chosen, before.pairs)
        if batches and has_judge:
            ending = replaying.run_in_batches(jobs, work, keep, batches)
        else:
            ending = replaying.run(jobs, work, keep, terms, concurrency if has_judge else 0)
    report_ending(ending, resume)
    if strict:
        require_agreement(disagreements)


@main.command()
@click.option("--run", "run_file", metavar="FILE", help="Rows of `memsift replay`, instead of the label store.")
@click.option("--qrels", metavar="FILE", help="TREC relevance labels for --run.")
@click.option(
    "--unjudged",
    type=click.Choice(["not", "exclude"]),
    default="not",
    show_default=True,
    help="What a memory without a row in --qrels counts as.",
)
@ROOT
@DB
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def report(run_file: str | None, qrels: str | None, unjudged: str, root: str | None, db: str | None, form: str) -> None:
    """Precision and its companions for each system, from your labels or from files."""
    from labels.measure import text

    if bool(run_file) != bool(qrels):
        raise click.UsageError("--run and --qrels go together: rows to measure, and labels to measure them by.")
    made = report_of_files(run_file, qrels, unjudged) if run_file and qrels else report_of_labels(root, db)
    formats = {"text": text.format_text, "json": text.format_json, "markdown": text.format_markdown}
    click.echo(formats[form](made), nl=False)


@main.command()
@click.option("--print", "is_print", is_flag=True, help="Print the settings that start the hook fastest.")
def install(is_print: bool) -> None:
    """Set the hook up in Claude Code: print the `hooks` section of a settings.json."""
    from tui.installing import hook_settings

    if not is_print:
        raise MemsiftError("There is only --print yet. Put what it prints into .claude/settings.json yourself.")
    click.echo(json.dumps(hook_settings(), indent=2))


def report_of_files(run_file: str, qrels: str, unjudged: str) -> Report:
    from labels.measure.report import report_from_files

    return report_from_files(Path(run_file), Path(qrels), unjudged)


def report_of_labels(root: str | None, db: str | None) -> Report:
    from labels.measure.report import report_from_store

    found = opening.resolve_root(root, os.environ)
    with opening.opened_index(found) as index, opened_store(db) as store:
        digests = {summary.id: summary.digest for summary in index.summaries()}
        return report_from_store(store, index.root, digests)


def opened_store(db: str | None) -> LabelStore:
    from labels.store import LabelStore

    return LabelStore.open(Path(db or labels_file(os.environ)))


def chosen_systems(given: str | None, config: Config, judge: Judge | None) -> list[System]:
    """The systems to run; by default what *config* says, without and with the judge.

    Raises click.UsageError for an unknown one, or for a judge that was not named.
    """
    if not given:
        return list(dict.fromkeys(system_of(config, has_judge=has) for has in (False, judge is not None)))
    names = list(dict.fromkeys(name.strip() for name in given.split(",")))
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown:
        raise click.UsageError(f"There is no system {unknown[0]!r}. Known are {', '.join(SYSTEMS)}.")
    chosen = [SYSTEMS[name] for name in names]
    if judge is None and any(system.has_judge for system in chosen):
        raise click.UsageError("Name the judge with --judge, such as --judge anthropic.")
    return chosen


def report_ending(ending: Ending, resume: str | None) -> None:
    """Exit with 130 after Ctrl-C, with 1 where the judge may cost no more; and say how to go on."""
    if not (ending.is_interrupted or ending.is_spent):
        return
    how = "Give the same command again" if resume else "Keep the rows in a file and give the command with --resume FILE"
    why = "--max-cost is reached" if ending.is_spent else "Stopped"
    tell(f"{why} after {ending.done:,} of {ending.jobs:,} prompts. {how} to go on with the rest.")
    click.get_current_context().exit(1 if ending.is_spent else 130)


def refuse_a_miss(judge: JudgeOptions, retrieval: Retrieval) -> None:
    """Raise MemsiftError where only the cache was to answer, and could not."""
    judgement = retrieval.judgement
    if judge.is_cached_only and judgement and judgement.status != OK:
        raise MemsiftError(judgement.detail)


def disputed(retrieval: Retrieval) -> int:
    """On how many candidates the judge's samples disagree."""
    return sum(one.verdict.is_disputed for one in retrieval.candidates if one.verdict)


def require_agreement(count: int) -> None:
    """Exit with 1 unless *count*, the number of verdicts whose samples disagree, is 0."""
    if count:
        tell(f"The judge disagrees with itself on {count:,} {'memory' if count == 1 else 'memories'}.")
        click.get_current_context().exit(1)


def report_fallback(retrieval: Retrieval) -> None:
    """One line on stderr where the judge could not answer."""
    judgement = retrieval.judgement
    if judgement and retrieval.fallback:
        more = " Give it more with --judge-timeout SECONDS." if judgement.status == TIMEOUT else ""
        tell(f"{judgement.detail or judgement.status}{more}")


def report_skipped(skipped: Sequence[Skipped]) -> None:
    """One line on stderr: how much was skipped, and the first of it."""
    if skipped:
        tell(f"{len(skipped)} skipped; {skipped[0].where}: {skipped[0].reason}")


def tell(message: str) -> None:
    """One line for people, on stderr; whatever it quotes cannot command the terminal."""
    click.echo(f"memsift: {visible(' '.join(message.split()))}", err=True)


def require_terminal() -> None:
    """Raise MemsiftError unless there is one where Textual looks for it: it reads stdin and draws on stderr."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise MemsiftError("The app needs a terminal. For scripts there are commands: see memsift --help.")


def run_app(workspace: Workspace) -> None:
    from tui.app import MemsiftApp

    try:
        MemsiftApp(workspace).run()
    finally:
        workspace.close()
