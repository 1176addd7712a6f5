"""What each Claude Code session was given already, so that the hook does not repeat itself.

A `/compact` drops injected text but keeps the session id; the number of compactions is kept beside, and a new one
starts the session over.
"""

from __future__ import annotations

import hashlib
import json
import os

from engine.pipeline import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.retrieval import Candidate


def load_session(folder: str, session_id: str, compactions: int) -> Session:
    """The session's memories; empty without an id, for a new session, after a compaction, or if it cannot be read."""
    if not session_id:
        return Session({})
    try:
        with open(_path(folder, session_id), encoding="utf-8") as file:
            content = json.load(file)
        if content["compactions"] == compactions:
            return Session({str(key): str(value) for key, value in content["injected"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return Session({})


def save_session(
    folder: str, session_id: str, compactions: int, session: Session, added: tuple[Candidate, ...]
) -> None:
    """Add what was injected now. Written aside and renamed; OSError is swallowed: the worst case is a repetition."""
    if not session_id:
        return
    injected = {**session.injected, **{one.memory.id: one.memory.digest for one in added}}
    path = _path(folder, session_id)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"compactions": compactions, "injected": injected}, file)
        os.replace(temporary, path)
    except OSError:
        pass


def _path(folder: str, session_id: str) -> str:
    """A file name that no session id can lead elsewhere with."""
    name = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return os.path.join(folder, "sessions", f"{name}.json")
