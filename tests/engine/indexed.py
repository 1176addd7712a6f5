"""A root with a cache of its own, and what its index says: on disk, for the hook, and built in memory."""

import time
from contextlib import closing
from pathlib import Path

from engine.config import AUTO, FTS5_BM25, SEARCH
from engine.opening import hook_index, index_file, index_of, open_index
from engine.search.index import Index
from engine.search.query import filter_terms
from engine.stores.roots import read_corpus
from tests.engine.builders import pool_of

PROMPTS = ("cache rule", "auth token user_id", "what about zz1 and yy2", "migration")


class IndexedRoot:
    """The root at *root*, and a person whose folders are at *home*."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = str(root.resolve())
        self.environ = {"HOME": str(home)}
        self.file = Path(index_file(self.root, self.environ))

    def opened(self) -> object:
        """All that the app would see."""
        with closing(open_index(self.root, self.environ)) as index:
            return everything(index)

    def fresh(self) -> object:
        """What is right: all that an index says which is built in memory now."""
        with closing(index_of(read_corpus(self.root))) as index:
            return everything(index)

    def hook(self, prompt: str = "cache rule", deadline_s: float = 20.0) -> list[str] | None:
        """The titles that the hook finds; None without an index."""
        index = hook_index(self.root, self.environ, deadline_s)
        if index is None:
            return None
        with closing(index):
            found = pool_of(index, prompt, 15, FTS5_BM25)
            return [one.memory.title for one in found.memories]

    def settle(self) -> None:
        """Index once more when every time is old enough to be trusted, as it is a moment after any edit."""
        time.sleep(0.06)
        self.opened()


def everything(index: Index) -> object:
    """All that an index says, to compare."""
    pools = [
        pool_of(index, prompt, 15, FTS5_BM25, mode=SEARCH if in_bodies else AUTO).memories
        for prompt in PROMPTS
        for in_bodies in (False, True)
    ]
    pools += [pool_of(index, prompt, 15, include_retired=False).memories for prompt in PROMPTS]
    hits = [[(one.memory, round(one.score, 9), one.matched) for one in pool] for pool in pools]
    summaries = index.summaries()
    memories = [index.memory(summary.id) for summary in summaries]
    skipped = sorted((one.where, one.reason) for one in index.skipped)
    filtered = [index.matching(filter_terms(text)) for text in ("", "ca", "auth tok")]
    return len(index), summaries, memories, skipped, index.notices, index.corpus_hash, hits, filtered
