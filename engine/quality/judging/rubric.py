"""Rubrics, and the two texts of a request: a rubric as instructions with the form of the answer, a memory as data.

A rubric is a TOML file: the purpose, the criteria and the bands by which a model rates memories.
"""

from __future__ import annotations

import os
import re
import tomllib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ConfigError
from engine.judge.prompts import FIELD_LIMIT, escaped, object_schema, one_line
from engine.judge.provider import Question
from engine.lean.record import Record
from engine.lean.sections import text_beside
from engine.lean.sha256 import hex_digest
from engine.quality.safety.gate import cut_runs
from engine.stores.files import read_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.memory import Memory

FOLDER = Path(__file__).parent / "rubrics"
MEMORY, IDEA = SHIPPED = ("memory", "idea")
BANDS = ("0-2", "3-4", "5-6", "7-8", "9-10")
MOST_CRITERIA = 12
FILE_LIMIT, TEXT_LIMIT = 8_000, 500
"""Bytes of a rubric's file, and characters of a criterion or a band."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
KEYS = {"purpose": str, "criteria": dict, "bands": dict}
WANTED = {str: "a text", dict: "a table"}


class Rubric(Record):
    """How memories are rated. `criteria` are (name, question); `bands` has a text for each of BANDS."""

    name: str
    purpose: str
    criteria: tuple[tuple[str, str], ...]
    bands: tuple[str, ...]


def read_rubric(given: str) -> Rubric:
    """The rubric of a name in SHIPPED, or of a person's own file. Raises ConfigError naming the file and the key."""
    if given in SHIPPED:
        return parse_rubric((FOLDER / f"{given}.toml").read_text(encoding="utf-8"), given, given)
    try:
        content = read_named(given, FILE_LIMIT + 1)
    except FileNotFoundError:
        raise ConfigError(
            f"There is no rubric {given!r}. Known are {' and '.join(SHIPPED)}; for your own, give the path of its file."
        ) from None
    except OSError as error:
        raise ConfigError(f"The rubric {given} cannot be read: {error.strerror or error}.") from None
    if len(content) > FILE_LIMIT:
        raise ConfigError(f"The rubric {given} is larger than {FILE_LIMIT:,} bytes. Shorten it.")
    return parse_rubric(content.decode("utf-8", "replace"), os.path.basename(given).removesuffix(".toml"), given)


def parse_rubric(text: str, name: str, where: str) -> Rubric:
    """The rubric in *text*. Raises ConfigError with *where*, the key and the rule that it breaks."""
    try:
        found = tomllib.loads(text)
        _check(found)
    except (ValueError, RecursionError) as error:
        reason = "not TOML: " if isinstance(error, tomllib.TOMLDecodeError) else ""
        raise ConfigError(f"The rubric {where}: {reason}{error}.") from None
    return Rubric(
        name=one_line(name)[:40],
        purpose=found["purpose"].strip(),
        criteria=tuple((key, one_line(question)) for key, question in found["criteria"].items()),
        bands=tuple(one_line(found["bands"][band]) for band in BANDS),
    )


def _check(found: dict[str, Any]) -> None:
    """Raise ValueError with the key and the rule that it breaks."""
    unknown = sorted(found.keys() - KEYS.keys())
    if unknown:
        raise ValueError(f"the key {unknown[0]!r} is unknown; known are {', '.join(KEYS)}")
    for key, kind in KEYS.items():
        if not isinstance(found.get(key), kind) or not found[key]:
            raise ValueError(f"{key}: {WANTED[kind]} is needed")
    if len(found["criteria"]) > MOST_CRITERIA:
        raise ValueError(f"criteria: at most {MOST_CRITERIA} can be scored")
    if set(found["bands"]) != set(BANDS):
        raise ValueError(f"bands: the keys must be {', '.join(BANDS)}")
    for name in found["criteria"]:
        if not _NAME.fullmatch(name):
            raise ValueError(f"criteria.{name}: a name is lower-case letters, digits and _, and begins with a letter")
    for table in ("criteria", "bands"):
        for name, text in found[table].items():
            if not isinstance(text, str) or not text.strip() or len(text) > TEXT_LIMIT:
                raise ValueError(f"{table}.{name}: a text of 1 to {TEXT_LIMIT} characters is needed")


BODY_LIMIT = 6_000
"""Characters of a memory's text that the model sees. A longer memory says how much is missing."""

MAX_TOKENS, SEARCHING_TOKENS = 1_024, 4_096
"""The largest answer: about 350 tokens are usual. A model that searches writes queries and thoughts, too."""

MOST_INDENT = 24

_REQUEST = """\
<title>{title}</title>
<facts category="{category}" tags="{tags}" updated="{updated}"{sample}/>
<text>
{body}</text>"""
_SAMPLE = ' reading="{number}"'
_MORE = "[{count:,} more characters are not shown]\n"
_LAYOUT = (_REQUEST, _SAMPLE, _MORE)


class RubricTemplate(Record):
    """The instructions of a rubric, the JSON schema of the answer, and how the answer may be found.

    An empty schema stands for the Markdown form. `searches` is the largest number of web searches.
    """

    system: str
    schema: Mapping[str, Any]
    searches: int = 0

    @property
    def hash(self) -> str:
        """16 hex digits over the wording: the rubric, the form, the request's layout and its limits."""
        limits = f"{BODY_LIMIT} {FIELD_LIMIT} {self.searches}"
        return hex_digest("\0".join((self.system, *_LAYOUT, limits)))[:16]

    def question(self, memory: Memory, sample: int = 0) -> Question:
        """The question about *memory*. Each *sample*, from 0, is another question: a batch answers equal ones once."""
        most = SEARCHING_TOKENS if self.searches else MAX_TOKENS
        return Question(self.system, request_text(memory, sample), self.schema, most, self.searches)


def template(rubric: Rubric, *, is_structured: bool, searches: int = 0) -> RubricTemplate:
    """The template of a rubric. *is_structured*: the provider enforces a schema.

    With web searches the Markdown form is asked for: the API refuses a schema where it gives citations
    (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
    """
    has_schema = is_structured and not searches
    names = [name for name, _ in rubric.criteria]
    if has_schema:
        form = _text("json").format(parts=_text("parts"), scores=", ".join(f'"{name}": 7' for name in names))
    else:
        scores = "\n".join(f"- {name}: 7/10 - the reason in a few words" for name in names)
        research = "\n**Research Validation**:\n- what a page confirms or contradicts" if searches else ""
        form = _text("markdown").format(parts=_text("parts"), scores=scores, research=research)
    system = _text("system").format(
        purpose=rubric.purpose,
        criteria="\n".join(f"- {name}: {question}" for name, question in rubric.criteria),
        bands="\n".join(f"- {band}: {text}" for band, text in zip(BANDS, rubric.bands, strict=True)),
        search=f"\n{_text('search')}\n" if searches else "",
        form=form,
    )
    return RubricTemplate(system, schema_of(names) if has_schema else {}, searches)


def _text(name: str) -> str:
    return text_beside(__file__, f"instructions/{name}.md").removesuffix("\n")


def schema_of(criteria: list[str]) -> dict[str, Any]:
    """The JSON schema of an answer. The texts come first: a model that has said why scores better."""
    texts = {"type": "array", "items": {"type": "string"}}
    return object_schema(
        key_points=texts,
        rejection_reasons=texts,
        scores=object_schema(**{name: {"type": "number"} for name in criteria}),
        overall={"type": "number"},
        suggested_title={"type": "string"},
        suggested_tags=texts,
    )


def request_text(memory: Memory, sample: int = 0) -> str:
    """The request: title, facts and text of *memory*, escaped, so that no text can close a tag."""
    summary = memory.summary
    return _REQUEST.format(
        title=escaped(summary.title),
        category=escaped(summary.category),
        tags=escaped(", ".join(summary.tags)),
        updated=escaped(summary.updated_at or summary.created_at),
        sample=_SAMPLE.format(number=sample + 1) if sample else "",
        body=_body(memory),
    )


def _body(memory: Memory) -> str:
    """The text with its headings and its indentation, at most BODY_LIMIT characters before it is escaped.

    Runs that the safety scan cuts are cut here as well: no model gets a text that was not scanned.
    """
    lines = [line for section in memory.sections for line in _lines(section.heading, section.lines)]
    text = "".join(f"{cut_runs(line)}\n" for line in lines)
    if len(text) <= BODY_LIMIT:
        return escape(text)
    return f"{escape(text[:BODY_LIMIT])}\n{_MORE.format(count=len(text) - BODY_LIMIT)}"


def _lines(heading: str, lines: tuple[str, ...]) -> list[str]:
    plain = [" " * min(len(line) - len(line.lstrip(" \t")), MOST_INDENT) + one_line(line) for line in lines]
    return [f"{one_line(heading)}:", *plain] if heading else plain
