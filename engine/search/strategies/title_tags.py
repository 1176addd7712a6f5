"""`title_tags`: by keywords, for an SQLite without FTS5.

A word of the title counts 2 points, a tag 3, a beginning of four or more letters 1. A memory that was updated in the
last 30 days gets 1 more. Words are runs of a-z and 0-9. Scores are negative, so that lower is better as in BM25.
"""

from __future__ import annotations

import time

from engine.retrieval import Candidate
from engine.search.commonness import STOP_WORDS
from engine.search.ranking import CandidatePool, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.memory import MemorySummary
    from engine.search.index import Searchable
    from engine.search.postings import Postings

RECENT_SECONDS = 30 * 86400

TITLE_WORD, TAG, PREFIX, RECENT = 2, 3, 1, 1
MIN_PREFIX, MAX_PREFIX = 4, 64
_KEPT = {code: chr(code) if chr(code).isalnum() else " " for code in range(128)}


def find(text: str, index: Searchable, size: int, *, now: float) -> CandidatePool:
    """The best *size* memories. *now* is in seconds since 1970."""
    words, since = keywords(text), recent_since(now)

    def find_in(postings: Postings) -> CandidatePool:
        scores = ((memory, keyword_score(words, memory, since)) for memory in postings.all_summaries().values())
        found = [Candidate(memory, score, 0, score, matched) for memory, (score, matched) in scores if matched]
        return CandidatePool(sorted(found, key=order)[:size])

    return index.pool(find_in)


def recent_since(now: float) -> str:
    """The ISO 8601 date of the oldest recent memory."""
    return time.strftime("%Y-%m-%d", time.gmtime(now - RECENT_SECONDS))


def keywords(text: str) -> dict[str, int]:
    """Distinct runs of a-z and 0-9 of two or more characters, lower case, without stop words: word -> its place."""
    ascii_only = text.lower().encode("ascii", "replace").decode().translate(_KEPT)
    found = dict.fromkeys(word for word in ascii_only.split() if len(word) > 1 and word not in STOP_WORDS)
    return {word: place for place, word in enumerate(found)}


def keyword_score(prompt_words: Mapping[str, int], memory: MemorySummary, since: str) -> tuple[float, tuple[str, ...]]:
    """The (negative) score of a memory, and the prompt words with points, in their order; (0, ()) without points.

    *prompt_words* are the result of `keywords`. A memory updated on the ISO 8601 date *since* or later is recent.
    """
    found = points(prompt_words, memory)
    if not found:
        return 0.0, ()
    is_recent = bool(memory.updated_at) and memory.updated_at >= since
    return -float(sum(found.values()) + RECENT * is_recent), tuple(sorted(found, key=lambda word: prompt_words[word]))


def points(prompt_words: Mapping[str, int], memory: MemorySummary) -> dict[str, int]:
    """Prompt word -> points. It loops over the memory's words, because a prompt may have tens of thousands."""
    title = set(keywords(memory.title))
    tags = {word for tag in memory.tags for word in (tag.lower(), *keywords(tag))}
    prefixes = {word[:end] for word in title | tags for end in range(MIN_PREFIX, min(len(word), MAX_PREFIX))}
    found = dict.fromkeys(prefixes & prompt_words.keys(), PREFIX)
    found |= dict.fromkeys(title & prompt_words.keys(), TITLE_WORD)
    return found | dict.fromkeys(tags & prompt_words.keys(), TAG)
