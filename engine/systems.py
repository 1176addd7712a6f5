"""Systems: the ways from a prompt to an injected set that can be compared with each other."""

from __future__ import annotations

from engine.config import TITLE_TAGS
from engine.lean.record import Record, replace
from engine.system_names import CUT, JUDGED, STRATEGIES, system_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.config import Config


class System(Record):
    """`strategy` is how memories are found; then a tuned cutoff may drop some, and a judge may have the last word."""

    name: str
    strategy: str
    has_judge: bool
    has_cutoff: bool = False

    def of(self, config: Config) -> Config:
        """*config* with what this system says."""
        return replace(config, match_strategy=self.strategy)


SYSTEMS = {
    name + cut + judge: System(name + cut + judge, strategy, bool(judge), bool(cut))
    for cut in ("", CUT)
    for judge in ("", JUDGED)
    for name, strategy in STRATEGIES.items()
    if not ((cut or judge) and strategy == TITLE_TAGS)
}
"""By name. Keywords have neither cutoff nor judge: they are what is left where SQLite cannot search."""


def system_of(config: Config, *, has_judge: bool, has_cutoff: bool = False) -> System:
    """The system that *config* describes; keywords stay without a cutoff and a judge."""
    return SYSTEMS[system_name(config, has_judge=has_judge, has_cutoff=has_cutoff)]
