"""The cache: its key, its answers, and a judge that goes on where the cache cannot be used."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from engine.config import JudgeConfig
from engine.judge.cache import Cache, cache_key
from engine.judge.judge import Judge
from engine.judge.provider import MAX_TOKENS, REFUSAL, Completion, Question
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.providers.openai import OpenAiProvider
from engine.judge.verdict import CACHE, LIVE, Judgement
from engine.lean.record import replace
from engine.memory import MemorySummary
from engine.prompt import Prompt, Turn, typed_prompt
from tests.engine.judge.api_server import KEY
from tests.engine.judge.cases import MODEL, PROMPT, AnsweringProvider, approved, assert_flagged, pool

PROJECT = Path(__file__).resolve().parent.parent.parent.parent
FOUR = pool(4)


class Asking:
    """A judge of *answer* with the cache at *path*; `asked` counts its calls."""

    def __init__(self, path: Path, answer: str = '{"keep": [1]}', **config: object) -> None:
        self._provider = AnsweringProvider(lambda *_: Completion(answer, 10, 2))
        self._path = path
        self._config = JudgeConfig(**config)

    @property
    def asked(self) -> int:
        return len(self._provider.asked)

    def __call__(
        self, prompt: Prompt = PROMPT, candidates: tuple[MemorySummary, ...] = FOUR, *, refresh: bool = False
    ) -> Judgement:
        with closing(Judge(self._provider, self._config, cache=Cache(str(self._path), refresh=refresh))) as judge:
            return judge.evaluate(prompt, candidates, "auto")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "judge.db"


def test_the_second_time_nobody_is_asked_and_the_answer_is_as_it_was_said(path: Path) -> None:
    entries = [
        {"index": index, "reasoning": f"Reason {index} é.", "decision": decision, "confidence": 0.1 * index}
        for index, decision in enumerate(("approved", "rejected", "flagged", "approved"))
    ]
    ask = Asking(path, json.dumps({"verdicts": entries}), depth="explained")
    first, second, third = ask(), ask(), ask()
    assert ask.asked == 1
    assert {one.source for one in first.verdicts} == {LIVE}
    assert [replace(one, source=CACHE) for one in first.verdicts] == list(second.verdicts) == list(third.verdicts)
    assert sorted(one.confidence or 0 for one in second.verdicts) == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert (second.input_tokens, second.output_tokens, second.cost_usd) == (0, 0, 0.0)


def test_everything_that_an_answer_depends_on_is_in_the_key_and_no_secret_is() -> None:
    provider, question = AnthropicHttpProvider(MODEL, {"ANTHROPIC_API_KEY": KEY}), Question("system", "user", {}, 256)
    keys = {
        cache_key(*parts)
        for parts in [
            (provider, "hash", question, 0, ["a", "b"]),
            (AnthropicHttpProvider("claude-other", {}), "hash", question, 0, ["a", "b"]),
            (OpenAiProvider(MODEL, {}), "hash", question, 0, ["a", "b"]),
            (OpenAiProvider(MODEL, {"OPENAI_BASE_URL": "http://me:pw@box/v1"}), "hash", question, 0, ["a", "b"]),
            (provider, "hush", question, 0, ["a", "b"]),
            (provider, "hash", replace(question, user="other"), 0, ["a", "b"]),
            (provider, "hash", replace(question, max_tokens=255), 0, ["a", "b"]),
            (provider, "hash", replace(question, temperature=0.0), 0, ["a", "b"]),
            (provider, "hash", question, 1, ["a", "b"]),
            (provider, "hash", question, 0, ["a", "c"]),
            (provider, "hash", question, 0, ["ab", ""]),
        ]
    }
    assert (len(keys), {len(key) for key in keys}) == (11, {64})
    other = AnthropicHttpProvider(MODEL, {"ANTHROPIC_API_KEY": "sk-ant-another"})
    assert cache_key(other, "hash", question, 0, ["a", "b"]) in keys
    assert OpenAiProvider(MODEL, {"OPENAI_BASE_URL": "http://me:pw@box/v1"}).fingerprint == "http://box/v1"


def test_another_input_is_another_question(path: Path) -> None:
    ask = Asking(path)
    ask()
    for prompt, candidates in [
        (typed_prompt("another prompt", PROMPT.turns), FOUR),
        (typed_prompt(PROMPT.text, (Turn("user", "the other one"),)), FOUR),
        (PROMPT, (replace(FOUR[0], digest="1" * 64), *FOUR[1:])),
        (PROMPT, FOUR[::-1]),
    ]:
        assert ask(prompt, candidates).verdicts[0].source == LIVE
    halves = Asking(path, '{"keep": [0]}', split_over=2)
    first, second = halves(), halves()
    assert (halves.asked, approved(first)) == (2, approved(second))
    assert {one.source for one in second.verdicts} == {CACHE}, "each half of a split pool is kept"


def test_what_is_no_answer_is_never_kept_and_still_counts_its_tokens(path: Path) -> None:
    for completion, status in [
        (Completion("prose", 5, 6), "parse_error"),
        (Completion('{"keep": [0', 5, 6, MAX_TOKENS), "parse_error"),
        (Completion('{"keep": [0]}', 5, 6, REFUSAL), "refused"),
    ]:
        provider = AnsweringProvider(lambda *_, completion=completion: completion)
        with closing(Judge(provider, JudgeConfig(), cache=Cache(str(path)))) as judge:
            for _ in range(2):
                judgement = judge.evaluate(PROMPT, FOUR, "auto")
                assert_flagged(judgement, status)
                assert (judgement.input_tokens, judgement.output_tokens) == (5, 6)
        assert len(provider.asked) == 2


# Files that cannot be used


def change(path: Path, sql: str, *values: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(sql, values)
        db.commit()


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    content[page:] = b"\xa5" * (len(content) - page)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"this is no database" * 5000),
        lambda path: path.write_bytes(b""),
        lambda path: [path.unlink(), change(path, "create table answer(key text primary key, opinions text)")],
        lambda path: change(path, "pragma user_version=99"),
        damage,
    ],
    ids=["garbage", "empty", "foreign", "format", "damaged"],
)
def test_a_file_that_is_not_a_cache_is_made_anew(path: Path, spoil: Callable[[Path], object]) -> None:
    ask = Asking(path)
    ask()
    spoil(path)
    assert [ask().verdicts[0].source for _ in range(3)] == [LIVE, CACHE, CACHE]


def test_a_row_that_is_no_answer_is_a_miss_and_an_open_file_may_be_held_or_damaged(path: Path) -> None:
    ask = Asking(path)
    ask()
    rows = ["no json", "[]", "[[]]", '[["approved"]]', '[["x", null, ""]]', "7", "null", '{"a": 1}']
    for asked, row in enumerate(rows, start=2):
        change(path, "update answer set opinions = ?", row)
        assert (ask().status, ask.asked) == ("ok", asked), row
    ask = Asking(path)
    with closing(Cache(str(path))) as cache:
        judge = Judge(ask._provider, JudgeConfig(), cache=cache)
        judge.evaluate(PROMPT, FOUR, "auto")
        path.write_bytes(b"\xa5" * path.stat().st_size)
        sources = [judge.evaluate(PROMPT, FOUR, "auto").verdicts[0].source for _ in range(2)]
    assert sources == [LIVE, CACHE]
    ask = Asking(path)
    ask()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")  # it can still be read
        assert ask().verdicts[0].source == CACHE


def test_a_cache_that_grew_too_large_forgets_half_when_it_is_opened(path: Path) -> None:
    key, count = "{:064}", 300
    with closing(Cache(str(path))) as cache:
        for number in range(count):
            cache.keep(key.format(number), "r" * 2000)
    size = path.stat().st_size

    def kept(max_bytes: int) -> int:
        with closing(Cache(str(path), max_bytes=max_bytes)) as cache:
            return sum(cache.text(key.format(number)) is not None for number in range(count))

    assert kept(size) == count
    assert 0.4 * count < kept(size - 1) < 0.6 * count
    assert path.stat().st_size < 0.7 * size


def test_where_nothing_can_be_kept_the_judge_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "judge.db" / "more").mkdir(parents=True)
    for path in (tmp_path / "file" / "judge.db", tmp_path / "folder" / "judge.db", Path("/proc/none/judge.db")):
        ask = Asking(path)
        assert [(ask().status, ask().verdicts[0].source) for _ in range(2)] == [("ok", LIVE)] * 2
        assert ask.asked == 4


# Threads and processes


def test_threads_share_a_cache(path: Path) -> None:
    ask = Asking(path)
    prompts = [typed_prompt(f"prompt {number % 20}") for number in range(100)]
    with closing(Judge(ask._provider, JudgeConfig(), cache=Cache(str(path)))) as judge, ThreadPoolExecutor(16) as pool_:
        found = list(pool_.map(lambda prompt: judge.evaluate(prompt, FOUR, "auto"), prompts))
    assert {one.status for one in found} == {"ok"}
    again = Asking(path)
    assert {again(prompt).verdicts[0].source for prompt in prompts[:20]} == {CACHE}


@pytest.mark.skipif(sys.platform != "linux", reason="counts the open files in /proc")
def test_an_answer_that_comes_after_the_end_is_kept_and_leaves_nothing_open(path: Path) -> None:
    cache = Cache(str(path))
    cache.keep("early", "[]")
    cache.close()
    cache.keep("late", "[1]")
    assert str(path) not in [str(link.resolve()) for link in Path("/proc/self/fd").iterdir()]
    with closing(Cache(str(path))) as again:
        assert (again.text("early"), again.text("late")) == ("[]", "[1]")


WORKER = """
import sys
sys.path.insert(0, {project!r})
from pathlib import Path
from engine.prompt import typed_prompt
from tests.engine.judge.test_cache import Asking
ask = Asking(Path(sys.argv[1]))
own = int(sys.argv[2])
print(*{{ask(typed_prompt(f"prompt {{number}}")).status for number in (*range(60), *range(own, own + 20))}})
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_spoiled", [False, True], ids=["new", "damaged"])
def test_eight_processes_at_once_lose_nothing(path: Path, is_spoiled: bool) -> None:
    path.parent.mkdir()
    if is_spoiled:
        path.write_bytes(b"garbage" * 1000)
    command = [sys.executable, "-c", WORKER.format(project=str(PROJECT)), str(path)]
    running = [
        subprocess.Popen(
            [*command, str(1000 * (number + 1))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=PROJECT, text=True
        )
        for number in range(8)
    ]
    assert [one.communicate(timeout=120) for one in running] == [("ok\n", "")] * 8
    ask = Asking(path)
    numbers = [*range(60), *(1000 * (number + 1) + more for number in range(8) for more in range(20))]
    assert {ask(typed_prompt(f"prompt {number}")).verdicts[0].source for number in numbers} == {CACHE}
