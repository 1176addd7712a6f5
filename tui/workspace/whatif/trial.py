"""The settings that a person tries: the saved ones, the draft, and the cutoff that each of them chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.settings.trust import keeping_trust
from engine.settings.writing import write_settings
from tui.workspace.whatif.effect import effect_of, numbers
from tui.workspace.whatif.knobs import (
    KNOBS,
    changes,
    knobs_of,
    moved,
    value_of,
    value_text,
    values_of,
    with_value,
)
from tui.workspace.whatif.saving import Foreseen, foreseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.settings.writing import Key
    from tui.workspace.whatif.effect import SettingsNumbers, WhatIfEffect
    from tui.workspace.whatif.knobs import Knob
    from tui.workspace.whatif.sample import Injected, WhatIfSample
    from tui.workspace.whatif.saving import TriedRoot


class Trial:
    """A draft of the settings of a root, which begins with the saved ones."""

    def __init__(self, place: TriedRoot) -> None:
        self.place = place
        self.saved = self.draft = place.config

    @property
    def root(self) -> str:
        return self.place.root

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return knobs_of(self.saved)

    @property
    def changes(self) -> dict[Key, object]:
        """The settings that differ from the saved ones."""
        return changes(self.saved, self.draft)

    @property
    def ignored(self) -> str:
        """The reason why a tuned cutoff is not used with the draft, or empty."""
        return self._cutoff(self.draft)[1]

    def read_saved(self) -> None:
        """Take over the settings as they are saved now, and keep the moves of the draft."""
        saved = draft = self.place.config
        for knob in KNOBS:
            if knob.key in self.changes:
                draft = with_value(draft, knob, value_of(self.draft, knob))
        self.saved, self.draft = saved, draft

    @property
    def foreseen(self) -> Foreseen:
        """The moved settings that will not count after they are saved."""
        return foreseen(self.place, self.changes) if self.changes else Foreseen()

    def save(self) -> str:
        """Write the moved settings into the root's file, and give its path.

        Raises ConfigError and CurationError; then nothing is written.
        """
        path = keeping_trust(self.root, self.place.given, lambda: write_settings(self.root, self.changes))
        self.draft = self.saved
        self.read_saved()
        return path

    def move(self, knob: Knob, steps: int) -> None:
        self.draft = moved(self.draft, knob, steps, self._cutoff(self.draft)[0])

    def put_back(self, knob: Knob) -> None:
        self.draft = with_value(self.draft, knob, value_of(self.saved, knob))

    def discard(self) -> None:
        self.draft = self.saved

    def value(self, knob: Knob) -> str:
        """The value in the draft, in words."""
        return value_text(self.draft, knob, self._cutoff(self.draft)[0])

    def saved_value(self, knob: Knob) -> str:
        return value_text(self.saved, knob, self._cutoff(self.saved)[0])

    # Over the labelled prompts

    def prepare(self, sample: WhatIfSample, is_stale: Callable[[], bool]) -> Sequence[Injected | None]:
        """The injected sets of the saved settings. It makes the later answers quick."""
        cutoff, _ = self._cutoff(self.saved)
        sample.prepare(self.saved, cutoff)
        return sample.injected(self.saved, cutoff, is_stale)

    def effect(self, sample: WhatIfSample, sets: Sequence[Injected | None], draft: Config) -> WhatIfEffect:
        """The effect of *draft*; *sets* are the injected sets of the saved settings."""
        return effect_of(sample, (self.saved, sets), (draft, sample.injected(draft, self._cutoff(draft)[0])))

    def compared(
        self, sample: WhatIfSample, knob: Knob, draft: Config, is_stale: Callable[[], bool]
    ) -> Iterator[tuple[str, SettingsNumbers | None]]:
        """The numbers of *draft* at each value of a setting; None if a verdict of the judge is missing for a prompt."""
        for value in values_of(knob):
            config = with_value(draft, knob, value)
            cutoff, _ = self._cutoff(config)
            sets = sample.injected(config, cutoff, is_stale)
            if is_stale():
                return
            rows = [
                (labelled.prompt, found)
                for labelled, found in zip(sample.prompts, sets, strict=True)
                if found is not None
            ]
            yield value_text(config, knob, cutoff), numbers(sample, rows, config) if len(rows) == len(sets) else None

    def _cutoff(self, config: Config) -> tuple[Cutoff | None, str]:
        return self.place.cutoff(config)
