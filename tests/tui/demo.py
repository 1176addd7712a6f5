"""The example project `demo`, workspaces over it, and judges for tests. No test of a command needs more: no Textual."""

from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event
from typing import Any

from engine.config import Config
from engine.conversations.prompt_files import read_prompts
from engine.cutoff import Cutoff, default_cutoff
from engine.judge.judge import Judge
from engine.judge.prompts import parse_request
from engine.judge.provider import Completion, Provider, Question
from engine.judge.providers.scripted import ScriptedProvider
from engine.prompt import Prompt
from engine.settings.sources import read_config
from labels.store import LabelStore
from tui.workspace.workspace import Workspace

DEMO = Path(__file__).resolve().parents[1] / "example_projects" / "demo"
DEMO_ROOT = DEMO / "memory"
DEADLINE_S = 20.0
NOW = 1793491200.0
"""2026-11-01 in seconds since 1970: ages of memories in tests do not change from day to day."""


def demo_prompts(*ids: str) -> tuple[Prompt, ...]:
    """The demo's prompts: all, or the prompts with *ids*, in that order."""
    found = {prompt.id: prompt for prompt in read_prompts([str(DEMO / "prompts.jsonl")]).prompts}
    return tuple(found[name] for name in ids or found)


def scripted(config: Config) -> Judge:
    """The demo's judge, without its delays."""
    return Judge(ScriptedProvider.from_file(str(DEMO / "judge.jsonl"), sleep=lambda _: None), config.judge)


def make_workspace(
    store: Path,
    *,
    root: Path = DEMO_ROOT,
    judge: Callable[[Config], Judge] | None = scripted,
    prompts: Iterable[Prompt] | None = None,
    busy_timeout_s: float = 10.0,
    now: float = NOW,
    kind: type[Workspace] = Workspace,
    **options: Any,
) -> Workspace:
    """A workspace over *root* with the label store at *store*. *judge* makes a judge from the root's configuration.

    It has no cutoff, unlike the app's own, unless `cutoff` names one, and no list cards without `draw`: most tests are
    about other things.
    """
    config = read_config(str(root), {}).config
    return kind(
        str(root),
        config,
        LabelStore.open(store, busy_timeout_s=busy_timeout_s),
        judge=judge(config) if judge else None,
        now=lambda: now,
        prompts_of_files=demo_prompts() if prompts is None else tuple(prompts),
        **{"draw": lambda *_: 0.0, **options},
    )


def fresh_cutoff() -> Cutoff | None:
    """The demo's cutoff after a fresh install."""
    return default_cutoff(read_config(str(DEMO_ROOT), {}).config)


def replay(workspace: Workspace, *prompts: Prompt) -> None:
    """Run *prompts*, or the whole sample, through every system, and keep the answers."""
    for prompt in prompts or workspace.prompts:
        for system in workspace.systems:
            workspace.keep(workspace.run(prompt, system))


class GatedProvider(Provider):
    """Rejects every memory, and answers a prompt only when its gate is open. Open all gates before the test ends."""

    name = model = "gated"

    def __init__(self) -> None:
        self.gates: dict[str, Event] = {}
        self.asked: list[str] = []

    def hold(self, text: str) -> Event:
        """Let the prompt *text* wait until the returned event is set."""
        return self.gates.setdefault(text, Event())

    def open_all(self) -> None:
        for gate in self.gates.values():
            gate.set()

    def hide(self, text: str) -> str:
        return text

    def prepare(self) -> None:
        """There is nothing to load."""

    def close(self) -> None:
        """There is nothing to close."""

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        text, _ = parse_request(question.user)
        self.asked.append(text)
        if text in self.gates:
            self.gates[text].wait(DEADLINE_S)
        return Completion('{"keep": []}')
