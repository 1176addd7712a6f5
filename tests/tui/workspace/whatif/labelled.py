"""The example data with labels: the relevant memories of its qrels, and all others not relevant."""

from pathlib import Path

from labels.exchange.trec import read_qrels
from tests.tui.demo import DEMO
from tui.workspace.workspace import Workspace


def replay_and_label(workspace: Workspace, prompts: int | None = None) -> None:
    """Run every prompt through every system, and label the pools of the first *prompts*, or of all."""
    truth = read_qrels(Path(DEMO) / "qrels.txt")
    with workspace.store.together():
        for number, prompt in enumerate(workspace.prompts):
            for system in workspace.systems:
                workspace.keep(workspace.run(prompt, system))
            pool = workspace.pool(prompt.id)
            for card in pool.cards if pool and (prompts is None or number < prompts) else ():
                verdict = "relevant" if truth.get(prompt.id, {}).get(card.memory.id) else "not"
                workspace.store.label("me", prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=1, titles=0)
