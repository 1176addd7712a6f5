"""The configuration of a root: its records, the values that each key may have, and the systems that they make.

`engine.settings` reads it. Systems are the ways from a prompt to an injected set that can be compared with each other.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record, fields, replace

CONFIG_FILE = "memory-config.json"
SHARED_CUTOFF_FILE = "memsift-cutoff.json"
MEMSIFT, FTS5_BM25, TITLE_TAGS = "memsift", "fts5_bm25", "title_tags"
"""Strategies: by strength over title, tags and body; by FTS5's BM25 over title and tags with a bonus for the body; by
keywords in title and tags."""

AUTO, SEARCH = "auto", "search"
"""Modes: `auto` is strict, for the hook; `search` is lenient, for an explicit question."""

KEEP, EXPLAINED = DEPTHS = ("keep", "explained")
"""The judge's answer: a list of memories to keep, or a decision, a confidence and a sentence for each memory."""

STRICT, LENIENT = VERIFICATIONS = ("strict", "lenient")
"""The judge's task: keep only memories that help directly, or all related ones."""

TUNED, DEFAULT, OFF = CUTOFFS = ("tuned", "default", "off")
"""Cutoffs: the model that was tuned to labels of the root, or the default model where there is none; never a tuned
model; no cutoff."""

LEGACY, TIERED = "legacy", "tiered"
"""Output modes: all memories in the same form, or those of high confidence in full and the others in short."""


class ModeConfig(Record):
    """The judge's task in a mode.

    An empty `prompt` is memsift's own; `prompt_file` is the file that it was read from. `verification` is one of
    VERIFICATIONS, or empty for the mode's own: strict in `auto`, lenient in `search`. `max_output` is the largest
    number of memories after the judge's answer; 0: no other than without a judge.
    """

    prompt: str = ""
    prompt_file: str = ""
    verification: str = ""
    max_output: int = 0


class ModesConfig(Record):
    """The judge's task in each mode."""

    auto: ModeConfig = ModeConfig()
    search: ModeConfig = ModeConfig()


class JudgeConfig(Record):
    """How the judge is asked.

    `timeout_per_call` is in seconds, for all calls about one prompt together. `provider` is a name of
    `engine.judge.providers.registry`, or empty for the caller's default. More than `split_over` candidates are split
    into two parallel calls; 0: never. `temperature` is 0..2, None for the server's own. `max_tokens` is the largest
    answer, thoughts included; 0: as large as the answer needs.
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
    temperature: float | None = None
    max_tokens: int = 0
    modes: ModesConfig = ModesConfig()


class LoggingConfig(Record):
    """Contents of the hook's log. `prompts`: the text of each prompt beside its hash."""

    prompts: bool = False


class Config(Record):
    """How a root is searched, and how much is injected.

    `noise_floor` is a share of the best score, 0..1: weaker memories are not injected. `min_strength` is the least
    strength of an injected memory, in units of the weight of the rarest word; only `memsift` uses it. `cutoff` is one
    of CUTOFFS, and `cutoff_threshold` replaces the model's least P(relevant): a number 0..1, or one of THRESHOLDS.
    Memories with a risk, 0..1, of
    `max_risk` or more wait for a person's approval. `deadline` is in seconds, for the hook's whole run without the
    judge. `hints` tell the model about weak or missing matches; only in the tiered form.
    `repeat_loaded`: also inject memories that a client loads by itself, such as those of CLAUDE.md.
    """

    enabled: bool = True
    match_strategy: str = MEMSIFT
    max_inject: int = 3
    max_results: int = 10
    noise_floor: float | None = None
    min_strength: float = 3.0
    cutoff: str = TUNED
    cutoff_threshold: float | str | None = None
    confidence_abs_floor: float = 0.0
    max_risk: float = 0.5
    max_characters: int = 9000
    output_mode: str = LEGACY
    hints: bool = False
    repeat_loaded: bool = False
    deadline: float = 2.0
    judge: JudgeConfig = JudgeConfig()
    logging: LoggingConfig = LoggingConfig()

    @property
    def floor(self) -> float:
        """`noise_floor`, or the strategy's default if it is not set."""
        return FLOORS[self.match_strategy] if self.noise_floor is None else self.noise_floor

    @property
    def allowed_seconds(self) -> float:
        """Seconds that the hook's whole run may take: its deadline, and the judge's time if one is enabled."""
        return self.deadline + (self.judge.timeout_per_call if self.judge.enabled else 0)


class OtherRoot(Record):
    """A root beside the one with the settings. If nobody trusts its own settings, it *is_limited* by them.

    Its memories are then rarer. If it is switched off, it is not searched. A judge that its settings do not name gets
    none of its memories.
    """

    config: Config
    is_limited: bool


FLOORS = {MEMSIFT: 0.4, FTS5_BM25: 0.25, TITLE_TAGS: 0.0}
"""Default noise floor of each strategy, chosen for precision on LoCoMo."""

BALANCED = "balanced"
THRESHOLDS = ("strict", BALANCED, "generous")
"""Thresholds of P(relevant) by name. At most 2, 10 and 25 % of the prompts that need no memory get one nevertheless."""

SECTIONS = (JudgeConfig, LoggingConfig, ModesConfig, ModeConfig)
"""The records in a Config; each is a JSON object in the file."""

CHOICES: dict[str, tuple[str, ...]] = {
    "match_strategy": (MEMSIFT, FTS5_BM25, TITLE_TAGS),
    "cutoff": CUTOFFS,
    "output_mode": (LEGACY, TIERED),
    "depth": DEPTHS,
    "verification": ("", *VERIFICATIONS),
}
"""Allowed words of the fields that take one of a few words."""

LIMITS: dict[str, tuple[float, float]] = {
    "max_inject": (0, 20),
    "max_results": (1, 1000),
    "noise_floor": (0, 1),
    "min_strength": (0, 100),
    "cutoff_threshold": (0, 1),
    "confidence_abs_floor": (0, 1000),
    "max_risk": (0, 1),
    "max_characters": (100, 9000),
    "deadline": (0.05, 60),
    "timeout_per_call": (0.05, 600),
    "fallback_top_k": (0, 20),
    "candidate_pool_size": (1, 30),
    "context_turns": (0, 20),
    "split_over": (0, 1000),
    "temperature": (0, 2),
    "max_tokens": (0, 100_000),
    "max_output": (0, 1000),
}
"""Smallest and largest allowed value of each number."""

OPTIONAL = ("noise_floor", "cutoff_threshold", "temperature")
"""Numbers that may be null: the strategy, the model or the judge's server decides."""

GUARD = "MEMSIFT_INSIDE_JUDGE"
"""Variable in the environment of a client that a judge started: this hook must not answer the judge's own prompts."""


def config_json(config: Config) -> str:
    """The configuration as a line of JSON with sorted keys. A run records it."""
    return dumps(_as_json(config))


def _as_json(section: object) -> dict[str, object]:
    named = sorted(fields(section).items())
    return {name: _as_json(value) if isinstance(value, SECTIONS) else value for name, value in named}


def settings_in(section: object, prefix: str = "") -> dict[str, object]:
    """Key -> value of each setting in a Config, those of inner records by their path, such as `judge.enabled`."""
    found: dict[str, object] = {}
    for name, value in fields(section).items():
        if isinstance(value, SECTIONS):
            found |= settings_in(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


CUTS = {OFF: "", DEFAULT: "+default", TUNED: "+cutoff"}
JUDGED = "+judge"
"""Endings of the name of a system that has a cutoff, a judge or both."""

STRATEGIES = {"memsift": MEMSIFT, "bm25": FTS5_BM25, "keywords": TITLE_TAGS}
"""The beginning of a system's name -> its `match_strategy`."""


INJECTED = "injected"
"""The system of the memories that memsift's own hook really injected. Other hooks have their names behind a colon."""


class System(Record):
    """`strategy` is how memories are found; then a cutoff may drop some, and a judge may have the last word.

    `cutoff` is the kind of model: TUNED, DEFAULT or OFF.
    """

    name: str
    strategy: str
    has_judge: bool
    cutoff: str = OFF

    @property
    def has_cutoff(self) -> bool:
        return self.cutoff != OFF

    def of(self, config: Config) -> Config:
        """*config* with the strategy of this system."""
        return replace(config, match_strategy=self.strategy)


SYSTEMS = {
    name + cut + judge: System(name + cut + judge, strategy, bool(judge), cutoff)
    for cutoff, cut in CUTS.items()
    for judge in ("", JUDGED)
    for name, strategy in STRATEGIES.items()
    if not ((cut or judge) and strategy == TITLE_TAGS) and not (cutoff == DEFAULT and strategy != MEMSIFT)
}
"""System by name. Keywords have neither cutoff nor judge: they serve where SQLite has no full-text search. The default
cutoff was made for `memsift` only."""


def system_of(config: Config, *, has_judge: bool, cutoff: str = OFF) -> System:
    """The system that *config* describes; keywords stay without a cutoff and a judge."""
    (name,) = (name for name, strategy in STRATEGIES.items() if strategy == config.match_strategy)
    if config.match_strategy == TITLE_TAGS:
        return SYSTEMS[name]
    return SYSTEMS[f"{name}{CUTS[cutoff]}{JUDGED if has_judge else ''}"]


def injected_system(name: str) -> System:
    """The system that stands for a record of injections."""
    return System(name, INJECTED, has_judge=False)


def injected_name(hook: str) -> str:
    """The name of the system of a hook: see `Injection`."""
    return f"{INJECTED}:{hook}" if hook else INJECTED


def is_injected(name: str) -> bool:
    """Whether a system is a record of injections: nothing is searched for it."""
    return name == INJECTED or name.startswith(f"{INJECTED}:")
