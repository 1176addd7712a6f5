"""Saving settings that were tried, and telling which of them do not count."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from engine.cutoff import chosen_cutoff
from engine.lean.record import Record
from engine.paths import state_dir
from engine.settings.keys import SECTION
from engine.settings.sources import read_config, trust_command
from engine.settings.writing import write_settings
from engine.trust import keeping_trust
from tui.workspace.whatif.knobs import KNOBS, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.settings.writing import Key
    from tui.workspace.whatif.knobs import Knob
    from tui.workspace.workspace import Workspace


class Saved(Record):
    """`path` is the file. `untrusted` settings count only after `command`; `overridden` ones have a stronger source."""

    path: str
    untrusted: tuple[str, ...]
    overridden: tuple[str, ...]
    command: str

    @property
    def text(self) -> str:
        """For a person: the file, and the settings that do not count."""
        parts = [f"Saved in {self.path}."]
        if self.untrusted:
            one = "counts" if len(self.untrusted) == 1 else "count"
            parts.append(f"{', '.join(self.untrusted)}: {one} only after `{self.command}`.")
        if self.overridden:
            one = "has" if len(self.overridden) == 1 else "have"
            names = ", ".join(self.overridden)
            parts.append(f"{names}: {one} another value from a variable, a flag or config.toml.")
        return " ".join(parts)

    @property
    def is_whole(self) -> bool:
        """Whether every setting counts."""
        return not self.untrusted and not self.overridden


class Place(Record):
    """A root whose settings are tried. `given`: the environment and the flags of this start, as for `read_config`."""

    root: str
    given: Mapping[str, str]
    is_trusted: bool = False

    @property
    def config(self) -> Config:
        """The settings as they are saved, as the hook reads them."""
        return read_config(self.root, self.given, is_trusted=self.is_trusted).config

    def cutoff(self, config: Config) -> tuple[Cutoff | None, str]:
        """The cutoff that *config* chooses, and the reason why a tuned one is not used, or empty."""
        return chosen_cutoff(state_dir(self.root, self.given), config)


def save(place: Place, changes: Mapping[Key, object]) -> Saved:
    """Write *changes* into the configuration of a root, and read it again as the hook does.

    Raises ConfigError and CurationError; then nothing is written.
    """
    path = keeping_trust(place.root, place.given, lambda: write_settings(place.root, changes))
    reading = read_config(place.root, place.given, is_trusted=place.is_trusted)
    ignored = {".".join(knob.key) for knob in KNOBS if _is_ignored(knob, reading.config, changes)}
    untrusted = {key.removeprefix(f"{SECTION}.") for key, _ in reading.untrusted}
    command = trust_command(os.path.realpath(place.root))
    return Saved(path, tuple(sorted(ignored & untrusted)), tuple(sorted(ignored - untrusted)), command)


def _is_ignored(knob: Knob, config: Config, changes: Mapping[Key, object]) -> bool:
    """Whether a changed setting has another value in *config*."""
    return knob.key in changes and value_of(config, knob) != changes[knob.key]


def place_of(workspace: Workspace) -> Place:
    """The root whose settings *workspace* goes by, the first of several."""
    sources = workspace.sources
    if sources is None:
        return Place(workspace.root, os.environ)
    return Place(workspace.root, {**sources.environ, **sources.judge.flags}, sources.is_trusted)
