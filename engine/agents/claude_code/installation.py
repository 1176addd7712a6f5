"""Putting memsift into Claude Code's settings, as a hook or as a plugin, and taking it out again.

A plan moves it from one place to another within the files of a scope. The settings of a project are for all who work
on it: only a person who names them changes them. Of several entries that run, one answers: see `engine.hook.session`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from engine.agents.claude_code.hook_entry import EVENT, PACKAGES, bare_interpreter, is_ours, launcher
from engine.agents.claude_code.settings_files import (
    LOCAL,
    MANAGED,
    PROJECT,
    USER,
    backup_of,
    parsed,
    require_writable,
    save_backup,
    write_settings,
)
from engine.curation.files import diff
from engine.errors import SettingsFileError
from engine.lean.record import Record, replace
from engine.paths import hook_start_file
from engine.stores.files import write_whole
from engine.stores.json_members import line_of, with_item, with_value, without_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.agents.claude_code.settings_files import SettingsFile

HOOK_LIST = ("hooks", EVENT)
MARKETPLACE = "memsift"
PLUGIN = f"memsift@{MARKETPLACE}"
ENABLED = ("enabledPlugins", PLUGIN)
DECLARED = ("extraKnownMarketplaces", MARKETPLACE)
REACH = {USER: (USER, LOCAL), PROJECT: (PROJECT, LOCAL)}
"""Scope -> the scopes whose files `memsift install` may change. The local file is the person's own in one project."""


class Ours(Record):
    """The parts of a settings file that are memsift's: entries of the hook, and the two values of the plugin.

    None: the file does not hold the value.
    """

    entries: tuple[Mapping[str, Any], ...] = ()
    enabled: object = None
    marketplace: object = None

    @property
    def is_plugin(self) -> bool:
        return self.enabled is True


NOTHING = Ours()


class SettingsChange(Record):
    """A settings file that memsift would change. `original`: its text without memsift; None: there is no file."""

    file: SettingsFile
    original: str | None
    after: str | None

    @property
    def diff(self) -> str:
        return diff(self.file.path.lstrip("/"), self.file.text, self.after)


def wanted_hook(scope: str, entry: Mapping[str, Any], files: Sequence[SettingsFile]) -> dict[str, Ours]:
    """Scope -> what its file should hold, to run *entry*. A folder of plugins stays if a project uses it."""
    before = _ours_of(scope, files)
    is_needed = _ours_of(PROJECT, files).is_plugin or not before.is_plugin
    return {scope: Ours((entry,), None, before.marketplace if is_needed else None)}


def wanted_plugin(scope: str, files: Sequence[SettingsFile]) -> dict[str, Ours]:
    """The same for the plugin. The client takes a folder of plugins only from the user's own settings."""
    declared = {"source": {"source": "directory", "path": plugin_folder()}}
    if scope == USER:
        return {USER: Ours((), True, declared)}
    return {USER: replace(_ours_of(USER, files), marketplace=declared), scope: Ours((), True)}


def plugin_folder() -> str:
    """The folder of the plugin, which comes with the package."""
    return os.path.join(PACKAGES, "engine", "plugin")


def ours_in(content: Mapping[str, Any]) -> Ours:
    """The parts of the settings *content* that are memsift's."""
    entries = tuple(entry for _, entry in _entries(content) if is_ours(str(entry.get("command"))))
    return Ours(entries, _value(content, ENABLED), _value(content, DECLARED))


def _ours_of(scope: str, files: Sequence[SettingsFile]) -> Ours:
    return next((ours_in(file.content) for file in files if file.scope == scope), NOTHING)


def plan(
    files: Sequence[SettingsFile], wanted: Mapping[str, Ours], environ: Mapping[str, str]
) -> tuple[SettingsChange, ...]:
    """The changes after which each scope's file holds *wanted* of memsift, and the other files nothing of it.

    Raises SettingsFileError if one of the wanted files cannot be changed. Files that the client cannot read either are
    left as they are.
    """
    changes = []
    for file in files:
        if file.scope == MANAGED or (file.problem and file.scope not in wanted):
            continue
        if file.problem:
            raise SettingsFileError(file.problem)
        new = wanted.get(file.scope, NOTHING)
        if ours_in(file.content) != new:
            _require_places(file, new)
            original = _original(file, environ)
            changes.append(SettingsChange(file, original, _with_ours(original, new)))
    return tuple(changes)


def apply(changes: Sequence[SettingsChange], environ: Mapping[str, str]) -> None:
    """Write the files, after the text of each without memsift was copied. Raises SettingsFileError.

    All are checked first, so that a file that cannot be written leaves the others as they are.
    """
    for change in changes:
        require_writable(change.file)
    for change in changes:
        save_backup(change.file.path, change.original, environ)
    for change in changes:
        write_settings(change.file, change.after)


def record_start(environ: Mapping[str, str]) -> None:
    """Tell the shared command how to start the hook without a search. Raises SettingsFileError."""
    path = hook_start_file(environ)
    try:
        write_whole(path, f"{bare_interpreter()}\n{launcher()}\n".encode())
    except OSError as error:
        raise SettingsFileError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None


def forget_start(environ: Mapping[str, str]) -> None:
    """Remove the file of `record_start`, if there is one."""
    if os.path.exists(hook_start_file(environ)):
        os.unlink(hook_start_file(environ))


def _entries(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """The path and the entry of each hook of the event. What has another form is none."""
    groups = _value(content, HOOK_LIST)
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        inner = group.get("hooks") if isinstance(group, dict) else None
        for place, entry in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(entry, dict):
                yield (*HOOK_LIST, number, "hooks", place), entry


def _value(content: Mapping[str, Any], path: tuple[str, str]) -> Any:
    outer = content.get(path[0])
    return outer.get(path[1]) if isinstance(outer, dict) else None


def _original(file: SettingsFile, environ: Mapping[str, str]) -> str | None:
    """The file's text without memsift: the copy, if only memsift was added to it, else the text with parts cut out."""
    mine = ours_in(file.content)
    if mine == NOTHING or file.text is None:
        return file.text
    copy = backup_of(file.path, environ)
    if _is_readable(copy) and _with_ours(copy, mine) == file.text:
        return copy
    text = file.text
    for path in reversed([path for path, entry in _entries(file.content) if is_ours(str(entry.get("command")))]):
        text = without_value(text, path, prunes=True)
    for path in (ENABLED, DECLARED):
        text = without_value(text, path, prunes=True)
    return text


def _is_readable(copy: str | None) -> bool:
    try:
        return parsed(copy or "", "") is not None
    except SettingsFileError:
        return False


def _with_ours(original: str | None, ours: Ours) -> str | None:
    """*original* with the parts of memsift."""
    if ours == NOTHING:
        return original
    text = original or ""
    for entry in ours.entries:
        text = with_item(text, HOOK_LIST, {"hooks": [dict(entry)]})
    for path, value in ((ENABLED, ours.enabled), (DECLARED, ours.marketplace)):
        text = with_value(text, path, value) if value is not None else text
    return text


def _require_places(file: SettingsFile, ours: Ours) -> None:
    """Raise SettingsFileError, with the line, if something else stands where memsift's parts belong."""
    shapes: list[tuple[tuple[str, ...], type]] = [(path[:1], dict) for path in (ENABLED, DECLARED)]
    if ours.entries:
        shapes += [(HOOK_LIST[:1], dict), (HOOK_LIST, list)]
    for path, kind in shapes:
        found: Any = file.content
        for key in path:
            found = found.get(key)
            if found is None:
                break
        if found is not None and not isinstance(found, kind):
            what = "an object" if kind is dict else "a list"
            raise SettingsFileError(
                f"{file.path}, line {line_of(file.text or '', path)}: expected {what} at {'.'.join(path)!r}. Mend it "
                "first: nothing was changed."
            )
