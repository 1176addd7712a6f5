"""Options that several commands share, and functions for their effects.

--root: Folder or file of memories, whoever owns it. Default: each .claude/memory of yours, up to the repository's top,
    this project's auto memory, and `roots` in config.toml
--prompts: Prompts: a transcript, history.jsonl, an export of SpecStory, aider's .aider.chat.history.md, JSON lines, a
    database of claude-mem, a text file with a prompt per line, or a folder of these. Repeatable.
--db: Label store, a SQLite file. Default: MEMSIFT_DB, else ~/.local/share/memsift/labels.db.
--plain: Open the app for a screen reader: words in place of signs, one column, and a line that says where the cursor
    is. `plain = true` under [app] in config.toml always does so.
--unjudged: Count a memory without a row in --qrels as not relevant, or exclude it.
--strict: Exit with 1 if the samples of the judge disagree about any memory.
--full: Print everything in text form, not only the first lines.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.config import LIMITS
from engine.errors import MemsiftError
from engine.judge.providers.registry import KNOWN, NO_JUDGE
from engine.judge.verdict import DEPTHS
from engine.paths import labels_file
from engine.wording import counted
from tui.cli.declaring import JudgeOption, argument, bundle, help_of, option
from tui.workspace.judging import JudgeOptions
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from engine.cutoff import Cutoff
    from engine.judge.limits import Limits
    from engine.retrieval import Retrieval
    from engine.roots import OpenRoots
    from labels.database import LabelDatabase
    from labels.measure.evidence import Evidence
    from labels.store import LabelStore
    from tui.cli.declaring import Declaration
    from tui.workspace.replay.jobs import Ending


PROMPTS_DEFAULT = (
    "Default: the sessions of all agents in this project, or else the exports of SpecStory and aider in it, or else "
    "the prompts that were replayed here."
)
SHARED = help_of(sys.modules[__name__])[1]
ROOTS_HELP, PROMPTS_HELP = SHARED["--root"], SHARED["--prompts"]
REPLAY_SAMPLES = 3
"""A replay measures, and one answer alone is partly chance. Everywhere else a person waits for the answer."""


def only_one(_context: click.Context, _option: click.Parameter, roots: tuple[str, ...]) -> str | None:
    """The only root. Without this check, click would silently take the last of several."""
    if len(set(roots)) > 1:
        raise click.BadParameter(f"this command takes one folder of memories, not {len(set(roots))}.")
    return roots[0] if roots else None


def format_option(*names: str, about: str = "") -> Declaration:
    """The option --format with these names. The first is the default."""
    return option("--format", type=click.Choice(names), default=names[0], about=about)


def list_format(*names: str, about: str) -> Declaration:
    """The option --format of a command that lists: by default text in a terminal, and JSON in a pipe."""
    about = f"{about} Default: text in a terminal, JSON in a pipe."
    usual = lambda *given: given[-1] or ("text" if sys.stdout.isatty() else "json")  # noqa: E731
    return option("--format", type=click.Choice(names), callback=usual, about=about)


def roots_option(of_several: str = "") -> Declaration:
    """The option --root, repeatable. *of_several*: the help on more than one root."""
    return option("--root", metavar="PATH", about=f"{ROOTS_HELP}. Repeatable: {of_several}")


def ids_given(_context: click.Context, _argument: click.Parameter, ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids, each once. For "-" those of stdin, one on each line, as `--format ids` prints them."""
    lines = [line.strip() for line in sys.stdin] if "-" in ids else []
    given = (memory_id for argument in ids for memory_id in (lines if argument == "-" else [argument]))
    return tuple(dict.fromkeys(filter(None, given)))


TREC_FORM = "in TREC form: lines of prompt id, 0, memory id, 1 (relevant) or 0"
QRELS = f"Relevance labels for --run, {TREC_FORM}."
WITH_IDS = "Text for people, JSON for programs, or only the ids, for a command that takes - as ID."

Roots = Annotated[tuple[str, ...], roots_option("all are searched together, as in the hook, and give one result.")]
EachRoot = Annotated[tuple[str, ...], roots_option()]
LookedIn = Annotated[tuple[str, ...], roots_option("the memories are looked for in all of them.")]
MemoryId = Annotated[str, argument(metavar="ID")]
Ids = Annotated[tuple[str, ...], argument(metavar="ID...|-", nargs=-1, required=True, callback=ids_given)]
PromptFiles = Annotated[tuple[str, ...], option("--prompts", metavar="FILE", about=f"{PROMPTS_HELP} {PROMPTS_DEFAULT}")]
StoreFile = Annotated[str | None, option("--db", metavar="FILE", envvar="MEMSIFT_DB", about=SHARED["--db"])]
Plain = Annotated[bool, option("--plain", about=SHARED["--plain"])]
Unjudged = Annotated[
    str, option("--unjudged", type=click.Choice(["not", "exclude"]), default="not", about=SHARED["--unjudged"])
]
Strict = Annotated[bool, option("--strict", about=SHARED["--strict"])]
Full = Annotated[bool, option("--full", about=SHARED["--full"])]
FOR_WHOM = "Text for people or JSON for programs."
TextOrJson = Annotated[str, format_option("text", "json", about=FOR_WHOM)]
TextJsonOrIds = Annotated[str, format_option("text", "json", "ids", about=WITH_IDS)]
ListForm = Annotated[str, list_format("text", "json", about=FOR_WHOM)]
ListFormOrIds = Annotated[str, list_format("text", "json", "ids", about=WITH_IDS)]
FIRST = f"{ROOTS_HELP}: the first of them."
OneRoot = Annotated[str | None, option("--root", metavar="PATH", multiple=True, callback=only_one, about=FIRST)]
judge_option = partial(option, cls=JudgeOption)

JUDGES = f"The judge: {', '.join(KNOWN)}, or {NO_JUDGE} for cached answers only; see memsift judge --help. "
TIMES = click.FloatRange(*LIMITS["timeout_per_call"])
TIMES_ASKED = click.IntRange(1, 15)
VARIABLE = "MEMSIFT_JUDGE_SAMPLES"


def judge_of(
    name: Annotated[str | None, judge_option("--judge", metavar="NAME", about=JUDGES)],
    is_off: Annotated[bool, judge_option("--no-judge")],
    model: Annotated[str | None, judge_option("--judge-model", metavar="NAME")],
    timeout_s: Annotated[float | None, judge_option("--judge-timeout", metavar="SECONDS", type=TIMES)],
    depth: Annotated[str | None, judge_option("--judge-depth", type=click.Choice(DEPTHS))],
    samples: Annotated[int | None, judge_option("--judge-samples", metavar="K", type=TIMES_ASKED, envvar=VARIABLE)],
    is_refreshing: Annotated[bool, judge_option("--judge-refresh")],
) -> JudgeOptions:
    """The judge's options. Raises click.UsageError for options that contradict each other.

    --judge: Default: MEMSIFT_JUDGE, else judge.provider if judge.enabled is set in memory-config.json.
    --no-judge: Use no judge, whatever environment and configuration say.
    --judge-model: The judge's model. Default: MEMSIFT_JUDGE_MODEL, else judge.model.
    --judge-timeout: Time limit for all calls about a prompt, or for each sample. Default: MEMSIFT_JUDGE_TIMEOUT,
        else judge.timeout_per_call, else 3; in replay and quality judge at least 60.
    --judge-depth: keep: the judge only lists the memories to keep. explained: a decision, a confidence and a
        sentence for each memory; slower, so add --judge-timeout 20. Default: MEMSIFT_JUDGE_DEPTH, else judge.depth,
        else keep.
    --judge-samples: Ask up to K times, each time with the candidates in another order; the majority decides. Default:
        MEMSIFT_JUDGE_SAMPLES, else 3 in replay and 1 elsewhere.
    --judge-refresh: Ask again where the cache has an answer, and replace it.
    """
    if is_off and name is not None:
        raise click.UsageError(f"--no-judge and --judge {name} contradict each other: leave one out.")
    if name == NO_JUDGE and is_refreshing:
        raise click.UsageError("--judge none makes no calls, so --judge-refresh has no effect: leave one out.")
    return JudgeOptions(name, model, timeout_s, depth, is_off, is_refreshing, samples)


AskedJudge = Annotated[JudgeOptions, bundle(judge_of)]

ABOVE_ZERO = click.FloatRange(min=0, min_open=True)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@dataclass(frozen=True)
class BulkOptions:
    """The options for many calls of a judge.

    --concurrency: Largest number of questions to the judge at the same time: two at first, more while it answers in
        time.
    --retries: Number of repeated calls after a rate limit or a server error: when the server allows it, else after
        0.25 s, and twice as long each time. After the time limit a call is repeated once.
    --max-cost: Stop before the judge costs more than this, in US dollars. The exit code is then 1.
    """

    concurrency: Annotated[int, judge_option("--concurrency", type=click.IntRange(1, 128), metavar="N", default=8)]
    retries: Annotated[int, judge_option("--retries", type=click.IntRange(0, 20), metavar="N", default=4)]
    max_cost: Annotated[float | None, judge_option("--max-cost", type=ABOVE_ZERO, metavar="USD")]

    def limits(self) -> Limits:
        from engine.judge.limits import Limits

        return Limits(self.concurrency, self.retries, self.max_cost)


def patient(judge: JudgeOptions) -> JudgeOptions:
    """*judge* where no person waits for each answer."""
    return replace(judge, is_patient=True)


Bulk = Annotated[BulkOptions, bundle(BulkOptions)]


@dataclass(frozen=True)
class RunFiles:
    """The files to measure in place of the label store: both or none.

    --run: Output of `memsift replay` to measure, instead of the label store.
    """

    run: Annotated[str, option("--run", metavar="FILE", default="")]
    qrels: Annotated[str, option("--qrels", metavar="FILE", default="", about=QRELS)]
    unjudged: Unjudged

    def __post_init__(self) -> None:
        if bool(self.run) != bool(self.qrels):
            raise click.UsageError("--run and --qrels go together: name both.")

    @property
    def are_given(self) -> bool:
        return bool(self.run)

    def evidence(self) -> Evidence:
        """Raises ExchangeError for an unreadable file."""
        from labels.exchange.replay_file import read_outcomes
        from labels.exchange.trec import read_graded_qrels
        from labels.measure.evidence import evidence_from_qrels

        judgements, slight = read_graded_qrels(Path(self.qrels))
        return evidence_from_qrels(read_outcomes(Path(self.run)), judgements, self.unjudged, slight)


MeasuredFiles = Annotated[RunFiles, bundle(RunFiles)]


def disputed(retrieval: Retrieval) -> int:
    """On how many candidates the judge's samples disagree."""
    return sum(candidate.verdict.is_disputed for candidate in retrieval.candidates if candidate.verdict)


def require_agreement(count: int) -> None:
    """For --strict: exit with 1 if *count*, the number of verdicts whose samples disagree, is not 0."""
    if count:
        tell(f"The judge disagrees with itself on {counted(count, 'memory')}.")
        click.get_current_context().exit(1)


def exit_if_early(ending: Ending, of_all: str, how: str) -> None:
    """After an early end, tell how to continue. Exit with 130 after Ctrl-C, with 1 at the cost limit."""
    if ending.is_interrupted or ending.is_spent:
        why = "--max-cost is reached" if ending.is_spent else "Stopped"
        tell(f"{why} after {ending.done:,} of {of_all}. {how}")
        click.get_current_context().exit(1 if ending.is_spent else 130)


def told_cutoff(roots: OpenRoots) -> Cutoff | None:
    """The cutoff that the hook uses, if any. stderr tells if the hook ignores a tuned one."""
    if roots.problem:
        tell(f"The tuned cutoff is ignored: it {roots.problem}.")
    return roots.cutoff


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
