"""The root whose settings are tried, and which changes of them will not count there."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.cutoff import chosen_cutoff
from engine.errors import ConfigError
from engine.lean.record import Record
from engine.paths import state_dir
from engine.settings.keys import SECTION
from engine.settings.roots import trust_in
from engine.settings.sources import read_config, trust_command
from engine.settings.trust import is_trusted
from tui.workspace.whatif.knobs import KNOBS, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.settings.writing import Key
    from tui.workspace.whatif.knobs import Knob
    from tui.workspace.workspace import Workspace


class Foreseen(Record):
    """Which of the changed settings have no effect. `untrusted` ones count only after `command`; `overridden` ones
    have a stronger source."""

    untrusted: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    command: str = ""

    @property
    def text(self) -> str:
        """For a person: the settings that do not count, and the reason; empty if every setting counts."""
        parts = []
        if self.untrusted:
            verb = "counts" if len(self.untrusted) == 1 else "count"
            names = ", ".join(self.untrusted)
            parts.append(f"{names} {verb} only after `{self.command}`: this root is not trusted.")
        if self.overridden:
            verb = "has" if len(self.overridden) == 1 else "have"
            names = ", ".join(self.overridden)
            parts.append(f"{names} {verb} another value from a variable, a flag or config.toml.")
        return " ".join(parts)


class TriedRoot(Record):
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
        return chosen_cutoff(state_dir(self.root, self.given), config, self.root, trust_in(self.given))


def foreseen(place: TriedRoot, changes: Mapping[Key, object]) -> Foreseen:
    """The effect that *changes* have as soon as they are saved."""
    reading = read_config(place.root, place.given, is_trusted=_is_trusted(place), changes=changes)
    ignored = {".".join(knob.key) for knob in KNOBS if _is_ignored(knob, reading.config, changes)}
    untrusted = {key.removeprefix(f"{SECTION}.") for key, _ in reading.untrusted}
    command = trust_command(os.path.realpath(place.root))
    return Foreseen(tuple(sorted(ignored & untrusted)), tuple(sorted(ignored - untrusted)), command)


def _is_trusted(place: TriedRoot) -> bool:
    """Whether all settings count. A root that is trusted now stays so after a person has saved."""
    with suppress(ConfigError):
        return place.is_trusted or is_trusted(place.root, place.given)
    return False


def _is_ignored(knob: Knob, config: Config, changes: Mapping[Key, object]) -> bool:
    """Whether a changed setting has another value in *config*."""
    return knob.key in changes and value_of(config, knob) != changes[knob.key]


def place_of(workspace: Workspace) -> TriedRoot:
    """The root whose settings *workspace* goes by, the first of several."""
    sources = workspace.sources
    if sources is None:
        return TriedRoot(workspace.root, os.environ)
    return TriedRoot(workspace.root, {**sources.environ, **sources.judge.flags}, sources.is_trusted)
