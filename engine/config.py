"""The configuration of a root: `retrieval` in its memory-config.json, under MEMSIFT_* variables and flags."""

from __future__ import annotations

import json
import os

from engine.errors import ConfigError
from engine.record import fields, record, replace
from engine.stores.files import UnreadableFileError, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CONFIG_FILE = "memory-config.json"
FTS5_BM25, TITLE_TAGS = "fts5_bm25", "title_tags"
AUTO, SEARCH = "auto", "search"
"""Modes: `auto` is what the hook does, `search` is an explicit question."""


@record
class JudgeConfig:
    """How the judge is asked. `timeout_per_call` is in seconds."""

    enabled: bool = False
    model: str = "claude-haiku-4-5"
    timeout_per_call: float = 3.0
    fallback_top_k: int = 2
    candidate_pool_size: int = 15
    include_conversation_context: bool = True
    context_turns: int = 5


@record
class Config:
    """How a root is searched and what is injected. `noise_floor` is a share of the best raw BM25 score, 0..1."""

    enabled: bool = True
    match_strategy: str = FTS5_BM25
    max_inject: int = 3
    max_results: int = 10
    noise_floor: float = 0.25
    confidence_abs_floor: float = 0.0
    max_characters: int = 9000
    judge: JudgeConfig = JudgeConfig()


LIMITS: dict[str, tuple[float, float]] = {
    "max_inject": (0, 20),
    "max_results": (1, 1000),
    "noise_floor": (0, 1),
    "confidence_abs_floor": (0, 1000),
    "max_characters": (100, 9000),
    "timeout_per_call": (0.05, 60),
    "fallback_top_k": (0, 20),
    "candidate_pool_size": (1, 30),
    "context_turns": (0, 20),
}
"""Least and greatest allowed value of each number."""

VARIABLES = {
    "MEMSIFT_MATCH_STRATEGY": ("match_strategy",),
    "MEMSIFT_MAX_INJECT": ("max_inject",),
    "MEMSIFT_JUDGE_ENABLED": ("judge", "enabled"),
    "MEMSIFT_JUDGE_MODEL": ("judge", "model"),
    "MEMSIFT_JUDGE_TIMEOUT": ("judge", "timeout_per_call"),
}
"""Environment variables and the key each one sets."""


def load_config(root: str, environ: Mapping[str, str]) -> Config:
    """The configuration of *root*: defaults, then memory-config.json, then the environment.

    Keys that memsift does not know are left alone. Raises ConfigError for a file or a value that makes no sense.
    """
    path = os.path.join(root, CONFIG_FILE)
    config = _apply(Config(), _retrieval_section(root, path), path)
    for variable, keys in VARIABLES.items():
        if environ.get(variable):
            value = _switch if keys[-1] == "enabled" else _parsed
            config = _apply(config, _nested(keys, value(environ[variable])), variable)
    return config


def config_json(config: Config) -> str:
    """The configuration as one line of JSON with sorted keys: what a run records."""
    return json.dumps({**fields(config), "judge": fields(config.judge)}, sort_keys=True)


def _retrieval_section(root: str, path: str) -> Mapping[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        content = json.loads(read_text(os.path.realpath(root), path))
    except UnreadableFileError as error:
        raise ConfigError(f"{path} {error}. Fix it, or delete it to use the defaults.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON ({error}). Fix it, or delete it to use the defaults.") from None
    section = content.get("retrieval", {}) if isinstance(content, dict) else None
    if not isinstance(section, dict):
        raise ConfigError(f"{path}: 'retrieval' must be a JSON object.")
    return section


def _apply(config: Config, section: Mapping[str, Any], where: str) -> Config:
    """*config* with the known keys of *section*; `judge` is a section of its own."""
    changes = _checked(config, section, where, "retrieval")
    judge = section.get("judge", {})
    if not isinstance(judge, dict):
        raise ConfigError(f"{where}: 'retrieval.judge' must be a JSON object.")
    changes["judge"] = replace(config.judge, **_checked(config.judge, judge, where, "retrieval.judge"))
    return replace(config, **changes)


def _checked(target: object, section: Mapping[str, Any], where: str, prefix: str) -> dict[str, object]:
    known = fields(target)
    names = [name for name in section if name in known and name != "judge"]
    return {name: _value(name, section[name], known[name], f"{where}: '{prefix}.{name}'") for name in names}


def _value(name: str, value: Any, default: object, where: str) -> object:
    if name == "match_strategy":
        if value not in (FTS5_BM25, TITLE_TAGS):
            raise ConfigError(f"{where} is {_shown(value)}; expected {FTS5_BM25!r} or {TITLE_TAGS!r}.")
        return value
    if isinstance(default, bool | str):
        if not isinstance(value, type(default)):
            kind = "true or false" if isinstance(default, bool) else "text"
            raise ConfigError(f"{where} is {_shown(value)}; expected {kind}.")
        return value
    return _number(name, value, default, where)


def _number(name: str, value: Any, default: object, where: str) -> float:
    least, most = LIMITS[name]
    wanted = int if isinstance(default, int) else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted) or not least <= value <= most:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise ConfigError(f"{where} is {_shown(value)}; expected {kind} from {least:g} to {most:g}.")
    return int(value) if isinstance(default, int) else float(value)


def _nested(keys: tuple[str, ...], value: object) -> dict[str, Any]:
    head, *rest = keys
    return {head: _nested(tuple(rest), value) if rest else value}


def _parsed(text: str) -> object:
    """A variable's text as JSON where it is (3, true, 0.5), else as the text that it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _switch(text: str) -> object:
    """A variable that says yes or no, in the usual ways of saying it; any other text as it is."""
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    return words.get(text.lower(), text)


def _shown(value: object) -> str:
    """A value in an error message: a line of it."""
    try:
        return repr(value)[:80]
    except RecursionError:
        return "nested too deeply"
