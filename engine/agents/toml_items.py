"""Adding an item to a list of tables in a TOML text, and taking one out. All other text stays as it was written.

The functions have the form of those in `engine.stores.json_members`, so that a settings file of either form is changed
in the same way.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from engine.errors import SettingsFileError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.stores.json_members import Path


def with_item(text: str, path: Path, item: Mapping[str, Any]) -> str:
    """*text* with *item* at the end of the list of tables at *path*, of keys alone, which is made if it is missing.

    The new tables stand at the end of the text: TOML allows that, whatever stands between the items of a list.
    Raises SettingsFileError for a list that is written in brackets, to which TOML adds no table.
    """
    lead = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    changed = text + _spelled(f"{lead}{_tables('.'.join(map(str, path)), item)}", text)
    try:
        tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        raise SettingsFileError(
            f"{'.'.join(map(str, path))} is a list in brackets. Write it as tables first."
        ) from None
    return changed


def without_value(text: str, path: Path, *, prunes: bool = False) -> str:
    """*text* without the item at *path*; *prunes*: nor the lists and tables that are empty after that.

    An item that `with_item` wrote leaves nothing behind, also where other tables were added below it.
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
    inner = [
        _tables(f"{name}.{key}", table) for key, value in item.items() if isinstance(value, list) for table in value
    ]
    return "".join([f"[[{name}]]\n", tomlkit.dumps(plain), *inner])
