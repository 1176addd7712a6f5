"""Records of injections in the form of retrievals, and retrievals as the label store keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import SYSTEMS, is_injected
from engine.conversations.activity_log import read_log
from engine.conversations.injected import InjectionMatcher, injection_by, is_text_id, names_of, with_log
from engine.lean.record import replace
from engine.paths import state_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.config import Config
    from engine.conversations.prompt_files import PromptReading
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.memory import Memory
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex
    from labels.store import LabelStore


class Injections:
    """Matches injections to the memories of *index*, when they are asked for. Any thread may ask."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._matcher: InjectionMatcher | None = None
        self._unknown: dict[str, Memory] = {}
        self._found: dict[tuple[str, str], Retrieval] = {}

    def retrieval(self, prompt: Prompt, system: str) -> Retrieval | None:
        """The injections of a hook for *prompt* in the form of a retrieval; None if nothing is known of them."""
        injection = injection_by(prompt, system)
        if injection is None:
            return None
        if (prompt.id, system) not in self._found:
            self._matcher = self._matcher or InjectionMatcher(self._index)
            found = self._matcher.injected(prompt, injection)
            self._unknown.update(found.unknown)
            self._found[prompt.id, system] = found.retrieval
        return self._found[prompt.id, system]

    def all_of(self, prompt: Prompt) -> list[Retrieval]:
        """The injections of each hook for *prompt*, as far as they are known."""
        found = (self.retrieval(prompt, name) for name in names_of([prompt]))
        return [retrieval for retrieval in found if retrieval]

    def memory(self, memory_id: str, prompts: Sequence[Prompt] = ()) -> Memory | None:
        """A memory of the root, or the injected text with this id that no open root holds.

        A text that is not known yet is looked for in the injections for *prompts*.
        """
        if not is_text_id(memory_id):
            return self._index.memory(memory_id)
        for prompt in () if memory_id in self._unknown else prompts:
            self.all_of(prompt)
        return self._unknown.get(memory_id)


def with_hook_log(reading: PromptReading, root: str, environ: Mapping[str, str]) -> PromptReading:
    """*reading* with the injections that only the hook's log in the state folder of *root* tells."""
    decisions = read_log(state_dir(root, environ)).decisions
    return replace(reading, prompts=tuple(with_log(reading.prompts, decisions))) if decisions else reading


def record(
    retrieval: Retrieval,
    store: LabelStore,
    index: OpenIndex,
    config: Config,
    judge: Judge | None = None,
    cutoff: Cutoff | None = None,
    memory: Callable[[str], Memory | None] | None = None,
) -> None:
    """Record *retrieval*, which ran over *index* with *config*, *judge* and *cutoff*. Raises LabelStoreError.

    The judge is recorded only if the retrieval's system has one, and the cutoff only if it is of the system's kind.
    *memory* gives the memory of an id; the index reads its file each time. Injections of a hook have no settings here.
    """
    settings = "{}"
    if not is_injected(retrieval.system):
        from labels.run_settings import settings_json

        system = SYSTEMS[retrieval.system]
        settings = settings_json(
            system.of(config),
            samples=judge.samples if judge and system.has_judge else None,
            cutoff=cutoff if cutoff and cutoff.kind == system.cutoff else None,
        )
    memories = [(memory or index.memory)(candidate.memory.id) for candidate in retrieval.candidates]
    store.record_retrieval(
        retrieval,
        root=index.root,
        config_json=settings,
        corpus_hash=index.corpus_hash,
        bodies={kept.summary.id: kept.body for kept in memories if kept},
    )
