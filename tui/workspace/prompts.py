"""The prompts of a workspace: the labelled sample, the scratch prompts beside it, and which of them are listed."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as replace_dataclass
from typing import TYPE_CHECKING

from engine.lean.record import replace
from engine.prompt import TYPED
from labels.records import BY_HAND, CHOSEN, RELEVANT, REMOVED
from labels.store import LabelStore
from tui.workspace.filtering import RowKind, RowOrder, RowRules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.workspace.filtering import RowChoice


class PromptLists:
    """`sample`: the prompts of the files, behind those that were chosen by hand.

    Where the files hold none and *takes_replayed*, the prompts that were replayed over the root stand in their place.

    `scratch`: prompts that were typed, or visited from another screen; the newest first. None of them is sampled. The
    label store remembers by a prompt's source whether it is typed, chosen or removed, so typed prompts come back at the
    next start.
    """

    def __init__(
        self, store: LabelStore, root: str, prompts: Iterable[Prompt], *, takes_replayed: bool = False
    ) -> None:
        self._store = store
        self._takes_replayed = takes_replayed
        self._root = root
        self.scratch = store.prompts_of_source(root, TYPED)
        self.sample: tuple[Prompt, ...] = ()
        self.read(prompts)

    def read(self, prompts: Iterable[Prompt]) -> None:
        """Take *prompts* of the files. Such a prompt is neither chosen nor scratch, even if it was typed, too."""
        of_files = tuple(prompts)
        if not of_files and self._takes_replayed:
            of_files = tuple(prompt for prompt in self._store.prompts(self._root) if prompt.source not in BY_HAND)
        ids = {prompt.id for prompt in of_files}
        chosen = self._store.prompts_of_source(self._root, CHOSEN)
        self.sample = (*(prompt for prompt in chosen if prompt.id not in ids), *of_files)
        self.scratch = tuple(prompt for prompt in self.scratch if prompt.id not in ids)

    @property
    def all(self) -> tuple[Prompt, ...]:
        return (*self.scratch, *self.sample)

    @property
    def chosen(self) -> tuple[Prompt, ...]:
        """The prompts of the sample that a person picked: they have no place in a random order."""
        return tuple(prompt for prompt in self.sample if prompt.source == CHOSEN)

    @property
    def drawn(self) -> tuple[Prompt, ...]:
        return tuple(prompt for prompt in self.sample if prompt.source != CHOSEN)

    def find(self, prompt_id: str) -> Prompt | None:
        return next((prompt for prompt in self.all if prompt.id == prompt_id), None)

    def known(self, prompt_id: str) -> Prompt | None:
        """A prompt of the lists, or else of the label store. Raises LabelStoreError."""
        return self.find(prompt_id) or self._store.prompt(prompt_id)

    def is_scratch(self, prompt: Prompt) -> bool:
        return any(prompt.id == other.id for other in self.scratch)

    def add(self, prompt: Prompt) -> None:
        """Put a scratch prompt first, once. Nothing changes for a prompt of the sample."""
        if all(prompt.id != other.id for other in self.sample):
            self.scratch = (prompt, *_without(self.scratch, prompt))

    def remove(self, prompt: Prompt) -> None:
        """Take a scratch prompt off the list for good. Its labels stay. Raises LabelStoreError: nothing changed."""
        if prompt.source == TYPED:
            self._store.record_prompt(replace(prompt, source=REMOVED))
        self.scratch = _without(self.scratch, prompt)

    def choose(self, prompt: Prompt) -> None:
        """Move a scratch prompt to the sample, or a chosen one back. Raises LabelStoreError: nothing changed."""
        if self.is_scratch(prompt):
            self.sample = (self._recorded(prompt, CHOSEN), *self.sample)
            self.scratch = _without(self.scratch, prompt)
        elif prompt.source == CHOSEN:
            self.scratch = (self._recorded(prompt, TYPED), *self.scratch)
            self.sample = _without(self.sample, prompt)

    def _recorded(self, prompt: Prompt, source: str) -> Prompt:
        moved = replace(prompt, source=source)
        self._store.record_prompt(moved)
        return moved


def _without(prompts: Iterable[Prompt], prompt: Prompt) -> tuple[Prompt, ...]:
    return tuple(other for other in prompts if other.id != prompt.id)


ALL, DIFFER, FAILED, IN_VAIN, UNLABELLED, LABELLED = "", "differ", "failed", "in vain", "unlabelled", "labelled"
NEWEST, IN_FILE, BY_TEXT, LONGEST, BY_CHANGE = "", "file", "text", "longest", "difference"
ALL_AGAIN = "{go.back} shows all."


@dataclass(frozen=True)
class PromptFacts:
    """What is recorded about a prompt. `injected`: system -> ids of memories. `verdicts`: memory id -> own label.

    `failed`: the systems whose judge gave no answer.
    """

    injected: Mapping[str, frozenset[str]] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()
    verdicts: Mapping[str, str] = field(default_factory=dict)

    def differs(self, systems: Collection[str]) -> bool:
        """Whether two of *systems* inject different memories, as far as they have run."""
        return len({self.injected[name] for name in systems if name in self.injected}) > 1

    def change(self, systems: Collection[str]) -> tuple[int, ...]:
        """The number of memories that each of *systems* injects, where they differ; else ()."""
        counts = tuple(len(self.injected[name]) for name in systems if name in self.injected)
        return counts if self.differs(systems) else ()

    def is_in_vain(self, systems: Collection[str]) -> bool:
        """Whether something is injected, and all memories that *systems* inject have a label but none is relevant."""
        found = frozenset[str]().union(*(self.injected.get(name, ()) for name in systems))
        verdicts = self.verdicts
        return bool(found) and all(name in verdicts for name in found) and RELEVANT not in verdicts.values()

    def with_results(self, retrievals: Iterable[Retrieval]) -> PromptFacts:
        """This with newer results."""
        found = list(retrievals)
        injected = {
            retrieval.system: frozenset(candidate.memory.id for candidate in retrieval.injected) for retrieval in found
        }
        failed = (self.failed - injected.keys()) | {retrieval.system for retrieval in found if retrieval.fallback}
        return replace_dataclass(self, injected={**self.injected, **injected}, failed=failed)


NOTHING = PromptFacts()


def read_known(store: Path, root: str, annotator: str, digests: Mapping[str, str]) -> dict[str, PromptFacts]:
    """What the label store holds about the prompts of *root*. Any thread may call it. Raises LabelStoreError.

    *digests*: memory id -> digest of its present text. A label of another text does not count.
    """
    injected: dict[str, dict[str, frozenset[str]]] = {}
    failed: dict[str, set[str]] = {}
    verdicts: dict[str, dict[str, str]] = {}
    with LabelStore.open(store) as labels:
        for outcome in labels.outcomes(root):
            injected.setdefault(outcome.prompt_id, {})[outcome.system] = frozenset(outcome.injected)
            if outcome.fallback:
                failed.setdefault(outcome.prompt_id, set()).add(outcome.system)
        for label in labels.labels(annotator, root=root):
            if digests.get(label.memory_id) == label.digest:
                verdicts.setdefault(label.prompt_id, {})[label.memory_id] = label.verdict or ""
    return {
        name: PromptFacts(injected.get(name, {}), frozenset(failed.get(name, ())), verdicts.get(name, {}))
        for name in injected.keys() | verdicts.keys()
    }


def change(known: Mapping[str, PromptFacts], prompt: Prompt, systems: Collection[str]) -> tuple[bool, int]:
    """How far *systems* differ on a prompt, to sort by: whether they do, and by how many memories."""
    counts = known.get(prompt.id, NOTHING).change(systems)
    return bool(counts), max(counts, default=0) - min(counts, default=0)


RULES = RowRules(
    orders={
        NEWEST: RowOrder("newest first", lambda prompt, *_: prompt.timestamp),
        IN_FILE: RowOrder("order of the files"),
        BY_TEXT: RowOrder("by text", lambda prompt, *_: prompt.text, is_rising=True),
        LONGEST: RowOrder("longest first", lambda prompt, *_: len(prompt.text)),
        BY_CHANGE: RowOrder("largest difference first", lambda prompt, known, systems: change(known, prompt, systems)),
    },
    kinds={
        ALL: RowKind("all prompts"),
        DIFFER: RowKind("systems differ", PromptFacts.differs),
        FAILED: RowKind("judge failed", lambda facts, systems: not facts.failed.isdisjoint(systems)),
        IN_VAIN: RowKind("injected though nothing is relevant", PromptFacts.is_in_vain),
        UNLABELLED: RowKind("unlabelled", lambda facts, _: not facts.verdicts),
        LABELLED: RowKind("labelled", lambda facts, _: bool(facts.verdicts)),
    },
)
"""The kinds are told by the facts about a prompt, and the systems side by side."""


def chosen(
    prompts: Iterable[Prompt], choice: RowChoice, known: Mapping[str, PromptFacts], systems: Collection[str]
) -> Sequence[Prompt]:
    """The prompts of a choice, in its order. *known*: prompt id -> facts."""
    fits, words = RULES.kinds[choice.kind].fits, choice.words
    fitting = [
        prompt
        for prompt in prompts
        if fits(known.get(prompt.id, NOTHING), systems) and (not words.words or words.fits(prompt.text.casefold()))
    ]
    return RULES.orders[choice.order].of(fitting, known, systems, is_turned=choice.is_turned)


def empty_text(kind: str, systems: Sequence[str]) -> str:
    """Why no prompt is listed, and the ids of the keys that help."""
    about = {
        DIFFER: f"No replayed prompt differs between {' and '.join(systems)}",
        FAILED: "No judge failed on a replayed prompt",
        IN_VAIN: "No labelled prompt gets memories though none is relevant",
    }.get(kind)
    if about:
        return f"{about}. {{replay.all}} replays all prompts, {{replay.columns}} chooses systems, {ALL_AGAIN}"
    labels = "{mark.relevant} and {mark.not} label memories, " if kind == LABELLED else ""
    return f"No prompt fits. {labels}{ALL_AGAIN}"
