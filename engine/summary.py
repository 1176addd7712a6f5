"""What is known of a memory without its body: all that the hook needs of most."""

from __future__ import annotations

from engine.lean.record import Record

CATEGORY_PRIORITY = {
    "decision": 1,
    "constraint": 2,
    "preference": 3,
    "feedback": 3,
    "user": 3,
    "runbook": 4,
    "project": 4,
    "reference": 4,
    "tech_debt": 5,
    "session_summary": 6,
}
"""Order among equal scores: lower comes first. The first six are claude-memory's, the rest auto memory's types."""

LAST_PRIORITY = 7


class MemorySummary(Record):
    """What the index knows of a memory without opening its file.

    `path` is how the memory is named to people and models, `file` the absolute path inside the root. `status` is
    active, retired or archived. Times are ISO 8601 strings as the file gives them, or empty.
    """

    id: str
    category: str
    title: str
    tags: tuple[str, ...]
    path: str
    file: str
    status: str
    created_at: str
    updated_at: str
    digest: str

    @property
    def priority(self) -> int:
        return CATEGORY_PRIORITY.get(self.category, LAST_PRIORITY)
