"""`memsift install --agent` changes only memsift's own lines in the settings of any agent, and takes them out again.

After memsift was moved or upgraded, commands offer `memsift install` for hooks that start nothing any more.
"""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from engine.agents.agent import PROJECT, USER, Agent
from engine.agents.codex import hook_hash
from engine.agents.hook_entry import PACKAGES, bare_interpreter, hook_command, is_ours, launcher, shared_entry
from engine.agents.installation import own_entries
from engine.agents.registry import NAMES, agent_of
from engine.agents.settings_files import settings_files
from engine.paths import hook_start_file
from tests.engine.agents.test_forms import payload, seen
from tests.engine.hook.world import World
from tests.tui.cli.command_line import memsift, refused
from tests.tui.demo import DEMO_ROOT

JSON_AGENTS = ("codex", "gemini", "qwen", "copilot")
COMMENTED = (
    b'// mine\r\n{\r\n\t"ui": {"theme": "x // y"}, // dark\r\n\t"hooks": /* all */ {\r\n\t\t// none yet\r\n\t}\r\n}\r\n'
)
TOML = b'# mine\nmodel = "x" # y\n\n[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ncommand = "true"\n'


def other_hook(agent: Agent) -> bytes:
    """Settings with a hook of another program, by hand."""
    entry = {**agent.hook.entry, agent.hook.command_key: "echo  é [x]"}
    items = [{"hooks": [entry]}] if agent.hook.is_grouped else [entry]
    content = {**agent.hook.around, "hooks": {"Stop": [], agent.hook.event: items}, "n": 1.5}
    return json.dumps(content, indent=3, ensure_ascii=False).encode()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def path_of(agent: Agent, scope: str = USER) -> Path:
    path = Path(agent.settings_path(scope, str(Path.cwd()), os.environ))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def ours(agent: Agent) -> list[dict[str, Any]]:
    """memsift's entries in all settings of an agent."""
    return [
        dict(entry)
        for file in settings_files(agent, str(Path.cwd()), os.environ)
        for _, entry in own_entries(file)
        if not file.problem
    ]


def is_installed(agent: Agent) -> bool:
    commands = [agent.hook.command_in(entry[agent.hook.command_key]) for entry in ours(agent)]
    return commands == [hook_command(agent)]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", NAMES)
def test_from_nothing_to_an_answer_and_out_again(tmp_path: Path, name: str) -> None:
    agent, world = agent_of(name), World(tmp_path)
    path = path_of(agent)
    done = memsift("install", "--agent", name)
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    assert f"type a prompt in {agent.title}" in done.stderr
    assert is_installed(agent)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "nothing was changed" in memsift("install", "--agent", name).stderr
    assert memsift("install", "--agent", name, "--print").stdout == path.read_text("utf-8")
    (entry,) = ours(agent)
    command = agent.hook.command_in(entry[agent.hook.command_key])
    run = world.start(["/bin/sh", "-c", command], json.dumps(payload(name, world)).encode())
    assert seen(name, run.stdout.decode()).count("confidence") == 3
    assert memsift("uninstall", "--agent", name).stdout == f"{path}\n"
    assert not path.exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", JSON_AGENTS)
def test_a_file_with_other_hooks_is_byte_for_byte_as_before(name: str) -> None:
    agent = agent_of(name)
    path = path_of(agent)
    for before in (other_hook(agent), *([COMMENTED] if agent.hook.allows_comments else [])):
        path.write_bytes(before)
        assert memsift("install", "--agent", name).exit_code == 0
        assert is_installed(agent)
        assert memsift("uninstall", "--agent", name).exit_code == 0
        assert path.read_bytes() == before
    memsift("install", "--agent", name)
    path.write_bytes(path.read_bytes().replace(b"{", b'{"new": 1,', 1))
    memsift("uninstall", "--agent", name)
    assert path.read_bytes() == before.replace(b"{", b'{"new": 1,', 1)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_cannot_be_changed_safely_is_refused(name: str, tmp_path: Path) -> None:
    agent = agent_of(name)
    path = path_of(agent)
    for broken in (f"// {NOT_OURS}\n{{".encode(), b'{"hooks": 1}', bytes(range(128, 256))):
        path.write_bytes(broken)
        assert str(path) in refused(memsift("install", "--agent", name))
        assert path.read_bytes() == broken
    if agent.hook.text:
        return
    real = tmp_path / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_bytes(other_hook(agent))
    real.chmod(0o640)
    path.unlink()
    path.symlink_to(real)
    memsift("install", "--agent", name)
    assert (path.is_symlink(), is_installed(agent), stat.S_IMODE(real.stat().st_mode)) == (True, True, 0o640)
    real.chmod(0o444)
    told = refused(memsift("uninstall", "--agent", name))
    assert "write-protected" in told
    assert "chmod u+w" in told
    real.chmod(0o644)
    memsift("uninstall", "--agent", name)
    assert (path.is_symlink(), real.read_bytes()) == (True, other_hook(agent))
    assert sorted(real.parent.iterdir()) == [real]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", NAMES)
def test_what_a_project_shares_works_on_any_machine_and_leads_nowhere_else(name: str, tmp_path: Path) -> None:
    agent = agent_of(name)
    path = path_of(agent, PROJECT)
    assert memsift("install", "--project", "--agent", name).stdout == f"{path}\n"
    assert ours(agent) == [shared_entry(agent)]
    text = path.read_text("utf-8")
    for private in (bare_interpreter(), str(Path(__file__).parents[4]), str(tmp_path), os.environ["HOME"]):
        assert private not in text
    assert memsift("install", "--project", "--agent", name, "--print").stdout == text
    assert not path_of(agent).exists()
    assert "uninstall --project" in memsift("uninstall", "--agent", name).stderr
    memsift("uninstall", "--project", "--agent", name)
    assert not path.exists()
    path.symlink_to(tmp_path / "elsewhere")
    assert "outside of" in refused(memsift("install", "--project", "--agent", name))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.usefixtures("project")
def test_hooks_of_codex_that_stand_in_toml_are_joined_there() -> None:
    agent = agent_of("codex")
    path = path_of(agent).with_name("config.toml")
    for before in (TOML, TOML.rstrip(), TOML.replace(b"\n", b"\r\n")):
        path.write_bytes(before)
        assert memsift("install", "--agent", "codex").stdout == f"{path}\n"
        assert is_installed(agent)
        path.write_bytes(path.read_bytes() + b'\n[hooks.state."f:user_prompt_submit:1:0"]\ntrusted_hash = "x"\n')
        assert memsift("uninstall", "--agent", "codex").exit_code == 0
        assert path.read_bytes().startswith(before)
        assert len(tomllib.loads(path.read_text("utf-8"))["hooks"]["UserPromptSubmit"]) == 1
    path.write_text('hooks.UserPromptSubmit = [{hooks = [{command = "true"}]}]\n')
    assert "in brackets" in refused(memsift("install", "--agent", "codex"))
    path.write_text('[hooks.state]\n[hooks.state."x"]\ntrusted_hash = "y"\n')
    assert memsift("install", "--agent", "codex").stdout == f"{path.with_name('hooks.json')}\n"


@pytest.mark.usefixtures("project")
def test_doctor_says_whether_codex_may_run_the_hook_and_what_other_agents_are_here() -> None:
    path = path_of(agent_of("codex"))
    path_of(agent_of("gemini"))
    memsift("install", "--agent", "codex")
    (entry,) = ours(agent_of("codex"))
    states = {"": "before you allow it", hook_hash(entry): "Codex runs", "sha256:0": "changed since"}
    for known, expected in states.items():
        state = f'[hooks.state."{path}:user_prompt_submit:0:0"]\ntrusted_hash = "{known}"\n' if known else ""
        path.with_name("config.toml").write_text(state)
        found = {row["check"]: row for row in json.loads(memsift("doctor", "--format", "json").stdout)}
        consent = found["Codex: consent"]
        assert expected in consent["text"]
        assert consent["status"] == ("ok" if expected == "Codex runs" else "problem")
    assert found["agents"]["fix"] == "To use it there: memsift install --agent gemini"
    assert found["Codex: test prompt"]["status"] == "ok"
    assert "hooks" not in found


@pytest.mark.usefixtures("project")
def test_several_agents_at_once_are_all_changed_or_none() -> None:
    paths = [path_of(agent_of(name)) for name in ("gemini", "codex")]
    paths[1].write_text("{")
    both = ("--agent", "gemini", "--agent", "codex")
    refused(memsift("install", *both))
    assert not paths[0].exists()
    paths[1].write_text("{}")
    assert len(memsift("install", *both, "--dry-run").stdout.split("+++")) == 3
    assert memsift("install", *both).stdout.splitlines() == [str(path) for path in paths]
    assert memsift("uninstall", *both).stdout.splitlines() == [str(path) for path in paths]
    assert memsift("install", *both, "--print").exit_code == 2
    assert memsift("install", "--plugin", "--agent", "qwen").exit_code == 2


@pytest.mark.usefixtures("project")
def test_what_an_agent_itself_adds_does_not_keep_a_file_that_memsift_made() -> None:
    path = path_of(agent_of("qwen"), PROJECT)
    for before in ("", '{\n  "ui": {}\n}\n'):
        if before:
            path.write_text(before)
        memsift("install", "--project", "--agent", "qwen")
        path.write_text(json.dumps({**json.loads(path.read_text()), "$version": 4}, indent=2))
        memsift("uninstall", "--project", "--agent", "qwen")
        assert path.exists() is bool(before)
    assert json.loads(path.read_text()) == {"ui": {}, "$version": 4}


def test_forms_of_single_agents() -> None:
    """The hash was measured with Codex 0.171.0: `hooks/list` of its app server. opencode's plugin is a program."""
    expected = "sha256:c84163e232e754e50a34ceb5974474e1c22b7f4d562b198ff40bbcdd0928ffac"
    assert hook_hash({"type": "command", "command": "echo hi", "timeout": 5}) == expected
    form = agent_of("opencode").hook
    assert form.command_in(str(shared_entry(agent_of("opencode"))["command"])).endswith("; exit 0")
    assert form.text
    assert form.command_in(form.text("a '\"\\ b", 1)) == "a '\"\\ b"


# Hooks that start nothing, and hooks that only look like memsift's

SEARCH = ("search", "job queue", "--root", DEMO_ROOT)
OLD, NEW = "/gone/lib/site-packages", "/gone/lib/site-packages/memsift"
OURS = (
    "/usr/bin/python3 -I -S /x/site-packages/engine/hook/launch.py",
    "out=$(/usr/bin/python3 -I -S /x/site-packages/memsift/engine/hook/launch.py --agent codex) && printf %s; exit 0",
    """out=$('/it'"'"'s/python' -I -S '/My "own" Dir/it'"'"'s/engine/hook/launch.py') && printf %s "$out"; exit 0""",
    "python3 -I -S engine/hook/launch.py",
    "memsift-hook --agent gemini",
    "/home/me/.local/bin/memsift-hook",
    '"${CLAUDE_PLUGIN_ROOT}/hooks/memsift-hook.sh"',
)
NOT_OURS = (
    "echo engine/hook/launch.py.bak",
    "echo /x/site-packages/engine/hook/launch.py",
    "python3 -I -S /x/engine/hook/launch.py.bak",
    "python3 -I -S /x/engine/hook/launch.py/mine.py",
    "python3 -I -S /x/my-engine/hook/launch.py",
    "python3 -S '/x/engine/hook/launch.py my own'",
    "/x/memsift-hook.bak",
    "/x/memsift-hook/mine.sh",
    "/x/my-memsift-hook",
    "python3 -S 'a text that never ends",
)


def install_all(*places: str) -> None:
    """Install memsift for each agent, then put each of *places* in the place of its folder."""
    for name, place in zip(NAMES, places, strict=True):
        assert memsift("install", "--agent", name).exit_code == 0
        path = path_of(agent_of(name), USER)
        path.write_text(path.read_text("utf-8").replace(PACKAGES, place), "utf-8")


@pytest.mark.usefixtures("project")
def test_a_command_is_memsifts_only_if_it_starts_it() -> None:
    assert [command for command in OURS if not is_ours(command)] == []
    assert [command for command in NOT_OURS if is_ours(command)] == []


@pytest.mark.usefixtures("project")
def test_a_command_offers_to_install_hooks_again_that_start_nothing() -> None:
    install_all(OLD, NEW, PACKAGES, OLD, NEW, OLD)
    done = memsift(*SEARCH)
    assert done.exit_code == 0
    (told,) = [line for line in done.stderr.splitlines() if "memsift install" in line]
    assert told.startswith("memsift: Claude Code, Codex, Qwen Code, Copilot CLI and opencode get no memories: ")
    assert f"{OLD}/engine/hook/launch.py in the settings is gone" in told
    names = ("claude", "codex", "qwen", "copilot", "opencode")
    assert told.endswith(f"Run memsift install {' '.join(f'--agent {name}' for name in names)}.")
    found = json.loads(memsift("doctor", "--format", "json").stdout)
    gone = [row["text"] for row in found if row["status"] == "problem" and row["text"].endswith("which is gone")]
    assert len(gone) == len(names)
    for name in names:
        memsift("install", "--agent", name)
    assert "memsift install" not in memsift(*SEARCH).stderr
    assert all(is_installed(agent_of(name)) for name in NAMES)


@pytest.mark.usefixtures("project")
def test_a_plugin_whose_folder_is_gone_is_offered_again_and_a_shared_command_finds_the_new_place() -> None:
    memsift("install", "--plugin")
    path = path_of(agent_of("claude"))
    assert "memsift install" not in memsift(*SEARCH).stderr
    path.write_text(path.read_text("utf-8").replace(PACKAGES, OLD), "utf-8")
    assert "Run memsift install --plugin." in memsift(*SEARCH).stderr
    memsift("install", "--plugin")
    assert "memsift install" not in memsift(*SEARCH).stderr
    start = Path(hook_start_file(os.environ))
    memsift("install", "--project")
    for content in (f"/usr/bin/python3\n{OLD}/engine/hook/launch.py\n", "", "\n\n\n"):
        start.write_text(content, "utf-8")
        assert memsift(*SEARCH).exit_code == 0
        assert content == "" or start.read_text("utf-8").splitlines()[1] == launcher()
    start.unlink()
    memsift(*SEARCH)
    assert not start.exists()
