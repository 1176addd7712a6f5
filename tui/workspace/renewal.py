"""A workspace takes what changed in its sources: settings and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.roots import OpenRoot

if TYPE_CHECKING:
    from engine.claude_code.prompt_files import PromptReading
    from tui.workspace.sources import Settings
    from tui.workspace.workspace import Workspace


def differ(settings: Settings, workspace: Workspace) -> bool:
    """Whether *workspace* goes by other settings."""
    return _comparable(settings) != _comparable(workspace)


def take_settings(workspace: Workspace, settings: Settings) -> None:
    """Let *workspace* go by *settings*. A changed judge waits for an agreement again. Raises ConfigError."""
    judge = workspace.judge
    if workspace.sources and workspace.config.judge != settings.config.judge:
        judge = workspace.sources.judge_of(settings.config)
    workspace.notice = settings.notice
    workspace.configure(settings.config, settings.cutoff, judge, settings.others)


def take_prompts(workspace: Workspace, reading: PromptReading) -> bool:
    """Let *workspace* have the prompts of the files as they are now; False if nothing differs."""
    before = workspace.lists.all, workspace.unread_prompts
    workspace.lists.read(reading.prompts)
    workspace.unread_prompts = reading.skipped
    return before != (workspace.lists.all, workspace.unread_prompts)


def _comparable(source: Settings | Workspace | OpenRoot) -> tuple[object, ...]:
    """All that equal settings have in common."""
    cutoff = source.cutoff and (source.cutoff.kind, source.cutoff.model, source.cutoff.threshold)
    others = () if isinstance(source, OpenRoot) else tuple(map(_comparable, source.others))
    return source.config, cutoff, others
