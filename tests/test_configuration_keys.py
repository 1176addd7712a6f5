"""Every configuration key of the code can be read with `memsift config` and is in a README, and the other way round."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from engine.config import SECTIONS, Config
from engine.lean.record import fields
from tests.tui.cli.command_line import memsift, printed
from tui.keys import KEYS
from tui.workspace.app_settings import OWN

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "engine/settings/README.md"
READERS = {"engine/settings/roots.py", "engine/settings/sources.py", "tui/workspace/app_settings.py"}
"""The modules that take config.toml apart. A new one may read a key that the tests below do not know."""


def defaults(section: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in fields(section).items():
        if isinstance(value, SECTIONS):
            yield from defaults(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


OF_USER = {"roots": [], "label.grades": False, "app.plain": False}
DEFAULTS = {**dict(defaults(Config())), "cutoff_threshold": "balanced", "noise_floor": Config().floor, **OF_USER}
ACTION = "keys.ID"


def documented() -> dict[str, str]:
    """Key -> the column `default` of its row. A row may have several keys."""
    found = {}
    for line in README.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1].startswith("`"):
            found.update(dict.fromkeys(re.findall(r"`([\w.]+)`", cells[1]), cells[3]))
    return found


def test_every_key_has_a_row_with_its_default_and_every_row_a_key() -> None:
    rows = documented()
    assert set(rows) == {*DEFAULTS, ACTION}
    words = {"": "empty", "[]": "none", "null": "null"}
    for key, value in DEFAULTS.items():
        if key == "noise_floor":  # the strategy decides
            continue
        text = json.dumps(value).strip('"').removesuffix(".0")
        assert rows[key].strip("`") == words.get(text, text), key


def test_every_key_is_listed_and_got_by_memsift_config(tmp_path: Path) -> None:
    listed = {row["key"]: row["value"] for row in printed(memsift("config", "--root", tmp_path, "--format", "json"))}
    assert listed.pop("cutoff_model") == "default"  # said beside the settings; memsift tune decides it
    assert listed == DEFAULTS
    for key, value in DEFAULTS.items():
        assert printed(memsift("config", "get", key, "--root", tmp_path)) == value
    assert set(OWN) <= set(DEFAULTS)
    for action in ("label.skip", "app.help"):
        assert printed(memsift("config", "get", f"keys.{action}")) == KEYS[action].keys


def test_no_other_module_takes_the_users_file_apart() -> None:
    texts = {
        str(path.relative_to(PROJECT)): path.read_text(encoding="utf-8")
        for folder in ("engine", "labels", "tui")
        for path in (PROJECT / folder).rglob("*.py")
    }
    assert {name for name, text in texts.items() if "config_file(" in text and "tomllib.loads(" in text} == READERS
