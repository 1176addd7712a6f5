"""Systems: the ways from a prompt to an injected set that can be compared with each other."""

from __future__ import annotations

from engine.config import DEFAULT, FTS5_BM25, MEMSIFT, OFF, TITLE_TAGS, TUNED
from engine.lean.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.config import Config

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
