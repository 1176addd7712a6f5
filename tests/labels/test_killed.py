"""Labelling that is killed at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.engine.faults.effort import tries

PROJECT = Path(__file__).resolve().parents[2]
KILLS = tries(200, 20)


def test_no_acknowledged_label_is_lost_and_none_doubled_and_the_store_opens(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.labels.killed_labeller", str(tmp_path), str(KILLS), "11"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    toll = json.loads(done.stdout)
    assert toll["faults"] == []
    assert toll["kills"] == KILLS
    assert toll["acknowledged"] > KILLS
    assert toll["undone"] > 0
