"""`claude -p` as a provider: a stand-in for the client, and the real one where it is installed."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from engine.judge.providers.claude_cli import ClaudeCliProvider
from engine.judge.verdict import Judgement
from tests.engine.judge.api_server import KEY
from tests.engine.judge.cases import MODEL, STRICT, approved, assert_flagged, judged, shown_at

LATE = "No answer within 0.7 s. `claude -p` takes longer"
LARGE = "`claude -p` wrote more than 1,000 kB."
CLIENT = """#!{python}
import json, os, pathlib, sys, time
seen = {{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "files": os.listdir(),
        "guard": os.environ.get("MEMSIFT_INSIDE_JUDGE"), "pid": os.getpid()}}
pathlib.Path({seen!r}).write_text(json.dumps(seen))
sys.stdout.write({answer!r})
{then}
sys.exit({code})
"""


class Client:
    """A command `claude` that prints *answer*, and remembers how it was called."""

    def __init__(self, folder: Path, answer: str, code: int = 0, then: str = "") -> None:
        self._seen = folder / "seen.json"
        path = folder / "bin" / "claude"
        path.parent.mkdir(exist_ok=True)
        text = CLIENT.format(python=sys.executable, seen=str(self._seen), answer=answer, code=code, then=then)
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.environ = {"PATH": str(path.parent), "HOME": str(folder), "ANTHROPIC_API_KEY": KEY}

    @property
    def seen(self) -> dict[str, object]:
        return json.loads(self._seen.read_text())  # type: ignore[no-any-return]

    def judged(self, timeout_s: float = 10) -> Judgement:
        return judged(ClaudeCliProvider(MODEL, self.environ), timeout_per_call=timeout_s)


def result(text: object, **more: object) -> str:
    usage = {"input_tokens": 300, "output_tokens": 11}
    return json.dumps({"type": "result", "is_error": False, "result": text, "usage": usage, **more})


def test_the_client_is_asked_without_hooks_tools_and_project(tmp_path: Path) -> None:
    client = Client(tmp_path, result('```json\n{"keep": [1]}\n```'))
    judgement = client.judged()
    assert (judgement.status, approved(judgement)) == ("ok", shown_at(1))
    assert (judgement.provider, judgement.input_tokens, judgement.output_tokens) == ("claude-cli", 300, 11)
    assert judgement.cost_usd is None
    seen = client.seen
    argv = seen["argv"]
    assert isinstance(argv, list)
    assert argv[0] == "-p"
    assert argv[argv.index("--settings") + 1] == '{"disableAllHooks":true}'
    assert argv[argv.index("--tools") + 1] == ""
    assert argv[argv.index("--model") + 1] == MODEL
    assert argv[argv.index("--system-prompt") + 1] == STRICT.system
    assert "signing key" in str(seen["stdin"])
    assert "signing key" not in " ".join(argv)
    assert (seen["guard"], seen["files"]) == ("1", [])
    assert not Path(str(seen["cwd"])).exists()


def test_a_failure_is_a_status(tmp_path: Path) -> None:
    for answer, code, status, detail in [
        ("", 1, "http_error", "gave no answer. Run it once by hand"),
        ("error: unknown option '--tools'", 1, "http_error", "gave no answer"),
        (result("Invalid API key", is_error=True), 1, "http_error", "says: Invalid API key"),
        (result(f"bad {KEY}", is_error=True), 0, "http_error", "says: bad [hidden]"),
        (result("The first one."), 0, "parse_error", "The answer holds no keep-list: The first one."),
        (result("", stop_reason="refusal"), 0, "refused", "The model refused to answer."),
    ]:
        judgement = Client(tmp_path, answer, code=code).judged()
        assert_flagged(judgement, status)
        assert detail in judgement.detail, answer
        assert KEY not in judgement.detail, answer


@pytest.mark.slow
def test_a_client_that_takes_or_writes_too_much_is_killed(tmp_path: Path) -> None:
    for then, status, detail in [
        ("sys.stdout.flush(); time.sleep(30)", "timeout", LATE),
        ("sys.stdout.flush(); os.close(1); time.sleep(30)", "timeout", LATE),
        ("while True: sys.stdout.write('x' * 100_000)", "http_error", LARGE),
        ("os.write(1, b'x' * 1_000_001)", "http_error", LARGE),
    ]:
        client = Client(tmp_path, result('{"keep": []}'), then=then)
        judgement = client.judged(timeout_s=0.7 if status == "timeout" else 30)
        assert_flagged(judgement, status)
        assert judgement.detail.startswith(detail), then
        assert judgement.elapsed_ms < 5000, then
        with pytest.raises(ProcessLookupError):
            os.kill(int(str(client.seen["pid"])), 0)


def test_a_process_that_is_left_behind_is_not_waited_for_and_without_a_client_it_says_what_to_do(
    tmp_path: Path,
) -> None:
    stays = "sys.stdout.flush(); import subprocess; subprocess.Popen(['sleep', '20'])"
    judgement = Client(tmp_path, result('{"keep": [1]}'), then=stays).judged(timeout_s=15)
    assert (judgement.status, approved(judgement)) == ("ok", shown_at(1))
    judgement = judged(ClaudeCliProvider(MODEL, {"PATH": "/nowhere"}))
    assert_flagged(judgement, "http_error")
    assert "Install Claude Code" in judgement.detail
    assert "ANTHROPIC_API_KEY" in judgement.detail
