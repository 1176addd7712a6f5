"""A judge that reads its answers from a file: for the demo and for tests."""

from __future__ import annotations

import json
import os.path
import re
import time
from html import unescape
from math import inf

from engine.errors import (
    ConfigError,
    MissingKeyError,
    ProviderCancelledError,
    ProviderHttpError,
    ProviderRefusedError,
    ProviderTimeoutError,
)
from engine.judge.prompts import FIELD_LIMIT, PROMPT_LIMIT, cut, parse_request
from engine.judge.provider import Completion, Provider
from engine.judge.verdict import APPROVED, REJECTED
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.stores.files import read_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from engine.judge.provider import Question

SCRIPT_BYTES = 20_000_000
"""The largest script that is read."""

NO_ANSWER = "The scripted judge knows only the prompts of its file, not this one."

FAILURES = {
    "timeout": (ProviderTimeoutError, "The scripted judge did not answer in time."),
    "http_error": (ProviderHttpError, "The scripted judge answered with an error."),
    "refused": (ProviderRefusedError, "The scripted judge refused to answer."),
    "no_key": (MissingKeyError, "The scripted judge has no key."),
    "cancelled": (ProviderCancelledError, "The scripted judge was stopped."),
}
"""The values of a row's `status`, with the error that is raised."""


class ScriptedAnswer(Record):
    """A row of a script: exactly one of `keep` (titles), `answer` (raw text) and `status` is not None."""

    keep: tuple[str, ...] | None = None
    answer: str | None = None
    status: str | None = None
    delay_s: float = 0.0


class ScriptedProvider(Provider):
    """Answers by the prompt of a request. The keys of *answers* are prompts, `cut` to PROMPT_LIMIT.

    For a request about whole memories the key is the title of the first.

    The fingerprint is of these rows, because two scripts may have one name. *sleep* takes seconds.
    """

    name = "scripted"

    def __init__(
        self,
        answers: Mapping[str, ScriptedAnswer],
        model: str = "scripted",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.fingerprint = hex_digest(repr(sorted(answers.items(), key=lambda row: row[0])))
        self._answers = answers
        self._sleep = sleep

    @classmethod
    def from_file(cls, path: str, sleep: Callable[[float], None] = time.sleep) -> ScriptedProvider:
        """Read JSONL rows `{"prompt", "keep" | "answer" | "status", "delay_ms"?}`; other fields are ignored.

        `model` is the file's name. Raises ConfigError naming line and field for anything else.
        """
        answers: dict[str, ScriptedAnswer] = {}
        for number, line in _lines(path):
            try:
                prompt, answer = _row(line)
                if prompt in answers:
                    raise ValueError("field prompt: an earlier line has the same prompt")
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{path}, line {number}: {error}.") from None
            answers[prompt] = answer
        return cls(answers, os.path.basename(path), sleep)

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. A delay longer than *timeout_s* sleeps that long and raises ProviderTimeoutError."""
        try:
            whole = re.search("^<title>(.*)</title>$", question.user, re.MULTILINE)
            prompt, titles = (unescape(whole[1]), ()) if whole else parse_request(question.user)
            row = self._answers[prompt]
        except (ValueError, KeyError):
            raise ProviderRefusedError(NO_ANSWER) from None
        if row.delay_s > 0:
            self._sleep(min(row.delay_s, timeout_s))
        if row.delay_s > timeout_s:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.")
        if row.status is not None:
            error, message = FAILURES[row.status]
            raise error(message)
        if row.answer is not None:
            return Completion(row.answer)
        kept = row.keep or ()
        if "verdicts" not in question.schema["properties"]:
            return Completion(json.dumps({"keep": [index for index, title in enumerate(titles) if title in kept]}))
        decisions = {True: (APPROVED, "The script keeps it."), False: (REJECTED, "The script does not keep it.")}
        verdicts = []
        for index, title in enumerate(titles):
            decision, reasoning = decisions[title in kept]
            verdicts.append({"index": index, "reasoning": reasoning, "decision": decision, "confidence": 1.0})
        return Completion(json.dumps({"verdicts": verdicts}))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    try:
        content = read_named(path, SCRIPT_BYTES + 1)
        if len(content) > SCRIPT_BYTES:
            raise OSError(f"is larger than {SCRIPT_BYTES // 1_000_000} MB")
        lines = content.decode().split("\n")
    except (OSError, ValueError) as error:
        own = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        reason = getattr(error, "strerror", None) or f"it {own}"
        raise ConfigError(f"The judge's script {path} cannot be read: {reason}.") from None
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _row(line: str) -> tuple[str, ScriptedAnswer]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    row = {"prompt": None, **row}
    for field, (is_valid, needed) in _FIELDS.items():
        if field in row and not is_valid(row[field]):
            raise ValueError(f"field {field}: {needed} is needed")
    if len({"keep", "answer", "status"} & row.keys()) != 1:
        raise ValueError("exactly one of the fields keep, answer and status is needed")
    keep = tuple(cut(title, FIELD_LIMIT) for title in row["keep"]) if "keep" in row else None
    delay_s = row.get("delay_ms", 0) / 1000
    return cut(row["prompt"], PROMPT_LIMIT), ScriptedAnswer(keep, row.get("answer"), row.get("status"), delay_s)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_FIELDS = {
    "prompt": (_is_text, "a text"),
    "keep": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of titles"),
    "answer": (_is_text, "a text"),
    "status": (lambda value: _is_text(value) and value in FAILURES, f"one of {', '.join(FAILURES)}"),
    "delay_ms": (
        lambda value: type(value) in (int, float) and 0 <= value < inf,
        "a number of milliseconds, 0 or more,",
    ),
}
