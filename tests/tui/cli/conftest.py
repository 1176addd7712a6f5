"""A Dask cluster of two workers, for a replay on several machines."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.tui.cli.command_line import PROJECT


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a Dask scheduler on loopback, and the processes of its two workers and then of itself."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(PROJECT / "tui" / "start"))  # as an installation does
    dask = [sys.executable, "-m", "dask"]
    started = [
        subprocess.Popen(
            [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=PROJECT,
        )
    ]
    try:
        assert started[0].stderr
        lines = iter(started[0].stderr.readline, b"")
        found = next(match[1].decode() for line in lines if (match := re.search(rb"tcp://([\d.:]+)", line)))
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": PROJECT}
        started += [subprocess.Popen([*dask, "worker", f"tcp://{found}", *options], **nowhere) for _ in range(2)]
        _wait_for_workers(f"tcp://{found}", 2)
        yield f"dask://{found}", [*started[1:], started[0]]
    finally:
        for one in reversed(started):
            one.kill()
            one.communicate()


def _wait_for_workers(address: str, count: int) -> None:
    code = f"from distributed import Client; Client({address!r}, timeout=20).wait_for_workers({count}, timeout=30)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
