"""Two runs of the same prompts: the memories that the later one gained and lost, as records, text and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.lean.json_text import printed_json
from engine.wording import counted, cut, listed
from labels.measure.judgements import needed_in
from labels.measure.metrics import Ratio, precision, served
from labels.records import NOT_RELEVANT, RELEVANT, nested
from labels.report.forms import escaped, record, wrapped
from labels.report.section import one_line, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from labels.measure.judgements import Pools
    from labels.records import Gold, Judgements
    from labels.runs import InjectedMemory

    Sets = Mapping[str, tuple[InjectedMemory, ...]]
    """prompt id -> the injected memories, best first."""

MOST_ROWS, MOST_CELLS = 100, 100
"""Prompts in a summary for a pull request, and cells of each text."""

WORDS = {True: "relevant", False: "not relevant", None: ""}


@dataclass(frozen=True)
class KnownVerdicts:
    """The judgements of people or of a file. `of(prompt id, memory)` is that on a memory, None without one.

    `needed` are the ids of the needed memories of each prompt that needs one.
    """

    of: Callable[[str, InjectedMemory], bool | None]
    needed: Pools


@dataclass(frozen=True)
class Judged:
    """A memory in a diff. `is_relevant`: the judgement on it, None without one. `is_edited`: its text changed."""

    memory: InjectedMemory
    is_relevant: bool | None = None
    is_edited: bool = False


@dataclass(frozen=True)
class PromptDiff:
    """What two runs inject for a prompt; None for a run that does not have the prompt."""

    prompt_id: str
    before: tuple[Judged, ...] | None
    now: tuple[Judged, ...] | None

    @property
    def is_in_both(self) -> bool:
        return self.before is not None and self.now is not None

    @cached_property
    def gained(self) -> tuple[Judged, ...]:
        """Injected now and not before; empty if one run does not have the prompt, as are `lost` and `same`."""
        return _without(self.now, self.before)

    @cached_property
    def lost(self) -> tuple[Judged, ...]:
        return _without(self.before, self.now)

    @cached_property
    def same(self) -> tuple[Judged, ...]:
        kept = {memory.memory.memory_id for memory in self.before or ()}
        return tuple(memory for memory in self.now or () if memory.memory.memory_id in kept)

    @property
    def is_changed(self) -> bool:
        return bool(self.gained or self.lost)

    @cached_property
    def worth(self) -> int:
        """Relevant memories gained and irrelevant ones lost, minus the reverse. Unlabelled memories do not count."""
        value = {None: 0, True: 1, False: -1}
        gains, losses = ([value[memory.is_relevant] for memory in own] for own in (self.gained, self.lost))
        return sum(gains) - sum(losses)


@dataclass(frozen=True)
class RunDiff:
    """All prompts of two runs: the prompts of the later run in its order, then prompts of the earlier run alone.

    `needed` are the needed memories of each prompt that needs one.
    """

    prompts: tuple[PromptDiff, ...]
    needed: Pools

    @cached_property
    def both(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.is_in_both)

    @cached_property
    def changed(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.is_changed)

    @cached_property
    def lost_relevant(self) -> int:
        """Relevant memories that are injected no more, one for each prompt."""
        return sum(memory.is_relevant is True for prompt in self.prompts for memory in prompt.lost)

    @cached_property
    def new_unlabelled(self) -> int:
        """Injected texts that are new for their prompt and have no label: of gained memories and of edited ones."""
        new = [(prompt.gained, [memory for memory in prompt.same if memory.is_edited]) for prompt in self.prompts]
        return sum(memory.is_relevant is None for gained, edited in new for memory in (*gained, *edited))


class Shares(NamedTuple):
    """Of the prompts that both runs have: the relevant memories, of the labelled ones; the served prompts, of those in
    need. An injected text that people did not call relevant is not needed."""

    precision: Ratio
    served: Ratio


def shares_of(diff: RunDiff) -> tuple[Shares, Shares]:
    """Before and now."""

    def shares(sets: Iterable[tuple[str, tuple[Judged, ...] | None]]) -> Shares:
        relevant = {name: [own.memory.memory_id for own in found or () if own.is_relevant] for name, found in sets}
        judged = [own.is_relevant for _, found in sets for own in found or () if own.is_relevant is not None]
        need = served(relevant.items(), diff.needed)
        return Shares(Ratio(sum(judged), len(judged)), precision(need))

    return (
        shares([(prompt.prompt_id, prompt.before) for prompt in diff.both]),
        shares([(prompt.prompt_id, prompt.now) for prompt in diff.both]),
    )


def diff_runs(before: Sets, now: Sets, known: KnownVerdicts) -> RunDiff:
    """Compare the injected sets of two runs."""

    def judged(prompt_id: str, sets: Sets) -> tuple[Judged, ...] | None:
        if prompt_id not in sets:
            return None
        digests = {memory.memory_id: memory.digest for memory in before.get(prompt_id, ())}
        return tuple(
            Judged(memory, known.of(prompt_id, memory), bool(memory.digest and old) and memory.digest != old)
            for memory in sets[prompt_id]
            for old in (digests.get(memory.memory_id, ""),)
        )

    ids = dict.fromkeys((*now, *before))
    prompts = [PromptDiff(prompt_id, judged(prompt_id, before), judged(prompt_id, now)) for prompt_id in ids]
    return RunDiff(tuple(prompts), known.needed)


def by_labels(labels: Iterable[Gold], slight: Set[tuple[str, str]] = frozenset()) -> KnownVerdicts:
    """The judgements of people: on the text that a run injected, or, if a file does not tell it, on all its texts.

    *slight*: see `labels.measure.judgements.slight_pairs`.
    """
    texts: dict[tuple[str, str, str], bool] = {}
    memories: dict[tuple[str, str], set[bool]] = {}
    for label in labels:
        if label.verdict in (RELEVANT, NOT_RELEVANT):
            texts[label.prompt_id, label.memory_id, label.digest] = label.verdict == RELEVANT
            memories.setdefault((label.prompt_id, label.memory_id), set()).add(label.verdict == RELEVANT)

    def of(prompt_id: str, memory: InjectedMemory) -> bool | None:
        if memory.digest:
            return texts.get((prompt_id, memory.memory_id, memory.digest))
        said = memories.get((prompt_id, memory.memory_id), set())
        return next(iter(said)) if len(said) == 1 else None

    judgements = nested((*pair, True in said) for pair, said in memories.items())
    return KnownVerdicts(of, needed_in(judgements, slight))


def by_qrels(judgements: Judgements, slight: Set[tuple[str, str]] = frozenset()) -> KnownVerdicts:
    """The judgements of a file, which names no texts."""

    def of(prompt_id: str, memory: InjectedMemory) -> bool | None:
        return judgements.get(prompt_id, {}).get(memory.memory_id)

    return KnownVerdicts(of, needed_in(judgements, slight))


def _without(memories: tuple[Judged, ...] | None, others: tuple[Judged, ...] | None) -> tuple[Judged, ...]:
    if memories is None or others is None:
        return ()
    known = {other.memory.memory_id for other in others}
    return tuple(memory for memory in memories if memory.memory.memory_id not in known)


# In words


@dataclass(frozen=True)
class Side:
    """One of the runs: its `name` (a file or a run id), its `system`, and the time of a saved run, ISO 8601."""

    name: str
    system: str
    prompts: int
    ts: str = ""

    @property
    def line(self) -> str:
        return " · ".join(filter(None, (self.system, counted(self.prompts, "prompt"), moment(self.ts), self.name)))


@dataclass(frozen=True)
class ComparedRuns:
    """A diff with its runs, the differences of their `settings` in words, and the texts of prompts by id."""

    before: Side
    now: Side
    diff: RunDiff
    settings: tuple[str, ...]
    texts: Mapping[str, str]


def moment(ts: str) -> str:
    """2026-11-24 20:10 UTC, for an ISO 8601 time in UTC."""
    return f"{ts[:16].replace('T', ' ')} UTC" if ts else ""


def answer(diff: RunDiff) -> str:
    """The sentence about all prompts that both runs have."""
    if not diff.both:
        return "The runs have no prompt in common."
    if not diff.changed:
        return f"Both inject the same memories for each of {counted(len(diff.both), 'prompt')}."
    gained = [memory for prompt in diff.changed for memory in prompt.gained]
    lost = [memory for prompt in diff.changed for memory in prompt.lost]
    prompts = f"{len(diff.changed):,} of {counted(len(diff.both), 'prompt')}"
    verb = "differs" if len(diff.changed) == 1 else "differ"
    return f"{prompts} {verb}: {memories_text(gained, 'gained')}, {memories_text(lost, 'lost')}."


def memories_text(memories: Sequence[Judged], verb: str) -> str:
    """3 memories gained (2 relevant, 1 without a label)."""
    said = [memory.is_relevant for memory in memories]
    names = {True: "relevant", False: "not relevant", None: "without a label"}
    counts = [f"{said.count(verdict):,} {name}" for verdict, name in names.items() if verdict in said]
    return f"{counted(len(memories), 'memory', 'memories')} {verb}" + (f" ({', '.join(counts)})" if counts else "")


def head_lines(compared: ComparedRuns) -> list[str]:
    """The answer, the precision, the served share, the settings, and the prompts that only one run has."""
    diff, (before, now) = compared.diff, shares_of(compared.diff)
    lines = [answer(diff)]
    if before.precision.whole or now.precision.whole:
        pair = f"before {_part(before.precision)}, now {_part(now.precision)}"
        lines.append(f"Of the memories with a label, relevant are: {pair}.")
    if now.served.whole:
        pair = f"before {_part(before.served)}, now {_part(now.served)}"
        lines.append(f"Of the prompts in need, served are: {pair}.")
    if compared.settings:
        lines.append(f"Changed in between: {'; '.join(compared.settings)}.")
    alone = [prompt.now is None for prompt in diff.prompts if not prompt.is_in_both]
    counts = ((alone.count(True), "only before"), (alone.count(False), "only now"))
    if alone:
        only = listed([f"{number:,} {where}" for number, where in counts if number])
        lines.append(f"Prompts that are not compared: {only}.")
    return lines


def limits_line(diff: RunDiff, most_new: int) -> str:
    """What holds up a pull request: a relevant memory lost, or more than *most_new* memories without a label."""
    new = f"{counted(diff.new_unlabelled, 'memory', 'memories')} came in without a label (allowed: {most_new:,})"
    return f"{counted(diff.lost_relevant, 'relevant memory was', 'relevant memories were')} lost; {new}."


def diff_markdown(compared: ComparedRuns, most_new: int) -> str:
    """A summary for a pull request: the answer, the limits, and a table of the prompts that differ."""

    def names(memories: Sequence[Judged]) -> str:
        return "<br>".join(escaped(cut(_named(judged), MOST_CELLS)) for judged in memories)

    lines = [*head_lines(compared), limits_line(compared.diff, most_new)]
    parts = ["## Memories in prompts", "\n".join(f"- {escaped(line)}" for line in lines)]
    shown = compared.diff.changed[:MOST_ROWS]
    rows = [
        f"| {escaped(cut(one_line(compared.texts.get(prompt.prompt_id, '') or prompt.prompt_id), MOST_CELLS))} "
        f"| {names(prompt.gained)} | {names(prompt.lost)} |"
        for prompt in shown
    ]
    if rows:
        parts.append("\n".join(("| prompt | comes in | goes out |", "| --- | --- | --- |", *rows)))
    if more := len(compared.diff.changed) - len(shown):
        parts.append(f"And {counted(more, 'more prompt')}.")
    return "\n\n".join(parts) + "\n"


def diff_text(compared: ComparedRuns, width: int, most_new: int = 0) -> str:
    """The runs, the answer, and each prompt that differs, in lines of at most *width* cells."""
    runs = (("Before: ", compared.before), ("Now:    ", compared.now))
    parts = [
        "\n".join(cut(name + one_line(side.line), width) for name, side in runs),
        wrapped([*head_lines(compared), limits_line(compared.diff, most_new)], width, "  "),
    ]
    for prompt in compared.diff.changed:
        lines = [one_line(compared.texts.get(prompt.prompt_id, "") or prompt.prompt_id)]
        lines += [f"  + {_named(judged)}" for judged in prompt.gained]
        lines += [f"  - {_named(judged)}" for judged in prompt.lost]
        lines += [f"  = {len(prompt.same):,} the same"] if prompt.same else []
        parts.append("\n".join(cut(line, width) for line in lines))
    return "\n\n".join(parts) + "\n"


def _named(judged: Judged) -> str:
    """The verdict and the title: in this order, so that the verdict is never cut."""
    memory = judged.memory
    title = f"{memory.title} ({memory.memory_id})" if memory.title else memory.memory_id
    return one_line(": ".join(filter(None, (WORDS[judged.is_relevant], title))))


def _part(ratio: Ratio) -> str:
    if not ratio.whole:
        return "none has one"
    return f"{ratio.part:,} of {ratio.whole:,} ({percent(ratio.part, ratio.whole)})"


def diff_json(compared: ComparedRuns) -> str:
    """Both runs and every prompt, also those without a difference."""
    before, now = shares_of(compared.diff)
    made = {
        "before": _side(compared.before, before),
        "now": _side(compared.now, now),
        "settings": list(compared.settings),
        "prompts": [_prompt(prompt, compared.texts) for prompt in compared.diff.prompts],
    }
    return printed_json(made, indent=2) + "\n"


def _side(side: Side, shares: Shares) -> dict[str, Any]:
    found = {name: record(ratio) for name, ratio in shares._asdict().items()}
    return {"run": side.name, "system": side.system, "prompts": side.prompts, "ts": side.ts, **found}


def _prompt(prompt: PromptDiff, texts: Mapping[str, str]) -> dict[str, Any]:
    def memories(own: tuple[Judged, ...] | None) -> list[dict[str, Any]] | None:
        if own is None:
            return None
        named = ((judged, judged.memory) for judged in own)
        return [
            {"id": memory.memory_id, "title": memory.title, "relevant": one.is_relevant, "edited": one.is_edited}
            for one, memory in named
        ]

    return {
        "prompt_id": prompt.prompt_id,
        "prompt": texts.get(prompt.prompt_id),
        "before": memories(prompt.before),
        "now": memories(prompt.now),
        **{name: [memory.memory.memory_id for memory in getattr(prompt, name)] for name in ("gained", "lost", "same")},
    }
