"""The settings of a root from all their sources: defaults, config.toml, memory-config.json, variables and flags.

A later source overrides an earlier one. A root that nobody trusted may only make the hook stricter or quieter.
"""

from __future__ import annotations

import os

from engine.config import CONFIG_FILE, GUARD, Config, JudgeConfig
from engine.lean.json_text import loads
from engine.lean.record import Record, replace
from engine.paths import config_file, state_dir
from engine.settings.keys import SECTION, KeySource, Mistake, concerns_judge, needs_trust, restricted
from engine.stores.files import UnreadableFileError, read_text, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Key = tuple[str, ...]

VARIABLES = {
    "MEMSIFT_MATCH_STRATEGY": ("match_strategy",),
    "MEMSIFT_MAX_INJECT": ("max_inject",),
    "MEMSIFT_NOISE_FLOOR": ("noise_floor",),
    "MEMSIFT_MIN_STRENGTH": ("min_strength",),
    "MEMSIFT_CUTOFF": ("cutoff",),
    "MEMSIFT_CUTOFF_THRESHOLD": ("cutoff_threshold",),
    "MEMSIFT_MAX_RISK": ("max_risk",),
    "MEMSIFT_OUTPUT_MODE": ("output_mode",),
    "MEMSIFT_HINTS": ("hints",),
    "MEMSIFT_REPEAT_LOADED": ("repeat_loaded",),
    "MEMSIFT_DEADLINE": ("deadline",),
    "MEMSIFT_LOG_PROMPTS": ("logging", "prompts"),
    "MEMSIFT_JUDGE": ("judge", "provider"),
    "MEMSIFT_JUDGE_ENABLED": ("judge", "enabled"),
    "MEMSIFT_JUDGE_MODEL": ("judge", "model"),
    "MEMSIFT_JUDGE_DEPTH": ("judge", "depth"),
    "MEMSIFT_JUDGE_TIMEOUT": ("judge", "timeout_per_call"),
    "MEMSIFT_JUDGE_TEMPERATURE": ("judge", "temperature"),
    "MEMSIFT_JUDGE_MAX_TOKENS": ("judge", "max_tokens"),
    "--judge": ("judge", "provider"),
    "--judge-model": ("judge", "model"),
    "--judge-depth": ("judge", "depth"),
    "--judge-timeout": ("judge", "timeout_per_call"),
}
"""Variable or flag -> the key that it sets, from the outermost section inwards. Later rows are stronger."""

PREFIX = "MEMSIFT_"
OTHER_VARIABLES = ("MEMSIFT_DB", "MEMSIFT_ANNOTATOR", "MEMSIFT_JUDGE_SAMPLES", GUARD)
"""Variables of memsift that set no key."""

NEAR = 0.8
"""Similarity, 0..1, of an unknown variable to one of ours that it is taken for."""

ASKS_JUDGE = ("MEMSIFT_JUDGE", "MEMSIFT_JUDGE_ENABLED", "--judge")

SWITCH_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""Texts of a variable that sets true or false."""

JUDGE_PARTS = tuple(f"{SECTION}.judge.{name}" for name in ("provider", "model", "modes"))
"""A mistake here switches the judge off: memsift must not send text to another place than the user meant."""

MOST_SAID = 5
"""Lines about mistakes. A file can hold thousands."""


class SettingsReading(Record):
    """The settings of a root, and everything in its sources that does not count.

    `untrusted`: keys of its memory-config.json that would count if the user trusted it, with their values there.
    `no_trust`: the reason why the list of trusted roots cannot be read, or empty. `change`: the reason why the root is
    not trusted any more, or empty. `set_by`: the name of each source, the weakest first, with the keys that it decides.
    `remarks`: a sentence about each key of another program that has no effect here.
    """

    root: str
    config: Config
    mistakes: tuple[Mistake, ...] = ()
    untrusted: tuple[tuple[str, object], ...] = ()
    no_trust: str = ""
    change: str = ""
    set_by: tuple[tuple[str, tuple[str, ...]], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """A sentence with the ignored keys of the root and the command that trusts it; empty if there are none."""
        if not self.untrusted:
            return ""
        names = [key.removeprefix(f"{SECTION}.") for key, _ in self.untrusted]
        keys = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
        file = os.path.join(self.root, CONFIG_FILE)
        lost = f"this root is not trusted any more: {self.change}"
        reason = lost if self.change else "you have not trusted this root"
        text = f"{file}: {keys} ignored, because {reason}. To allow: {trust_command(self.root)}"
        return f"{text} ({self.no_trust})" if self.no_trust else text

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each of the first mistakes, and their number if there are more."""
        said = tuple(mistake.text for mistake in self.mistakes[:MOST_SAID])
        more = len(self.mistakes) - len(said)
        return (*said, f"{_counted(more)} in the configuration.") if more else said


def checked(reading: SettingsReading) -> SettingsReading:
    """*reading*, if it holds no mistake. Raises ConfigError for the first, with the nearest name of an unknown key."""
    if not reading.mistakes:
        return reading
    from engine.errors import ConfigError

    first, *more = reading.mistakes
    raise ConfigError(f"{_hinted(first)}{f' And {_counted(len(more))}.' if more else ''}")


def said(reading: SettingsReading) -> tuple[str, ...]:
    """As `SettingsReading.lines`, with the nearest name of each unknown key."""
    lines = reading.lines
    return (*map(_hinted, reading.mistakes[:MOST_SAID]), *lines[MOST_SAID:])


def _hinted(mistake: Mistake) -> str:
    """The text of a mistake, with the nearest name of an unknown key."""
    from difflib import get_close_matches

    near = get_close_matches(mistake.unknown, mistake.known, 1)
    return f"{mistake.text} Did you mean {near[0]!r}?" if near else mistake.text


def read_config(
    root: str, given: Mapping[str, str], *, is_trusted: bool = False, changes: Mapping[Key, object] | None = None
) -> SettingsReading:
    """The settings of *root*. *given*: the environment, and flags as variables. Never raises an Exception.

    *is_trusted*: all of its memory-config.json counts, without a look at the user's list. A wrong value leaves the
    value of the weaker source. A mistake in the judge's provider, model or prompts switches the judge off. With
    *changes*, the settings are as if these were written into the file: see `engine.settings.values`.
    """
    return _Reader(root, given, is_trusted=is_trusted, changes=changes or {}).reading()


def _counted(more: int) -> str:
    return f"{more:,} more {'mistake' if more == 1 else 'mistakes'}"


def trust_command(root: str) -> str:
    """The command line that trusts *root*."""
    is_plain = all(character.isalnum() or character in "/._-" for character in root)
    quoted = root if is_plain else "'" + root.replace("'", "'\\''") + "'"
    return f"memsift trust {quoted}"


class _Reader:
    """Puts the sources of a root over each other."""

    def __init__(self, root: str, given: Mapping[str, str], *, is_trusted: bool, changes: Mapping[Key, object]) -> None:
        self._root, self._given, self._is_trusted, self._changes = root, given, is_trusted, changes
        self._sources: list[KeySource] = []
        self._untrusted: tuple[tuple[str, object], ...] = ()
        self._no_trust = self._change = ""

    def reading(self) -> SettingsReading:
        config = Config()
        path = config_file(self._given)
        if os.path.lexists(path):
            source = self._source(path, os.path.dirname(path))
            config = source.over(config, _content(source, lambda: text_of(path), _from_toml, "TOML"))
        config = self._with_root_file(config)
        for variable, keys in VARIABLES.items():
            if text := self._given.get(variable):
                config = self._source(variable).over(config, section_of(keys, text, config))
        mistakes = [mistake for source in self._sources for mistake in source.mistakes]
        mistakes += _misspelt_variables(self._given)
        judge = config.judge
        if judge.enabled and judge.provider == "openai" and judge.model == JudgeConfig().model:
            from engine.judge.providers.registry import NO_MODEL

            name = next(source.name for source in reversed(self._sources) if f"{SECTION}.judge.provider" in source.keys)
            mistakes.append(Mistake(f"{SECTION}.judge.model", f"{name}: {NO_MODEL}"))
        if any(mistake.key.startswith(JUDGE_PARTS) for mistake in mistakes):
            config = replace(config, judge=replace(judge, enabled=False))
        set_by = tuple([(source.name, tuple(source.keys)) for source in self._sources])
        remarks = tuple(dict.fromkeys(remark.text for source in self._sources for remark in source.remarks))
        trust = (self._untrusted, self._no_trust, self._change)
        return SettingsReading(self._root, config, tuple(mistakes), *trust, set_by, remarks)

    def _with_root_file(self, user: Config) -> Config:
        """The whole file over *user* if the root is trusted, else the part of it that counts."""
        path = os.path.join(self._root, CONFIG_FILE)
        is_there = os.path.lexists(path)
        if not is_there and not self._changes:
            return user
        folder = os.path.realpath(self._root)
        source = KeySource(path)
        section = _content(source, lambda: read_text(folder, path), loads, "JSON") if is_there else {}
        for keys, value in self._changes.items():
            section = _with_value(section, keys, value)
        wanted = source.over(user, section)
        raises = wanted.cutoff_threshold not in (None, user.cutoff_threshold)
        if raises:  # whichever model reads the two
            from engine.cutoff import is_stricter

            state = state_dir(self._root, self._given)
            raises = is_stricter(state, wanted.cutoff_threshold, user.cutoff_threshold)
        counting, ignored = restricted(user, wanted, raises_threshold=raises)
        asks = ignored or any(needs_trust(mistake.key) for mistake in source.mistakes)
        if asks and self._trusts(section):
            return self._source(path, folder, is_confined=True).over(user, section)
        has_judge = user.judge.enabled or wanted.judge.enabled or any(map(self._given.get, ASKS_JUDGE))
        self._untrusted = tuple(item for item in ignored.items() if has_judge or not concerns_judge(item[0]))
        source.mistakes = [mistake for mistake in source.mistakes if not needs_trust(mistake.key)]
        source.remarks = [remark for remark in source.remarks if not needs_trust(remark.key)]
        source.keys.difference_update(ignored)
        self._sources.append(source)
        return counting

    def _source(self, name: str, folder: str = "", *, is_confined: bool = False) -> KeySource:
        self._sources.append(KeySource(name, folder, is_confined=is_confined))
        return self._sources[-1]

    def _trusts(self, section: object) -> bool:
        """Whether the user trusts the root with the settings *section*. The reason is noted if the trust was lost."""
        if self._is_trusted:
            return True
        from engine.errors import ConfigError
        from engine.settings.trust import change_of, trusted_as

        try:
            trusted = trusted_as(self._root, self._given)
        except ConfigError as error:
            self._no_trust = str(error)
            return False
        self._change = change_of(trusted, section) if trusted else ""
        return trusted is not None and not self._change


def _from_toml(text: str) -> object:
    """The content of config.toml. Its parser is slow to load, so the text is searched for the table first."""
    if SECTION not in text:
        return {}
    import tomllib

    return tomllib.loads(text)


def _content(source: KeySource, read: Callable[[], str], parsed: Callable[[str], object], language: str) -> object:
    """The section of a file; empty, with a mistake noted, if the file cannot be read."""
    try:
        content = parsed(read())
    except UnreadableFileError as error:
        reason = str(error)
    except (ValueError, RecursionError) as error:
        reason = f"is not valid {language} ({error})"
    else:
        if isinstance(content, dict):
            return content.get(SECTION, {})
        reason = f"is not a {language} object"
    source.mistakes.append(Mistake("", f"{source.name} {reason}. Fix it, or delete it to use the defaults."))
    return {}


def section_of(keys: tuple[str, ...], text: str, default: object) -> dict[str, object]:
    """The section that sets *keys* to the text of a variable. *default* is the record that holds the first key."""
    head, *rest = keys
    inner = getattr(default, head)
    return {head: section_of(tuple(rest), text, inner) if rest else _from_text(text, inner)}


def _with_value(section: object, keys: tuple[str, ...], value: object) -> dict[str, object]:
    """*section* with another value of the key at *keys*. None takes the key out."""
    head, *rest = keys
    present = section if isinstance(section, dict) else {}
    if rest:
        value = _with_value(present.get(head), tuple(rest), value)
    others = {name: entry for name, entry in present.items() if name != head}
    return others if value is None else {**others, head: value}


def _from_text(text: str, default: object) -> object:
    """The value that a variable's text spells, by the type of the *default*. Any other text stays as it is."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return SWITCH_WORDS.get(text.lower(), text)
    for read in (loads, float):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return text


def _misspelt_variables(given: Mapping[str, str]) -> list[Mistake]:
    """Unknown variables with nearly the name of one of ours. Other programs may use the prefix for their own."""
    known = {name.removeprefix(PREFIX) for name in (*VARIABLES, *OTHER_VARIABLES)}
    names = [name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX) and given[name]]
    unknown = [name for name in names if name not in known]
    if not unknown:
        return []
    from difflib import get_close_matches

    text = f"{PREFIX}{{}} is not a variable of memsift. Did you mean {PREFIX}{{}}?"
    near = [(name, match) for name in unknown for match in get_close_matches(name, known, 1, NEAR)]
    return [Mistake("", text.format(*pair)) for pair in near]
