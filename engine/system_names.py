"""What the ways from a prompt to an injected set are called. The hook names one, and compares none: see `systems`."""

from __future__ import annotations

from engine.config import FTS5_BM25, MEMSIFT, TITLE_TAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.config import Config

CUT, JUDGED = "+cutoff", "+judge"
STRATEGIES = {"memsift": MEMSIFT, "bm25": FTS5_BM25, "keywords": TITLE_TAGS}
"""First stage, as systems are named -> `match_strategy`."""


def system_name(config: Config, *, has_judge: bool, has_cutoff: bool = False) -> str:
    """The name of the system that *config* describes; keywords stay without a cutoff and a judge."""
    (name,) = (name for name, strategy in STRATEGIES.items() if strategy == config.match_strategy)
    if config.match_strategy == TITLE_TAGS:
        return name
    return f"{name}{CUT if has_cutoff else ''}{JUDGED if has_judge else ''}"
