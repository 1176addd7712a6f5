"""The configuration of a root: `retrieval` in its memory-config.json, under MEMSIFT_* variables and flags."""

from __future__ import annotations

import os

from engine.lean.json_text import dumps, loads
from engine.lean.record import Record, fields, replace
from engine.stores.files import UnreadableFileError, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    T = TypeVar("T")

    from engine.errors import ConfigError

CONFIG_FILE = "memory-config.json"
MEMSIFT, FTS5_BM25, TITLE_TAGS = "memsift", "fts5_bm25", "title_tags"
"""How memories are found and ranked: by strength over all their words, by FTS5's BM25 over title and tags with a bonus
for bodies, or by keywords."""

AUTO, SEARCH = "auto", "search"
"""Modes: `auto` is what the hook does, `search` is an explicit question."""

KEEP, EXPLAINED = DEPTHS = ("keep", "explained")
"""How much a judge is asked: which memories to keep, or a decision, a confidence and a sentence for each."""

LEGACY, TIERED = "legacy", "tiered"
"""Output modes: every memory in the same form, or the surest in full and the others in short."""


class ModeConfig(Record):
    """A person's own prompt for a mode: as text, or as the path of a file in the root. Empty: ours."""

    prompt: str = ""
    prompt_file: str = ""


class ModesConfig(Record):
    """What the judge is told in each mode."""

    auto: ModeConfig = ModeConfig()
    search: ModeConfig = ModeConfig()


class JudgeConfig(Record):
    """How the judge is asked.

    `timeout_per_call` is in seconds, over everything that one prompt asks. `provider` is a name that
    `engine.judge.providers.registry` knows, or empty for the caller's default. More than `split_over` candidates are
    asked about in two calls at once; 0: never.
    """

    enabled: bool = False
    provider: str = ""
    model: str = "claude-haiku-4-5"
    timeout_per_call: float = 3.0
    fallback_top_k: int = 2
    candidate_pool_size: int = 15
    include_conversation_context: bool = True
    context_turns: int = 5
    depth: str = KEEP
    split_over: int = 0
    modes: ModesConfig = ModesConfig()


class LoggingConfig(Record):
    """What the hook's log keeps. `prompts`: the text of a prompt beside its hash."""

    prompts: bool = False


class Config(Record):
    """How a root is searched and what is injected.

    `noise_floor` is the share of the best score, 0..1, under which nothing is injected; `min_strength` the least
    strength at all, in units of what the rarest word can weigh (`memsift` alone has it). `deadline` is in seconds, over
    the hook's whole run, not counting the judge. `hints` are lines that tell the model of weak or missing matches; only
    in the tiered form.
    """

    enabled: bool = True
    match_strategy: str = MEMSIFT
    max_inject: int = 3
    max_results: int = 10
    noise_floor: float | None = None
    min_strength: float = 0.8
    confidence_abs_floor: float = 0.0
    max_characters: int = 9000
    output_mode: str = LEGACY
    hints: bool = False
    deadline: float = 2.0
    judge: JudgeConfig = JudgeConfig()
    logging: LoggingConfig = LoggingConfig()

    @property
    def floor(self) -> float:
        """`noise_floor`, or the one that suits the strategy where none is given."""
        return FLOORS[self.match_strategy] if self.noise_floor is None else self.noise_floor


FLOORS = {MEMSIFT: 0.4, FTS5_BM25: 0.25, TITLE_TAGS: 0.0}
"""Measured on LoCoMo: for `memsift`, 0.4 gives up 0.003 of the recall of 0.25 for 0.016 of precision."""

SECTIONS = (JudgeConfig, LoggingConfig, ModesConfig, ModeConfig)
"""The records in a Config: each is a JSON object of its own."""

CHOICES: dict[str, tuple[str, ...]] = {
    "match_strategy": (MEMSIFT, FTS5_BM25, TITLE_TAGS),
    "output_mode": (LEGACY, TIERED),
    "depth": DEPTHS,
}
"""The values of each field that takes one of a few words."""


LIMITS: dict[str, tuple[float, float]] = {
    "max_inject": (0, 20),
    "max_results": (1, 1000),
    "noise_floor": (0, 1),
    "min_strength": (0, 100),
    "confidence_abs_floor": (0, 1000),
    "max_characters": (100, 9000),
    "deadline": (0.05, 60),
    "timeout_per_call": (0.05, 60),
    "fallback_top_k": (0, 20),
    "candidate_pool_size": (1, 30),
    "context_turns": (0, 20),
    "split_over": (0, 1000),
}
"""Least and greatest allowed value of each number."""

VARIABLES = {
    "MEMSIFT_MATCH_STRATEGY": ("match_strategy",),
    "MEMSIFT_MAX_INJECT": ("max_inject",),
    "MEMSIFT_NOISE_FLOOR": ("noise_floor",),
    "MEMSIFT_MIN_STRENGTH": ("min_strength",),
    "MEMSIFT_OUTPUT_MODE": ("output_mode",),
    "MEMSIFT_HINTS": ("hints",),
    "MEMSIFT_DEADLINE": ("deadline",),
    "MEMSIFT_LOG_PROMPTS": ("logging", "prompts"),
    "MEMSIFT_JUDGE": ("judge", "provider"),
    "MEMSIFT_JUDGE_ENABLED": ("judge", "enabled"),
    "MEMSIFT_JUDGE_MODEL": ("judge", "model"),
    "MEMSIFT_JUDGE_DEPTH": ("judge", "depth"),
    "MEMSIFT_JUDGE_TIMEOUT": ("judge", "timeout_per_call"),
}
"""Environment variables and the key each one sets."""

SWITCHES = ("enabled", "hints", "prompts")
TEXTS = ("provider", "model")
"""Keys whose variable is taken as it is written, even where it looks like a number."""


def load_config(root: str, environ: Mapping[str, str]) -> Config:
    """The configuration of *root*: defaults, then memory-config.json, then the environment.

    Keys that memsift does not know are left alone. Raises ConfigError for a file or a value that makes no sense.
    """
    path = os.path.join(root, CONFIG_FILE)
    config = _apply(Config(), _retrieval_section(root, path), path)
    for variable, keys in VARIABLES.items():
        if environ.get(variable):
            config = _apply(config, _nested(keys, _of_variable(keys[-1], environ[variable])), variable)
    return _with_prompt_files(config, root, path)


def config_json(config: Config) -> str:
    """The configuration as one line of JSON with sorted keys: what a run records."""
    return dumps(_as_json(config))


def _as_json(section: object) -> object:
    if not isinstance(section, (Config, *SECTIONS)):
        return section
    return {name: _as_json(value) for name, value in sorted(fields(section).items())}


def _retrieval_section(root: str, path: str) -> Mapping[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        content = loads(read_text(os.path.realpath(root), path))
    except UnreadableFileError as error:
        raise _error(f"{path} {error}. Fix it, or delete it to use the defaults.") from None
    except (ValueError, RecursionError) as error:
        raise _error(f"{path} is not valid JSON ({error}). Fix it, or delete it to use the defaults.") from None
    section = content.get("retrieval", {}) if isinstance(content, dict) else None
    if not isinstance(section, dict):
        raise _error(f"{path}: 'retrieval' must be a JSON object.")
    return section


def _apply(target: T, section: Mapping[str, Any], where: str, prefix: str = "retrieval") -> T:
    """*target*, a Config or one of its sections, with the known keys of *section*."""
    known = fields(target)
    names = [name for name in section if name in known]
    return replace(target, **{name: _read(name, section[name], known[name], where, prefix) for name in names})


def _read(name: str, value: Any, default: object, where: str, prefix: str) -> object:
    key = f"{prefix}.{name}"
    if not isinstance(default, SECTIONS):
        return _value(name, value, default, f"{where}: '{key}'")
    if not isinstance(value, dict):
        raise _error(f"{where}: {key!r} must be a JSON object.")
    return _apply(default, value, where, key)


def _with_prompt_files(config: Config, root: str, where: str) -> Config:
    """*config* with the text of each `prompt_file` as the `prompt`. Raises ConfigError for a file that is not there."""
    modes = config.judge.modes
    if not (modes.auto.prompt_file or modes.search.prompt_file):
        return config
    auto, search = (
        replace(mode, prompt=_prompt(name, mode, root, where))
        for name, mode in (("auto", modes.auto), ("search", modes.search))
    )
    return replace(config, judge=replace(config.judge, modes=ModesConfig(auto, search)))


def _prompt(name: str, mode: ModeConfig, root: str, where: str) -> str:
    if not mode.prompt_file:
        return mode.prompt
    key = f"{where}: 'retrieval.judge.modes.{name}"
    if mode.prompt:
        raise _error(f"{key}' has both a prompt and a prompt_file; keep one of them.")
    try:
        return read_text(os.path.realpath(root), os.path.join(root, mode.prompt_file))
    except UnreadableFileError as error:
        raise _error(f"{key}.prompt_file' names {mode.prompt_file!r}, which {error}.") from None


def _value(name: str, value: Any, default: object, where: str) -> object:
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise _error(f"{where} is {_shown(value)}; expected {_either(CHOICES[name])}.")
        return value
    if isinstance(default, bool | str):
        if not isinstance(value, type(default)):
            kind = "true or false" if isinstance(default, bool) else "text"
            raise _error(f"{where} is {_shown(value)}; expected {kind}.")
        return value
    return _number(name, value, default, where)


def _either(words: tuple[str, ...]) -> str:
    *others, last = map(repr, words)
    return f"{', '.join(others)} or {last}"


def _number(name: str, value: Any, default: object, where: str) -> float:
    least, most = LIMITS[name]
    is_whole = isinstance(default, int)
    wanted = int if is_whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted) or not least <= value <= most:
        kind = "a whole number" if is_whole else "a number"
        raise _error(f"{where} is {_shown(value)}; expected {kind} from {least:g} to {most:g}.")
    return int(value) if is_whole else float(value)


def _nested(keys: tuple[str, ...], value: object) -> dict[str, Any]:
    head, *rest = keys
    return {head: _nested(tuple(rest), value) if rest else value}


def _of_variable(name: str, text: str) -> object:
    """What a variable's text sets the key *name* to."""
    if name in TEXTS:
        return text
    return _switch(text) if name in SWITCHES else _parsed(text)


def _parsed(text: str) -> object:
    """A variable's text as JSON where it is (3, true, 0.5), else as the text that it is."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _switch(text: str) -> object:
    """A variable that says yes or no, in the usual ways of saying it; any other text as it is."""
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    return words.get(text.lower(), text)


def _error(message: str) -> ConfigError:
    """Imported only where something is wrong: a class costs a cold process 0.02 ms, and errors are many."""
    from engine.errors import ConfigError

    return ConfigError(message)


def _shown(value: object) -> str:
    """A value in an error message: a line of it."""
    try:
        return repr(value)[:80]
    except RecursionError:
        return "nested too deeply"
