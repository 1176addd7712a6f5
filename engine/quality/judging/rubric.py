"""Rubrics: the purpose, the criteria and the bands by which a model rates memories. Each is a TOML file."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ConfigError
from engine.judge.prompts import one_line
from engine.lean.record import Record
from engine.stores.files import read_named

if TYPE_CHECKING:
    from typing import Any

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
