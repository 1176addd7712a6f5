"""Two stages against one: the same scores, and nearly always the same memories, at a bounded cost."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.memory import Corpus
from engine.search.averages import averages_of
from engine.search.finder import Finder
from engine.search.index import Index
from engine.search.query import any_of, query_terms
from engine.search.rows import column_words
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.scoring import WEIGHTS, Scorer
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import memory

if TYPE_CHECKING:
    from collections.abc import Iterator

UNBOUNDED = 10**12
MIX = {"short": 40, "ordinary": 40, "long": 17, "paste": 3}
"""Prompts of each kind in a hundred."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return read_corpus(str(write_root(tmp_path_factory.mktemp("root"), 1500, seed=5)))


@pytest.fixture(scope="module")
def full(corpus: Corpus) -> Iterator[Index]:
    with closing(Index(corpus, budget=UNBOUNDED)) as index:
        yield index


@pytest.mark.parametrize("fields", [HEADLINE, FULL_TEXT])
@pytest.mark.parametrize("kind", ["short", "ordinary", "long"])
def test_scores_are_those_of_fts5(full: Index, fields: str, kind: str) -> None:
    for prompt in prompts(8, kind, seed=5):
        phrases = [phrase for term in query_terms(prompt) for phrase in term.searched]
        counts = [_matches(full, any_of([phrase]), fields) for phrase in phrases]
        scorer = Scorer(Finder(phrases), counts, *_averages(full, fields), fields)
        hits = full.search(query_terms(prompt), fields, 40)
        assert hits
        for hit in hits:
            assert scorer.score(column_words(hit.words, fields)) == pytest.approx(hit.bm25, rel=1e-9, abs=1e-12)


def test_scores_count_repetitions_overlaps_and_whole_words_as_fts5_does() -> None:
    titles = ["a1 a1 a1", "ab.ab.ab ab", "ab abc abcd", "getUser get_user getuser", "数据库 数据", "zz", "yy", "xx"]
    with closing(Index(Corpus("/root", tuple(memory(title, "ab", title) for title in titles)))) as index:
        for prompt in ("a1-a1", "ab.ab", "ab abc", "getUser user", "数据库", "a1 ab zz"):
            phrases = [phrase for term in query_terms(prompt) for phrase in term.searched]
            counts = [_matches(index, any_of([phrase]), HEADLINE) for phrase in phrases]
            scorer = Scorer(Finder(phrases), counts, *_averages(index, HEADLINE), HEADLINE)
            hits = index.search(query_terms(prompt), HEADLINE, 10)
            assert hits
            for hit in hits:
                assert scorer.score(hit.words[:2]) == pytest.approx(hit.bm25, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("fields", "budget"), [(HEADLINE, 500), (FULL_TEXT, 1500)])
def test_two_stages_find_the_same_top_three(corpus: Corpus, full: Index, fields: str, budget: int) -> None:
    same = total = 0
    with closing(Index(corpus, budget=budget)) as bounded:
        for kind, count in MIX.items():
            for prompt in prompts(count, kind, seed=5):
                terms = query_terms(prompt)
                found = {hit.summary.id for hit in bounded.search(terms, fields, 3)}
                wanted = {hit.summary.id for hit in full.search(terms, fields, 3)}
                same, total = same + len(found & wanted), total + len(wanted)
    assert total > 250
    assert same / total >= 0.97


def test_a_query_within_the_budget_is_one_query(corpus: Corpus, full: Index) -> None:
    with closing(Index(corpus)) as bounded:
        for prompt in prompts(20, "short", seed=5):
            assert bounded.search(query_terms(prompt), HEADLINE, 15) == full.search(query_terms(prompt), HEADLINE, 15)


def test_a_prompt_of_any_length_takes_a_handful_of_statements() -> None:
    made = random.Random(3)
    words = [f"w{made.randrange(10**9)}x" for _ in range(15_000)]
    with closing(Index(Corpus("/root", tuple(memory(" ".join(words[i : i + 5])) for i in range(0, 3000, 5))))) as index:
        asked: list[str] = []
        index._db.set_trace_callback(asked.append)
        assert index.search(query_terms(" ".join(words)), HEADLINE, 15)
    assert len([sql for sql in asked if not sql.startswith("--")]) < 20


def _matches(index: Index, expression: str, fields: str) -> int:
    sql = f"select count(*) from {fields} where {fields} match ?"
    return int(index._db.execute(sql, (expression,)).fetchone()[0])


def _averages(index: Index, fields: str) -> tuple[int, float]:
    assert fields in WEIGHTS
    return averages_of(index._db, fields)
