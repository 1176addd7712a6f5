"""The configuration of a root: `retrieval` in its memory-config.json. MEMSIFT_* variables and flags override it."""

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
"""Strategies: by strength over title, tags and body; by FTS5's BM25 over title and tags with a bonus for the body; by
keywords in title and tags."""

AUTO, SEARCH = "auto", "search"
"""Modes: `auto` is strict, for the hook; `search` is lenient, for an explicit question."""

KEEP, EXPLAINED = DEPTHS = ("keep", "explained")
"""The judge's answer: a list of memories to keep, or a decision, a confidence and a sentence for each memory."""

LEGACY, TIERED = "legacy", "tiered"
"""Output modes: all memories in the same form, or those of high confidence in full and the others in short."""


class ModeConfig(Record):
    """The judge's prompt for a mode: as text, or as the path of a file in the root. Empty: memsift's own prompt."""

    prompt: str = ""
    prompt_file: str = ""


class ModesConfig(Record):
    """The judge's prompt for each mode."""

    auto: ModeConfig = ModeConfig()
    search: ModeConfig = ModeConfig()


class JudgeConfig(Record):
    """How the judge is asked.

    `timeout_per_call` is in seconds, for all calls about one prompt together. `provider` is a name of
    `engine.judge.providers.registry`, or empty for the caller's default. More than `split_over` candidates are split
    into two parallel calls; 0: never.
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
    """Contents of the hook's log. `prompts`: the text of each prompt beside its hash."""

    prompts: bool = False


class Config(Record):
    """How a root is searched, and how much is injected.

    `noise_floor` is a share of the best score, 0..1: weaker memories are not injected. `min_strength` is the least
    strength of an injected memory, in units of the weight of the rarest word; only `memsift` uses it. `deadline` is in
    seconds, for the hook's whole run without the judge. `hints` tell the model about weak or missing matches; only in
    the tiered form.
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
        """`noise_floor`, or the strategy's default if it is not set."""
        return FLOORS[self.match_strategy] if self.noise_floor is None else self.noise_floor


FLOORS = {MEMSIFT: 0.4, FTS5_BM25: 0.25, TITLE_TAGS: 0.0}
"""Default noise floor of each strategy, chosen for precision on LoCoMo."""

SECTIONS = (JudgeConfig, LoggingConfig, ModesConfig, ModeConfig)
"""The records in a Config; each is a JSON object in the file."""

CHOICES: dict[str, tuple[str, ...]] = {
    "match_strategy": (MEMSIFT, FTS5_BM25, TITLE_TAGS),
    "output_mode": (LEGACY, TIERED),
    "depth": DEPTHS,
}
"""Allowed words of the fields that take one of a few words."""

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
"""Smallest and largest allowed value of each number."""

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
"""Environment variable -> the key that it sets, from the outermost section inwards."""

GUARD = "MEMSIFT_INSIDE_JUDGE"
"""Variable in the environment of a client that a judge started: this hook must not answer the judge's own prompts."""

SWITCH_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""Texts of a variable that sets true or false."""


def load_config(root: str, environ: Mapping[str, str]) -> Config:
    """The configuration of *root*: defaults, then memory-config.json, then the environment.

    Unknown keys are ignored. Raises ConfigError for a file that cannot be read and for a value that is not allowed.
    """
    path = os.path.join(root, CONFIG_FILE)
    config = _apply(Config(), _retrieval_section(root, path), path)
    for variable, keys in VARIABLES.items():
        if text := environ.get(variable):
            config = _apply(config, _section(keys, text, config), variable)
    return _with_prompt_files(config, root, path)


def config_json(config: Config) -> str:
    """The configuration as a line of JSON with sorted keys. A run records it."""
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
    """*target*, a Config or one of its sections, with the values of *section*. Unknown keys are ignored."""
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
    """*config* with the text of each `prompt_file` as its `prompt`. Raises ConfigError for an unreadable file."""
    modes = config.judge.modes
    auto = replace(modes.auto, prompt=_prompt(AUTO, modes.auto, root, where))
    search = replace(modes.search, prompt=_prompt(SEARCH, modes.search, root, where))
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
    if expected := _expected(name, value, default):
        raise _error(f"{where} is {_shown(value)}; expected {expected}.")
    return float(value) if name in LIMITS and not isinstance(default, int) else value


def _expected(name: str, value: Any, default: object) -> str:
    """A description of the values that *name* can take; empty if *value* is one of them."""
    if name in CHOICES:
        *others, last = map(repr, CHOICES[name])
        return "" if value in CHOICES[name] else f"{', '.join(others)} or {last}"
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        return "" if isinstance(value, str) else "text"
    least, most = LIMITS[name]
    kinds, kind = (int, "a whole number") if isinstance(default, int) else ((int, float), "a number")
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    return "" if is_number and least <= value <= most else f"{kind} from {least:g} to {most:g}"


def _section(keys: tuple[str, ...], text: str, default: object) -> dict[str, Any]:
    """The section that sets *keys* to the text of a variable. *default* is the record that holds the first key."""
    head, *rest = keys
    inner = getattr(default, head)
    return {head: _section(tuple(rest), text, inner) if rest else _from_text(text, inner)}


def _from_text(text: str, default: object) -> object:
    """The value that a variable's text spells, by the type of the *default*. Any other text stays as it is."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return SWITCH_WORDS.get(text.lower(), text)
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _error(message: str) -> ConfigError:
    """A ConfigError. The module of errors is imported only here: an ordinary prompt does not need it."""
    from engine.errors import ConfigError

    return ConfigError(message)


def _shown(value: object) -> str:
    """The beginning of a value, for an error message."""
    try:
        return repr(value)[:80]
    except RecursionError:
        return "nested too deeply"
