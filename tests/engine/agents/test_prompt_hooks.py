"""Whether an agent runs memsift's hook here, and which setting decides: as the agents themselves did when measured."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.agents.agent import (
    DEFAULTS,
    LOCAL,
    LOCAL_SWITCHES,
    MANAGED,
    PARTS,
    PROJECT,
    PROJECT_SWITCHES,
    PROJECT_TOML,
    REQUIREMENTS,
    USER,
    USER_TOML,
    Agent,
)
from engine.agents.hook_entry import hook_command
from engine.agents.installation import PLUGIN_PLACE, new_text
from engine.agents.prompt_hooks import HookRuling, enabled_plugins, gone_paths, hook_ruling
from engine.agents.registry import NAMES, agent_of
from engine.agents.settings_files import parsed, settings_files
from engine.errors import SettingsFileError
from engine.lean.record import replace
from tests.engine.builders import put

OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}
ONLY_MANAGED = {"allowManagedHooksOnly": True}
PLUGIN = {
    "enabledPlugins": {"memsift@memsift": True},
    "extraKnownMarketplaces": {"memsift": {"source": {"source": "directory", "path": PLUGIN_PLACE}}},
}
NAMED, ANOTHER = ({"hooksConfig": {"disabled": [name]}} for name in ("memsift", "x"))
FALSE, TRUE = "[features]\nhooks = false\n", "[features]\nhooks = true\n"

CASES: list[tuple[str, Mapping[str, Any], str]] = [
    ("claude", {}, ""),
    ("claude", {USER: OFF}, USER),
    ("claude", {USER: OFF, PROJECT: ON}, ""),
    ("claude", {USER: OFF, LOCAL: ON}, ""),
    ("claude", {PROJECT: OFF}, PROJECT),
    ("claude", {LOCAL: OFF, PROJECT: ON}, LOCAL),
    ("claude", {PROJECT: OFF, LOCAL: ON}, ""),
    ("claude", {MANAGED: OFF, LOCAL: ON}, MANAGED),
    ("claude", {MANAGED: ON, USER: OFF}, ""),
    ("claude", {MANAGED: ONLY_MANAGED}, MANAGED),
    ("claude", {PARTS: {"10.json": ONLY_MANAGED}}, "10.json"),
    ("claude", {MANAGED: ONLY_MANAGED, PARTS: {"10.json": {"allowManagedHooksOnly": False}}}, ""),
    ("claude", {PARTS: {"20.json": {"allowManagedHooksOnly": False}, "10.json": ONLY_MANAGED}}, ""),
    ("claude", {PARTS: {".10.json": ONLY_MANAGED, "10.txt": ONLY_MANAGED}}, ""),
    ("claude", {USER: ONLY_MANAGED}, ""),
    ("claude", {MANAGED: {"strictPluginOnlyCustomization": True}}, MANAGED),
    ("claude", {MANAGED: {"strictPluginOnlyCustomization": ["skills", "hooks"]}}, MANAGED),
    ("claude", {MANAGED: {"strictPluginOnlyCustomization": ["skills"]}}, ""),
    ("claude", {PROJECT: {"strictPluginOnlyCustomization": True}}, ""),
    ("plugin", {USER: PLUGIN}, ""),
    ("plugin", {USER: PLUGIN, PROJECT: OFF}, PROJECT),
    ("plugin", {USER: PLUGIN, MANAGED: {"strictPluginOnlyCustomization": True}}, ""),
    ("plugin", {USER: PLUGIN, MANAGED: ONLY_MANAGED}, MANAGED),
    ("plugin", {MANAGED: {**PLUGIN, **ONLY_MANAGED}}, ""),
    ("codex", {USER_TOML: FALSE}, USER_TOML),
    ("codex", {USER_TOML: "[features]\ncodex_hooks = false\n"}, USER_TOML),
    ("codex", {USER_TOML: FALSE, PROJECT_TOML: TRUE}, ""),
    ("codex", {DEFAULTS: FALSE}, DEFAULTS),
    ("codex", {DEFAULTS: FALSE, USER_TOML: TRUE}, ""),
    ("codex", {USER_TOML: TRUE, MANAGED: FALSE}, MANAGED),
    ("codex", {USER_TOML: TRUE, REQUIREMENTS: FALSE}, REQUIREMENTS),
    ("gemini", {USER: {"hooksConfig": {"enabled": False}}}, USER),
    ("gemini", {USER: {"hooksConfig": {"enabled": False}}, PROJECT: {"hooksConfig": {"enabled": True}}}, ""),
    ("gemini", {USER: NAMED, PROJECT: ANOTHER}, PROJECT),
    ("gemini", {USER: ANOTHER}, ""),
    ("qwen", {USER: OFF}, USER),
    ("qwen", {USER: OFF, PROJECT: ON}, ""),
    ("qwen", {USER: ON, MANAGED: OFF}, MANAGED),
    ("qwen", {DEFAULTS: OFF}, DEFAULTS),
    ("copilot", {PROJECT_SWITCHES: OFF}, PROJECT_SWITCHES),
    ("copilot", {PROJECT_SWITCHES: OFF, LOCAL_SWITCHES: ON}, ""),
]
"""Agent, or Claude Code with the plugin; scope -> settings beside the hook of a user; the scope that decides."""


def written(name: str, settings: Mapping[str, Any], folder: Path) -> tuple[Agent, dict[str, str], dict[str, str]]:
    """The agent, the variables that place its files, and scope -> path. Settings and the hook of a user are written.

    All files are in *folder*, also those of the administrator.
    """
    agent = agent_of("claude" if name == "plugin" else name)
    managed = {
        scope: str(folder / scope / Path(path).name)
        for scope, path in agent.settings.items()
        if scope.startswith(MANAGED)
    }
    agent = replace(agent, settings={**agent.settings, **managed})
    environ, project = {"HOME": str(folder / "home")}, str(folder / "project")
    paths = {scope: agent.settings_path(scope, project, environ) for scope in agent.settings}
    entry = {**agent.hook.entry, agent.hook.command_key: hook_command(agent)}
    if agent.hook.text:
        entry = {agent.hook.command_key: agent.hook.text(hook_command(agent), 1)}
    own = "" if name == "plugin" else new_text(agent, paths[USER], entry)
    files = {paths[USER]: own} if own else {}
    for scope, content in settings.items():
        if scope == PARTS:
            files |= {f"{paths[PARTS]}/{part}": json.dumps(text) for part, text in content.items()}
        elif isinstance(content, str):
            files[paths[scope]] = content
        else:
            hook = json.loads(own) if scope == USER and own else {}
            files[paths[scope]] = json.dumps({**hook, **content})
    for path, text in files.items():
        put(Path(path), text)
    return agent, environ, paths


@pytest.mark.parametrize(("name", "settings", "decides"), CASES)
def test_a_setting_keeps_the_hook_from_running(
    name: str, settings: Mapping[str, Any], decides: str, tmp_path: Path
) -> None:
    agent, environ, paths = written(name, settings, tmp_path)
    ruling = hook_ruling(settings_files(agent, str(tmp_path / "project"), environ), environ)
    assert (ruling.runs, bool(ruling.key)) == (not decides, bool(decides))
    assert ruling.path == (paths.get(decides) or (f"{paths[PARTS]}/{decides}" if decides else ""))
    assert ("administrator" in ruling.remedy) is (
        decides == "10.json" or (decides.startswith(MANAGED) and decides != DEFAULTS)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_hook_that_is_not_installed_does_not_run_and_no_setting_is_blamed(name: str, tmp_path: Path) -> None:
    agent, environ = agent_of(name), {"HOME": str(tmp_path)}
    assert hook_ruling(settings_files(agent, str(tmp_path / "p"), environ), environ) == HookRuling(False)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*at, key)
        yield from places(below, (*at, key))


@pytest.mark.parametrize("name", ["claude", "gemini", "qwen", "codex", "copilot"])
def test_any_shape_of_any_value_in_settings_is_survived(name: str, tmp_path: Path) -> None:
    agent, environ, paths = written(name, {}, tmp_path)
    content = json.loads(Path(paths[USER]).read_text("utf-8"))
    entry = {**agent.hook.entry, agent.hook.command_key: "true", "args": ["a"], agent.hook.timeout_key: 1}
    content |= {"hooks": {agent.hook.event: [{"hooks": [entry]} if agent.hook.is_grouped else entry]}}
    for path in places(content):
        for shape in (True, 1, "a", None, [], [[]], {}, {"a": 1}):
            changed = json.loads(json.dumps(content))
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = shape
            Path(paths[USER]).write_text(json.dumps(changed), encoding="utf-8")
            files = settings_files(agent, str(tmp_path / "project"), environ)
            hook_ruling(files, environ)
            gone_paths(files)
            enabled_plugins(files)


def test_a_file_that_the_client_would_not_read_is_refused_with_its_line() -> None:
    for text, line, reason in [
        ('{\n  // mine\n  "a": 1\n}', "line 2", "comment"),
        ('{\n  "a": 1 /* mine */\n}', "line 2", "comment"),
        ('{\n  "a": 1\n,}', "line 3", "not JSON"),
        ('{\n\n  "a": tru\n}', "line 3", "not JSON"),
        ('{"a": 1', "line 1", "not JSON"),
        ("[]", "line 1", "object"),
        ('{"a": NaN}', "", "NaN"),
        ('{"a": 1, "a": 2}', "", "twice"),
        ('{"a": ' + "[" * 100_000, "", "cannot be read"),
    ]:
        with pytest.raises(SettingsFileError, match=r"settings\.json") as error:
            parsed(text, "settings.json", agent_of("claude"))
        assert (line in str(error.value), reason in str(error.value)) == (True, True), text
