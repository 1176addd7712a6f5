"""What a command says beside its data: on stderr, in one line each, and by its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engine.errors import MemsiftError
from engine.judge.verdict import OK, TIMEOUT
from engine.pipeline import BY_KEYWORDS, NO_FTS5
from tui.cli.output import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Skipped
    from engine.retrieval import Retrieval
    from labels.exchange.storing import Added
    from tui.cli.judge_options import JudgeOptions


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
    """One line on stderr where the judge could not answer, or SQLite cannot search."""
    judgement = retrieval.judgement
    if retrieval.fallback == NO_FTS5:
        tell(f"{BY_KEYWORDS}.")
    elif judgement and retrieval.fallback:
        more = " Give it more with --judge-timeout SECONDS." if judgement.status == TIMEOUT else ""
        tell(f"{judgement.detail or judgement.status}{more}")


def report_skipped(skipped: Sequence[Skipped]) -> None:
    """One line on stderr: how much was skipped, and the first of it."""
    if skipped:
        tell(f"{len(skipped)} skipped; {skipped[0].where}: {skipped[0].reason}")


def report_added(what: str, added: Added, known: int) -> None:
    """One line on stderr: what a label store got from a file or another store, and what it had already."""
    labels = [event for event in added.events if event.verdict]
    people = sorted({event.annotator for event in labels})
    parts = [
        f"{len(labels):,} labels" + (f" by {', '.join(people)}" if people else ""),
        f"{len(added.events) - len(labels):,} skips and retractions",
        f"{added.prompts:,} prompts",
        f"{added.memories:,} memory texts",
        f"{added.retrievals:,} retrievals",
    ]
    there = f"; {known:,} key presses were there already" if known else ""
    tell(f"{what}: {', '.join(part for part in parts if not part.startswith('0 ')) or 'nothing new'}{there}.")


def tell(message: str) -> None:
    """One line for people, on stderr; whatever it quotes cannot command the terminal."""
    click.echo(f"memsift: {visible(' '.join(message.split()))}", err=True)
