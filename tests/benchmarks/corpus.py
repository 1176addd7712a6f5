"""Synthetic memories and prompts for the benchmarks: topics with Zipf words, 340 words per memory or fewer.

The same arguments give the same root and the same prompts. Relevance is not known: with these, benchmarks measure times
and whether two rankings agree, not quality.
"""

from __future__ import annotations

import json
import os
import random
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.stores.claude_memory import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Words = tuple[list[str], list[float]]

COMMON_WORDS, TOPICS, TOPIC_WORDS = 4000, 200, 120
TAGS_PER_TOPIC = 12
MOST_WORDS, SHORT_WORDS = 340, 40
ACTIVE_SHARE = 0.95
LENGTHS = {"short": (3, 8), "ordinary": (10, 25), "long": (60, 150), "paste": (5000, 5000)}
"""Words per prompt, by kind."""

SYLLABLES = [a + b for a in "bcdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "er", "on", "al", "in", "or")]
CATEGORIES = [
    (folder, category) for folder, category in FOLDERS.items() for _ in range(3 if folder == "decisions" else 1)
]


class Language:
    """The words of a seed: common words, and words of each topic. Earlier words are more frequent."""

    def __init__(self, seed: int) -> None:
        made = random.Random(seed)
        self.common = _zipf(_vocabulary(made, COMMON_WORDS, identifiers=0.02))
        self.topics = [_zipf(_vocabulary(made, TOPIC_WORDS, identifiers=0.2)) for _ in range(TOPICS)]

    def words(self, made: random.Random, topic: int, count: int, topical: float) -> list[str]:
        """*count* words, of which a share of *topical* belongs to the topic."""
        of_topic = round(count * topical)
        found = _draw(made, self.topics[topic], of_topic) + _draw(made, self.common, count - of_topic)
        made.shuffle(found)
        return found


def write_root(path: Path, count: int, seed: int = 1, words: int = MOST_WORDS) -> Path:
    """Write a claude-memory root of *count* memories of *words*: a JSON file each and the index.md that lists them."""
    language, made = Language(seed), random.Random(seed + 1)
    for folder in FOLDERS:
        (path / folder).mkdir(parents=True, exist_ok=True)
    lines = ["# Memory Index\n", "\n"]
    lines += [_write_memory(str(path), number, language, made, words) for number in range(count)]
    (path / "index.md").write_text("".join(lines), encoding="utf-8")
    return path


def prompts(count: int, kind: str, seed: int = 1) -> list[str]:
    """*count* prompts of a kind (see LENGTHS) in the language of the root that was written with the same *seed*."""
    language, made = Language(seed), random.Random(seed + 2)
    low, high = LENGTHS[kind]
    return [
        " ".join(language.words(made, _topic(made), made.randint(low, high), 0.25 if high > 100 else 0.5))
        for _ in range(count)
    ]


def _write_memory(root: str, number: int, language: Language, made: random.Random, words: int) -> str:
    """Write one memory; its line of index.md."""
    topic = _topic(made)
    folder, category = made.choice(CATEGORIES)
    own = [next(_spelled(made)) for _ in range(4)]
    title = " ".join([*language.words(made, topic, made.randint(4, 10), 0.5), own[0]]).capitalize()
    tags = list(dict.fromkeys(made.choice(language.topics[topic][0][:TAGS_PER_TOPIC]) for _ in range(3)))
    body = (own + _draw(made, language.topics[topic], 66) + _draw(made, language.common, 270))[:words]
    name = f"{title.lower().replace(' ', '-').replace('.', '-')[:50]}-{number}"
    path = f"{folder}/{name}.json"
    day = f"20{made.randint(22, 25)}-{made.randint(1, 12):02}-{made.randint(1, 28):02}T12:00:00Z"
    content = {
        "context": " ".join(body[:120]),
        "decision": " ".join(body[120:200]),
        "rationale": [" ".join(body[i : i + 35]) for i in range(200, len(body), 35)],
    }
    document = {
        "schema_version": "1.0",
        "category": category,
        "id": name,
        "title": title,
        "created_at": day,
        "updated_at": day,
        "tags": tags,
        "record_status": "active" if made.random() < ACTIVE_SHARE else "retired",
        "content": content,
    }
    descriptor = os.open(os.path.join(root, path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)  # noqa: PTH118
    os.write(descriptor, json.dumps(document).encode())
    os.close(descriptor)
    return f"- [{category.upper()}] {title} -> .claude/memory/{path} #tags:{','.join(tags)}\n"


def _topic(made: random.Random) -> int:
    """A topic; the first ones are several times likelier than the last."""
    return int(TOPICS * made.random() ** 2)


def _vocabulary(made: random.Random, count: int, identifiers: float) -> list[str]:
    """Distinct made-up words; a share of *identifiers* are compounds such as bako_tiner."""
    found: dict[str, None] = {}
    for word in _spelled(made):
        if made.random() < identifiers:
            word += made.choice("_-.") + next(_spelled(made))
        found[word] = None
        if len(found) == count:
            return list(found)
    raise AssertionError


def _spelled(made: random.Random) -> Iterator[str]:
    while True:
        yield "".join(made.choices(SYLLABLES, k=made.choice((2, 2, 3, 3, 4))))


def _zipf(words: list[str]) -> Words:
    return words, list(accumulate(1 / rank for rank in range(1, len(words) + 1)))


def _draw(made: random.Random, words: Words, count: int) -> list[str]:
    return made.choices(words[0], cum_weights=words[1], k=count)
