"""Ratings as text, JSON and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.judge.prompts import one_line
from engine.judge.verdict import OK
from engine.lean.json_text import printed_json
from engine.lean.record import replace
from engine.quality.judging.markdown_form import RatingEntry, print_entries
from engine.quality.judging.rating import DECISIONS, UNANSWERED, UNDECIDED
from engine.quality.judging.store import row_of, summary_of
from engine.wording import aligned, counted
from tui.workspace.stderr import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.quality.judging.rating import Assessment
    from labels.measure.agreement import Concord
    from tui.workspace.quality.rating import Compared, RatingAgreement

    Rated = Sequence[tuple[str, Assessment]]


HEADER = ("memories", "both accept", "only model", "only you", "both reject", "kappa", "AC1")
NOTHING_DECIDED = (
    "There is no memory with a rating and a decision yet. Rate some with memsift quality judge, then decide with "
    "memsift quality accept ID or memsift quality reject ID."
)


def printed(rated: Rated, rubric: str, threshold: float, form: str) -> str:
    """The assessments in the format *form*, each with the root of its memory."""
    if form == "json":
        rows = [row_of(root, rubric, threshold, found) for root, found in rated]
        summary = summary_of(found for _, found in rated)
        whole = {"rubric": rubric, "threshold": threshold, "memories": rows, "summary": summary}
        return f"{printed_json(whole, indent=2)}\n"
    if form == "markdown":
        lines = print_entries(map(_entry, (found for _, found in rated if found.rating))).splitlines()
    else:
        lines = list(_lines([found for _, found in rated]))
    return "".join(f"{visible(line)}\n" for line in lines)


def printed_agreement(found: RatingAgreement, form: str) -> str:
    """The agreement as JSON, or as a table for text and Markdown."""
    if form == "json":
        groups = [{"group": name, **_counts(table)} for name, table in found.groups]
        differing = [_differing(compared) for compared in found.differing]
        whole = {"groups": groups, "undecided": found.undecided, "differing": differing}
        return f"{printed_json(whole, indent=2)}\n"
    if not found.groups:
        return f"{NOTHING_DECIDED}\n"
    rows = [HEADER, *(_agreement_row(name, table) for name, table in found.groups)]
    lines = aligned(rows)
    lines += ["", "You and the model differ on:"] if found.differing else []
    for compared in found.differing:
        yours = "you accepted" if compared.is_kept else "you rejected"
        score = f"{compared.rated.overall:.1f} {compared.rated.decision}"
        lines.append(f"  {compared.rated.memory_id}: {score}, {yours}. {compared.rated.title}")
    return "".join(f"{visible(line)}\n" for line in lines)


def _counts(table: Concord) -> dict[str, Any]:
    """The counts of a group, and the coefficients of agreement; null where one is not defined."""
    names = ("both_accept", "only_model", "only_person", "both_reject")
    coefficients = {"kappa": table.kappa, "kappa_se": table.kappa_se, "ac1": table.ac1}
    return {**dict(zip(names, table.table, strict=True)), **coefficients}


def _differing(compared: Compared) -> dict[str, Any]:
    rated = compared.rated
    yours = "accepted" if compared.is_kept else "rejected"
    facts = {"id": rated.memory_id, "title": rated.title, "category": rated.category, "overall": rated.overall}
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
    rating = replace(found.rating, reasons=reasons)
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
