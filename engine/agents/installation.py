"""Putting memsift into the settings of a coding agent, as a hook or as a plugin, and taking it out again.

A plan moves it from one place to another within the files of a scope. The settings of a project are for all who work
on it: only a person who names them changes them. Of several entries that run, one answers: see `engine.hook.session`.
"""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

from engine.agents.agent import LOCAL, MANAGED, PROJECT, PROJECT_TOML, USER, USER_TOML
from engine.agents.hook_entry import PACKAGES, PLUGIN_FOLDER, bare_interpreter, is_ours, launcher
from engine.agents.settings_files import (
    TOML,
    SettingsFile,
    backup_of,
    parsed,
    require_writable,
    save_backup,
    write_settings,
)
from engine.curation.files import diff
from engine.errors import SettingsFileError
from engine.lean.json_text import value_at
from engine.lean.record import Record, replace
from engine.paths import hook_start_file
from engine.stores.files import write_whole
from engine.stores.json_members import line_of, with_item, with_value, without_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.agents.agent import Agent
    from engine.stores.json_members import Path

HOOKS, STATE = "hooks", "state"
"""The key of all hooks in a settings file; the key below it of what a person allowed, which is no hook."""

MARKETPLACE = "memsift"
PLUGIN = f"memsift@{MARKETPLACE}"
ENABLED = ("enabledPlugins", PLUGIN)
DECLARED = ("extraKnownMarketplaces", MARKETPLACE)
PLUGIN_PLACE = os.path.join(PACKAGES, PLUGIN_FOLDER)
"""The folder of the plugin, which comes with the package."""

REACH = {USER: (USER, USER_TOML, LOCAL), PROJECT: (PROJECT, PROJECT_TOML, LOCAL)}
"""Scope -> the scopes whose files `memsift install` may change. The local file is the person's own in one project."""

SECOND = {USER: USER_TOML, PROJECT: PROJECT_TOML}


class Ours(Record):
    """The parts of a settings file that are memsift's: entries of the hook, and the two values of the plugin.

    None: the file does not hold the value.
    """

    entries: tuple[Mapping[str, Any], ...] = ()
    enabled: object = None
    marketplace: object = None


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
    with_hooks = {file.scope for file in files if set(_table(file.content.get(HOOKS))) - {STATE}}
    if SECOND[scope] in with_hooks and scope not in with_hooks:  # hooks of the person stand only in the second file
        scope = SECOND[scope]
    before = _ours_of(scope, files)
    is_needed = _ours_of(PROJECT, files).enabled is True or before.enabled is not True
    return {scope: Ours((entry,), None, before.marketplace if is_needed else None)}


def wanted_plugin(scope: str, files: Sequence[SettingsFile]) -> dict[str, Ours]:
    """The same for the plugin. The client takes a folder of plugins only from the user's own settings."""
    declared = {"source": {"source": "directory", "path": PLUGIN_PLACE}}
    if scope == USER:
        return {USER: Ours((), True, declared)}
    return {USER: replace(_ours_of(USER, files), marketplace=declared), scope: Ours((), True)}


def ours_in(file: SettingsFile) -> Ours:
    """The parts of a settings file that are memsift's."""
    entries = tuple(entry for _, entry in own_entries(file))
    return Ours(entries, value_at(file.content, *ENABLED), value_at(file.content, *DECLARED))


def _ours_of(scope: str, files: Sequence[SettingsFile]) -> Ours:
    return next((ours_in(file) for file in files if file.scope == scope), NOTHING)


def plan(
    files: Sequence[SettingsFile], wanted: Mapping[str, Ours], environ: Mapping[str, str]
) -> tuple[SettingsChange, ...]:
    """The changes after which each scope's file holds *wanted* of memsift, and the other files nothing of it.

    Raises SettingsFileError if one of the wanted files cannot be changed. Files that the client cannot read either are
    left as they are.
    """
    changes = []
    for file in files:
        if file.scope.startswith(MANAGED) or (file.problem and file.scope not in wanted):
            continue
        if file.problem:
            raise SettingsFileError(file.problem)
        new = wanted.get(file.scope, NOTHING)
        if ours_in(file) != new:
            _require_places(file, new)
            original = _original(file, environ)
            changes.append(SettingsChange(file, original, _with_ours(file, original, new)))
    return tuple(changes)


def new_text(agent: Agent, path: str, entry: Mapping[str, Any]) -> str:
    """The text of a new settings file that holds nothing but memsift's hook."""
    return _with_ours(SettingsFile(agent, USER, path), None, Ours((entry,))) or ""


def apply(changes: Sequence[SettingsChange], environ: Mapping[str, str]) -> None:
    """Write the files, after the text of each without memsift was copied. Raises SettingsFileError.

    All are checked first, so that a file that cannot be written leaves the others as they are.
    """
    for change in changes:
        require_writable(change.file)
    for change in changes:
        save_backup(change.file.path, change.original, environ)
    done: list[str] = []
    for change in changes:
        try:
            write_settings(change.file, change.after)
        except SettingsFileError as error:
            raise SettingsFileError(f"{error} Changed already: {', '.join(done) or 'nothing'}.") from None
        done.append(change.file.path)


def record_start(environ: Mapping[str, str]) -> None:
    """Tell the shared command how to start the hook without a search. Raises SettingsFileError."""
    path = hook_start_file(environ)
    try:
        write_whole(path, f"{bare_interpreter()}\n{launcher()}\n".encode())
    except OSError as error:
        raise SettingsFileError(f"{path} cannot be written ({error.strerror}). Nothing was changed.") from None


def entries_at(file: SettingsFile) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """The path and the entry of each hook that runs at a prompt. Values of another shape are skipped."""
    form = file.agent.hook
    if form.text:
        if file.text:
            yield (), {form.command_key: file.text}
        return
    path = (HOOKS, form.event)
    for number, group in enumerate(list_of(value_at(file.content, *path))):
        if not form.is_grouped and isinstance(group, dict):
            yield (*path, number), group
        elif form.is_grouped and isinstance(group, dict):
            for place, entry in enumerate(list_of(group.get(HOOKS))):
                if isinstance(entry, dict):
                    yield (*path, number, HOOKS, place), entry


def own_entries(file: SettingsFile) -> list[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """The paths and entries of the hooks that start memsift."""
    form = file.agent.hook
    found = ((path, entry, form.command_in(str(entry.get(form.command_key)))) for path, entry in entries_at(file))
    return [(path, entry) for path, entry, command in found if is_ours(command)]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _original(file: SettingsFile, environ: Mapping[str, str]) -> str | None:
    """The file's text without memsift: the copy, if only memsift was added to it, else the text with parts cut out.

    None for a file that memsift made, and that holds nothing of a person's.
    """
    mine = ours_in(file)
    if mine == NOTHING or file.text is None:
        return file.text
    if file.agent.hook.text:
        return None
    copy = backup_of(file.path, environ)
    try:
        parsed(copy or "", file.path, file.agent)
        if _with_ours(file, copy, mine) == file.text:
            return copy
    except SettingsFileError:  # the copy is damaged
        pass
    text, remove_item = file.text, _without_table if file.path.endswith(TOML) else without_value
    for path, _ in reversed(own_entries(file)):
        text = remove_item(text, path, prunes=True)
    for path in (ENABLED, DECLARED) if mine.enabled is not None or mine.marketplace is not None else ():
        text = without_value(text, path, prunes=True)
    rest = parsed(text, file.path, file.agent)
    kept = {key: value for key, value in rest.items() if copy is not None or key not in file.agent.hook.adds}
    return None if rest and kept == file.agent.hook.around else text


def _with_ours(file: SettingsFile, original: str | None, ours: Ours) -> str | None:
    """*original* with the parts of memsift."""
    if ours == NOTHING:
        return original
    form, add_item = file.agent.hook, _with_table if file.path.endswith(TOML) else with_item
    if form.text:
        return str(ours.entries[0][form.command_key])
    text = original or ""
    for key, value in form.around.items() if original is None else ():
        text = with_value(text, (key,), value)
    for entry in ours.entries:
        item = {HOOKS: [dict(entry)]} if form.is_grouped else dict(entry)
        text = add_item(text, (HOOKS, form.event), item)
    for path, value in ((ENABLED, ours.enabled), (DECLARED, ours.marketplace)):
        text = with_value(text, path, value) if value is not None else text
    return text


def _require_places(file: SettingsFile, ours: Ours) -> None:
    """Raise SettingsFileError, with the line, if something else stands where memsift's parts belong."""
    shapes: list[tuple[tuple[str, ...], type]] = []
    if ours.entries:
        shapes += [((HOOKS,), dict), ((HOOKS, file.agent.hook.event), list)]
    if not (ours.enabled is None and ours.marketplace is None):
        shapes += [(path[:1], dict) for path in (ENABLED, DECLARED)]
    if file.agent.hook.text and file.text and not own_entries(file):
        raise SettingsFileError(f"{file.path} is not memsift's, so nothing was changed. Move it, then try again.")
    for path, kind in shapes:
        found = value_at(file.content, *path)
        if found is not None and not isinstance(found, kind):
            place = f"{file.path}, line {line_of(file.text or '', path)}"
            problem = f"{place}: expected {'an object' if kind is dict else 'a list'} at {'.'.join(path)!r}."
            raise SettingsFileError(f"{problem} Mend it first: nothing was changed.")


def _with_table(text: str, path: Path, item: Mapping[str, Any]) -> str:
    """*text* with *item* at the end of the list of tables at *path*, of keys alone, which is made if it is missing.

    The new tables stand at the end of the text: TOML allows that, whatever stands between the items of a list.
    Raises SettingsFileError for a list that is written in brackets, to which TOML adds no table.
    """
    lead = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    changed = text + _spelled(f"{lead}{_tables('.'.join(map(str, path)), item)}", text)
    try:
        tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        name = ".".join(map(str, path))
        raise SettingsFileError(f"{name} is a list in brackets. Write it as tables first.") from None
    return changed


def _without_table(text: str, path: Path, *, prunes: bool) -> str:
    """*text* without the item at *path*; *prunes*: nor the lists and tables that are empty after that.

    An item that `_with_table` wrote leaves nothing behind, also where other tables were added below it.
    """
    import tomlkit

    document: Any = tomlkit.parse(text)
    holders = [document]
    for step in path[:-1]:
        holders.append(holders[-1][step])
    table = _spelled(f"\n{_tables('.'.join(map(str, path[:2])), holders[-3].unwrap()[path[2]])}", text)
    if len(holders[-1]) == 1 and text.count(table) == 1:
        return text.replace(table, "")
    for holder, step in zip(reversed(holders), reversed(path), strict=True):
        del holder[step]
        if holder or not prunes:
            break
    return str(document.as_string())


def _spelled(lines: str, text: str) -> str:
    """*lines* with the line ends of *text*."""
    return lines.replace("\n", "\r\n") if "\r\n" in text else lines


def _tables(name: str, item: Mapping[str, Any]) -> str:
    """A table in a list, and the lists of tables in it. All other values are texts, numbers or booleans."""
    import tomlkit

    plain = {key: value for key, value in item.items() if not isinstance(value, list)}
    inner = [(key, table) for key, value in item.items() if isinstance(value, list) for table in value]
    tables = [_tables(f"{name}.{key}", table) for key, table in inner]
    return "".join([f"[[{name}]]\n", tomlkit.dumps(plain), *tables])
