"""Labels and results of version 1.0.0 about notes whose front matter is now read differently.

Version 1.0.0 read front matter by line, later versions read it as YAML. So the title and the digest of such a note
differ. Labels, pools and results name a text by its digest, so their rows get the new digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.runs import memory_row

if TYPE_CHECKING:
    from engine.roots import OpenIndex
    from labels.tables import LabelTables

NAMING = ("label_event", "frame", "result", "judge_verdict")
"""The tables that name a text of a memory."""

EARLIER = "memory_id = ? AND digest = ?"
FROZEN = "label_event_is_never_updated"


def follow_rereading(store: LabelTables, index: OpenIndex) -> None:
    """Give rows with the earlier digest of a memory of *index* its present digest. Raises LabelStoreError."""
    digests = {memory.id: memory.digest for memory in index.summaries()}
    known = store.tuples("SELECT memory_id, digest FROM memory_version")
    others = {memory_id for memory_id, digest in known if digests.get(memory_id, digest) != digest}
    memories = [memory for memory_id in sorted(others) if (memory := index.memory(memory_id)) is not None]
    pairs = {(memory_id, digest) for memory_id, digest in known}
    moved = [memory for memory in memories if (memory.summary.id, memory.earlier_digest) in pairs]
    if not moved:
        return
    with store.writing():
        ((guard,),) = store.tuples("SELECT sql FROM sqlite_master WHERE name = ?", [FROZEN])
        store.execute(f"DROP TRIGGER {FROZEN}")
        for memory in moved:
            about = memory.summary
            store.insert("memory_version", memory_row(about, memory.body), upsert="DO NOTHING")
            named = [about.id, memory.earlier_digest]
            for table in NAMING:
                store.execute(f"UPDATE OR IGNORE {table} SET digest = ? WHERE {EARLIER}", [about.digest, *named])
            for table in ("frame", "memory_version"):  # a pool may name both texts
                store.execute(f"DELETE FROM {table} WHERE {EARLIER}", named)
        store.execute(guard)
