"""A judge that reads its answers from a file: for the demo and for tests."""

from __future__ import annotations

import json
import os.path
import time

from engine.errors import (
    ConfigError,
    MissingKeyError,
    ProviderCancelledError,
    ProviderHttpError,
    ProviderRefusedError,
    ProviderTimeoutError,
)
from engine.judge.prompts import FIELD_LIMIT, PROMPT_LIMIT, cut, parse_request
from engine.judge.provider import Completion
from engine.judge.verdict import APPROVED, REJECTED
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from engine.judge.provider import Question

NO_ANSWER = "The scripted judge has no answer for this prompt."

FAILURES = {
    "timeout": (ProviderTimeoutError, "The scripted judge did not answer in time."),
    "http_error": (ProviderHttpError, "The scripted judge answered with an error."),
    "refused": (ProviderRefusedError, "The scripted judge refused to answer."),
    "no_key": (MissingKeyError, "The scripted judge has no key."),
    "cancelled": (ProviderCancelledError, "The scripted judge was stopped."),
}
"""What a row's `status` may be, and the error that it stands for."""


class ScriptedAnswer(Record):
    """One row: exactly one of `keep` (titles), `answer` (raw text) and `status` is not None. `delay_s` >= 0."""

    keep: tuple[str, ...] | None = None
    answer: str | None = None
    status: str | None = None
    delay_s: float = 0.0


class ScriptedProvider:
    """Answers by the prompt of a request. *answers* are keyed by the prompt as `cut` to PROMPT_LIMIT.

    *sleep* takes seconds; *pace* multiplies every delay (0: answer at once).
    """

    name = "scripted"

    def __init__(
        self,
        answers: Mapping[str, ScriptedAnswer],
        model: str = "scripted",
        sleep: Callable[[float], None] = time.sleep,
        pace: float = 1.0,
    ) -> None:
        self.model = model
        self._answers = answers
        self._sleep = sleep
        self._pace = pace

    @classmethod
    def from_file(cls, path: str, sleep: Callable[[float], None] = time.sleep, pace: float = 1.0) -> ScriptedProvider:
        """Read JSONL rows `{"prompt", "keep" | "answer" | "status", "delay_ms"?}`; other fields are ignored.

        `model` is the file's name. Raises ConfigError naming line and field for anything else.
        """
        return cls(read_script(path), os.path.basename(path), sleep, pace)

    @property
    def fingerprint(self) -> str:
        """The script: its file's name says nothing of what is in it."""
        return hex_digest(repr(sorted(self._answers.items(), key=lambda row: row[0])))

    def prepare(self) -> None:
        """See `Provider.prepare`. The file was read already."""

    def close(self) -> None:
        """Nothing is held between calls."""

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. A delay longer than *timeout_s* sleeps that long and raises ProviderTimeoutError."""
        try:
            prompt, titles = parse_request(question.user)
            row = self._answers[prompt]
        except (ValueError, KeyError):
            raise ProviderRefusedError(NO_ANSWER) from None
        self._wait(row.delay_s * self._pace, timeout_s)
        if row.status is not None:
            error, message = FAILURES[row.status]
            raise error(message)
        if row.answer is not None:
            return Completion(row.answer)
        return Completion(_answered(row.keep or (), titles, is_explained="verdicts" in question.schema["properties"]))

    def _wait(self, delay_s: float, timeout_s: float) -> None:
        if delay_s > 0:
            self._sleep(min(delay_s, timeout_s))
        if delay_s > timeout_s:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.")


def read_script(path: str) -> dict[str, ScriptedAnswer]:
    """The rows of the JSONL file at *path*, by prompt. Raises ConfigError naming line and field."""
    answers: dict[str, ScriptedAnswer] = {}
    for number, line in _lines(path):
        try:
            prompt, answer = _row(line)
            if prompt in answers:
                raise ValueError("field prompt: an earlier line has the same prompt")
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}, line {number}: {error}.") from None
        answers[prompt] = answer
    return answers


def _lines(path: str) -> Iterator[tuple[int, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"The judge's script {path} cannot be read: {reason}.") from None
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _row(line: str) -> tuple[str, ScriptedAnswer]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    if not isinstance(row.get("prompt"), str):
        raise ValueError("field prompt: a text is needed")
    return cut(row["prompt"], PROMPT_LIMIT), _answer(row)


def _answer(row: dict[str, Any]) -> ScriptedAnswer:
    if len({"keep", "answer", "status"} & row.keys()) != 1:
        raise ValueError("exactly one of the fields keep, answer and status is needed")
    return ScriptedAnswer(
        keep=_titles(row["keep"]) if "keep" in row else None,
        answer=_text(row["answer"]) if "answer" in row else None,
        status=_status(row["status"]) if "status" in row else None,
        delay_s=_delay(row.get("delay_ms", 0)),
    )


def _titles(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(title, str) for title in value):
        raise ValueError("field keep: a list of titles is needed")
    return tuple(cut(title, FIELD_LIMIT) for title in value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("field answer: a text is needed")
    return value


def _status(value: object) -> str:
    if not isinstance(value, str) or value not in FAILURES:
        raise ValueError(f"field status: one of {', '.join(FAILURES)} is needed")
    return value


def _delay(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError("field delay_ms: a number of milliseconds, 0 or more, is needed")
    return value / 1000


def _answered(keep: tuple[str, ...], titles: tuple[str, ...], *, is_explained: bool) -> str:
    """The answer that keeps these titles, in the form that was asked for."""
    if not is_explained:
        return json.dumps({"keep": [index for index, title in enumerate(titles) if title in keep]})
    said = {True: (APPROVED, "The script keeps it."), False: (REJECTED, "The script does not keep it.")}
    decided = [(index, *said[title in keep]) for index, title in enumerate(titles)]
    return json.dumps(
        {
            "verdicts": [
                {"index": index, "reasoning": reasoning, "decision": decision, "confidence": 1.0}
                for index, decision, reasoning in decided
            ]
        }
    )
