"""Phrases by which a memory is asked for: how well the best of them fits a prompt.

    D = 2 m / (p + q)

m, p and q are the sums of (rarity in general text x idf) over the stems that prompt and phrase share, the prompt's, and
the phrase's; stop words are left out. Each phrase is a document of its own: appended to a long memory they would drown
(R. Nogueira et al., "Document Expansion by Query Prediction", 2019). A memory is found by one shared stem, which moves
it up and lets a judge see it. It is sure by LEAST_SHARED, which counts for P(relevant), floors and injection. The words
of the person's last turn count in m alone.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.search.commonness import STOP_WORDS, idf, rarity
from engine.search.stems import stem
from engine.search.tokens import GAP, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.search.postings import Postings

LEAST_SHARED = 2
WEIGHT = 12.0
"""The weight of D, in rare words."""

TURN_WEIGHT, TURN_CHARACTERS = 0.5, 600
"""The weight of the words of the person's last turn, and the end of it that is read."""

BUDGET, MOST_WEIGHED = 3000, 60
"""Postings of phrases that are read for a prompt, and phrases that are compared with it."""

MOST_PHRASES, MOST_WORDS = 12, 20
"""Phrases of a memory that count, and words of a phrase."""

LISTED = """select term, doc, (select group_concat(rowid) from phrase_text where phrase_text match '"' || term || '"')
from json_each(?) join phrase_stem on term = value where doc <= ?"""
WEIGHED = """select phrase.row, memory.rowid, mass from json_each(?) join phrase on phrase.row = value
join memory on memory.id = phrase.id and memory.reason is null"""


class Gain(Record):
    """The strength that the phrases of a memory add: of the best phrase, and of the best that is sure.

    `phrase` is the number of the best one in its root.
    """

    found: float
    sure: float
    phrase: int


def words_of(text: str) -> dict[str, str]:
    """Stem -> word, of the words of a text that count."""
    found = tokens(text)
    plain = found[: found.index(GAP)] if GAP in found else found
    return {stem(word): word for word in reversed(plain) if word not in STOP_WORDS}


def gains(postings: Postings, text: str, turn: str, rare: float) -> dict[int, Gain]:
    """Row -> gain, of memories with phrases that share a stem with a prompt. *turn*: the person's last turn before it.

    *rare* is the weight of the rarest possible word.
    """
    own = words_of(text)
    earlier = {name: word for name, word in words_of(turn[-TURN_CHARACTERS:]).items() if name not in own}
    held, memories = postings.holding({*own, *earlier}), postings.memories
    values = {name: rarity(word) * idf(min(held[name], memories), memories) for name, word in (own | earlier).items()}
    mass = sum(values[name] for name in own)
    for name in earlier:
        values[name] *= TURN_WEIGHT
    best: dict[int, Gain] = {}
    for place, (db, _) in enumerate(postings.parts):
        for row, phrase, share, is_sure in _weigh(db, values, mass):
            number, gain = postings.number(row, place), WEIGHT * rare * share
            known = best.get(number, Gain(0.0, 0.0, 0))
            if gain > known.found:
                known = replace(known, found=gain, phrase=phrase)
            best[number] = replace(known, sure=gain) if is_sure and gain > known.sure else known
    return best


def _weigh(db: Connection, values: Mapping[str, float], mass: float) -> Iterable[tuple[int, int, float, bool]]:
    """The row of a memory, the number of its phrase, D, and whether it is sure, of the phrases that share most."""
    shared: dict[str, float] = {}
    counts: dict[str, int] = {}
    lists = db.execute(LISTED, (dumps([*values], ascii_only=False), BUDGET)).fetchall()
    left = BUDGET
    for name, holders, rows in sorted(lists, key=lambda found: found[1]):
        left -= holders
        if left < 0:
            break
        for row in rows.split(","):
            shared[row] = shared.get(row, 0.0) + values[name]
            counts[row] = counts.get(row, 0) + 1
    likely = sorted(shared, key=shared.__getitem__, reverse=True)[:MOST_WEIGHED]
    asked = f"[{','.join(likely)}]"
    for phrase, row, own in db.execute(WEIGHED, (asked,)):
        yield row, phrase, min(1.0, 2 * shared[str(phrase)] / (mass + own)), counts[str(phrase)] >= LEAST_SHARED


def write(db: Connection, phrases: Mapping[str, Sequence[str]] | None, memories: int) -> None:
    """Put the phrases of all memories into the index, in the place of those before, and weigh their words.

    *phrases*: memory id -> phrases; None to keep those before. *memories* is the number of memories in the index.
    """
    if phrases is not None:
        db.execute("delete from phrase")
        db.execute("insert into phrase_text(phrase_text) values ('delete-all')")
        named = sorted(f"{memory_id}\0{text}" for memory_id, texts in phrases.items() for text in texts)
        db.execute("update about set phrases = ?", (hex_digest("\n".join(named))[:16] if named else "0",))
        for memory_id, texts in phrases.items():
            for text in [*dict.fromkeys(texts)][:MOST_PHRASES]:
                if names := words_of(" ".join(text.split()[:MOST_WORDS])):
                    row = db.execute("insert into phrase(id, text) values (?, ?)", (memory_id, text)).lastrowid
                    db.execute("insert into phrase_text(rowid, stems) values (?, ?)", (row, " ".join(names)))
    held: dict[str, int] = dict(db.execute("select term, doc from stem").fetchall())
    masses = []
    for row, text in db.execute("select row, text from phrase"):
        words = words_of(" ".join(text.split()[:MOST_WORDS]))
        masses.append((sum(rarity(word) * idf(held.get(name, 0), memories) for name, word in words.items()), row))
    db.executemany("update phrase set mass = ? where row = ?", masses)
    db.execute("update about set phrased = ?", (memories if masses else 0,))
