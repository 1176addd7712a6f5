"""The scripted judge: it reads the request as a model would, and its file strictly."""

import json
from pathlib import Path

import pytest

from engine.config import JudgeConfig
from engine.errors import ConfigError, ProviderRefusedError, ProviderTimeoutError
from engine.judge.judge import Judge
from engine.judge.prompts import request_text
from engine.judge.provider import Completion
from engine.judge.providers.scripted import SCRIPT_BYTES, ScriptedProvider
from engine.judge.verdict import Judgement
from engine.prompt import Turn, typed_prompt
from tests.engine.judge.cases import HOSTILE_TEXTS, STRICT, memory, pool


def script(folder: Path, *rows: object) -> str:
    path = folder / "judge.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return str(path)


def judged(path: str, text: str, titles: tuple[str, ...] = ("A", "B", "C")) -> Judgement:
    provider = ScriptedProvider.from_file(path, sleep=lambda _: None)
    return Judge(provider, JudgeConfig()).evaluate(typed_prompt(text), tuple(map(memory, titles)), "auto")


def test_titles_of_the_script_become_verdicts_on_prompts_as_they_are_sent(tmp_path: Path) -> None:
    path = script(
        tmp_path, {"prompt": "first", "keep": ["C", "A", "not in the pool"]}, {"prompt": "second", "keep": []}
    )
    assert [verdict.decision for verdict in judged(path, "first").verdicts] == ["approved", "rejected", "approved"]
    assert [verdict.decision for verdict in judged(path, "second").verdicts] == ["rejected"] * 3
    assert (judged(path, "first").provider, judged(path, "first").model) == ("scripted", "judge.jsonl")
    for hostile in HOSTILE_TEXTS:
        path = script(tmp_path, {"prompt": hostile, "keep": [hostile]})
        judgement = judged(path, hostile, (hostile, "other"))
        assert [verdict.decision for verdict in judgement.verdicts] == ["approved", "rejected"], hostile
    start = "why does  the\nbuild fail " + "x" * 600
    path = script(tmp_path, {"prompt": start + "one end", "keep": ["A"]})
    judgement = judged(path, "why does the build fail " + "x" * 600 + "another end")
    assert judgement.status == "ok"


def test_a_scripted_status_is_the_judgements_a_raw_answer_is_parsed_and_another_prompt_refused(tmp_path: Path) -> None:
    for status in ["timeout", "http_error", "refused", "no_key", "cancelled"]:
        judgement = judged(script(tmp_path, {"prompt": "p", "status": status}), "p")
        assert judgement.status == status, status
        assert {verdict.decision for verdict in judgement.verdicts} == {"flagged"}, status
        assert judgement.detail.startswith("The scripted judge "), status
    path = script(tmp_path, {"prompt": "p", "answer": "I think none of them.", "id": "another field"})
    assert judged(path, "p").status == "parse_error"
    judgement = judged(path, "q")
    assert (judgement.status, judgement.detail) == (
        "refused",
        "The scripted judge knows only the prompts of its file, not this one.",
    )
    with pytest.raises(ProviderRefusedError):
        ScriptedProvider({}).complete(STRICT.question("hello"), 3)


def test_a_delay_is_slept_and_one_over_the_timeout_is_a_timeout(tmp_path: Path) -> None:
    slept: list[float] = []
    question = STRICT.question(request_text(typed_prompt("p"), pool(2), (Turn("user", "hi"),)))

    def complete(**row: object) -> Completion:
        path = script(tmp_path, {"prompt": "p", **row})
        return ScriptedProvider.from_file(path, sleep=slept.append).complete(question, 3.0)

    assert complete(keep=["Memory 1"], delay_ms=800) == Completion('{"keep": [1]}')
    with pytest.raises(ProviderTimeoutError, match=r"within 3 s"):
        complete(keep=[], delay_ms=9000)
    assert slept == [0.8, 3.0]


def test_a_bad_row_is_named_by_line_and_field(tmp_path: Path) -> None:
    for line, problem in [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "line 2"),
        ('{"keep": []}', "field prompt: a text is needed"),
        ('{"prompt": 7, "keep": []}', "field prompt: a text is needed"),
        ('{"prompt": "p"}', "exactly one of the fields keep, answer and status"),
        ('{"prompt": "p", "keep": [], "status": "timeout"}', "exactly one of the fields keep, answer and status"),
        ('{"prompt": "p", "keep": "A"}', "field keep: a list of titles is needed"),
        ('{"prompt": "p", "keep": [1]}', "field keep: a list of titles is needed"),
        ('{"prompt": "p", "answer": {}}', "field answer: a text is needed"),
        ('{"prompt": "p", "status": "ok"}', "one of timeout, http_error, refused, no_key, cancelled is"),
        ('{"prompt": "p", "status": ["timeout"]}', "field status"),
        ('{"prompt": "p", "keep": [], "delay_ms": -1}', "field delay_ms"),
        ('{"prompt": "p", "keep": [], "delay_ms": true}', "field delay_ms"),
        ('{"prompt": "p", "keep": [], "delay_ms": Infinity}', "field delay_ms"),
        ('{"prompt": " first  row ", "keep": []}', "field prompt: an earlier line has the same prompt"),
    ]:
        path = tmp_path / "judge.jsonl"
        path.write_text('{"prompt": "first row", "keep": []}\n' + line + "\n", encoding="utf-8")
        with pytest.raises(ConfigError) as raised:
            ScriptedProvider.from_file(str(path))
        assert f"{path}, line 2" in str(raised.value), line
        assert problem in str(raised.value), line


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.jsonl cannot be read: No such file"):
        ScriptedProvider.from_file(str(tmp_path / "missing.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"prompt": "\xe9"}')
    with pytest.raises(ConfigError, match="cannot be read: it is not a file"):
        ScriptedProvider.from_file("/dev/zero")
    with (tmp_path / "huge.jsonl").open("wb") as file:
        file.truncate(SCRIPT_BYTES + 1)
    with pytest.raises(ConfigError, match=r"huge\.jsonl cannot be read: it is larger than 20 MB"):
        ScriptedProvider.from_file(str(tmp_path / "huge.jsonl"))
    with pytest.raises(ConfigError, match=r"latin\.jsonl cannot be read: it is not UTF-8"):
        ScriptedProvider.from_file(str(tmp_path / "latin.jsonl"))
