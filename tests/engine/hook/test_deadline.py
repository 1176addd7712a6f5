"""The hook's deadline holds against everything that the main thread may wait for."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.hook.process import HookAnswer
from tests.engine.hook.world import ASK, FORMS, PROJECT, World

START = "import os, sys, time; from engine.hook.deadline import Watchdog; "
LATE = "dog = Watchdog({seconds}, lambda: os.write(1, b'late')); "
STUCK = {
    "sleeping": "time.sleep(30)",
    "reading": "os.read(0, 1)",
    "computing": "exec('while True: pass')",
    "querying": "from engine.lean.sqlite import in_memory; in_memory().execute("
    "'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n').fetchone()",
}


def run(code: str) -> subprocess.CompletedProcess[bytes]:
    """Run *code* with a stdin that nobody writes to or closes."""
    reading, writing = os.pipe()
    try:
        command = [sys.executable, "-c", START + code]
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        return subprocess.run(command, stdin=reading, capture_output=True, env=environ, timeout=20, check=False)
    finally:
        os.close(reading)
        os.close(writing)


NEVER_ENDS = "re.match('(a+)+$', 'a' * 64 + 'b')"


def test_a_pattern_that_never_ends_is_ended_by_the_kernel_even_where_the_signal_was_held_back() -> None:
    inherited = "import re, signal; signal.signal(14, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, [14]); "
    done = run(inherited + LATE.format(seconds=0.5) + NEVER_ENDS)
    assert (done.returncode, done.stdout, done.stderr) == (-14, b"", b"")


@pytest.mark.parametrize("what", STUCK)
def test_a_process_that_is_stuck_ends_with_0_and_last_words(what: str) -> None:
    patient = "from engine.hook import deadline; deadline.ALARM_S = 20; "  # on a busy machine the thread comes late
    done = run(patient + LATE.format(seconds=0.05) + STUCK[what])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"late", b"")


def test_last_words_that_are_stuck_themselves_are_not_waited_for() -> None:
    done = run("Watchdog(0.05, lambda: time.sleep(30)); time.sleep(30)")
    assert (done.returncode, done.stdout) == (0, b"")


PRINTING = "dog.printing.acquire(); dog.answered(); time.sleep({}); os.write(1, b'whole'); "
WATCHED = {
    "an alarm does not cut an answer": (0.05, PRINTING.format(0.8), b"whole"),
    "nor does the thread": (0.05, PRINTING.format(0.3) + "dog.printing.release(); time.sleep(30)", b"whole"),
    "after an answer there are no last words": (0.05, "dog.answered(); time.sleep(30)", b""),
    "moved to later": (0.3, "dog.allow(1.2); time.sleep(0.5); os.write(1, b'still '); time.sleep(30)", b"still late"),
    "moved to earlier": (15, "dog.allow(0.05); time.sleep(30)", b"late"),
}


@pytest.mark.parametrize(("seconds", "code", "stdout"), WATCHED.values(), ids=WATCHED)
def test_the_deadline_ends_the_process_but_cuts_no_answer(seconds: float, code: str, stdout: bytes) -> None:
    done = run(LATE.format(seconds=seconds) + code)
    assert (done.returncode, done.stdout) == (0, stdout)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_stdin_that_never_ends_does_not_hold_the_hook_up(tmp_path: Path, form: str) -> None:
    world = World(tmp_path)
    reading, writing = os.pipe()
    os.write(writing, json.dumps(world.payload()).encode()[:-1])
    try:
        done = world.start(FORMS[form], reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_decision_that_came_too_late_is_logged_and_was_not_given(tmp_path: Path) -> None:
    world = World(tmp_path)
    with closing(HookAnswer(world.environ, world.stderr)) as decision:
        assert decision.answer(json.dumps(world.payload()).encode())
        decision.give_up()
    (row,) = world.log()
    assert (row["reason"], row["injected"], row["characters"]) == ("no answer within the deadline", [], 0)
    assert world.context().count("<result ") == 3


def test_a_run_that_still_goes_on_is_not_logged_as_ended(tmp_path: Path) -> None:
    """Its line waits for the end of its time, whenever the file was written."""
    world = World(tmp_path)
    with closing(HookAnswer(world.environ, world.stderr)) as running:
        assert running.answer(json.dumps(world.payload()).encode())
        (left,) = (world.state / "sessions/unfinished").iterdir()
        os.utime(left)
        world.send(session_id="another")
        running.remember()
    assert [row.get("reason") for row in world.log()] == [None, None]
    assert not [*left.parent.iterdir()]


def test_the_configured_deadline_is_allowed_and_the_judges_time_with_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    allowed: list[float] = []

    def answer(**payload: str) -> None:
        with closing(HookAnswer(world.environ, world.stderr, allowed.append)) as decision:
            decision.answer(json.dumps(world.payload(**payload)).encode())

    world.configure(deadline=0.5)
    answer()
    world.configure(deadline=0.5, judge={"enabled": True, "timeout_per_call": 4})
    answer(prompt="short")
    world.environ["MEMSIFT_DEADLINE"] = "1.5"
    answer(prompt=ASK)
    assert allowed == [0.5, 4.5, 5.5]
