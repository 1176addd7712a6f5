"""Memories whose fields break a rule of their format: missing, of another kind, or of another category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import CurationError
from engine.quality.registry import Finding
from engine.stores.files import UnreadableFileError, read_text
from engine.stores.writing import writings_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

SEVERITY = 0.3


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory that breaks rules. Formats that memsift only reads have none."""
    summaries = {memory.summary.file: memory.summary for memory in subject.active}
    writings = writings_in(subject.root, summaries)
    for summary, writing in [(summaries[file], writing) for writing, files in writings.items() for file in files]:
        try:
            wrong = writing.broken_rules(read_text(subject.root, summary.file))
        except (UnreadableFileError, CurationError, ValueError):
            continue
        if wrong:
            action = f"Correct it: memsift edit {summary.id} --set FIELD=VALUE"
            yield Finding("fields", summary.id, SEVERITY, "; ".join(wrong), action)
