"""The values of one source of settings: which of them are right, and which count in a root that nobody trusted."""

from __future__ import annotations

import os

from engine.config import CHOICES, LIMITS, OFF, OPTIONAL, SECTIONS, THRESHOLDS, Config, ModeConfig, settings_in
from engine.lean.record import Record, fields, replace
from engine.stores.files import UnreadableFileError, read_text, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

SECTION = "retrieval"
"""The object or table of a file that holds the settings."""

ELSEWHERE = {
    "cluster_detection_enabled": "memsift looks for no clusters of results",
    "dual_verification": "one call is made, because two judges that must agree lose half of the relevant memories",
    "verification": "it counts in judge.modes.auto and judge.modes.search",
}
"""Keys that other programs read in the same file, and why they have no effect here. They are no mistakes."""

MOST_SHOWN = 80
"""Characters of a key or a value in a message."""

MOST_NAMED = 10
"""Unknown keys of one object that are named."""

FREE = ("match_strategy", "output_mode", "hints")
AT_MOST = ("max_inject", "max_results", "max_characters", "max_risk")
AT_LEAST = ("noise_floor", "min_strength", "cutoff_threshold", "confidence_abs_floor")
NEEDS_TRUST = tuple(f"{SECTION}.{name}" for name in ("judge", "logging", "deadline"))
"""In a root that nobody trusted, a FREE key may have any value. A key of AT_MOST and AT_LEAST counts only if it makes
the hook stricter. A key of NEEDS_TRUST never counts, nor any key below it. `enabled`, `repeat_loaded` and
`phrases` may only switch off, and `cutoff` only on."""

POOL_SIZE = f"{SECTION}.judge.candidate_pool_size"


class Mistake(Record):
    """A wrong value, an unknown key or an unreadable file. `text` names the place, the value and what is allowed.

    `unknown` is the name of an unknown key, and `known` are the names that are allowed in its place.
    """

    key: str
    text: str
    unknown: str = ""
    known: tuple[str, ...] = ()


class KeySource:
    """A file, a variable or a flag that sets keys. Its mistakes gather in `mistakes`, the keys that it sets in `keys`,
    and in `remarks` a sentence about each key that is switched on and has no effect here.

    *folder* holds the files that `prompt_file` may name; without it they are not read. *is_confined*: links out of
    the folder are not followed.
    """

    def __init__(self, name: str, folder: str = "", *, is_confined: bool = False) -> None:
        self.name, self._folder, self._is_confined = name, folder, is_confined
        self.mistakes: list[Mistake] = []
        self.remarks: list[Mistake] = []
        self.keys: set[str] = set()

    def over(self, target: T, section: object, key: str = SECTION) -> T:
        """*target*, a Config or one of its sections, with the values of *section*.

        A wrong value leaves the value as it is, but a number out of range becomes the nearest allowed number.
        """
        if not isinstance(section, dict):
            self.wrong(key, f"is {shown(section)}; expected an object with keys")
            return target
        known = fields(target)
        changes: dict[str, object] = {}
        for name in known:
            if name in section:
                changes[name] = self._value(name, section[name], known[name], f"{key}.{name}")
        self._name_unknown(section, tuple(known), key)
        if isinstance(target, ModeConfig):
            return self._mode(target, changes, key)  # type: ignore[return-value]
        return replace(target, **changes)

    def wrong(self, key: str, problem: str) -> None:
        self.mistakes.append(Mistake(key, f"{self.name}: {key!r} {problem}."))

    def _name_unknown(self, section: dict[str, Any], known: tuple[str, ...], key: str) -> None:
        """Note the first unknown keys of *section*, and the number of the others: a file can hold thousands."""
        unknown = [name for name in section if name not in known and name not in ELSEWHERE]
        for name in ELSEWHERE:
            if name not in known and section.get(name):
                where = f"{key}.{name}"
                self.remarks.append(Mistake(where, f"{self.name}: {where!r} has no effect: {ELSEWHERE[name]}."))
        for name in unknown[:MOST_NAMED]:
            where = f"{self.name}: '{key}.{name[:MOST_SHOWN]}'"
            text = f"{where}, set to {shown(section[name])}, is unknown; expected {_alternatives(known)}."
            self.mistakes.append(Mistake(f"{key}.{name}", text, name, known))
        if len(unknown) > MOST_NAMED:
            self.wrong(key, f"holds {len(unknown) - MOST_NAMED:,} more unknown keys")

    def _value(self, name: str, value: Any, now: object, key: str) -> object:
        if isinstance(now, SECTIONS):
            return self.over(now, value, key)
        self.keys.add(key)
        if expected := _expected(name, value, now):
            self.wrong(key, f"is {shown(value)}; expected {expected}")
            return _clamped(name, value, now)
        if self._folder and name == "provider":
            kind, _, path = value.partition(":")
            if kind == "scripted" and not os.path.isfile(path):  # a pipe that settings name might never begin
                self.wrong(key, f"is {shown(value)}, which is not a file")
                return now
        is_float = name in LIMITS and not isinstance(now, int) and not isinstance(value, str) and value is not None
        return float(value) if is_float else value

    def _mode(self, before: ModeConfig, changes: dict[str, object], key: str) -> ModeConfig:
        """*before* with *changes*. A prompt or its file takes the place of both. *before* if it cannot be used."""
        if not changes.keys() & {"prompt", "prompt_file"}:
            return replace(before, **changes)
        mode = replace(before, **{"prompt": "", "prompt_file": "", **changes})
        if mode.prompt and mode.prompt_file:
            self.wrong(key, "has both a prompt and a prompt_file; keep one of them")
            return before
        if mode.prompt_file and self._folder:
            path = os.path.join(self._folder, mode.prompt_file)
            try:
                text = read_text(self._folder, path) if self._is_confined else text_of(path)
            except UnreadableFileError as error:
                self.wrong(f"{key}.prompt_file", f"names {mode.prompt_file[:MOST_SHOWN]!r}, which {error}")
                return before
            mode = replace(mode, prompt=text)
        if mode.prompt:
            from engine.errors import ConfigError
            from engine.judge.prompts import template

            try:
                template(key.rpartition(".")[2], prompt=mode.prompt)
            except ConfigError as error:
                self.mistakes.append(Mistake(f"{key}.prompt", f"{self.name}: {error}"))
                return before
        return mode


def restricted(user: Config, wanted: Config, *, raises_threshold: bool) -> tuple[Config, dict[str, object]]:
    """The part of *wanted* that a root may decide: *user*, changed to be stricter or quieter. And the other changes.

    These are keys with the value that *wanted* has. *user* is the user's own configuration. *raises_threshold*: the
    least P(relevant) of *wanted* is higher, or as high.
    """
    floor = replace(user, match_strategy=wanted.match_strategy).floor
    now = {**fields(user), "noise_floor": floor, "cutoff_threshold": raises_threshold}
    own = settings_in(user)
    changed = {name: value for name, value in fields(wanted).items() if value != getattr(user, name)}
    counting = {name: value for name, value in changed.items() if _may_decide(name, value, now[name])}
    ignored = {
        f"{SECTION}.{key}": value
        for key, value in settings_in(wanted).items()
        if value != own.get(key) and key.partition(".")[0] not in counting
    }
    return replace(user, **counting), ignored


def needs_trust(key: str) -> bool:
    """Whether no value of *key* counts in a root that nobody trusted."""
    return any(key == outer or key.startswith(f"{outer}.") for outer in NEEDS_TRUST)


def concerns_judge(key: str) -> bool:
    """Whether only a judge reads *key*. The size of the pool matters without a judge as well."""
    return key.startswith(f"{SECTION}.judge.") and key != POOL_SIZE


def _may_decide(name: str, value: Any, now: Any) -> bool:
    if name in ("enabled", "repeat_loaded", "phrases"):
        return not value
    if name == "cutoff":
        return bool(now == OFF)
    if name == "cutoff_threshold":
        return bool(now)
    if name in AT_MOST:
        return bool(value <= now)
    return name in FREE or (name in AT_LEAST and value is not None and value >= now)


def _expected(name: str, value: Any, now: object) -> str:
    """A description of the values that *name* can take; empty if *value* is one of them."""
    if value is None and name in OPTIONAL:
        return ""
    if name == "cutoff_threshold":
        least, most = LIMITS[name]
        is_right = value in THRESHOLDS if isinstance(value, str) else _is_number(value, 0.0) and least <= value <= most
        return "" if is_right else f"{', '.join(THRESHOLDS)}, or a number from {least:g} to {most:g}"
    if name in CHOICES:
        return "" if value in CHOICES[name] else _alternatives([*map(repr, CHOICES[name])])
    if name == "provider" and value != "":
        from engine.judge.providers.registry import KNOWN, NO_JUDGE, is_known

        return "" if isinstance(value, str) and is_known(value) else _alternatives([*KNOWN, NO_JUDGE])
    if isinstance(now, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(now, str):
        return "" if isinstance(value, str) else "text"
    least, most = LIMITS[name]
    kind = "a whole number" if isinstance(now, int) else "a number"
    return "" if _is_number(value, now) and least <= value <= most else f"{kind} from {least:g} to {most:g}"


def _clamped(name: str, value: Any, now: object) -> object:
    """The allowed number that is nearest to *value*; *now* if *value* is of a wrong type or not a number."""
    if name not in LIMITS or not _is_number(value, now) or value != value:
        return now
    least, most = LIMITS[name]
    near = min(max(value, least), most)
    return int(near) if isinstance(now, int) else float(near)


def _is_number(value: object, now: object) -> bool:
    """Whether *value* is a number, and a whole number if *now* is."""
    return isinstance(value, int if isinstance(now, int) else (int, float)) and not isinstance(value, bool)


def _alternatives(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def shown(value: object) -> str:
    """The beginning of a value, for a message."""
    try:
        return repr(value)[:MOST_SHOWN]
    except RecursionError:
        return "nested too deeply"
