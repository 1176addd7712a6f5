"""`memsift replay`."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pickle import dumps
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.config import AUTO, DEFAULT, OFF, SYSTEMS, injected_system, is_injected, system_of
from engine.lean.json_text import printed_json
from engine.pipeline import BY_KEYWORDS
from engine.wording import counted
from tui.cli.declaring import bundle, command, option
from tui.cli.options import (
    PROMPTS_HELP,
    REPLAY_SAMPLES,
    AskedJudge,
    Bulk,
    Roots,
    StoreFile,
    Strict,
    disputed,
    exit_if_early,
    opened_store,
    patient,
    require_agreement,
    told_cutoff,
)
from tui.cli.output import report_skipped
from tui.workspace import opening
from tui.workspace.judging import opened_judge
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from engine.config import System
    from engine.conversations.prompt_files import PromptReading
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex, OpenRoots
    from labels.exchange.replay_file import UnfinishedRun
    from tui.workspace.judging import Answers
    from tui.workspace.replay.jobs import Ending
    from tui.workspace.retrievals import Injections

    Write = Callable[[dict[str, Any]], None]

NAMES = f"Systems, separated by commas: {', '.join(SYSTEMS)}. "
KEEP_ROWS = "Keep the rows in a file, and repeat the command with --resume FILE"
NO_RECORD = "Neither a transcript nor the hook's log has a record {!r} of these prompts."
NO_LIMIT = "--max-cost counts only the calls of this process: leave it or --executor out."

NAME_TRANSCRIPTS = "Name transcripts of Claude Code 2.1 or later with --prompts."


@dataclass(frozen=True)
class Replay:
    """The options of a replay, as on the command line.

    --executor: For very many prompts: replay them on the processors of this machine (processes, processes:N) or on the
        workers of a Dask cluster (dask://HOST:PORT, with the extra memsift[dask]). The rows are the same. Each worker
        asks the judge one question at a time, whatever the value of --concurrency.
    --resume: Add the rows to FILE instead of printing them, and skip the prompts in FILE. Rows without an answer of
        the judge are replayed again.
    --save: Record the retrievals in the label store, for the app, memsift report and memsift gate.
    --systems: Default: the configured search alone, with the hook's cutoff, and with the judge if there is one.
        +default is memsift's own cutoff, +cutoff the cutoff tuned for this root. injected is no search, but the
        memories that memsift's hook really injected, from transcripts and the hook's log; injected:NAME is the same
        of another hook.
    """

    roots: Roots
    files: Annotated[tuple[str, ...], option("--prompts", metavar="FILE", required=True, about=PROMPTS_HELP)]
    systems: Annotated[str | None, option("--systems", metavar="NAMES", about=NAMES)]
    judge: AskedJudge
    is_strict: Strict
    bulk: Bulk
    resume: Annotated[str | None, option("--resume", metavar="FILE")]
    executor: Annotated[str, option("--executor", metavar="NAME", default="")]
    save: Annotated[bool, option("--save")]
    db: StoreFile

    def run(self) -> tuple[Ending, int, Answers]:
        """Print the rows. Returns the end, the number of disputed verdicts, and how the judge fared."""
        from engine.conversations.injected import names_of
        from engine.phrases.measuring import find_phrased
        from labels.exchange.replay_file import run_row
        from tui.workspace.judging import Answers
        from tui.workspace.replay import replaying
        from tui.workspace.replay.jobs import opened_pool, run
        from tui.workspace.retrievals import record, with_hook_log
        from tui.workspace.root_labels import let_labels_follow, present_phrases

        judge, limits = patient(self.judge.sampling(REPLAY_SAMPLES)), self.bulk.limits()
        roots = opening.open_roots(self.roots, os.environ, judge)
        config = roots.config
        reading = with_hook_log(opening.project_prompts(self.files, os.environ), roots.paths[0], os.environ)
        disagreements, answers = 0, Answers()
        with (
            opened_store(self.db, writes=True) if self.save else nullcontext() as store,
            opened_judge(judge, config, limits) as asked,
            opening.opened_roots(roots.paths, roots.others) as index,
        ):
            chosen, cutoffs = chosen_systems(self.systems, roots, asked, names_of(reading.prompts))
            setup = replaying.ReplaySetup(roots, tuple(chosen), cutoffs, judge, self.bulk.retries, index.corpus_hash)
            here = replaying.Replayer(setup, index, asked)
            with opened_output(self.resume, [system.name for system in chosen]) as (before, write):
                has_judge = asked is not None and any(system.has_judge for system in chosen)
                if store:
                    let_labels_follow(store, index)
                if asked and has_judge:
                    replaying.refuse_another_judge(before, asked, AUTO)
                    asked.prepare()
                report_start(before, index, reading)
                report_records(chosen, reading, here.injections)

                def keep(retrieval: Retrieval) -> None:
                    nonlocal disagreements, answers
                    answers = answers.plus(Answers.of([retrieval]))
                    judge.refuse_a_miss(retrieval)
                    if store:
                        cutoff = cutoffs.get(kinds[retrieval.system])
                        record(retrieval, store, index, config, asked, cutoff, here.injections.memory)
                    write(run_row(retrieval, is_phrase=retrieval.prompt.id in phrased))
                    disagreements += disputed(retrieval)

                phrased = find_phrased({one.id: one.text for one in reading.prompts}, present_phrases(index))
                kinds = {system.name: system.cutoff for system in chosen}
                jobs = replaying.jobs_left(reading.prompts, chosen, before.pairs)
                work = partial(replaying.replay_elsewhere, dumps(setup)) if self.executor else here
                with opened_pool(self.executor, limits if has_judge else None) as pool:
                    ending = run(jobs, work, keep, limits, pool)
                return ending, disagreements, answers


@command()
def replay(wanted: Annotated[Replay, bundle(Replay)]) -> None:
    """Run prompts through systems, and print a JSON line for each prompt and system.

    Ctrl-C keeps the finished rows: the same command with --resume FILE continues where FILE ends.

    \b
    Examples:
      memsift replay --prompts prompts.jsonl --save > run.jsonl
      memsift replay --prompts prompts.jsonl --systems memsift,injected
    """
    if wanted.executor and wanted.bulk.max_cost is not None:
        raise click.UsageError(NO_LIMIT)
    ending, disagreements, answers = wanted.run()
    how = "Give the same command again" if wanted.resume else KEEP_ROWS
    exit_if_early(ending, counted(ending.jobs, "prompt"), f"{how} to go on with the rest.")
    answers.report()
    if wanted.is_strict:
        require_agreement(disagreements)


def chosen_systems(
    given: str | None, roots: OpenRoots, judge: Judge | None, injected: Sequence[str] = ()
) -> tuple[list[System], dict[str, Cutoff]]:
    """The systems to run, and kind -> cutoff for the kinds that they have. *given* is the value of --systems.

    *injected*: the records of injections that the prompts have.

    By default: the configured system alone, with the hook's cutoff, and with the judge, as far as these exist. Raises
    click.UsageError for an unknown system, a judge that was not named, or a cutoff that was not tuned.
    """
    if not given:
        config, cutoff = roots.config, told_cutoff(roots)
        kind = cutoff.kind if cutoff else OFF
        parts = ((False, OFF), (False, kind), (judge is not None, kind))
        chosen = list(dict.fromkeys(system_of(config, has_judge=j, cutoff=c) for j, c in parts))
        return chosen, {kind: cutoff} if cutoff else {}
    chosen = named_systems(given, judge, injected)
    return chosen, {system.cutoff: cutoff_for(system, roots) for system in chosen if system.has_cutoff}


def cutoff_for(system: System, roots: OpenRoots) -> Cutoff:
    """The cutoff of a system, whatever the configuration says. Raises click.UsageError if none was tuned for it."""
    from engine.cutoff import UnusableModelError, default_cutoff

    own = system.of(roots.config)
    try:
        found = default_cutoff(own) if system.cutoff == DEFAULT else opening.tuned_cutoff(roots.paths, own, os.environ)
    except UnusableModelError as error:
        raise click.UsageError(f"The tuned cutoff cannot be used for {system.name}: it {error}.") from None
    if found is None:
        raise click.UsageError(f"There is no tuned cutoff for {system.name}. `memsift tune` makes one from labels.")
    return found


def named_systems(given: str, judge: Judge | None, injected: Sequence[str]) -> list[System]:
    chosen = []
    for name in dict.fromkeys(name.strip() for name in given.split(",")):
        if is_injected(name) and name not in injected:
            known = f"There are records of {', '.join(injected)}." if injected else NAME_TRANSCRIPTS
            raise click.UsageError(f"{NO_RECORD.format(name)} {known}")
        if not is_injected(name) and name not in SYSTEMS:
            raise click.UsageError(f"There is no system {name!r}. Choose from {', '.join((*SYSTEMS, *injected))}.")
        chosen.append(injected_system(name) if is_injected(name) else SYSTEMS[name])
    if judge is None and any(system.has_judge for system in chosen):
        raise click.UsageError("Name the judge with --judge, such as --judge anthropic.")
    return chosen


def report_start(before: UnfinishedRun, index: OpenIndex, reading: PromptReading) -> None:
    """Tell which rows are asked again, which files and rows are skipped, and whether full-text search is missing."""
    if before.failed:
        tell(f"The judge gave no answer for {counted(before.failed, 'row')}. It is asked again.")
    report_skipped((*index.skipped, *reading.skipped))
    if not reading.prompts:
        tell("These files hold no prompt, so nothing was replayed. To list the prompts of a file: memsift prompts FILE")
    if not index.has_fts5:
        tell(f"{BY_KEYWORDS}.")


def report_records(chosen: Sequence[System], reading: PromptReading, injections: Injections) -> None:
    """Tell how much of what hooks injected is in no open root, and how many prompts have no record of a hook."""
    from engine.conversations.injected import is_text_id

    for name in (system.name for system in chosen if is_injected(system.name)):
        found = [record for prompt in reading.prompts if (record := injections.retrieval(prompt, name))]
        ids = [candidate.memory.id for retrieval in found for candidate in retrieval.injected]
        unknown, left = sum(map(is_text_id, ids)), len(reading.prompts) - len(found)
        strange = f" Not in an open root: {counted(unknown, 'text')}; each counts as a memory." if unknown else ""
        without = f" Without a record, so without a row: {counted(left, 'prompt')}." if left else ""
        tell(f"{name}: {counted(len(ids), 'memory')} for {counted(len(found), 'prompt')}.{strange}{without}")


@contextmanager
def opened_output(file: str | None, systems: Collection[str]) -> Iterator[tuple[UnfinishedRun, Write]]:
    """The rows that *file* has already, and a function that adds a row, to *file* or to stdout.

    A row is written whole before the function returns. Raises ExchangeError if *file* is not a run file, and
    MemsiftError if it cannot be written.
    """
    from labels.exchange.replay_file import UnfinishedRun, read_unfinished
    from tui.workspace.replay.replaying import appending

    if file is None:
        yield UnfinishedRun(), lambda row: click.echo(printed_json(row))
        return
    path = Path(file)
    found = read_unfinished(path, systems)
    with appending(path, len(found.content), found.content if found.failed else None) as write:
        yield found, write
