"""The hooks that an agent runs at a prompt, from its settings files and from the plugins of Claude Code."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from engine.agents import installation
from engine.agents.agent import DEFAULTS, MANAGED, PLUGIN, PROJECT, PROJECT_TOML, USER
from engine.agents.hook_entry import ALWAYS_0, OF_CLAUDE_MEMORY, bare_interpreter, is_ours, launcher_in, slow_start
from engine.agents.installation import entries_at, list_of
from engine.agents.settings_files import SettingsFile
from engine.lean.json_text import value_at
from engine.lean.record import Record
from engine.paths import claude_dir
from engine.stores.files import UnreadableFileError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.agents.agent import HookSwitch

OURS, OF_ORIGINAL, OTHER = "memsift", "claude-memory", "other"


class PromptHook(Record):
    """A hook of the event. `source`: the settings file, or the name of the plugin. `kind`: whose memories it injects.

    `timeout` is in seconds; None: the client's default. `folder` is the plugin's; empty for a settings file. `scope` is
    that of the settings file; of a plugin PLUGIN, or MANAGED if the administrator enables it.
    """

    source: str
    command: str
    kind: str
    timeout: float | None = None
    folder: str = ""
    scope: str = USER


class HookRuling(Record):
    """Whether an agent runs memsift's hook. `key` and `path` name the setting that stops the hook, and its file.

    Both are empty if no setting stops it: then the hook runs or is not installed.
    """

    runs: bool
    key: str = ""
    path: str = ""
    is_managed: bool = False

    @property
    def text(self) -> str:
        return f"{self.path} keeps memsift's hook from running, by {self.key}"

    @property
    def remedy(self) -> str:
        if self.is_managed:
            return "Ask the administrator of this machine: no other setting overrides it."
        return f"Take {self.key} out of {self.path}."


def prompt_hooks(files: Sequence[SettingsFile], environ: Mapping[str, str]) -> tuple[PromptHook, ...]:
    """All hooks, in the order of the files, those of plugins last. The client starts them at the same time."""
    found = [
        _prompt_hook(file.path, *command, scope=MANAGED if is_managed(file) else file.scope)
        for file in files
        for command in _commands(file)
    ]
    for plugin in enabled_plugins(files):
        folder = _folder(plugin, files, environ)
        path = os.path.join(folder, "hooks", "hooks.json")
        file = SettingsFile(files[0].agent, PLUGIN, path, None, _json_file(path))
        scope = MANAGED if plugin in enabled_plugins([file for file in files if is_managed(file)]) else PLUGIN
        found += [_prompt_hook(plugin, *command, folder, scope) for command in _commands(file)]
    return tuple(found)


def _prompt_hook(source: str, command: str, timeout: float | None, folder: str = "", scope: str = USER) -> PromptHook:
    kind = OURS if is_ours(command) else OF_ORIGINAL if OF_CLAUDE_MEMORY.search(command) else OTHER
    return PromptHook(source, command, kind, timeout, folder, scope)


def enabled_plugins(files: Sequence[SettingsFile]) -> tuple[str, ...]:
    """The names of the plugins that are enabled, NAME@MARKETPLACE. A later file overrides an earlier file."""
    states: dict[str, object] = {}
    for file in files:
        enabled = file.content.get("enabledPlugins")
        states |= enabled if isinstance(enabled, dict) else {}
    return tuple(name for name, is_on in states.items() if is_on is True)


def is_managed(file: SettingsFile) -> bool:
    """Whether a settings file is the administrator's, whose settings no other file overrides."""
    return file.scope.startswith(MANAGED) and file.scope != DEFAULTS


def hook_ruling(files: Sequence[SettingsFile], environ: Mapping[str, str]) -> HookRuling:
    """Whether the agent of *files* runs memsift's hook here, and which setting stops it.

    Without an installed hook, the switches are read as for a hook of the user.
    Consent is another matter: see `Agent.consent`. So is the trust in a folder, which settings do not tell.
    """
    own = own_hooks(files, environ)
    scopes = {hook.scope for hook in own} or {USER}
    for switch in files[0].agent.switches:
        file, value = _decision(switch, [file for file in files if is_managed(file) or not switch.is_managed])
        is_off = value is switch.value or (switch.item and isinstance(value, list) and switch.item in value)
        if file and is_off and scopes.isdisjoint(switch.spares):
            return HookRuling(False, ".".join(switch.key), file.path, is_managed(file))
    return HookRuling(bool(own))


def _decision(switch: HookSwitch, files: Sequence[SettingsFile]) -> tuple[SettingsFile | None, object]:
    """The last file that has the key of a switch, and the value; lists of several files are joined."""
    decides: SettingsFile | None = None
    decided: Any = None
    for file in files:
        if (value := value_at(file.content, *switch.key)) is not None:
            is_joined = isinstance(value, list) and isinstance(decided, list)
            decides, decided = file, [*decided, *value] if is_joined else value
    return decides, decided


def gone_paths(files: Sequence[SettingsFile]) -> dict[str, str]:
    """Settings file -> the path of memsift's launcher or plugin in it, if nothing lies at that path any more.

    This happens when memsift is moved, or upgraded to a version at another place.
    """
    found: dict[str, str] = {}
    for file in files:
        named = [launcher_in(command) for command, _ in _commands(file)]
        if installation.PLUGIN in enabled_plugins(files):
            named.append(_declared(installation.MARKETPLACE, [file]))
        gone = [path for path in named if os.path.isabs(path) and not os.path.exists(path)]
        found |= dict.fromkeys([file.path], gone[0]) if gone else {}
    return found


def removal(hook: PromptHook) -> str:
    """A sentence that says how to get rid of a hook."""
    if hook.folder:
        return f"Switch it off: claude plugin disable {hook.source}"
    return f"Take its entry out of {hook.source}."


def own_hooks(files: Sequence[SettingsFile], environ: Mapping[str, str]) -> list[PromptHook]:
    """The hooks of `prompt_hooks` that are memsift's."""
    return [hook for hook in prompt_hooks(files, environ) if hook.kind == OURS]


def remarks(files: Sequence[SettingsFile], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences about memsift's own hooks in *files*: several of them, or slow, older, or made for one machine."""
    own = own_hooks(files, environ)
    commands = [hook.command for hook in own]
    found = []
    if len(own) > 1:
        places = ", ".join(hook.source for hook in own)
        effect = "The first that starts answers a prompt, the others are silent."
        found.append(f"memsift stands {len(own)} times: {places}. {effect}")
    fix = "Run memsift install --project: its command works on all."
    shared = [file for file in files if file.scope in (PROJECT, PROJECT_TOML)]
    bound = [file.path for file in shared if any(launcher_in(command) for command, _ in _commands(file))]
    found += [f"{path} starts memsift by paths of one machine, and does nothing on others. {fix}" for path in bound]
    if not all(command.startswith(ALWAYS_0) for command in commands):  # made by hand, or by an older memsift
        found.append(
            "the hook's command is of an older memsift, or made by hand: where the shell can start no process, it "
            "blocks the prompt. Run memsift install again, for this project with --project."
        )
    return (*found, *slow_start(commands, bare_interpreter(), environ))


def _commands(file: SettingsFile) -> Iterator[tuple[str, float | None]]:
    """The command and the timeout in seconds of each hook. What has another form is no hook."""
    form = file.agent.hook
    for _, entry in entries_at(file):
        command, timeout = entry.get(form.command_key), entry.get(form.timeout_key)
        if isinstance(command, str):
            words = (form.command_in(command), *map(str, list_of(entry.get("args"))))
            yield " ".join(words), timeout / form.units_per_second if isinstance(timeout, int | float) else None


def _folder(plugin: str, files: Sequence[SettingsFile], environ: Mapping[str, str]) -> str:
    """The folder of a plugin: where the client installed it, else where its marketplace lies on this machine."""
    home = os.path.join(claude_dir(environ), "plugins")
    entries = value_at(_json_file(os.path.join(home, "installed_plugins.json")), "plugins", plugin)
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict) and os.path.isdir(str(entry.get("installPath"))):
            return str(entry["installPath"])
    name, _, market = plugin.partition("@")
    known = _json_file(os.path.join(home, "known_marketplaces.json")).get(market)
    place = known.get("installLocation") if isinstance(known, dict) else _declared(market, files)
    listed = _json_file(os.path.join(str(place), ".claude-plugin", "marketplace.json")).get("plugins")
    for offer in list_of(listed):
        if isinstance(offer, dict) and offer.get("name") == name and isinstance(offer.get("source"), str):
            return os.path.join(str(place), offer["source"])
    return ""


def _declared(market: str, files: Sequence[SettingsFile]) -> str:
    """The folder of a marketplace that a settings file declares, before the client has looked at it."""
    for file in files:
        path = value_at(file.content, "extraKnownMarketplaces", market, "source", "path")
        if isinstance(path, str):
            return path
    return ""


def _json_file(path: str) -> Mapping[str, Any]:
    """The object in a file of the client; empty for a file that is not there or has another form."""
    try:
        content = json.loads(text_of(path))
    except (UnreadableFileError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
