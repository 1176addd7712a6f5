"""Recall of questions with a paste behind them, as a share of the recall of the questions alone.

The questions are prompts of the example projects of up to 40 words. The pastes are code, logs and prose of 400, 2,000
and 5,000 words from this project. Recall is measured at the default model's threshold.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from engine import default_model
from engine.config import Config
from engine.lean.record import replace
from labels.tuning.curve import point
from labels.tuning.fitting import FeatureWeights
from tests.benchmarks.cutoff import CONFIDENCE, MOST
from tests.benchmarks.example_projects import TOP, example_projects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from engine.prompt import Prompt
    from labels.tuning.examples import JudgedPrompt

    Change = Callable[[Prompt], Prompt]

LENGTHS = (400, 2000, 5000)
MOST_WORDS = 40
MODEL = FeatureWeights(default_model.INTERCEPT, default_model.WEIGHTS)


def pastes() -> dict[str, str]:
    """Code, logs and prose of this project that seldom change, each repeated to more than 5,000 words."""
    code = repeated(text_of([TOP / "engine/search/stems.py", TOP / "engine/search/tokens.py"]))
    prose = repeated(text_of([TOP / "LICENSE"]))
    lines = [line.strip() for line in prose.splitlines() if line.strip()]
    log = "\n".join(f"2026-03-02T11:{i % 60:02}:{i % 59:02}Z INFO api.loans: {line}" for i, line in enumerate(lines))
    return {"code": code, "log": log, "prose": prose}


def repeated(text: str) -> str:
    return "\n\n".join([text] * (1 + max(LENGTHS) // len(text.split())))


def text_of(paths: Iterable[Path]) -> str:
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def with_paste(paste: str, words: int) -> Change:
    """Puts the first *words* words of *paste* behind a prompt, with its lines."""
    kept: list[str] = []
    for line in paste.splitlines():
        if words <= 0:
            break
        kept.append(line)
        words -= len(line.split())
    behind = "\n".join(kept)
    return lambda prompt: replace(prompt, text=f"{prompt.text}\n\n{behind}")


def recall(prompts: list[JudgedPrompt]) -> float:
    found = point(prompts, [MODEL.of_prompt(one) for one in prompts], default_model.THRESHOLD, MOST, CONFIDENCE)
    return found.recall or 0.0


def of_projects(change: Change) -> list[JudgedPrompt]:
    def short(prompt: Prompt) -> Prompt | None:
        return change(prompt) if len(prompt.text.split()) <= MOST_WORDS else None

    return list(chain.from_iterable(example_projects(Config(), short).values()))
