"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import json
import os
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from engine.config import LIMITS
from engine.judge.providers.registry import KNOWN, NO_JUDGE
from engine.judge.verdict import DEPTHS
from engine.paths import labels_file
from tui.workspace import opening
from tui.workspace.judge_options import JudgeOptions
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.retrieval import Retrieval
    from labels.database import LabelDatabase
    from labels.store import LabelStore

    F = TypeVar("F", bound=Callable[..., Any])

REPLAY_SAMPLES = 3
"""A replay measures, and one answer alone is partly chance. Everywhere else a person waits for the answer."""


def known_order(_context: click.Context, _option: click.Parameter, order: str | None) -> str | None:
    """Check --order. `labels` is imported only if the option was given."""
    if order is not None:
        from labels.orders import ORDERS

        if order not in ORDERS:
            raise click.BadParameter(f"{order!r} is none of {', '.join(ORDERS)}.")
    return order


def only_one(_context: click.Context, _option: click.Parameter, roots: tuple[str, ...]) -> str | None:
    """The only root. Without this check, click would silently take the last of several."""
    if len(set(roots)) > 1:
        raise click.BadParameter(f"the app is open on one folder of memories at a time, not on {len(set(roots))}.")
    return roots[0] if roots else None


def roots_option(of_several: str) -> Callable[[F], F]:
    """`--root`, repeatable; *of_several* says what a command does with more than one."""
    text = f"Folder of memories. Default: this project's. Of several, {of_several}"
    return click.option("--root", "roots", metavar="PATH", multiple=True, help=text)


ROOT = click.option(
    "--root", metavar="PATH", multiple=True, callback=only_one, help="Folder of memories. Default: this project's."
)
DB = click.option("--db", metavar="FILE", envvar="MEMSIFT_DB", help="Label store. Default: one per user.")
STRICT = click.option("--strict", is_flag=True, help="Exit with 1 if the samples of any verdict disagree.")
ORDER = click.option(
    "--order",
    metavar="NAME",
    callback=known_order,
    help="Prompts to label first: random, stratified, disagreement-first or uncertain-first. Default: as last time.",
)
PROMPTS = click.option(
    "--prompts",
    metavar="FILE",
    multiple=True,
    help="Prompts: transcripts, history.jsonl, JSON lines, text or a folder.",
)
JUDGE_OPTIONS = (
    click.option(
        "--judge", metavar="NAME", help=f"{', '.join(KNOWN)}, or {NO_JUDGE}: only what the cache holds of the judge."
    ),
    click.option("--no-judge", is_flag=True, help="Without a judge."),
    click.option("--judge-model", metavar="NAME", help="The model to ask."),
    click.option(
        "--judge-timeout",
        metavar="SECONDS",
        type=click.FloatRange(*LIMITS["timeout_per_call"]),
        help="For everything that one prompt asks, or each sample of it.",
    ),
    click.option(
        "--judge-depth",
        type=click.Choice(DEPTHS),
        help="Which memories to keep, or a decision, a confidence and a sentence for each.",
    ),
    click.option(
        "--judge-samples",
        metavar="K",
        type=click.IntRange(1, 15),
        envvar="MEMSIFT_JUDGE_SAMPLES",
        help=f"Ask K times and let the majority decide. Default: {REPLAY_SAMPLES} in replay, else 1.",
    ),
    click.option("--judge-refresh", is_flag=True, help="Ask anew, whatever the cache holds, and keep the answers."),
)


def judge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command* the judge's options. It receives them as one JudgeOptions, named `judge`."""

    @wraps(command)
    def with_judge(
        *given: Any,
        judge: str | None,
        no_judge: bool,
        judge_model: str | None,
        judge_timeout: float | None,
        judge_depth: str | None,
        judge_refresh: bool,
        judge_samples: int | None,
        **others: Any,
    ) -> Any:
        if no_judge and judge is not None:
            raise click.UsageError(f"--no-judge and --judge {judge} contradict each other.")
        if judge == NO_JUDGE and judge_refresh:
            raise click.UsageError("--judge none asks nobody, so that --judge-refresh has nothing to refresh with.")
        options = JudgeOptions(judge, judge_model, judge_timeout, judge_depth, no_judge, judge_refresh, judge_samples)
        return command(*given, judge=options, **others)

    for option in reversed(JUDGE_OPTIONS):
        with_judge = option(with_judge)
    return with_judge


def of_roots(made: Mapping[str, str], form: str) -> str:
    """The output of a command over some roots: root -> its text in the format *form*. One root's text stays as it is.

    Of several, JSON documents become an array of objects with `root` first, "jsonl" rows get it each, and texts stand
    one after the other under their roots.
    """
    if len(made) == 1:
        return next(iter(made.values()))
    if form == "json":
        rows = [{"root": root, **json.loads(text)} for root, text in made.items()]
        return f"{json.dumps(rows, indent=2, ensure_ascii=False)}\n"
    if form == "jsonl":
        lines = [(root, line) for root, text in made.items() for line in text.splitlines()]
        return "".join(f"{json.dumps({'root': root, **json.loads(line)})}\n" for root, line in lines)
    mark = "# " if form == "markdown" else ""
    return "\n".join(f"{mark}{visible(root)}\n\n{text}" for root, text in made.items())


def disputed(retrieval: Retrieval) -> int:
    """On how many candidates the judge's samples disagree."""
    return sum(one.verdict.is_disputed for one in retrieval.candidates if one.verdict)


def require_agreement(count: int) -> None:
    """What --strict does: exit with 1 if the samples of *count* verdicts, more than 0, disagree."""
    if count:
        tell(f"The judge disagrees with itself on {count:,} {'memory' if count == 1 else 'memories'}.")
        click.get_current_context().exit(1)


def opened_cutoff(root: str, config: Config) -> Cutoff | None:
    """The cutoff that the hook uses. stderr tells if the hook ignores one."""
    from engine.cutoff import UnusableModelError

    try:
        return opening.tuned_cutoff(root, config, os.environ)
    except UnusableModelError as error:
        tell(f"The tuned cutoff is ignored: it {error}.")
        return None


def opened_store(db: str | None) -> LabelStore:
    """The label store in *db*, or in the user's own file."""
    from labels.store import LabelStore

    return LabelStore.open(Path(db or labels_file(os.environ)))


def opened_labels(db: str | None) -> closing[LabelDatabase]:
    """The database under the label store, for commands that copy it as a whole."""
    from labels.database import LabelDatabase

    return closing(LabelDatabase(Path(db or labels_file(os.environ))))
