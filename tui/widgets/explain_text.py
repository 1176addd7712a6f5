"""Why a memory is injected or not: a sentence for a row, a sentence about the judge, and the whole explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from engine.judge.verdict import APPROVED, CACHE, NO_KEY, OK
from engine.pipeline import BY_KEYWORDS, NO_FTS5
from tui.plain import MATCH_STYLE, plain
from tui.workspace.explain_rows import detail_lines, outcome_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.judge.verdict import Verdict
    from engine.retrieval import Candidate, Retrieval
    from engine.search.explain import Explanation
    from tui.widgets.ranking_table import Row
    from tui.workspace.explain_rows import Line

STYLES = {
    "head": "$foreground-muted underline",
    "muted": "$foreground-muted",
    "good": "$text-success",
    "bad": "$text-error",
    "match": MATCH_STYLE,
}
NOT_YET = "This prompt has not been run yet."


def explain_text(explanations: Sequence[Explanation], width: int) -> Content:
    """The outcome of one memory in each system, and the sums once for each strategy. *width* in cells."""
    if not explanations:
        return plain(NOT_YET)
    lines = [plain(explanations[0].memory.title).stylize_before("bold"), Content("")]
    lines += [_content(outcome_line(one)) for one in explanations]
    by_strategy = {one.strategy: one for one in reversed(explanations)}
    for one in reversed(by_strategy.values()):
        heading = [plain(one.system).stylize_before("bold $text-primary")] if len(by_strategy) > 1 else []
        lines += [Content(""), *heading, *map(_content, detail_lines(one, width))]
    return Content("\n").join(lines)


def _content(line: Line) -> Content:
    return Content("").join(plain(text).stylize_before(STYLES.get(tone, "")) for text, tone in line)


def judge_sentence(judged: Retrieval | None) -> str:
    """The judge's status, time and cost; where it failed, also what is injected instead. "" without an answer."""
    if judged is None:
        return ""
    judgement = judged.judgement
    if judged.fallback == NO_FTS5:
        return f"{BY_KEYWORDS}."
    if judgement is None:
        return "The judge was not asked: nothing was left to judge."
    cost = (
        f", {judgement.input_tokens:,} tokens in and {judgement.output_tokens:,} out" if judgement.input_tokens else ""
    )
    is_known = bool(judgement.verdicts) and all(one.source == CACHE for one in judgement.verdicts)
    source = "from the cache" if is_known else f"{judgement.elapsed_ms:,.0f} ms{cost}"
    answered = f"Judge {judgement.provider} ({judgement.model}): {judgement.status}, {source}."
    if judgement.status == OK:
        return answered
    best = len(judged.injected)
    instead = f"The best {best} are" if best > 1 else "The best one is" if best else "Nothing is"
    if judgement.status == NO_KEY:
        instead = "The choice of the system without a judge is"
    return f"{answered} {judgement.detail.rstrip('.')}. {instead} injected instead."


def candidate_sentence(row: Row, names: tuple[str, str]) -> str:
    """Match, score, P(relevant) and outcome of a row's memory in the systems called *names*, and the judge's reasons.

    The second system's score is left out where it equals the first's, as it does with a judge.
    """
    sentences = [_score_sentence(names[0], row.first)]
    if row.has_second:
        is_same = row.first and row.second and row.first.score == row.second.score
        sentences.append("" if is_same else _score_sentence(names[1], row.second))
    for name, one in zip(names, (row.first, row.second), strict=True):
        if one and not one.injected:
            sentences.append(f"{name} drops it by {one.dropped_by}: {one.reason}.")
        if one and one.probability is not None and one.dropped_by != "cutoff":
            sentences.append(f"{name}: relevant with probability {one.probability:.2f}.")
    if row.second and row.second.verdict:
        sentences.append(_verdict_sentence(row.second.verdict))
    return " ".join(filter(None, sentences))


def _score_sentence(name: str, one: Candidate | None) -> str:
    if one is None:
        return f"{name} did not find it."
    weight = f"BM25 {-one.bm25:.2f}"
    if one.body_bonus:
        weight += f" + {one.body_bonus} for words in its body"
    elif one.score != one.bm25:
        weight = f"strength {-one.score:.2f} ({weight})"
    return f"{name}: {weight}, {one.ratio:.0%} of the best. Matched: {', '.join(one.matched)}."


def _verdict_sentence(verdict: Verdict) -> str:
    """The judge's confidence, the agreement of its answers, and its reasoning, as far as there are any."""
    facts = []
    if verdict.confidence is not None:
        facts.append(f"{verdict.decision}, {verdict.confidence:.0%} sure")
    if verdict.is_disputed:
        most = round(verdict.agreement * verdict.samples)
        facts.append(f"{verdict.decision}, {most} of {verdict.samples} answers alike")
    # the reasoning of a rejection is already there: it is the reason for which the memory was dropped
    if verdict.reasoning and verdict.decision == APPROVED:
        facts.append(verdict.reasoning.rstrip("."))
    return f"The judge: {'; '.join(facts)}." if facts else ""
