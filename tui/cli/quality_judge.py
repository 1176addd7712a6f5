"""`memsift quality judge`: ratings of memories by a model, and how the model agrees with a person."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.errors import ConfigError, MemsiftError
from engine.judge.prompts import one_line
from engine.judge.providers.registry import SEARCHING, STRUCTURED
from engine.judge.verdict import OK
from engine.lean.record import replace as replace_record
from engine.quality.decisions import ACCEPTED, QUALITY, decisions
from engine.quality.judging.rating import BEST, DECISIONS, THRESHOLD, UNANSWERED, UNDECIDED, RatingEntry, print_entries
from engine.quality.judging.store import RatingStore, row_of, summary_of
from engine.stores.writing import ACTIVE
from engine.wording import aligned, counted
from tui.cli.declaring import argument, command, option
from tui.cli.options import AskedJudge, Bulk, EachRoot, exit_if_early, format_option, patient
from tui.cli.output import output, picked, report_skipped, text_of
from tui.workspace import opening
from tui.workspace.curate.curating import memories_of, named, resolved
from tui.workspace.judging import Answers, make_means
from tui.workspace.replay.jobs import Ending, opened_pool, run
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.config import JudgeConfig
    from engine.judge.limits import Limits
    from engine.judge.provider import Provider
    from engine.memory import Memory
    from engine.quality.judging.judge import CostEstimate
    from engine.quality.judging.rating import Assessment
    from engine.quality.judging.store import Rated
    from labels.measure.agreement import Concord
    from tui.workspace.judging import JudgeOptions

    Tasks = Mapping[str, Sequence[Any]]
    """root -> its memories, or batches of memories."""
    Make = Callable[[Provider, JudgeConfig, dict[str, Any]], Any]
    """Gives the asker from the provider of the judge, its settings, and the arguments of `make_means`."""
    Keep = Callable[[str, Any], None]
    """Receives a root and each result about its memories."""
    Assessments = list[tuple[str, Assessment]]
    """Each assessment with the root of its memory."""
    Compared = list[tuple[Rated, bool]]
    """Each rating of a text with the person's decision about it: whether to keep it."""

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

    Headings, and texts that only describe a document, are rejected by a rule, without a call. The answers are cached in
    ~/.cache/memsift/judge.db, so you pay once for a memory: the same command goes on after Ctrl-C, and another
    threshold costs nothing. The newest ratings are kept in ~/.local/share/memsift/decisions.db. Without
    --judge-timeout a call may take 60 s.

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
    from engine.quality.judging.judge import QualityJudge
    from engine.quality.judging.rubric import read_rubric, template

    found, given = resolved(roots), read_rubric(rubric)
    if agreement:
        click.echo(printed_agreement(compared(found, given.name), form), nl=False)
        return
    if judge.depth:
        raise click.UsageError("--judge-depth has no effect here: every rating has reasons. Leave it out.")

    def make(provider: Provider, config: JudgeConfig, how: dict[str, Any]) -> QualityJudge:
        if web_search and provider.name not in SEARCHING:
            raise ConfigError(NO_SEARCH)
        searches = MOST_SEARCHES if web_search else 0
        wording = template(given, is_structured=provider.name in STRUCTURED, searches=searches)
        return QualityJudge(provider, given, wording, config=config, threshold=threshold, **how)

    def keep(root: str, rating: Assessment) -> None:
        rated.append((root, rating))
        store.keep(root, given.name, words[root, rating.memory.id], rating)

    rated: Assessments = []
    wanted = memories_to_rate(found, ids)
    whole = ((root, memory) for root, memories in wanted.items() for memory in memories)
    words = {(root, held.summary.id): len(f"{held.summary.title} {held.body}".split()) for root, held in whole}
    with closing(RatingStore(os.environ)) as store:
        ending = ask_about(wanted, make, keep, patient(judge), bulk.limits(), "Rating", NO_JUDGE)
    click.echo(printed(rated, given.name, threshold, form), nl=False)
    report_end(rated, ending, fail_under)


MOST_SEARCHES = 3
"""Web searches for a memory."""

NO_JUDGE = (
    "There is no judge to ask. Name one with --judge, such as --judge anthropic, or in MEMSIFT_JUDGE. Its calls may "
    "cost money."
)
NO_SEARCH = f"--web-search works only with the judges {' and '.join(SEARCHING)}, which have a search tool."


def ask_about(
    wanted: Tasks, make: Make, keep: Keep | None, judge: JudgeOptions, limits: Limits, label: str, nobody: str
) -> Ending:
    """Ask about the memories of each root, whose settings may name the judge. The size and the price are told first.

    Without *keep* nobody is asked. Raises MemsiftError with the text *nobody* if no judge is named.
    """
    ending = Ending(0, 0)
    for root, tasks in wanted.items():
        config = opening.settings_of(root, os.environ, judge).config
        means = make_means(judge, config, os.environ, limits)
        if means is None:
            raise MemsiftError(nobody)

        with closing(make(means[0], config.judge, means[1])) as asked, opened_pool(limits=limits) as pool:
            if not judge.is_cached_only and (estimate := asked.estimate(tasks)).asked:
                if keep:
                    asked.prepare()
                report_start(asked.identity, estimate)
            if keep:

                def take(found: Any, root: str = root) -> None:
                    judge.refuse_a_miss(found)
                    keep(root, found)

                ending = run(tasks, lambda task: [asked.evaluate(task)], take, limits, pool, label)
        if ending.is_interrupted or ending.is_spent:
            break
    return ending


def memories_to_rate(roots: Sequence[str], ids: Sequence[str]) -> dict[str, list[Memory]]:
    """Root -> its memories with these ids, or all its active memories. Raises UnknownMemoryError and RootError."""
    found = memories_of(roots)
    chosen = named([*dict.fromkeys(ids)], found) if ids else [held for held in found if held.memory.status == ACTIVE]
    whole: dict[str, list[Memory]] = {}
    for root in roots:
        if own := [held.memory.id for held in chosen if held.root == root]:
            with opening.opened_index(root) as index:
                report_skipped(index.skipped)
                whole[root] = [memory for memory_id in own if (memory := index.memory(memory_id))]
    return whole


def report_start(identity: tuple[str, str, str], estimate: CostEstimate) -> None:
    """Tell how many memories the model of *identity* is asked about, the cost, and that whole texts are sent."""
    name, model, _ = identity
    free = [f"{estimate.known:,} in the cache"] if estimate.known else []
    free += [f"{estimate.by_rule:,} rejected by rule"] if estimate.by_rule else []
    besides = f", besides {' and '.join(free)}" if free else ""
    if estimate.usual_usd is None or estimate.most_usd is None:
        cost = "The price is unknown"
    else:
        cost = f"Cost: about ${estimate.usual_usd:.4f}, at most ${estimate.most_usd:.4f}"
    asked = counted(estimate.asked, "memory")
    tell(f"{name} ({model}) is asked about {asked}{besides}. {cost}. The whole text of these memories is sent.")


def report_end(rated: Assessments, ending: Ending, fail_under: float | None) -> None:
    """Tell the counts, the cost, and how to go on. Exit with 130 after Ctrl-C, with 1 at a limit."""
    summary = summary_of(found for _, found in rated)
    words = [f"{summary[word]:,} {word}" for word in (*DECISIONS.values(), UNANSWERED) if summary[word]]
    rule = f" ({summary['by_rule']:,} by rule)" if summary["by_rule"] else ""
    tokens = f"{summary['input_tokens']:,} tokens in and {summary['output_tokens']:,} out"
    cost = "" if summary["cost_usd"] is None else f", ${summary['cost_usd']:.4f}"
    tell(f"{counted(len(rated), 'memory')}: {', '.join(words) or 'none to rate'}{rule}. {tokens}{cost}.")
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
    "No memory has both a rating and a decision yet. Rate some with memsift quality judge, then decide with memsift "
    "quality accept ID or memsift quality reject ID."
)


def printed(rated: Assessments, rubric: str, threshold: float, form: str) -> str:
    """The assessments in the format *form*, each with the root of its memory."""
    every = [found for _, found in rated]
    if form == "markdown":
        return text_of(print_entries(map(_entry, (found for found in every if found.rating))).splitlines())
    rows = [row_of(root, rubric, threshold, found) for root, found in rated]
    whole = {"rubric": rubric, "threshold": threshold, "memories": rows, "summary": summary_of(every)}
    scores = [f"{found.rating.overall:4.1f}" if found.rating else "" for found in every]
    facts = (picked(found.memory, "category", "id", "title").values() for found in every)
    table = aligned([(found.decision, score, *of) for found, score, of in zip(every, scores, facts, strict=True)])
    lines = (line for head, found in zip(table, every, strict=True) for line in (head, *_details(found)))
    return output(form, whole, lines)


def compared(roots: Sequence[str], rubric: str) -> Compared:
    """All texts of *roots* that have a rating by *rubric* and a decision. Raises DecisionsError."""
    pairs: Compared = []
    with closing(RatingStore(os.environ)) as store:
        for root in roots:
            decided = decisions(root, os.environ)
            for rated in store.ratings(root, rubric):
                verdict = decided.get((QUALITY, rated.memory_id, rated.digest))
                pairs += [(rated, verdict == ACCEPTED)] if verdict else []
    return pairs


def printed_agreement(pairs: Compared, form: str) -> str:
    """The agreement of model and person as JSON, or as a table for text and Markdown.

    Ratings whose samples were split are counted as undecided.
    """
    clear = [(rated, is_kept) for rated, is_kept in pairs if rated.decision != UNDECIDED]
    tables = agreement_tables(clear)
    differing = [(rated, is_kept) for rated, is_kept in clear if (rated.decision == ACCEPTED) != is_kept]
    rows: list[tuple[str, ...]] = [HEADER]
    for name, table in tables:
        kappa = "-" if table.kappa is None else f"{table.kappa:.2f} ± {table.kappa_se:.2f}"
        rows.append((name, *map(str, table.table), kappa, "-" if table.ac1 is None else f"{table.ac1:.2f}"))
    lines = aligned(rows)
    lines += ["", "You and the model disagree about:"] if differing else []
    for rated, is_kept in differing:
        yours = "you accepted" if is_kept else "you rejected"
        lines.append(f"  {rated.memory_id}: {rated.overall:.1f} {rated.decision}, {yours}. {rated.title}")
    whole = {
        "groups": [{"group": name, **_counts(table)} for name, table in tables],
        "undecided": len(pairs) - len(clear),
        "differing": [
            {"id": rated.memory_id, **picked(rated, "title", "category", "overall"), "model": rated.decision}
            | {"person": "accepted" if is_kept else "rejected"}
            for rated, is_kept in differing
        ],
    }
    return output(form, whole, lines if tables else [NOTHING_DECIDED])


MODEL, PERSON = "model", "person"
EVERYTHING = "all"
SHORT_WORDS = 30
SHORT, LONG = f"up to {SHORT_WORDS} words", f"more than {SHORT_WORDS} words"
"""Models are known to rate terse technical notes too low, so their length is looked at."""


def agreement_tables(pairs: Compared) -> list[tuple[str, Concord]]:
    """A table for everything, then for each category, then for short and long memories."""
    from labels.measure.agreement import concord

    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for name in (EVERYTHING, *sorted({rated.category for rated, _ in pairs}), SHORT, LONG):
        counts[name] = Counter()
    for rated, is_kept in pairs:
        for name in (EVERYTHING, rated.category, SHORT if rated.words <= SHORT_WORDS else LONG):
            counts[name][rated.decision == ACCEPTED, is_kept] += 1
    return [(name, concord(MODEL, PERSON, count)) for name, count in counts.items() if count]


def _counts(table: Concord) -> dict[str, Any]:
    """The counts of a group, and the coefficients of agreement; null where one is not defined."""
    names = ("both_accept", "only_model", "only_person", "both_reject")
    coefficients = {"kappa": table.kappa, "kappa_se": table.kappa_se, "ac1": table.ac1}
    return {**dict(zip(names, table.table, strict=True)), **coefficients}


def _entry(found: Assessment) -> RatingEntry:
    """Undecided memories stand under REJECTED, with their reason."""
    assert found.rating is not None
    reasons = found.reasons or ((found.verdict.reasoning,) if found.decision == UNDECIDED else ())
    rating = replace_record(found.rating, reasons=reasons)
    return RatingEntry(found.decision != "accepted", one_line(found.memory.title), rating, found.memory.id)


def _details(found: Assessment) -> Iterator[str]:
    """The points, reasons and suggestions below the line of a memory."""
    if found.judgement.status != OK:
        yield f"    {found.judgement.status}: {found.judgement.detail}"
    if found.decision == UNDECIDED:
        yield f"    {found.verdict.reasoning}"
    yield from (f"    - {reason}" for reason in found.reasons)
    rating = found.rating
    if rating is None:
        return
    yield from (f"    + {point}" for point in rating.key_points)
    if rating.title:
        yield f"    suggested title: {rating.title}"
    if rating.tags:
        yield f"    suggested tags: {', '.join(rating.tags)}"
    yield from (f"    source: {source.url} {source.title}" for source in rating.sources)
