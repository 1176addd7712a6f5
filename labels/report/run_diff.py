"""The difference between two runs in words, as text for a terminal and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.lean.json_text import printed_json
from engine.wording import counted, cut, listed
from labels.report.section import percent
from labels.report.text import one_line, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from labels.measure.metrics import Ratio
    from labels.measure.run_diff import Judged, PromptDiff, RunDiff

WORDS = {True: "relevant", False: "not relevant", None: ""}


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


def precision_text(diff: RunDiff) -> str:
    """The precision of both runs on the labelled memories of the prompts that both have; empty without a label."""
    before, now = diff.precision_before, diff.precision_now
    if not (before.whole or now.whole):
        return ""
    return f"Of the memories with a label, relevant are: before {_part(before)}, now {_part(now)}."


def only_text(diff: RunDiff) -> str:
    """How many prompts only one of the runs has; empty without such a prompt."""
    counts = ((len(diff.only_before), "only before"), (len(diff.only_now), "only now"))
    said = [f"{number:,} {where}" for number, where in counts if number]
    return f"Prompts that are not compared: {listed(said)}." if said else ""


def settings_text(settings: Sequence[str]) -> str:
    return f"Changed in between: {'; '.join(settings)}." if settings else ""


def head_lines(compared: ComparedRuns) -> list[str]:
    """The answer, the precision, the settings, and the prompts that only one run has."""
    diff = compared.diff
    lines = (answer(diff), precision_text(diff), settings_text(compared.settings), only_text(diff))
    return [line for line in lines if line]


def diff_text(compared: ComparedRuns, width: int) -> str:
    """The runs, the answer, and each prompt that differs, in lines of at most *width* cells."""
    runs = (("Before: ", compared.before), ("Now:    ", compared.now))
    parts = [
        "\n".join(cut(name + one_line(side.line), width) for name, side in runs),
        wrapped(head_lines(compared), width, "  "),
    ]
    parts += ["\n".join(_prompt_lines(prompt, compared.texts, width)) for prompt in compared.diff.changed]
    return "\n\n".join(parts) + "\n"


def _prompt_lines(prompt: PromptDiff, texts: Mapping[str, str], width: int) -> Iterator[str]:
    yield cut(one_line(texts.get(prompt.prompt_id, "") or prompt.prompt_id), width)
    for sign, memories in (("+", prompt.gained), ("-", prompt.lost)):
        for memory in memories:
            yield cut(f"  {sign} {_memory_text(memory)}", width)
    if prompt.same:
        yield f"  = {len(prompt.same):,} the same"


def _memory_text(memory: Judged) -> str:
    """The verdict stands before the title, so that it is never cut."""
    title = f"{memory.memory.title} ({memory.memory.memory_id})" if memory.memory.title else memory.memory.memory_id
    return one_line(": ".join(filter(None, (WORDS[memory.is_relevant], title))))


def _part(ratio: Ratio) -> str:
    if not ratio.whole:
        return "none has one"
    return f"{ratio.part:,} of {ratio.whole:,} ({percent(ratio.part, ratio.whole)})"


def diff_json(compared: ComparedRuns) -> str:
    """Both runs and every prompt, also those without a difference."""
    diff = compared.diff
    made = {
        "before": _side(compared.before, diff.precision_before),
        "now": _side(compared.now, diff.precision_now),
        "settings": list(compared.settings),
        "prompts": [_prompt(prompt, compared.texts) for prompt in diff.prompts],
    }
    return printed_json(made, indent=2) + "\n"


def _side(side: Side, precision: Ratio) -> dict[str, Any]:
    found = {"value": precision.value, "part": precision.part, "whole": precision.whole}
    return {"run": side.name, "system": side.system, "prompts": side.prompts, "ts": side.ts, "precision": found}


def _prompt(prompt: PromptDiff, texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "prompt_id": prompt.prompt_id,
        "prompt": texts.get(prompt.prompt_id),
        "before": None if prompt.before is None else _memories(prompt.before),
        "now": None if prompt.now is None else _memories(prompt.now),
        **{name: [memory.memory.memory_id for memory in getattr(prompt, name)] for name in ("gained", "lost", "same")},
    }


def _memories(memories: Iterable[Judged]) -> list[dict[str, Any]]:
    return [
        {
            "id": memory.memory.memory_id,
            "title": memory.memory.title,
            "relevant": memory.is_relevant,
            "edited": memory.is_edited,
        }
        for memory in memories
    ]
