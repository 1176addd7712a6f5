"""`memsift replay --executor`: parts on processes and on a Dask cluster, resumed, and after a worker is killed."""

import json
import os
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.config import SYSTEMS as SYSTEMS_BY_NAME
from engine.config import Config, JudgeConfig
from engine.judge.verdict import OK
from engine.lean.record import replace
from engine.memory import UNSCANNED
from engine.opening import open_index
from engine.roots import OpenRoot
from tests.engine.judge.api_server import ApiServer, failed
from tests.engine.test_scanned_late import ASK, write
from tests.tui.cli.command_line import Here, jsonl, memsift, process, refused
from tests.tui.demo import DEMO, DEMO_ROOT
from tui.workspace.judging import Answers, Asking, JudgeOptions
from tui.workspace.parts.replay import ReplayRun
from tui.workspace.replay.replaying import Ending

SYSTEMS = "bm25,memsift+default"


def prompts(path: Path, copies: int = 1) -> Path:
    """The example prompts, *copies* times, each with an id of its own."""
    rows = [json.loads(line) for line in (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    return jsonl(path, *({**row, "id": f"{row['id']}-{copy}"} for copy in range(copies) for row in rows))


def rows_in(text: str) -> list[str]:
    """The rows of a run in one order, without the time that each took."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    return sorted(json.dumps({**row, "ms": 0}, sort_keys=True) for row in rows)


def parts_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("part-*.jsonl"))}


def fallbacks(folder: Path) -> list[list[str]]:
    """What each row of each part fell back to, where the judge did not answer."""
    return [[json.loads(line)["fallback"] for line in text.splitlines()] for text in parts_in(folder).values()]


def command(file: Path, *more: object) -> list[str]:
    return ["replay", "--root", str(DEMO_ROOT), "--prompts", str(file), "--systems", SYSTEMS, *map(str, more)]


@pytest.mark.slow
def test_processes_write_the_rows_of_a_single_process_and_a_later_start_makes_only_missing_parts(
    tmp_path: Path,
) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl"), tmp_path / "parts"
    wanted = command(file, "--executor", "processes:2", "--parts", folder, "--part-size", 20)
    done = process(*wanted)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "52 prompts replayed in 3 parts." in done.stderr
    parts = parts_in(folder)
    assert rows_in("".join(parts.values())) == rows_in(process(*command(file)).stdout)

    (folder / "part-000001.jsonl").unlink()
    assert "20 prompts replayed in 1 parts." in process(*wanted).stderr
    assert [*map(rows_in, parts_in(folder).values())] == [*map(rows_in, parts.values())]

    other = refused(memsift(*command(file, "--executor", "processes:2", "--parts", folder, "--part-size", 30)))
    assert "holds the parts of another run: part_size differ" in other


def test_a_part_that_the_judge_did_not_answer_is_done_again(server: ApiServer, root: Path, tmp_path: Path) -> None:
    asked = [f"how do we handle the cache rule {number}" for number in range(4)]
    file = jsonl(tmp_path / "prompts.jsonl", *({"id": f"p{n}", "prompt": text} for n, text in enumerate(asked)))
    asking = Asking(JudgeOptions("anthropic-http"), concurrency=1, retries=0, batch_poll_s=0.0)
    config = replace(Config(), judge=replace(JudgeConfig(), enabled=True, provider="anthropic-http"))

    def run() -> tuple[Ending, int, Answers]:
        opened, judged = OpenRoot(str(root), config, None), SYSTEMS_BY_NAME["memsift+judge"]
        replayed = ReplayRun(opened, [judged], {}, asking, [str(file)], tmp_path / "parts", 2)
        return replayed.over(Here()), replayed.prompts, replayed.answers

    keeps = server.answer
    server.answer = lambda request: failed(400) if asked[3] in request.raw.decode() else keeps(request)
    ending, asked_about, answers = run()
    assert (ending, asked_about) == (Ending(2, 2), 4)
    assert answers.statuses == {OK: 3, "http_error": 1}
    assert fallbacks(tmp_path / "parts") == [["", ""], ["", "http_error"]]
    server.answer = keeps
    server.requests.clear()
    assert run() == (Ending(1, 1), 2, Answers(Counter({OK: 2})))
    assert len(server.requests) == 1  # the other prompt of the part is in the cache
    assert fallbacks(tmp_path / "parts") == [["", ""], ["", ""]]
    assert run() == (Ending(0, 0), 0, Answers())


@pytest.mark.parametrize("is_here", [True, False])
def test_only_what_is_shown_is_scanned_first_where_the_workers_have_the_files(tmp_path: Path, is_here: bool) -> None:
    root = write(tmp_path / "notes")
    (tmp_path / "notes" / "other.md").write_text(f"# Zebra stripes\n\n{'Black and white. ' * 200}", encoding="utf-8")
    file = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK.text})
    asking = Asking(JudgeOptions(is_off=True), concurrency=1, retries=0, batch_poll_s=0.0)
    executor = Here()
    executor.is_here = is_here
    run = ReplayRun(
        OpenRoot(root, Config(), None), [SYSTEMS_BY_NAME["memsift"]], {}, asking, [str(file)], tmp_path / "parts", 1
    )
    assert run.over(executor) == Ending(1, 1)
    (row,) = (json.loads(text) for text in parts_in(tmp_path / "parts").values())
    assert [found["id"] for found in row["injected"]] == ["harmless"]
    with closing(open_index(root, os.environ)) as index:
        unscanned = [memory.id for memory in index.summaries() if memory.risk == UNSCANNED]
    assert unscanned == (["other"] if is_here else [])


def test_what_cannot_be_replayed_in_parts_is_refused(tmp_path: Path) -> None:
    file, parts = prompts(tmp_path / "prompts.jsonl"), ("--parts", tmp_path / "parts")
    text = jsonl(tmp_path / "text.jsonl", "why do we compute it on read?")
    assert "line 1 is no JSON object with a `prompt`" in refused(
        memsift(*command(text, "--executor", "processes", *parts))
    )
    assert "There is no executor 'threads'" in refused(memsift(*command(file, "--executor", "threads", *parts)))
    done = memsift(*command(file, "--executor", "processes"))
    assert done.exit_code == 2
    assert "--executor and --parts go together" in done.stderr
