"""A coding agent as a record: its names, the places of its files, and the forms of its hook.

Each agent is a module of this folder with an `AGENT`. No other code asks for an agent's name: what differs is here.
The hook loads this file only for an agent whose command names it, so nothing slow is imported.
"""

from __future__ import annotations

import os

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.paths import SESSION_FOLDER, home_dir, project_slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MANAGED, USER, PROJECT, LOCAL = "managed", "user", "project", "local"
USER_TOML, PROJECT_TOML = "user, TOML", "project, TOML"
"""Scopes of settings: of this machine's administrator, of the person, of a project, of the person in one project.

Those with TOML are second files of the same scope, for an agent that reads hooks from either.
"""

DEFAULTS, PARTS, REQUIREMENTS = (f"{MANAGED}, {name}" for name in ("defaults", "parts", "requirements"))
PROJECT_SWITCHES, LOCAL_SWITCHES = (f"{scope}, switches" for scope in (PROJECT, LOCAL))
"""Scopes of files that memsift only reads: further files of the administrator, and files that hold switches alone.

PARTS is a folder: its files NAME.json count in the order of their names.
"""

SESSIONS_READER = "engine.agents.sessions"
"""The module that reads the sessions of the agents beside Claude Code."""

OWN_LIST = "MEMORY.md"
"""The list of an agent's own memories, which it loads. In other folders it is a file as any other."""

REQUEST = ("prompt", "cwd", "session_id", "prompt_id", "transcript_path", "source")
ALLOWED, CHANGED, UNASKED = CONSENTS = (
    "{} runs the hook in {}",
    "{} does not run the hook in {}, because it changed since you allowed it",
    "{} does not run the hook in {} before you allow it",
)
"""What an agent that asks does with memsift's hook: the agent, and the settings file."""

BRACKETS = str.maketrans("<>", "‹›", "‹›")
"""The tags of the injected text, for an agent that escapes `<` and `>`. Without them no title can look like a tag."""


PLUGIN = "plugin"
"""The scope of a hook that a plugin brings."""


class HookForm(Record):
    """How an agent's hook is written in its settings, and how it speaks.

    `entry` is the hook's entry without its command and timeout. `units_per_second` is the unit of the timeout.
    `is_grouped`: entries stand in groups, `{"hooks": [entry]}`, as in Claude Code. `around`: the rest of a new file.
    `adds`: keys that the agent itself writes into every settings file.
    `allows_comments`: its settings may hold comments.
    `text`: for an agent that loads programs as plugins, the whole file for a command and a timeout in its unit;
    `command_in` gives the command of such a file back.
    `fields`: a field of REQUEST -> the agent's name for it, where that differs.
    `is_nested`: the answer stands in `hookSpecificOutput`. `escapes`: the agent escapes `<` and `>` of the answer.
    """

    event: str
    entry: Mapping[str, Any] = {"type": "command"}
    command_key: str = "command"
    timeout_key: str = "timeout"
    units_per_second: int = 1
    is_grouped: bool = True
    around: Mapping[str, Any] = {}
    adds: tuple[str, ...] = ()
    allows_comments: bool = False
    text: Callable[[str, int], str] | None = None
    command_in: Callable[[str], str] = str
    fields: Mapping[str, str] = {}
    is_nested: bool = True
    escapes: bool = False


class HookSwitch(Record):
    """A setting that lets an agent leave hooks out. `key`: its path. `value` leaves them out, or a list with `item`.

    The last of the agent's files that has the key decides, and lists of several files are joined. `is_managed`: only
    files of the administrator count. `spares`: the scopes whose hooks run nevertheless.
    """

    key: tuple[str, ...]
    value: bool | None = True
    item: str = ""
    is_managed: bool = False
    spares: tuple[str, ...] = ()


DISABLE_ALL = ("disableAllHooks",)
"""The path of the switch that several agents share."""


class Agent(Record):
    """A coding agent. `program` is the command that starts it.

    `folder` holds the agent's own files, below the home folder. Where the environment variable `variable` is set, these
    files lie in the folder `below` of the place that it names.
    `settings`: scope -> the file with hooks or switches, in the order in which a later file overrides an earlier file.
    Paths of the user lie in `folder`, those of the administrator are absolute, the others lie in the project.
    `switches`: the settings with which it leaves hooks out. `asks`: a sentence if a person has to allow the hook.
    `consent` says then whether the hook at a place of a settings file is allowed: one of CONSENTS.
    `sessions`: patterns of the session files, in `folder`. `memories`: folders of memories that the agent keeps, in
    `folder`; `*` is the project.
    `loads`: the files that it loads by itself, from the top of the repository down to the folder in which it was
    started, and from `folder`; `*` is any name. `climbs`: also from above the repository. `nests`: also from a folder
    below, as soon as it reads a file there. `loads_of_others`: files of other agents, below the home folder.
    `reader`: the module with `last_turns` and `living_prompts` of its sessions; empty if the hook reads none.
    `is_named_by_session`: the request names no transcript, and `*` in `sessions` is the session's id.
    `session_folder`: the environment variable with the folder where the agent was started; `cwd` changes with the
    model's `cd`. Empty if the agent sets none: a variable of another agent around it is not used.
    """

    name: str
    title: str
    program: str
    folder: str
    settings: Mapping[str, str]
    hook: HookForm
    switches: tuple[HookSwitch, ...] = ()
    variable: str = ""
    below: str = ""
    asks: str = ""
    consent: Callable[[str, tuple[str | int, ...], Mapping[str, Any], Mapping[str, str]], str] | None = None
    sessions: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    loads_of_others: tuple[str, ...] = ()
    climbs: bool = False
    nests: bool = False
    reader: str = ""
    is_named_by_session: bool = False
    session_folder: str = SESSION_FOLDER

    def home(self, environ: Mapping[str, str]) -> str:
        """The folder of the agent's own files."""
        named = environ.get(self.variable) if self.variable else ""
        return os.path.join(named, self.below) if named else os.path.join(home_dir(environ), self.folder)

    def loads_file(self, path: str, folder: str, environ: Mapping[str, str]) -> bool:
        """Whether the agent, started in *folder*, loads a file itself, so its hook does not repeat it.

        Without *folder* a file counts wherever it lies. In the agent's own folder the files of `loads` stand without
        the folder that is before their name, such as `.github`.
        """
        home, real = os.path.realpath(self.home(environ)) + os.sep, os.path.realpath(path)
        for loaded in self.loads:
            own = loaded.partition(os.sep)[2] if loaded.startswith(".") else loaded
            if real.startswith(home) and _place(real, own):
                return True
            place = _place(real, loaded) if loaded != OWN_LIST else ""
            if place and (not folder or self._reaches(place, os.path.realpath(folder) + os.sep)):
                return True
        return real in (os.path.join(home_dir(environ), name) for name in self.loads_of_others)

    def _reaches(self, place: str, folder: str) -> bool:
        """Whether the agent, started in *folder*, looks for files in *place*. Both end with a separator."""
        if not folder.startswith(place):
            return self.nests and place.startswith(folder)
        top = folder
        while not self.climbs and top != os.sep and not os.path.exists(os.path.join(top, ".git")):
            top = os.path.join(os.path.dirname(top.rstrip(os.sep)), "")
        return self.climbs or place.startswith(folder if top == os.sep else top)

    def places_of_memories(self, project: str, environ: Mapping[str, str]) -> list[str]:
        """Where the agent's own memories of *project* lie, and the files that it loads there and in its own folder."""
        home, slug = self.home(environ), project_slug(project)
        names = [name for name in self.loads if "*" not in name and os.sep not in name and name != OWN_LIST]
        files = [os.path.join(place, name) for place in (project, home) for name in names]
        return [*(os.path.join(home, folder.replace("*", slug)) for folder in self.memories), *files]

    def settings_path(self, scope: str, project: str, environ: Mapping[str, str]) -> str:
        """The file of a scope, for an agent that is started in *project*. `settings` must have the scope."""
        place = self.home(environ) if scope in (USER, USER_TOML) else project
        return os.path.join(place, self.settings[scope])

    def request(self, content: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
        """The agent's request with the names of REQUEST.

        Without a session's id, its transcript tells one session from another. Of a transcript that the request does not
        name, the session's id tells the place. One that no reader of memsift understands is not passed on.
        """
        found = {name: content.get(self.hook.fields.get(name, name)) for name in REQUEST}
        found["session_id"] = name = found["session_id"] or found["transcript_path"]
        if isinstance(name, str) and os.sep not in name and self.is_named_by_session:
            found["transcript_path"] = os.path.join(self.home(environ), self.sessions[0].replace("*", name))
        return found if self.reader else {**found, "transcript_path": None}

    def answer(self, context: str) -> str:
        """The JSON that adds *context* to the prompt, so that the model sees it as Claude Code's model does."""
        text = context.replace(" -> ", " → ").translate(BRACKETS) if self.hook.escapes else context
        inner = {"additionalContext": text}
        outer = {"hookSpecificOutput": {"hookEventName": self.hook.event, **inner}}
        return dumps(outer if self.hook.is_nested else inner)


def _place(path: str, loaded: str) -> str:
    """The folder, with a separator behind it, in which *path* is the file *loaded*; empty for another file."""
    start, star, ending = loaded.partition("*")
    at = path.rfind(os.sep + start)
    is_named = path.endswith(ending) if star else path.endswith(os.sep + loaded)
    return path[: at + 1] if at >= 0 and is_named else ""
