"""Options that several commands share, and functions for their effects."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from engine.config import LIMITS
from engine.errors import MemsiftError
from engine.judge.providers.registry import KNOWN, NO_JUDGE
from engine.judge.verdict import DEPTHS
from engine.paths import labels_file
from engine.wording import counted
from tui.cli.help import JudgeOption
from tui.workspace import opening
from tui.workspace.judge_options import Asking, JudgeOptions
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.retrieval import Retrieval
    from labels.database import LabelDatabase
    from labels.store import LabelStore

    F = TypeVar("F", bound=Callable[..., Any])

ROOTS_HELP = (
    "Folder or file of memories, whoever owns it. Default: each .claude/memory of yours, up to the repository's top, "
    "this project's auto memory, and `roots` in config.toml"
)
PROMPTS_DEFAULT = (
    "Default: the sessions of all agents in this project, or else what SpecStory and aider keep in it, or else the "
    "prompts that were replayed here."
)
PROMPTS_HELP = (
    "Prompts: a transcript, history.jsonl, an export of SpecStory, aider's .aider.chat.history.md, JSON lines, a "
    "database of claude-mem, a text file with a prompt per line, or a folder of these. Repeatable."
)
REPLAY_SAMPLES = 3
"""A replay measures, and one answer alone is partly chance. Everywhere else a person waits for the answer."""


def known_order(_context: click.Context, _option: click.Parameter, order: str | None) -> str | None:
    """Check --order. `labels` is imported only if the option was given."""
    if order is not None:
        from labels.labelling_order import ORDERS

        if order not in ORDERS:
            raise click.BadParameter(f"there is no order {order!r}. Choose from {', '.join(ORDERS)}.")
    return order


def only_one(_context: click.Context, _option: click.Parameter, roots: tuple[str, ...]) -> str | None:
    """The only root. Without this check, click would silently take the last of several."""
    if len(set(roots)) > 1:
        raise click.BadParameter(f"this command is about one folder of memories, not about {len(set(roots))}.")
    return roots[0] if roots else None


TOGETHER = "all are searched together, as in the hook, and give one result."
"""The help on several roots, for most commands."""


def roots_option(of_several: str) -> Callable[[F], F]:
    """The option --root, repeatable. *of_several*: the help on more than one root."""
    return click.option(
        "--root", "roots", metavar="PATH", multiple=True, help=f"{ROOTS_HELP}. Repeatable: {of_several}"
    )


def gathered(name: str, make: Callable[..., Any], options: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """A decorator that gives a command *options*. It gets what *make* makes of them, as the argument *name*."""

    def give(command: F) -> F:
        @wraps(command)
        def gathering(*given: Any, **others: Any) -> Any:
            own = {option: others.pop(option) for option in signature(make).parameters}
            return command(*given, **{name: make(**own)}, **others)

        found = cast("F", gathering)
        for option in reversed(options):
            found = option(found)
        return found

    return give


def ids_given(_context: click.Context, _argument: click.Parameter, ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids, each once. For "-" those of stdin, one on each line, as `--format ids` prints them."""
    lines = [line.strip() for line in sys.stdin] if "-" in ids else []
    given = [memory_id for argument in ids for memory_id in (lines if argument == "-" else [argument])]
    return tuple(dict.fromkeys(filter(None, given)))


IDS = click.argument("ids", metavar="ID...|-", nargs=-1, required=True, callback=ids_given)
ROOT = click.option(
    "--root", metavar="PATH", multiple=True, callback=only_one, help=f"{ROOTS_HELP}: the first of them."
)
PROMPTS = click.option("--prompts", metavar="FILE", multiple=True, help=f"{PROMPTS_HELP} {PROMPTS_DEFAULT}")
DB = click.option(
    "--db",
    metavar="FILE",
    envvar="MEMSIFT_DB",
    help="Label store, a SQLite file. Default: MEMSIFT_DB, else ~/.local/share/memsift/labels.db.",
)
ORDER = click.option(
    "--order",
    metavar="NAME",
    callback=known_order,
    help="Order of the prompts to label: random, stratified, disagreement-first (systems inject different memories) "
    "or uncertain-first (near the threshold of the cutoff). Default: the last order, at first random.",
)
PLAIN = click.option(
    "--plain",
    is_flag=True,
    help="Open the app for a screen reader: words in place of signs, one column, and a line that says where the cursor "
    "is. `plain = true` under [app] in config.toml does so always.",
)
RUN = click.option(
    "--run", "run_file", metavar="FILE", help="Output of `memsift replay` to measure, instead of the label store."
)
TREC_FORM = "in TREC form: lines of prompt id, 0, memory id, 1 (relevant) or 0"
QRELS = click.option("--qrels", metavar="FILE", help=f"Relevance labels for --run, {TREC_FORM}.")
UNJUDGED = click.option(
    "--unjudged",
    type=click.Choice(["not", "exclude"]),
    default="not",
    show_default=True,
    help="Count a memory without a row in --qrels as not relevant, or exclude it.",
)
STRICT = click.option(
    "--strict", is_flag=True, help="Exit with 1 if the samples of the judge disagree about any memory."
)
TEXT_OR_JSON = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people or JSON for programs.",
)
TEXT_JSON_OR_IDS = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "ids"]),
    default="text",
    show_default=True,
    help="Text for people, JSON for programs, or only the ids, for a command that takes - as ID.",
)
FULL = click.option("--full", "is_full", is_flag=True, help="Print everything in text form, not only the first lines.")
judge_option = partial(click.option, cls=JudgeOption)
JUDGE_OPTIONS = (
    judge_option(
        "--judge",
        metavar="NAME",
        help=f"The judge: {', '.join(KNOWN)}, or {NO_JUDGE} for cached answers only; see memsift judge --help. "
        "Default: MEMSIFT_JUDGE, else judge.provider if judge.enabled is set in memory-config.json.",
    ),
    judge_option("--no-judge", is_flag=True, help="Use no judge, whatever environment and configuration say."),
    judge_option(
        "--judge-model", metavar="NAME", help="The judge's model. Default: MEMSIFT_JUDGE_MODEL, else judge.model."
    ),
    judge_option(
        "--judge-timeout",
        metavar="SECONDS",
        type=click.FloatRange(*LIMITS["timeout_per_call"]),
        help="Time limit for all calls about a prompt, or for each sample. Default: MEMSIFT_JUDGE_TIMEOUT, else "
        "judge.timeout_per_call, else 3; in replay and quality judge at least 60.",
    ),
    judge_option(
        "--judge-depth",
        type=click.Choice(DEPTHS),
        help="keep: the judge only lists the memories to keep. explained: a decision, a confidence and a sentence for "
        "each memory; slower, so add --judge-timeout 20. Default: MEMSIFT_JUDGE_DEPTH, else judge.depth, else keep.",
    ),
    judge_option(
        "--judge-samples",
        metavar="K",
        type=click.IntRange(1, 15),
        envvar="MEMSIFT_JUDGE_SAMPLES",
        help="Ask up to K times, each time with the candidates in another order; the majority decides. "
        f"Default: MEMSIFT_JUDGE_SAMPLES, else {REPLAY_SAMPLES} in replay and 1 elsewhere.",
    ),
    judge_option("--judge-refresh", is_flag=True, help="Ask again where the cache has an answer, and replace it."),
)


def judge_of(
    judge: str | None,
    judge_model: str | None,
    judge_timeout: float | None,
    judge_depth: str | None,
    no_judge: bool,
    judge_refresh: bool,
    judge_samples: int | None,
) -> JudgeOptions:
    """The judge's options. Raises click.UsageError for options that contradict each other."""
    if no_judge and judge is not None:
        raise click.UsageError(f"--no-judge and --judge {judge} contradict each other: leave one out.")
    if judge == NO_JUDGE and judge_refresh:
        raise click.UsageError("--judge none makes no calls, so --judge-refresh has no effect: leave one out.")
    return JudgeOptions(judge, judge_model, judge_timeout, judge_depth, no_judge, judge_refresh, judge_samples)


judge_options = gathered("judge", judge_of, JUDGE_OPTIONS)


AT_ONCE = (
    "Largest number of questions to the judge at the same time: two at first, more while it answers in time. The "
    "workers of --executor share it, and each asks at least one."
)
RETRIES = (
    "Number of repeated calls after a rate limit or a server error: when the server allows it, else after 0.25 s, and "
    "twice as long each time."
)
BATCH = (
    "Ask through the Message Batches API: half the price, and up to a day to wait. Only with --judge anthropic. The "
    "same command fetches the batches of a process that ended."
)
POLL = "Seconds between two questions whether a batch is done."
MAX_COST = "Stop before the judge costs more than this, in US dollars. The exit code is 1 if it stopped."
BULK_OPTIONS = (
    judge_option("--concurrency", type=click.IntRange(1, 128), metavar="N", default=8, show_default=True, help=AT_ONCE),
    judge_option("--retries", type=click.IntRange(0, 20), metavar="N", default=4, show_default=True, help=RETRIES),
    judge_option("--batch", is_flag=True, help=BATCH),
    judge_option(
        "--batch-poll", type=click.FloatRange(0.01, 3600), metavar="SECONDS", default=30, show_default=True, help=POLL
    ),
    judge_option("--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help=MAX_COST),
)


@dataclass(frozen=True)
class BulkOptions:
    """The options for many calls of a judge."""

    concurrency: int
    retries: int
    batch: bool
    batch_poll: float
    max_cost: float | None

    def asking(self, judge: JudgeOptions) -> Asking:
        """How *judge* is asked. Raises click.UsageError for options of it that do not go with --batch."""
        if self.batch and self.max_cost is not None:
            raise click.UsageError("--max-cost does not work with --batch: a batch is paid for as a whole.")
        if self.batch and judge.is_cached_only:
            raise click.UsageError("--judge none makes no calls, so --batch has no effect: leave one out.")
        judge = replace(judge, is_batched=self.batch, is_patient=True)
        return Asking(judge, self.concurrency, self.retries, self.batch_poll if self.batch else 0.0)


bulk_options = gathered("bulk", BulkOptions, BULK_OPTIONS)


EXECUTOR = (
    "For large runs: work in parts, on the processors of this machine (processes, processes:N) or on a Dask cluster "
    "(dask://HOST:PORT, with the extra memsift[dask])."
)
PARTS = "The folder for the rows, a file for each part. With a folder of the same run, finished parts are skipped."


@dataclass(frozen=True)
class PartsOptions:
    """The options for a run in parts; each text is empty, and the size None, if it was not given."""

    executor: str
    parts: str
    part_size: int | None

    def are_given(self, refusal: str, *others: object) -> bool:
        """Whether the run goes in parts. Raises click.UsageError if an option is missing, or any of *others* is set."""
        if (self.executor or self.parts) and (not self.executor or not self.parts or any(others)):
            raise click.UsageError(f"--executor and --parts go together, {refusal}")
        return bool(self.parts)


def parts_options(things: str) -> Callable[[F], F]:
    """The options for a run in parts, of prompts or memories."""
    help_size = f"{things} in a part. Default: what a worker does in some seconds, and in half a minute with a judge."
    options = (
        click.option("--executor", metavar="NAME", default="", help=EXECUTOR),
        click.option("--parts", metavar="FOLDER", default="", help=PARTS),
        click.option("--part-size", metavar="N", type=click.IntRange(1), help=help_size),
    )
    return gathered("parts", PartsOptions, options)


def disputed(retrieval: Retrieval) -> int:
    """On how many candidates the judge's samples disagree."""
    return sum(candidate.verdict.is_disputed for candidate in retrieval.candidates if candidate.verdict)


def require_agreement(count: int) -> None:
    """For --strict: exit with 1 if *count*, the number of verdicts whose samples disagree, is not 0."""
    if count:
        tell(f"The judge disagrees with itself on {counted(count, 'memory')}.")
        click.get_current_context().exit(1)


def opened_cutoff(root: str, config: Config) -> Cutoff | None:
    """The cutoff that the hook uses, if any. stderr tells if the hook ignores a tuned one."""
    cutoff, problem = opening.hook_cutoff(root, config, os.environ)
    if problem:
        tell(f"The tuned cutoff is ignored: it {problem}.")
    return cutoff


def opened_store(db: str | None, *, writes: bool = False) -> LabelStore:
    """The label store at `store_path`."""
    from labels.store import LabelStore

    return LabelStore.open(store_path(db, writes=writes))


def opened_labels(db: str | None, *, writes: bool = False) -> closing[LabelDatabase]:
    """The database under the label store, for commands that copy it as a whole."""
    from labels.database import LabelDatabase

    return closing(LabelDatabase(store_path(db, writes=writes)))


def store_path(db: str | None, *, writes: bool) -> Path:
    """The label store *db*, or the user's own file, which need not exist yet.

    Raises MemsiftError if the command only reads, and *db* does not exist: a misspelt name must not become a new store.
    """
    path = Path(db or labels_file(os.environ))
    if db and not writes and not path.exists():
        raise MemsiftError(
            f"There is no label store {path}. Check --db and MEMSIFT_DB. memsift replay --save, memsift import and the "
            "app make a new one."
        )
    return path
