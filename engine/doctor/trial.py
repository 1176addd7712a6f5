"""A test prompt through the hook's real process, as the client starts it, without a judge and without a trace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from engine.activity import LOG_FILE
from engine.claude_code.hook_entry import EVENT
from engine.doctor.finding import note, ok, problem
from engine.errors import RootError
from engine.lean.record import Record
from engine.opening import open_index
from engine.paths import cutoff_file, hook_start_file, root_key, state_dir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.claude_code.prompt_hooks import PromptHook
    from engine.doctor.finding import DoctorFinding

MOST_SECONDS = 60.0
SLOW_MS = 1000.0
ANY_PROMPT = "a test prompt of memsift doctor, about nothing"
AGAIN = "Run memsift install again: memsift was moved, or its Python is gone."


class TrialRun(Record):
    """One run of the hook. `row` is its line in the log, empty if it wrote none; `ms` is the time of the process."""

    exit_code: int
    answer: str
    ms: float
    row: Mapping[str, Any]


def try_hook(hook: PromptHook, folder: str, roots: Sequence[str], environ: Mapping[str, str]) -> DoctorFinding:
    """Send the title of a memory through *hook*, twice: the first run may have to read the memories."""
    prompt = _title(roots, environ) or ANY_PROMPT
    try:
        with tempfile.TemporaryDirectory(prefix="memsift-doctor-") as place:
            _copy_state(place, roots, environ)
            run(hook, folder, prompt, place, environ)
            done = run(hook, folder, prompt, place, environ)
    except (OSError, subprocess.TimeoutExpired) as error:
        return problem("test prompt", f"the hook's command does not end or start ({type(error).__name__})", AGAIN)
    return _judged(done, has_roots=bool(roots))


def run(hook: PromptHook, folder: str, prompt: str, place: str, environ: Mapping[str, str]) -> TrialRun:
    """Run the hook's command as the client does, with *place* for its log. No judge is asked."""
    request = {"hook_event_name": EVENT, "prompt": prompt, "cwd": folder, "session_id": os.urandom(8).hex()}
    around = {**environ, "XDG_STATE_HOME": place, "MEMSIFT_JUDGE_ENABLED": "false", "CLAUDE_PLUGIN_ROOT": hook.folder}
    started = time.perf_counter()
    done = subprocess.run(
        ["/bin/sh", "-c", hook.command],
        input=json.dumps(request).encode(),
        env=around,
        cwd=folder,
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    ms = (time.perf_counter() - started) * 1000
    return TrialRun(done.returncode, done.stdout.decode("utf-8", "replace"), ms, _last_row(place))


def _judged(done: TrialRun, *, has_roots: bool) -> DoctorFinding:
    if done.exit_code:
        effect = "blocks every prompt" if done.exit_code == 2 else "shows an error at every prompt"
        return problem("test prompt", f"the hook ended with exit code {done.exit_code}, which {effect}", AGAIN)
    if not done.row and has_roots:
        return problem("test prompt", f"the hook did nothing, in {done.ms:.0f} ms", AGAIN)
    stages = ", ".join(f"{name} {ms:.0f}" for name, ms in done.row.get("stages_ms", {}).items() if ms >= 1)
    injected = len(done.row.get("injected", ()))
    outcome = f"{injected} injected" if done.answer else f"nothing injected: {done.row.get('reason', 'no memories')}"
    inside = f"{done.row.get('ms', 0):.0f} ms in the hook itself ({stages or 'no stage over 1'})"
    text = f"{done.ms:.0f} ms, with {inside}; {outcome}"
    if done.ms > SLOW_MS:
        return note("test prompt", text, "memsift activity --only slow shows which prompts take long.")
    return ok("test prompt", text)


def _title(roots: Sequence[str], environ: Mapping[str, str]) -> str:
    """The longest title of the first root's memories, as a prompt that has an answer."""
    try:
        index = open_index(roots[0], environ)
    except (RootError, IndexError):
        return ""
    try:
        return max((summary.title for summary in index.summaries()), key=len, default="")
    finally:
        index.close()


def _copy_state(place: str, roots: Sequence[str], environ: Mapping[str, str]) -> None:
    """Give the hook what it reads from the state folder: tuned cutoffs, and the plugin's record of the start."""
    pairs = [
        (cutoff_file(state_dir(root, environ)), cutoff_file(os.path.join(place, "memsift", root_key(root))))
        for root in roots
    ]
    pairs.append((hook_start_file(environ), os.path.join(place, "memsift", os.path.basename(hook_start_file(environ)))))
    for source, target in pairs:
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)


def _last_row(place: str) -> Mapping[str, Any]:
    """The last line of the log that the run wrote, of whichever root."""
    found: Mapping[str, Any] = {}
    for folder, _, names in os.walk(place):
        if LOG_FILE in names:
            with open(os.path.join(folder, LOG_FILE), encoding="utf-8") as file:
                found = json.loads(file.read().splitlines()[-1])
    return found
