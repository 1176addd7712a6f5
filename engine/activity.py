"""The hook's own log: one line of JSON per decision, appended by a single write."""

from __future__ import annotations

import hashlib
import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.retrieval import Retrieval

LOG_FILE = "activity.jsonl"
MAX_LOG_BYTES = 20_000_000


def log_retrieval(folder: str, session_id: str, retrieval: Retrieval, characters: int) -> None:
    """What was injected for a prompt, and what dropped the rest. The prompt is kept as a hash, not as text."""
    append(
        folder,
        {
            "session_id": session_id,
            "prompt_sha256": hashlib.sha256(retrieval.prompt.text.encode("utf-8", "surrogatepass")).hexdigest(),
            "system": retrieval.system,
            "injected": [one.memory.id for one in retrieval.injected],
            "candidates": [
                {"id": one.memory.id, "score": round(one.score, 4), "dropped_by": one.dropped_by}
                for one in retrieval.candidates
            ],
            "fallback": retrieval.fallback,
            "characters": characters,
            "ms": round(retrieval.elapsed_ms, 1),
        },
    )


def log_silence(folder: str, session_id: str, reason: str) -> None:
    """Why nothing was injected: the prompt was skipped, or something failed."""
    append(folder, {"session_id": session_id, "injected": [], "reason": reason[:500]})


def append(folder: str, row: dict[str, object]) -> None:
    """Add a row with the time. A log that cannot be written is no reason to fail: OSError is swallowed."""
    stamped = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **row}
    line = json.dumps(stamped, ensure_ascii=True) + "\n"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, LOG_FILE)
        if os.path.exists(path) and os.path.getsize(path) > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass
