"""The memories that an agent loads by itself are not injected into it, and are injected into others."""

import json
from pathlib import Path

import pytest

from engine.agents.registry import DEFAULT, NAMES, agent_of
from engine.settings.roots import offered_roots
from tests.engine.agents.test_forms import sent
from tests.engine.builders import fillers, put, write_root
from tests.engine.hook.world import World

LOADED_BY = {
    "project/AGENTS.md": {"claude", "codex", "qwen", "copilot", "opencode"},
    "project/below/AGENTS.md": {"claude", "copilot", "opencode"},
    "AGENTS.md": {"claude", "qwen"},
    "project/CLAUDE.md": {"claude", "copilot", "opencode"},
    "home/.claude/CLAUDE.md": {"claude", "opencode"},
    "project/GEMINI.md": {"gemini", "copilot"},
    "project/below/GEMINI.md": {"gemini", "copilot"},
    "notes/GEMINI.md": set(),
    "home/.gemini/GEMINI.md": {"gemini"},
    "project/QWEN.md": {"qwen"},
    "project/below/QWEN.md": set(),
    "home/.qwen/AGENTS.md": {"qwen", "claude"},
    "project/.github/copilot-instructions.md": {"copilot"},
    "home/.copilot/copilot-instructions.md": {"copilot"},
    "project/.github/instructions/tests.instructions.md": {"copilot"},
    "project/.claude/rules/tests.md": {"claude", "copilot"},
    "home/.claude/projects/p/memory/MEMORY.md": {"claude"},
}
"""A file -> the agents, started in the project, that load it: measured with the versions in the agents' modules.

A file below the project counts for the agents that load it when they read a file beside it. Of Claude Code, a file of
its names counts in any folder: app and commands, which are started anywhere, drop the same memories as its hook.
"""


@pytest.mark.parametrize("file", LOADED_BY)
def test_a_file_is_injected_into_the_agents_that_do_not_load_it(tmp_path: Path, file: str) -> None:
    world = World(tmp_path)
    write_root(world.root, fillers(20))
    (world.project / ".git").mkdir()
    rules = world.folder / file
    put(rules, "# Rules\n\n## Token ledger\n\n- Never log the token ledger.\n")
    root = rules.parent if rules.name == "MEMORY.md" else rules
    put(world.home / ".config/memsift/config.toml", f"roots = [{json.dumps(str(root))}]\n")
    asked = "where do we log the token ledger?"
    answers = {name: sent(name, world, prompt=asked, session_id=name, sessionId=name) for name in NAMES}
    answers[DEFAULT] = world.send(asked, session_id="of the command that names no agent")
    assert {name for name, answer in answers.items() if "oken ledger" not in answer} == LOADED_BY[file]


def test_the_memories_that_agents_keep_are_offered(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    slug = agent_of("qwen").places_of_memories(str(project), {"HOME": str(home)})[0]
    places = [home / ".codex/memories/note.md", Path(slug) / "note.md", home / ".gemini/GEMINI.md", project / "QWEN.md"]
    for place in (*places, project / "README.md", home / ".qwen/projects/-other/memory/note.md"):
        put(place, "# Token ledger\n\nNever log it.\n")
    (project / ".git").mkdir()
    found = {*offered_roots(str(project), {"HOME": str(home)})}
    assert found == {str(place.parent if place.name == "note.md" else place) for place in places}
