"""Settings in files, as people and repositories write them, and what is read from them."""

import json
from pathlib import Path

from engine.config import CONFIG_FILE, Config
from engine.settings.sources import SettingsReading, checked, read_config


def write(root: Path, content: object) -> str:
    (root / CONFIG_FILE).write_text(json.dumps(content), encoding="utf-8")
    return str(root)


def load(root: Path, retrieval: object, environ: dict[str, str] | None = None) -> Config:
    """The configuration of a root that the user trusts."""
    return checked(read_config(write(root, {"retrieval": retrieval}), environ or {}, is_trusted=True)).config


def load_config(root: str, given: dict[str, str]) -> Config:
    """The configuration of *root* for people. Raises ConfigError for a mistake."""
    return checked(read_config(root, given)).config


def settings_in(root: Path, section: object, *, is_trusted: bool = False) -> SettingsReading:
    return read_config(write(root, {"retrieval": section}), {}, is_trusted=is_trusted)


def user_file(home: Path, text: str) -> dict[str, str]:
    """An environment with *text* as the user's config.toml."""
    (home / ".config/memsift").mkdir(parents=True, exist_ok=True)
    (home / ".config/memsift/config.toml").write_text(text, encoding="utf-8")
    return {"HOME": str(home)}
