"""`memsift install` and `uninstall` change only memsift's own lines in Claude Code's settings."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from engine.agents.claude_code.agent import AGENT
from engine.agents.hook_entry import bare_interpreter, hook_command, shared_entry, slow_start
from engine.agents.installation import MARKETPLACE, PLUGIN
from engine.config import CONFIG_FILE
from engine.opening import hook_index
from engine.paths import config_file, hook_start_file
from tests.engine.builders import put
from tests.engine.hook.world import World
from tests.tui.cli.command_line import memsift, printed, refused
from tui.cli.setup.install import UNREAD

OTHER_HOOK = '{"hooks":[{"type":"command","command":"echo  \\u00e9 [x]"}]}'
WILD = {
    "no object yet": b"{}\n",
    "empty": b"",
    "a line break": b"\n",
    "minified": b'{"model":"opus","hooks":{"UserPromptSubmit":[' + OTHER_HOOK.encode() + b"]}}",
    "minified, empty hooks": b'{"hooks":{}}',
    "tabs, CRLF, no final line break": (
        b'{\r\n\t"model" : "opus",\r\n\t"permissions": {\r\n\t\t"allow": [ "Bash" ]\r\n\t}\r\n}'
    ),
    "four spaces, other hooks": (
        b'{\n    "hooks": {\n        "Stop": [{"hooks": []}],\n        "UserPromptSubmit": [\n            '
        + OTHER_HOOK.encode()
        + b'\n        ]\n    },\n    "n": 1.50e0, "deep": [[ ]]\n}\n\n'
    ),
    "byte order mark": b'\xef\xbb\xbf{\n  "env": {"\xc3\xa9": "\\ud83d\\ude00 \xf0\x9f\x98\x80"}\n}\n',
    "empty lists and objects": (
        b'{\n  "hooks": {\n    "UserPromptSubmit": []\n  },\n  "enabledPlugins": {},\n  "x": null\n}\n'
    ),
    "other plugins": (
        b'{"enabledPlugins": {"a@b": true},\n "extraKnownMarketplaces": {"b": {"source": {"source": "github", "repo": '
        b'"b/b"}}}}'
    ),
}


@pytest.fixture
def user(private_home: Path) -> Path:
    path = private_home / ".claude/settings.json"
    path.parent.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / ".claude/settings.json"


def installed(*paths: Path) -> list[str]:
    """The places at which memsift stands: "hook", "shared hook", "plugin" or "marketplace", file by file."""
    found = []
    for path in paths:
        content = json.loads(path.read_text("utf-8-sig") or "{}") if path.exists() else {}
        commands = [
            one["command"] for group in content.get("hooks", {}).get("UserPromptSubmit", []) for one in group["hooks"]
        ]
        for name, command in (("hook", hook_command(AGENT)), ("shared hook", shared_entry(AGENT)["command"])):
            found += [f"{path.parent.parent.name}: {name}"] * commands.count(command)
        if content.get("enabledPlugins", {}).get(PLUGIN):
            found.append(f"{path.parent.parent.name}: plugin")
        if MARKETPLACE in content.get("extraKnownMarketplaces", {}):
            found.append(f"{path.parent.parent.name}: marketplace")
    return found


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("form", [(), ("--plugin",)], ids=["hook", "plugin"])
def test_a_file_is_byte_for_byte_as_before_after_uninstall(user: Path, form: tuple[str, ...]) -> None:
    for name, before in WILD.items():
        user.write_bytes(before)
        assert memsift("install", *form).exit_code == 0
        assert installed(user) == (["home: plugin", "home: marketplace"] if form else ["home: hook"]), name
        assert memsift("uninstall").exit_code == 0
        assert user.read_bytes() == before, name


def test_memsift_stands_in_one_place_of_a_scope_and_moves_there(user: Path, project: Path) -> None:
    user.write_bytes(WILD["minified"])
    local = project.with_name("settings.local.json")
    old = [{"command": "/old/python -I -S /old/engine/hook/launch.py", "timeout": 5}, {"command": "memsift-hook"}]
    put(local, json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": old}]}}))
    steps = {
        (): ["home: hook"],
        ("--project",): ["home: hook", "some project: shared hook"],
        ("--plugin",): ["home: plugin", "home: marketplace", "some project: shared hook"],
        ("--plugin", "--project"): ["home: plugin", "home: marketplace", "some project: plugin"],
        ("--user",): ["home: hook", "home: marketplace", "some project: plugin"],
    }
    start = Path(hook_start_file(os.environ))
    for options, places in steps.items():
        for _ in range(2):
            assert memsift("install", *options).exit_code == 0
            assert installed(user, project) == places
            assert [word for word in ("memsift", "/old/") if word in local.read_text("utf-8")] == []
            assert start.read_text("utf-8").splitlines()[0] == bare_interpreter()
    done = memsift("uninstall")
    assert done.stdout.splitlines() == [str(user)]
    assert "uninstall --project" in done.stderr
    assert user.read_bytes() == WILD["minified"]
    assert not start.exists()
    assert memsift("uninstall", "--project").stdout.splitlines() == [str(project)]
    assert not project.exists()


ENTRIES = (
    shared_entry(AGENT),
    {"command": "/other/python -I -S /other/engine/hook/launch.py"},
    {"command": "memsift-hook"},
)


def test_a_colleague_changes_nothing_that_the_team_has_committed(user: Path, project: Path) -> None:
    project.parent.mkdir()
    for entry in ENTRIES:
        hooks = {"UserPromptSubmit": [{"hooks": [entry]}]}
        before = json.dumps({"hooks": hooks, "enabledPlugins": {PLUGIN: True}})
        project.write_text(before, "utf-8")
        for command in (("install",), ("install", "--plugin"), ("install",), ("uninstall",)):
            assert memsift(*command).stdout.splitlines() == [str(user)]
            assert (project.read_text("utf-8"), [*project.parent.iterdir()]) == (before, [project])


def test_install_and_uninstall_say_what_they_changed_where_and_what_to_try_next(
    user: Path, project: Path, private_home: Path
) -> None:
    user.write_bytes(b'{"env": {"SECRET": "1"}}')
    first = memsift("install")
    assert first.stdout.splitlines() == [str(user)]
    (copy,) = (private_home / ".local/state/memsift/backups").iterdir()
    assert (copy.read_bytes(), stat.S_IMODE(copy.stat().st_mode)) == (b'{"env": {"SECRET": "1"}}', 0o600)
    assert first.stderr.splitlines() == [
        f"memsift: Put memsift into Claude Code: {user}. The file as it was: {copy}.",
        "memsift: Next: type a prompt in Claude Code, then run memsift activity.",
    ]
    written = user.read_bytes(), user.stat().st_mtime_ns
    again = memsift("install")
    assert (again.exit_code, again.stdout, "already installed" in again.stderr) == (0, "", True)
    assert (user.read_bytes(), user.stat().st_mtime_ns) == written
    assert "Next: start Claude Code" in memsift("install", "--plugin").stderr
    kept, how = "Labels, logs and settings of memsift stay", "Next, to put it back: memsift install"
    done = memsift("uninstall")
    assert done.stderr.splitlines()[0] == f"memsift: Took memsift out of Claude Code: {user}."
    assert (kept in done.stderr, done.stderr.endswith(f"{how}\n")) == (True, True)
    done = memsift("uninstall")
    assert (done.exit_code, done.stdout) == (0, "")
    assert ("nothing was changed" in done.stderr, kept in done.stderr) == (True, False)
    assert not project.parent.exists()
    memsift("install", "--agent", "qwen")
    done = memsift("uninstall", "--agent", "qwen")
    assert "Removed " in done.stderr
    assert done.stderr.endswith(f"{how} --agent qwen\n")
    memsift("install", "--project")
    assert memsift("uninstall", "--project").stderr.endswith(f"{how} --project\n")


@pytest.mark.usefixtures("project")
def test_uninstall_does_not_say_that_settings_it_cannot_read_are_without_memsift(user: Path) -> None:
    memsift("install")
    user.write_text(broken := user.read_text("utf-8") + "}", "utf-8")
    done = memsift("uninstall")
    assert (done.exit_code, done.stdout, user.read_text("utf-8")) == (2, "", broken)
    problem, last = done.stderr.splitlines()
    assert problem.startswith(f"memsift: {user}, line ")
    assert last == f"memsift: {UNREAD}"


def test_a_dry_run_shows_the_difference_and_writes_nothing(user: Path, project: Path, private_home: Path) -> None:
    user.write_bytes(WILD["four spaces, other hooks"])
    before = {path: path.read_bytes() for path in private_home.rglob("*") if path.is_file()}
    done = memsift("install", "--dry-run")
    added = [line for line in done.stdout.splitlines() if line.startswith("+") and "launch.py" in line]
    assert len(added) == 1
    assert "enabledPlugins" in memsift("install", "--plugin", "--project", "--dry-run").stdout
    assert {path: path.read_bytes() for path in private_home.rglob("*") if path.is_file()} == before
    assert not project.exists()
    memsift("install")
    assert [line for line in memsift("uninstall", "--dry-run").stdout.splitlines() if line.startswith("-")][1:]
    assert installed(user) == ["home: hook"]


def test_a_broken_settings_file_is_refused_with_its_line(user: Path, project: Path) -> None:
    for content, reason in (
        (b'{\n  // my hooks\n  "hooks": {}\n}\n', "line 2: holds a comment"),
        (b'{\n  "a": 1,\n  "hooks": []\n}\n', "line 3"),
        (b'{\n  "hooks": {\n    "UserPromptSubmit": {}\n  }\n}\n', "line 3"),
        (bytes(range(128, 256)), "not UTF-8"),
    ):
        user.write_bytes(content)
        line = refused(memsift("install"))
        assert str(user) in line
        assert reason in line
        assert memsift("install", "--project").exit_code == 0
        assert installed(project) == ["some project: shared hook"]
        assert memsift("uninstall", "--project").exit_code == 0
        assert user.read_bytes() == content
        assert not project.exists()


def test_where_one_of_two_files_cannot_be_written_both_stay(user: Path, project: Path) -> None:
    memsift("install")
    before = user.read_bytes()
    put(project, "{}")
    project.chmod(0o444)
    told = refused(memsift("install", "--plugin", "--project"))
    assert (str(project) in told, "memsift install --print" in told) == (True, True)
    assert (user.read_bytes(), project.read_bytes()) == (before, b"{}")


@pytest.mark.usefixtures("user")
def test_what_else_injects_or_stops_hooks_is_told(project: Path, private_home: Path) -> None:
    hook = {"type": "command", "command": 'python3 "$CLAUDE_PROJECT_DIR/hooks/scripts/memory_retrieve.py"'}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    put(project, json.dumps({**hooks, "disableAllHooks": True}))
    told = memsift("install").stderr
    assert f"{project} also runs the hook of claude-memory" in told
    assert f"{project} keeps memsift's hook from running, by disableAllHooks" in told
    project.unlink()
    plugin = private_home / ".claude/plugins/cache/memory"
    put(plugin / "hooks/hooks.json", json.dumps(hooks))
    place = {"version": 2, "plugins": {"claude-memory@m": [{"installPath": str(plugin)}]}}
    (private_home / ".claude/plugins/installed_plugins.json").write_text(json.dumps(place))
    assert "claude-memory" not in memsift("install").stderr
    project.write_text(json.dumps({"enabledPlugins": {"claude-memory@m": True}}))
    assert "claude plugin disable claude-memory@m" in memsift("install").stderr


@pytest.mark.usefixtures("user", "project")
def test_programs_that_slow_the_hook_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin/memsift-hook"
    put(script, "#!/usr/bin/python3\n# -*- coding: utf-8 -*-\nimport re\nimport sys\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    assert "pip" not in memsift("install").stderr  # its command does not run the script
    (told,) = slow_start(["memsift-hook"], bare_interpreter(), os.environ)
    assert f"{script} was written by a pip older than 25.2" in told
    launcher = str(shared_entry(AGENT)["command"])
    memsift("uninstall")
    assert len(slow_start([launcher], bare_interpreter(), os.environ)) == 1
    assert "pip" not in memsift("install", "--plugin").stderr  # it records a faster start
    assert slow_start([launcher], bare_interpreter(), os.environ) == ()
    script.write_text("#!/usr/bin/python3\nimport sys\n")
    (told,) = slow_start(["memsift-hook"], str(script), os.environ)
    assert f"{script} is a script that starts Python" in told


def test_in_the_home_folder_project_and_user_are_the_same(
    user: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(private_home)
    assert "--user" in memsift("install", "--project").stderr
    memsift("install")
    assert installed(user) == ["home: hook"]
    memsift("uninstall")
    assert not user.exists()


@pytest.mark.usefixtures("no_cutoff")
def test_the_first_prompt_after_install_finds_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more memories than a prompt could wait for, in the project's root and in the user's."""
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    notes = tmp_path / "notes"
    put(notes / "one.md", "# The treasure of zanzibar\n\nIt lies deep.\n")
    put(Path(config_file(os.environ)), f'roots = ["{notes}"]\n')
    assert memsift("install").exit_code == 0
    for root in (world.root, notes):
        index = hook_index(str(root), os.environ, 0.0)
        assert index
        assert len(index) > 0
        index.close()


def printed_entry(environ: dict[str, str]) -> dict[str, Any]:
    (group,) = printed(memsift("install", "--print", **environ))["hooks"]["UserPromptSubmit"]
    (entry,) = group["hooks"]
    assert isinstance(entry, dict)
    return entry


TIMEOUTS = (
    ({"MEMSIFT_DEADLINE": "0.05"}, 5),
    ({"MEMSIFT_DEADLINE": "2.1"}, 6),
    ({"MEMSIFT_JUDGE_TIMEOUT": "60"}, 5),
    ({"MEMSIFT_JUDGE_ENABLED": "true"}, 8),
    ({"MEMSIFT_JUDGE_ENABLED": "true", "MEMSIFT_JUDGE_TIMEOUT": "10.2"}, 16),
    ({"MEMSIFT_JUDGE_ENABLED": "true", "MEMSIFT_JUDGE_TIMEOUT": "60", "MEMSIFT_DEADLINE": "60"}, 123),
)


def test_the_timeout_leaves_three_seconds_after_the_deadlines_of_settings_that_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for environ, timeout in TIMEOUTS:
        assert printed_entry(environ)["timeout"] == timeout
    assert printed_entry({})["type"] == "command"
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    (world.root / CONFIG_FILE).write_text(json.dumps({"retrieval": {"deadline": 20}}), encoding="utf-8")
    assert printed_entry({})["timeout"] == 5
    assert "memsift trust" in memsift("install", "--print").stderr
    assert memsift("trust").exit_code == 0
    assert printed_entry({})["timeout"] == 23
    assert "MEMSIFT_DEADLINE" in refused(memsift("install", "--print", MEMSIFT_DEADLINE="soon"))
