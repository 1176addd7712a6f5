"""`memsift quality judge`."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.judge.prompts import one_line
from engine.judge.verdict import OK
from engine.lean.record import replace as replace_record
from engine.quality.judging.markdown_form import RatingEntry, print_entries
from engine.quality.judging.rating import BEST, DECISIONS, THRESHOLD, UNANSWERED, UNDECIDED
from engine.quality.judging.store import row_of, summary_of
from engine.wording import aligned, counted
from tui.cli.declaring import argument, command, option
from tui.cli.options import AskedJudge, Bulk, EachRoot, exit_if_early, format_option, patient
from tui.cli.output import output, picked, text_of
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.judge.limits import Limits
    from engine.quality.judging.judge import CostEstimate
    from engine.quality.judging.rating import Assessment
    from labels.measure.agreement import Concord
    from tui.workspace.quality.rating import Compared, Keep, Key, RatedMemory, RatingAgreement, RatingPlan
    from tui.workspace.replay.jobs import Ending

    Rated = list[tuple[str, Assessment]]
    """Each assessment with the root of its memory."""


SCORES = click.FloatRange(0, BEST)


@command()
def judge(
    ids: Annotated[tuple[str, ...], argument(metavar="[ID]...", nargs=-1)],
    roots: EachRoot,
    rubric: Annotated[str, option("--rubric", metavar="NAME|FILE", default="memory")],
    threshold: Annotated[float, option("--threshold", metavar="SCORE", type=SCORES, default=THRESHOLD)],
    judge: AskedJudge,
    web_search: Annotated[bool, option("--web-search")],
    bulk: Bulk,
    fail_under: Annotated[float | None, option("--fail-under", type=SCORES, metavar="SCORE")],
    agreement: Annotated[bool, option("--agreement")],
    form: Annotated[str, format_option("text", "json", "markdown")],
) -> None:
    """Let a model rate memories from 0 to 10, and suggest which to keep.

    Without an ID, all active memories are rated. The model sees a memory's title, category, tags, date and text. A
    rating is a suggestion: nothing is changed, and you decide with memsift quality accept and memsift quality reject.

    Headings, and texts that only say what a document holds, are rejected by a rule, without a call. The answers are
    cached in ~/.cache/memsift/judge.db, so that a memory is paid for once: the same command goes on after Ctrl-C, and
    another threshold costs nothing. The newest ratings are kept in ~/.local/share/memsift/decisions.db.
    Without --judge-timeout a call may take 60 s.

    Output: a line for each memory with decision and score, and reasons and suggestions below it; or as JSON {rubric,
    threshold, memories: [{root, id, title, category, path, digest, decision, overall, scores,
    score_reasons, key_points, rejection_reasons, suggested_title, suggested_tags, research_validation, sources,
    samples, agreement, judgement}], summary}.

    \b
    Examples:
      memsift quality judge --judge anthropic --max-cost 2
      memsift quality judge deploys-use-make --judge anthropic

    --rubric: The criteria: memory, idea, or the path of your own rubric (TOML; see
        engine/quality/judging/README.md).
    --threshold: Accept a memory with this overall score or more, 0 to 10.
    --fail-under: Exit with 1 if a memory scores below this, or has no answer.
    --agreement: Rate nothing: print how often the stored ratings agree with your decisions, for each category.
    --format: Text for people, JSON for programs, or Markdown (### IDEA: and ### REJECTED:).
    --root: the memories of all of them are rated, or looked for in all of them.
    --web-search: Let the model search the web, and keep the pages that it found. For anthropic and anthropic-http;
        costs more.
    """
    from engine.quality.judging.rubric import read_rubric
    from tui.workspace.curate.curating import resolved
    from tui.workspace.quality.rating import RatingPlan

    found, given = resolved(roots), read_rubric(rubric)
    if agreement:
        from tui.workspace.quality.rating import rating_agreement

        click.echo(printed_agreement(rating_agreement(found, given.name, os.environ), form), nl=False)
        return
    if judge.depth:
        raise click.UsageError("--judge-depth has no effect here: every rating has reasons. Leave it out.")
    rated, ending = rated_over(found, ids, RatingPlan(given, threshold, web_search, patient(judge)), bulk.limits())
    click.echo(printed(rated, given.name, threshold, form), nl=False)
    report_end(rated, ending, fail_under)


def rated_over(roots: Sequence[str], ids: Sequence[str], plan: RatingPlan, limits: Limits) -> tuple[Rated, Ending]:
    """The assessments of the memories, by root, and how the run ended."""
    from engine.quality.judging.store import RatingStore
    from tui.workspace.quality.rating import subjects
    from tui.workspace.replay.jobs import Ending

    wanted = subjects(roots, ids)
    ending = Ending(0, 0)
    rated: dict[Key, Assessment] = {}
    with closing(RatingStore(os.environ)) as store:

        def keep(subject: RatedMemory, found: Assessment) -> None:
            rated[subject.key] = found
            store.keep(subject.root, plan.rubric.name, subject.words, found)

        for root, group in groupby(wanted, key=lambda subject: subject.root):
            ending = rate_root(root, [*group], plan, keep, limits)
            if ending.is_interrupted or ending.is_spent:
                break
    return [(subject.root, rated[subject.key]) for subject in wanted if subject.key in rated], ending


def rate_root(root: str, left: Sequence[RatedMemory], plan: RatingPlan, keep: Keep, limits: Limits) -> Ending:
    """Rate memories of a root, whose settings may name the judge."""
    from tui.workspace import opening
    from tui.workspace.quality.rating import opened_quality_judge, rate

    config = opening.config_of(root, os.environ, plan.judge)
    with opened_quality_judge(plan, config, limits) as asked:
        if not plan.judge.is_cached_only:
            estimate = asked.estimate([subject.memory for subject in left])
            if estimate.asked:
                asked.prepare()
            report_start(asked.identity, estimate)
        return rate(asked, left, keep, plan, limits)


def report_start(identity: tuple[str, str, str], estimate: CostEstimate) -> None:
    """Tell how many memories the model of *identity* is asked about, and the cost."""
    if not estimate.asked:
        return
    name, model, _ = identity
    free = [f"{estimate.known:,} in the cache"] if estimate.known else []
    free += [f"{estimate.by_rule:,} rejected by rule"] if estimate.by_rule else []
    besides = f", besides {' and '.join(free)}" if free else ""
    if estimate.usual_usd is None or estimate.most_usd is None:
        cost = "Its price is not known here"
    else:
        cost = f"It costs about ${estimate.usual_usd:.4f}, at most ${estimate.most_usd:.4f}"
    tell(f"{name} ({model}) is asked about {counted(estimate.asked, 'memory')}{besides}. {cost}.")


def report_end(rated: Rated, ending: Ending, fail_under: float | None) -> None:
    """Tell the counts, the cost, and how to go on. Exit with 130 after Ctrl-C, with 1 at a limit."""
    from engine.quality.judging.store import summary_of
    from tui.workspace.judging import Answers

    tell(summary_line(summary_of(found for _, found in rated)))
    how = "Give the same command again to go on: finished answers are in the cache."
    exit_if_early(ending, counted(ending.jobs, "memory"), how)
    Answers.of(found for _, found in rated).report()
    if fail_under is not None:
        below = [found for _, found in rated if found.rating is None or found.rating.overall < fail_under]
        if below:
            tell(f"{counted(len(below), 'memory')} scored below {fail_under:g} or got no answer.")
            click.get_current_context().exit(1)


HEADER = ("memories", "both accept", "only model", "only you", "both reject", "kappa", "AC1")
NOTHING_DECIDED = (
    "There is no memory with a rating and a decision yet. Rate some with memsift quality judge, then decide with "
    "memsift quality accept ID or memsift quality reject ID."
)


def printed(rated: Rated, rubric: str, threshold: float, form: str) -> str:
    """The assessments in the format *form*, each with the root of its memory."""
    every = [found for _, found in rated]
    if form == "markdown":
        return text_of(print_entries(map(_entry, (found for found in every if found.rating))).splitlines())
    rows = [row_of(root, rubric, threshold, found) for root, found in rated]
    whole = {"rubric": rubric, "threshold": threshold, "memories": rows, "summary": summary_of(every)}
    return output(form, whole, _lines(every))


def printed_agreement(found: RatingAgreement, form: str) -> str:
    """The agreement as JSON, or as a table for text and Markdown."""
    groups = [{"group": name, **_counts(table)} for name, table in found.groups]
    differing = [_differing(compared) for compared in found.differing]
    lines = aligned([HEADER, *(_agreement_row(name, table) for name, table in found.groups)])
    lines += ["", "You and the model differ on:"] if found.differing else []
    for compared in found.differing:
        yours = "you accepted" if compared.is_kept else "you rejected"
        score = f"{compared.rated.overall:.1f} {compared.rated.decision}"
        lines.append(f"  {compared.rated.memory_id}: {score}, {yours}. {compared.rated.title}")
    whole = {"groups": groups, "undecided": found.undecided, "differing": differing}
    return output(form, whole, lines if groups else [NOTHING_DECIDED])


def _counts(table: Concord) -> dict[str, Any]:
    """The counts of a group, and the coefficients of agreement; null where one is not defined."""
    names = ("both_accept", "only_model", "only_person", "both_reject")
    coefficients = {"kappa": table.kappa, "kappa_se": table.kappa_se, "ac1": table.ac1}
    return {**dict(zip(names, table.table, strict=True)), **coefficients}


def _differing(compared: Compared) -> dict[str, Any]:
    rated = compared.rated
    yours = "accepted" if compared.is_kept else "rejected"
    facts = {"id": rated.memory_id, **picked(rated, "title", "category", "overall")}
    return {**facts, "model": rated.decision, "person": yours}


def _agreement_row(name: str, table: Concord) -> tuple[str, ...]:
    kappa = "-" if table.kappa is None else f"{table.kappa:.2f} ± {table.kappa_se:.2f}"
    return (name, *map(str, table.table), kappa, "-" if table.ac1 is None else f"{table.ac1:.2f}")


def summary_line(summary: dict[str, Any]) -> str:
    """Counts and cost as a sentence or two."""
    words = [f"{summary[word]:,} {word}" for word in (*DECISIONS.values(), UNANSWERED) if summary[word]]
    rule = f" ({summary['by_rule']:,} by rule)" if summary["by_rule"] else ""
    tokens = f"{summary['input_tokens']:,} tokens in and {summary['output_tokens']:,} out"
    cost = "" if summary["cost_usd"] is None else f", ${summary['cost_usd']:.4f}"
    return f"{counted(summary['memories'], 'memory')}: {', '.join(words) or 'none to rate'}{rule}. {tokens}{cost}."


def _entry(found: Assessment) -> RatingEntry:
    """Undecided memories stand under REJECTED, with their reason."""
    assert found.rating is not None
    reasons = found.reasons or ((found.verdict.reasoning,) if found.decision == UNDECIDED else ())
    rating = replace_record(found.rating, reasons=reasons)
    return RatingEntry(found.decision != "accepted", one_line(found.memory.title), rating, found.memory.id)


def _lines(rated: Sequence[Assessment]) -> Iterator[str]:
    """A line for each memory, and its points, reasons and suggestions below it."""
    rows = [
        (found.decision, _score(found), found.memory.category, found.memory.id, found.memory.title) for found in rated
    ]
    for line, found in zip(aligned(rows), rated, strict=True):
        yield line
        yield from (f"    {line}" for line in _details(found))


def _score(found: Assessment) -> str:
    return f"{found.rating.overall:4.1f}" if found.rating else ""


def _details(found: Assessment) -> Iterator[str]:
    if found.judgement.status != OK:
        yield f"{found.judgement.status}: {found.judgement.detail}"
    if found.decision == UNDECIDED:
        yield found.verdict.reasoning
    yield from (f"- {reason}" for reason in found.reasons)
    rating = found.rating
    if rating is None:
        return
    yield from (f"+ {point}" for point in rating.key_points)
    if rating.title:
        yield f"suggested title: {rating.title}"
    if rating.tags:
        yield f"suggested tags: {', '.join(rating.tags)}"
    yield from (f"source: {source.url} {source.title}" for source in rating.sources)
