"""Systems: the ways from a prompt to an injected set that can be compared with each other."""

from __future__ import annotations

from engine.config import FTS5_BM25, MEMSIFT, TITLE_TAGS
from engine.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.config import Config

JUDGED = "+judge"
STRATEGIES = {"memsift": MEMSIFT, "bm25": FTS5_BM25, "keywords": TITLE_TAGS}
"""First stage, as systems are named -> `match_strategy`."""


@record
class System:
    """`strategy` is how memories are found; `has_judge`, whether a judge has the last word."""

    name: str
    strategy: str
    has_judge: bool

    def of(self, config: Config) -> Config:
        """*config* with what this system says."""
        return replace(config, match_strategy=self.strategy)


SYSTEMS = {
    name + judge: System(name + judge, strategy, bool(judge))
    for judge in ("", JUDGED)
    for name, strategy in STRATEGIES.items()
    if not (judge and strategy == TITLE_TAGS)
}
"""By name. Keywords have no judge: they are what is left where SQLite cannot search."""


def system_of(config: Config, *, has_judge: bool) -> System:
    """The system that *config* describes; keywords stay without a judge."""
    (name,) = (name for name, strategy in STRATEGIES.items() if strategy == config.match_strategy)
    return SYSTEMS.get(f"{name}{JUDGED}" if has_judge else name, SYSTEMS[name])
