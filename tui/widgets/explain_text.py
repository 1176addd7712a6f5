"""Why a memory is injected or not, the text that the model would see, and a sentence about the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from engine.config import is_injected
from engine.conversations.injected import injection_by
from engine.inject import context, entry, length
from engine.judge.verdict import APPROVED, CACHE, NO_KEY, OK
from engine.pipeline import BY_KEYWORDS, NO_FTS5
from engine.quality.checks.memories import tokens
from tui.plain import MATCH_STYLE, hanging, plain
from tui.workspace.replay.explain_rows import detail_lines, explanations, outcome_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.config import Config
    from engine.explaining.explain import Explanation
    from engine.judge.verdict import Verdict
    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from tui.workspace.replay.explain_rows import Line
    from tui.workspace.workspace import Workspace

STYLES = {
    "head": "$foreground-muted underline",
    "muted": "$foreground-muted",
    "good": "$text-success",
    "bad": "$text-error",
    "match": MATCH_STYLE,
}
NOT_YET = "This prompt has not been run yet."


def explained(
    workspace: Workspace, answers: Sequence[Retrieval], memory_id: str, width: int, *, has_title: bool = True
) -> Content:
    """The outcome of a memory in each of *answers*, and the judge's reasons, in *width* cells."""
    said = remarks(answers, memory_id)
    return explain_text(explanations(workspace, answers, memory_id), width, said, has_title=has_title)


def explain_text(
    explanations: Sequence[Explanation], width: int, said: Iterable[str] = (), *, has_title: bool = True
) -> Content:
    """The outcome of one memory in each system, what is *said* of it, and the sums once for each strategy.

    *width* in cells. *has_title*: the memory's title stands above.
    """
    told = [plain(sentence) for sentence in said]
    if not explanations:
        return Content("\n").join(told) if told else plain(NOT_YET)
    lines = [plain(explanations[0].memory.name).stylize_before("bold"), Content("")] if has_title else []
    lines += [_content(outcome_line(explanation), width) for explanation in explanations]
    lines += told
    by_strategy = {explanation.strategy: explanation for explanation in reversed(explanations)}
    for explanation in reversed(by_strategy.values()):
        heading = [plain(explanation.system).stylize_before("bold $text-primary")] if len(by_strategy) > 1 else []
        lines += [Content(""), *heading, *(_content(line, width) for line in detail_lines(explanation, width))]
    return Content("\n").join(lines)


def _content(line: Line, width: int) -> Content:
    """A *line*, wrapped below the beginning of its last piece."""
    whole = Content("").join(plain(text).stylize_before(STYLES.get(tone, "")) for text, tone in line)
    last = line[-1][0].lstrip() if line else ""
    return hanging(whole, whole.cell_length - cell_len(last), width)


def remarks(answers: Iterable[Retrieval], memory_id: str) -> list[str]:
    """The judge's reasons about a memory, and whether the records of what hooks injected hold it."""
    found: dict[str, None] = {}
    for answer in answers:
        candidate = next((ranked for ranked in answer.candidates if ranked.memory.id == memory_id), None)
        if is_injected(answer.system):
            found[f"{answer.system}: a hook {'really injected it' if candidate else 'did not inject it'}."] = None
        elif candidate and candidate.verdict and (sentence := _verdict_sentence(candidate.verdict)):
            found[sentence] = None
    return list(found)


def model_text(answers: Iterable[Retrieval], config: Config, memory: MemorySummary) -> Content:
    """The text that the model would see by each system, with its size; the line about *memory* stands out."""
    lines: list[Content] = []
    for answer in answers:
        if is_injected(answer.system):  # the text that a hook really injected, as far as it is known
            injection = injection_by(answer.prompt, answer.system)
            text = injection.text if injection else ""
        else:
            text = context(answer, config)
        own = [
            entry(candidate.memory, candidate.confidence, config.output_mode)
            for candidate in answer.injected
            if candidate.memory == memory
        ]
        size = f"{length(text):,} characters, about {tokens(text):,} tokens" if text else "nothing is injected"
        lines += [Content(""), plain(answer.system).stylize_before("bold $text-primary") + plain(f"  {size}")]
        lines += [plain(line).stylize_before(MATCH_STYLE if line in own else "") for line in text.splitlines()]
    return Content("\n").join(lines[1:]) if lines else plain(NOT_YET)


def judge_sentence(judged: Retrieval | None) -> str:
    """The judge's status, time and cost; where it failed, also what is injected instead. "" without an answer."""
    if judged is None:
        return ""
    judgement = judged.judgement
    if judged.fallback == NO_FTS5:
        return f"{BY_KEYWORDS}."
    if judgement is None:
        return "The judge was not asked: no memory was left to judge."
    tokens = judgement.input_tokens
    cost = f", {tokens:,} tokens in and {judgement.output_tokens:,} out" if tokens else ""
    is_known = bool(judgement.verdicts) and all(verdict.source == CACHE for verdict in judgement.verdicts)
    source = "from the cache" if is_known else f"{judgement.elapsed_ms:,.0f} ms{cost}"
    answered = f"Judge {judgement.provider} ({judgement.model}): {judgement.status}, {source}."
    if judgement.status == OK:
        return answered
    best = len(judged.injected)
    instead = f"The best {best} are" if best > 1 else "The best one is" if best else "So nothing is"
    if judgement.status == NO_KEY:
        instead = "The choice of the system without a judge is"
    return f"{answered} {judgement.detail.rstrip('.')}. {instead} injected{' instead' if best else ''}."


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
