"""`fts5_bm25`: FTS5's BM25 over title and tags, with a bonus for words of the prompt in the body.

An explicit search looks into bodies itself.
"""

from __future__ import annotations

from itertools import islice

from engine.search.finder import Finder
from engine.search.frequencies import standings
from engine.search.query import query_terms, rarest
from engine.search.ranking import Pool, Scored
from engine.search.schema import FULL_TEXT, HEADLINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.hits import Hit
    from engine.search.index import Index
    from engine.search.query import Term

MAX_BODY_BONUS = 3
MAX_TERMS = 60
"""Of a prompt with more terms, the rarest so many count: all those of a pasted text would take twice as long."""


def asked(text: str, index: Index, fields: str) -> tuple[Term, ...]:
    """What a prompt asks *fields* for: its terms, of many the rarest."""
    terms = query_terms(text)
    if len(terms) <= MAX_TERMS:
        return terms
    phrases = [phrase for term in terms for phrase in term.searched]
    found = iter(index.ask(lambda db: standings(db, phrases, fields)))
    counts = [sum(standing.count for standing in islice(found, len(term.searched))) for term in terms]
    return tuple(rarest(terms, counts, MAX_TERMS))


def find(text: str, index: Index, size: int, *, in_bodies: bool, include_retired: bool) -> Pool:
    """The best *size* memories by title and tags; with *in_bodies*, the best *size* active ones by the whole text."""
    fields, wanted = FULL_TEXT if in_bodies else HEADLINE, size
    terms = asked(text, index, fields)
    hits = index.search(terms, fields, size)
    while in_bodies and not include_retired and len(hits) == size and _active(hits) < wanted:
        size *= 2  # a retired memory must not take the place of an active one
        hits = index.search(terms, fields, size)
    return Pool(score_hits(hits, terms, with_bonus=not in_bodies), asked=terms)


def score_hits(hits: Sequence[Hit], terms: Sequence[Term], *, with_bonus: bool) -> list[Scored]:
    """Each hit with the terms it holds, and its bonus of up to 3 for distinct terms in the body.

    The bonus wants whole words: a body is long enough for any prefix to turn up by chance. Without a bonus the body was
    searched, and holds a term by the rule by which FTS5 matched it.
    """
    owners = [number for number, term in enumerate(terms) for _ in term.phrases]
    loose = Finder([phrase for term in terms for phrase in term.searched])
    in_body = Finder([(phrase, False) for term in terms for phrase in term.phrases]) if with_bonus else loose
    scored = []
    for hit in hits:
        title, tags, body = hit.words
        of_body = {owners[number] for number in in_body.count(body)}
        of_head = {owners[number] for text in (title, tags) for number in loose.count(text)}
        matched = tuple(terms[number].text for number in sorted(of_body | of_head))
        bonus = min(MAX_BODY_BONUS, len(of_body)) if with_bonus else 0
        scored.append(Scored(hit.summary, hit.bm25, bonus, hit.bm25 - bonus, matched))
    return scored


def _active(hits: Sequence[Hit]) -> int:
    return sum(hit.summary.status == "active" for hit in hits)
