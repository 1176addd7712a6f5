"""The hook as a process: exit code 0 whatever happens, and nothing on stdout but the answer."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.engine.builders import memory, write_memory
from tests.engine.hook.world import ASK, FORMS, NOT_REQUESTS, RUN_HOOK, World, context_of

PROMPTS = [
    *(ASK, "cache rule 3 please", "what of cache-rule and rule 2", "nothing of the kind is here", "short"),
    *(f"{ASK} [nomem]", "/review the cache rule", "cache \ud800 rule five", "缓存 cache rule 规则"),
]


def test_the_launcher_prints_byte_for_byte_what_the_console_script_prints(tmp_path: Path) -> None:
    """Prompts in sessions of their own, a repetition, broken text, and what is no request."""
    printed = {}
    refused = list(NOT_REQUESTS.values())[:4]
    for name, command in FORMS.items():
        (tmp_path / name).mkdir()
        world = World(tmp_path / name)
        requests = [json.dumps(world.payload(text, session_id=str(i))).encode() for i, text in enumerate(PROMPTS)]
        broken = requests[0].replace(b"handle", b"\xff").replace(b'"0"', b'"100"')
        done = [world.start(command, stdin) for stdin in [*requests, requests[0], broken, *refused]]
        assert [process.returncode for process in done] == [0] * 15
        assert all(process.stdout == process.stderr == b"" for process in done[-len(refused) :])
        printed[name] = [(process.stdout, process.stderr) for process in done]
    assert printed["launcher"] == printed["script"]
    assert sum(bool(stdout) for stdout, _ in printed["launcher"]) > 5
    assert context_of(printed["launcher"][0][0].decode()).count("<result ") == 3


def test_the_command_exits_with_0_in_a_folder_that_is_gone(world: World) -> None:
    gone = world.folder / "gone"
    gone.mkdir()
    code = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); {RUN_HOOK}"
    assert world.run(json.dumps({"prompt": ASK}).encode(), code).returncode == 0


def test_the_command_needs_no_utf_8_locale(world: World) -> None:
    world.environ |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    write_memory(world.root, memory("cache rule 数据 é", "cache", memory_id="0"))
    done = world.run(json.dumps(world.payload(f"{ASK} 数据"), ensure_ascii=False).encode())
    assert done.returncode == 0
    assert "cache rule 数据 é" in context_of(done.stdout.decode("ascii"))


@pytest.mark.parametrize("ids", [{}, pytest.param({"prompt_id": ""}, marks=pytest.mark.slow)], ids=["2.1", "old"])
def test_of_two_entries_in_the_settings_one_answers_a_prompt(world: World, ids: dict[str, str]) -> None:
    """The client starts all entries at the same time, here four of them."""
    world.send("build the index now please", session_id="")
    for number in range(5):
        request = json.dumps(world.payload(session_id=f"session {number}", **ids)).encode()
        with ThreadPoolExecutor() as pool:
            done = [*pool.map(world.run, [request] * 4)]
        assert [one.returncode for one in done] == [0] * 4
        answers = [one.stdout.decode() for one in done if one.stdout]
        assert [context_of(answer).count("<result ") for answer in answers] == [3]
    assert len(world.log()) == 1 + 5
    changed = world.payload(session_id="session 4", prompt=f"{ASK} at night", **ids)
    assert world.run(json.dumps(changed).encode()).returncode == 0
    assert world.log()[-1]["reason"] == "every candidate was dropped"


def test_a_text_is_answered_again_where_it_is_another_prompt(world: World) -> None:
    """By the id of the prompt, or after a while for a client without."""
    for prompt_id in ("1", "2", "", "3"):
        world.send(prompt_id=prompt_id, session_id="s")
    assert len(world.log()) == 4
    world.send(prompt_id="", session_id="s")
    assert len(world.log()) == 4
    for path in (world.state / "sessions/answered").iterdir():
        os.utime(path, (time.time() - 3, time.time() - 3))
    world.send(prompt_id="3", session_id="s")
    assert len(world.log()) == 4
    world.send(prompt_id="", session_id="s")
    assert len(world.log()) == 5
