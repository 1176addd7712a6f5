"""All coding agents that memsift works with, by name. A new agent is a module with an `AGENT`, and a line here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.agents.agent import Agent

MODULES: Mapping[str, str] = {
    "claude": "claude_code.agent",
    "codex": "codex",
    "gemini": "gemini",
    "qwen": "qwen",
    "copilot": "copilot",
    "opencode": "opencode",
}
"""The name of an agent, as people type it -> its module in this folder."""

NAMES = tuple(MODULES)
DEFAULT, OPTION = NAMES[0], "--agent"
"""The agent that is meant where none is named, and the option of the hook's command that names one."""

OF_DEFAULT = ("transcript", "history")
"""What the sources of its prompts name in its place."""


def agent_of(name: str) -> Agent:
    """The agent of that name; KeyError for any other name. Only its own module is loaded."""
    module = f"engine.agents.{MODULES[name]}"
    agent: Agent = __import__(module, fromlist=["AGENT"]).AGENT
    return agent


def all_agents() -> tuple[Agent, ...]:
    """All agents, in the order in which people see them."""
    return tuple(agent_of(name) for name in NAMES)


def unread_agents() -> tuple[Agent, ...]:
    """The agents whose sessions memsift does not read: their prompts are known from the hook's log alone."""
    return tuple(agent for agent in all_agents() if not agent.reader)


def title_of(name: str) -> str:
    """The name of an agent as people read it; *name* itself for an unknown one."""
    return agent_of(name).title if name in MODULES else name


def agent_in(source: str) -> str:
    """The title of the agent whose session a prompt's *source* names, such as `codex:SESSION`; empty for others."""
    name, colon, _ = source.partition(":")
    name = DEFAULT if name in OF_DEFAULT else name
    return title_of(name) if colon and name in MODULES else ""


def default_agent() -> Agent:
    """Claude Code, which is meant where nobody names an agent."""
    return agent_of(DEFAULT)
