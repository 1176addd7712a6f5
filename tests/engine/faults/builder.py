"""A process that brings the index of a root up to date, as the app and the hook's updater do."""

import os
import signal
import subprocess
import sys
import time

from tests.engine.faults.answers import FaultyRoot
from tests.engine.hook.world import PROJECT

OPEN = """
import sys
from engine.opening import open_index
open_index(sys.argv[1], {"HOME": sys.argv[2]}).close()
"""
OPEN_SMALL = f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n{OPEN}"


def start(root: FaultyRoot, code: str = OPEN, *arguments: str) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", code, str(root.root), root.environ["HOME"], *arguments]
    return subprocess.Popen(command, env=environ, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr.decode()


def seconds_of(root: FaultyRoot) -> float:
    """The seconds that a process takes to update the index."""
    began = time.monotonic()
    finish(start(root))
    return time.monotonic() - began


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
