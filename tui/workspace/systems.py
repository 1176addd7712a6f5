"""The systems that stand side by side in Replay: the ones that can run, and the ones that a person chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import DEFAULT, FTS5_BM25, MEMSIFT, OFF, SYSTEMS, injected_system, is_injected, system_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.judge.limits import Limits
    from engine.roots import OpenIndex
    from tui.workspace.prompts import PromptLists

MOST_COLUMNS = 3

MEASURES = {MEMSIFT: "strength", FTS5_BM25: "BM25"}
"""Strategy -> the number by which it ranks."""


DROPPED: dict[str | None, str] = {
    "status": "kept out",
    "floor": "too weak",
    "cutoff": "unlikely",
    "judge": "rejected",
    "cap": "too many",
    "repeat": "repeated",
    "budget": "no room",
}
"""Stage that dropped a memory -> a word for it, in at most 8 cells."""


def described(system: System) -> str:
    """What a system does, in at most 31 cells."""
    if is_injected(system.name):
        return "what a hook really injected"
    parts = [MEASURES.get(system.strategy, "word counts") if system.has_phrases else "without phrases"]
    if system.has_cutoff:
        parts.append(f"{'default' if system.cutoff == DEFAULT else 'tuned'} cutoff")
    if system.has_judge:
        parts.append("judge")
    return ", ".join(parts)


def scale_note(systems: Sequence[System]) -> str:
    """A warning if the numbers in two columns do not compare; "" if they do. It has room in 58 cells."""
    scored = (system for system in systems if not system.has_judge and not is_injected(system.name))
    measures = dict.fromkeys(MEASURES.get(system.strategy, "points") for system in scored)
    if len(measures) < 2:
        return ""
    return f"{' and '.join(measures)} do not compare: look at signs and ranks."


def record_note(systems: Sequence[System]) -> str:
    """What the column of a record tells; "" without one. It has room in 58 cells."""
    names = [system.name for system in systems if is_injected(system.name)]
    return f"{names[0]}: what a hook wrote, in its order, without scores." if names else ""


class RootSystems:
    """The part of a workspace that knows which systems can run, and which stand side by side.

    `chosen`: the names of the systems that a person wants to compare.
    """

    config: Config
    index: OpenIndex
    judge: Judge | None
    cutoff: Cutoff | None
    spending: Limits | None
    lists: PromptLists
    chosen: tuple[str, ...]

    @property
    def has_phrases(self) -> bool:
        """Whether some memory is found by phrases, too."""
        return self.index.look(lambda postings: postings.has_phrases)

    @property
    def first(self) -> System:
        """The configured first stage, without cutoff and judge."""
        return system_of(self.config, has_judge=False)

    @property
    def _may_ask(self) -> bool:
        return self.judge is not None and not self.needs_agreement

    @property
    def judged(self) -> System | None:
        """The system with the judge, and with the cutoff if there is one; None without a judge that may be asked."""
        system = system_of(self.config, has_judge=self._may_ask, cutoff=self.cutoff.kind if self.cutoff else OFF)
        return system if system.has_judge else None

    @property
    def needs_agreement(self) -> bool:
        """Whether there is a judge that is not asked before a person agrees to its cost."""
        return self.spending is not None and self.spending.needs_agreement

    @property
    def with_cutoff(self) -> System | None:
        """The first stage with the cutoff, as the hook runs without a judge; None without a cutoff."""
        return system_of(self.config, has_judge=False, cutoff=self.cutoff.kind) if self.cutoff else None

    @property
    def possible(self) -> tuple[System, ...]:
        """The systems that can run now, the plainest first."""
        cuts = [(OFF, system.strategy) for system in SYSTEMS.values()]
        cuts += [(self.cutoff.kind, self.config.match_strategy)] if self.cutoff else []
        found = (system for system in SYSTEMS.values() if (system.cutoff, system.strategy) in cuts)
        able = (system for system in found if self.has_phrases or system.has_phrases)
        return tuple(system for system in able if self._may_ask or not system.has_judge)

    @property
    def columns(self) -> tuple[System, ...]:
        """The systems side by side: the chosen ones that can run, or else the hook's system on the right.

        On its left stands the system that lacks one thing of it: the judge, or else the cutoff.
        """
        recorded = (injected_system(name) for name in self.chosen if is_injected(name))
        known = (*self.possible, *recorded) if self.chosen else ()
        found = tuple(system for system in known if system.name in self.chosen)[:MOST_COLUMNS]
        return found or tuple(filter(None, (self.first, self.with_cutoff, self.judged)))[-2:]

    @property
    def live(self) -> tuple[tuple[str, str], ...]:
        """The columns of the live prompt: BM25, the hook, and the hook with a judge, as far as these differ.

        Each is (name for people, name of the system); the second is empty where a judge is lacking.
        """
        names = dict.fromkeys(("bm25", self._hook(has_judge=self.config.judge.enabled).name, self._hook().name))
        is_lacking = self.judge is None
        return tuple((self.called(name), "" if is_lacking and SYSTEMS[name].has_judge else name) for name in names)

    def _hook(self, *, has_judge: bool = True) -> System:
        return system_of(self.config, has_judge=has_judge, cutoff=self.cutoff.kind if self.cutoff else OFF)

    def called(self, name: str) -> str:
        """The name of a system for people: that of the hook and its neighbours, else its own."""
        hook = self._hook(has_judge=self.config.judge.enabled)
        names = {
            "bm25": "BM25",
            self.first.name: "no cutoff",
            self._hook(has_judge=False).name: "no judge",
            self._hook().name: "hook + judge",
            hook.name: "hook",
        }
        return names.get(name, name)

    @property
    def called_heads(self) -> tuple[str, ...]:
        """The names of the columns for people."""
        return tuple(map(self.called, self.heads))

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(system.name for system in self.columns)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems that run: those of the configuration, and the columns that are no records."""
        found = [system for system in (self.first, self.with_cutoff, self.judged, *self.columns) if system]
        return tuple(dict.fromkeys(system.name for system in found if system.name in SYSTEMS))

    @property
    def with_judge(self) -> tuple[str, ...]:
        """The names of the systems that ask the judge."""
        return tuple(name for name in self.systems if SYSTEMS[name].has_judge)
