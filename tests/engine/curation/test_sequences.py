"""Any sequence of operations and undos, against a model in memory. Every operation is a start of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engine.curation.operations import Archive, Edit, Merge, Move, Restore, Retire, Tag
from engine.errors import ChangedSinceError, CurationError, JournalError
from engine.stores.claude_memory_schema import MOST_CHANGES
from engine.stores.writing import Changes
from tests.engine.curation.roots import document, perform, rebuilt_index, summary, undo, write_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.curation.operations import Operation
    from engine.memory import MemorySummary

CATEGORIES = ("decision", "preference", "runbook", "constraint")
NAMES = ("alpha", "beta", "gamma", "delta", "omega", "sigma")
UNKNOWN = {"from": ["another", {"program": 1.50}], "null": None}
PICK = st.integers(0, 99)
TITLES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=40)
REASONS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@dataclass(frozen=True)
class State:
    """A memory as the model knows it."""

    title: str
    tags: tuple[str, ...]
    status: str = "active"
    reason: str | None = None
    log: tuple[str, ...] = ()
    updated: int = 0

    def changed(self, *summaries: str, **others: Any) -> State:
        """With other values, and each of *summaries* at the end of the list of changes."""
        return replace(self, log=(*self.log, *(one[:300] for one in summaries))[-MOST_CHANGES:], **others)


Key = tuple[int, str]


@dataclass
class Step:
    """A performed operation: each memory that it touched, before and after; None for no memory."""

    touched: dict[Key, tuple[State | None, State | None]]
    undoes: int | None = None


class Sequences(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self._folder = TemporaryDirectory()
        place = Path(self._folder.name).resolve()
        self.roots = [place / "one/.claude/memory", place / "two/.claude/memory"]
        made = [document(name, CATEGORIES[n % 4], unknown=UNKNOWN) for n, name in enumerate(NAMES)]
        write_documents(self.roots[0], made)
        write_documents(self.roots[1], [document("zeta", unknown=UNKNOWN)])
        self.model: dict[Key, State] = {(0, one["id"]): State(one["title"], tuple(one["tags"])) for one in made} | {
            (1, "zeta"): State("Title of zeta", ("tag-zeta", "shared"))
        }
        self.steps: dict[int, Step] = {}

    def teardown(self) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    @rule(pick=PICK, reason=REASONS, kind=st.sampled_from(["retired", "archived"]))
    def take_away(self, pick: int, reason: str, kind: str) -> None:
        key, state = self._picked(pick)
        operation = (Retire if kind == "retired" else Archive)(*self._place(key), reason)
        shown = reason or "No reason provided"
        after = state.changed(f"{kind.capitalize()}: {shown}", status=kind, reason=shown)
        self._perform(operation, {key: after}, allowed=state.status == "active")

    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        key, state = self._picked(pick)
        after = state.changed(f"Restored: returned to active from {state.status}", status="active", reason=None)
        self._perform(Restore(*self._place(key)), {key: after}, allowed=state.status != "active")

    @rule(pick=PICK, title=TITLES)
    def edit(self, pick: int, title: str) -> None:
        key, state = self._picked(pick)
        after = state.changed("title changed", title=title, updated=state.updated + 1)
        self._perform(Edit(*self._place(key), Changes(title=title)), {key: after}, allowed=title != state.title)

    @rule(pick=PICK, add=st.sampled_from(["new", "shared", "Other"]), remove=st.sampled_from(["", "shared", "new"]))
    def tag(self, pick: int, add: str, remove: str) -> None:
        key, state = self._picked(pick)
        kept = [one for one in state.tags if one != remove]
        tags = tuple(dict.fromkeys((*kept, add.lower())))
        after = state.changed("tags changed", tags=tags, updated=state.updated + 1)
        operation = Tag(*self._place(key), (add,), (remove,) if remove else ())
        self._perform(operation, {key: after}, allowed=tags != state.tags)

    @rule(pick=PICK, others=st.lists(PICK, min_size=1, max_size=2), note=REASONS)
    def merge(self, pick: int, others: list[int], note: str) -> None:
        key, state = self._picked(pick)
        keys = [one for one in dict.fromkeys(self._picked(other)[0] for other in others) if one[0] == key[0]]
        if not keys or key in keys:
            return
        tags = tuple(dict.fromkeys((*state.tags, *(tag for one in keys for tag in self.model[one].tags))))[:12]
        names = ", ".join(name for _, name in keys)
        logged = [f"Merged with {names}" + (f": {note}" if note else "")] + ["tags changed"] * (tags != state.tags)
        after = {key: state.changed(*logged, tags=tags, updated=state.updated + 1)}
        reason = f"superseded by {key[1]}"
        after |= {one: self.model[one].changed(f"Retired: {reason}", status="retired", reason=reason) for one in keys}
        root, kept = self._place(key)
        operation = Merge(root, kept, tuple(self._place(one)[1] for one in keys), note)
        self._perform(operation, after, allowed=all(self.model[one].status == "active" for one in (key, *keys)))

    @rule(pick=PICK)
    def move(self, pick: int) -> None:
        key, state = self._picked(pick)
        target = (1 - key[0], key[1])
        operation = Move(*self._place(key), str(self.roots[target[0]]))
        self._perform(operation, {target: state, key: None}, allowed=target not in self.model)

    @precondition(lambda self: getattr(self, "steps", None))
    @rule(pick=PICK)
    def take_back(self, pick: int) -> None:
        number = sorted(self.steps)[pick % len(self.steps)]
        step = self.steps[number]
        as_left = all(self.model.get(key) == after for key, (_, after) in step.touched.items())
        try:
            outcome = undo(number)
        except JournalError:
            assert self._is_undone(number)
            return
        except ChangedSinceError:
            assert not as_left
            return
        assert as_left
        assert not self._is_undone(number)
        touched = {key: (after, before) for key, (before, after) in step.touched.items()}
        self.steps[outcome.number] = Step(touched, undoes=number)
        self._set({key: before for key, (before, _) in step.touched.items()})

    @invariant()
    def files_are_as_the_model_says_and_the_index_is_in_step(self) -> None:
        if not hasattr(self, "model"):
            return
        for number, root in enumerate(self.roots):
            files = [json.loads(path.read_text("utf-8")) for path in root.rglob("*.json")]
            found = {one["id"]: _state(one) for one in files}
            assert found == {name: state for (place, name), state in self.model.items() if place == number}
            assert all(one["unknown"] == UNKNOWN for one in files)
            assert (root / "index.md").read_text("utf-8") == rebuilt_index(root)
            assert not list(root.rglob(".*"))

    def _picked(self, pick: int) -> tuple[Key, State]:
        keys = sorted(self.model)
        key = keys[pick % len(keys)]
        return key, self.model[key]

    def _place(self, key: Key) -> tuple[str, MemorySummary]:
        root = self.roots[key[0]]
        return str(root), summary(root, key[1])

    def _perform(self, operation: Operation, after: Mapping[Key, State | None], *, allowed: bool) -> None:
        try:
            number = perform(operation).number
        except CurationError:
            assert not allowed
            return
        assert allowed
        self.steps[number] = Step({key: (self.model.get(key), state) for key, state in after.items()})
        self._set(after)

    def _set(self, states: Mapping[Key, State | None]) -> None:
        for key, state in states.items():
            if state is None:
                del self.model[key]
            else:
                self.model[key] = state

    def _is_undone(self, number: int) -> bool:
        """Whether an undo of this step counts: it does, unless it is undone itself."""
        return any(one.undoes == number and not self._is_undone(other) for other, one in self.steps.items())


def _state(one: Mapping[str, Any]) -> State:
    reason = one.get("retired_reason") or one.get("archived_reason")
    log = tuple(change["summary"] for change in one.get("changes", ()))
    return State(one["title"], tuple(one["tags"]), one["record_status"], reason, log, one.get("times_updated", 0))


@pytest.mark.parametrize(("examples", "steps"), [(3, 10), pytest.param(60, 30, marks=pytest.mark.slow)])
def test_any_sequence_of_operations_and_undos_agrees_with_the_model(examples: int, steps: int) -> None:
    every = list(HealthCheck)
    limits = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=every)
    run_state_machine_as_test(Sequences, settings=limits)
