"""The example data with labels: the relevant memories of its qrels, and all others not relevant."""

from labels.exchange.trec import read_qrels
from tests.labels.samples import known
from tests.tui.demo import DEMO, replay
from tui.workspace.workspace import Workspace


def replay_and_label(workspace: Workspace, prompts: int | None = None) -> None:
    """Run every prompt through every system, and label the pools of the first *prompts*, or of all."""
    truth = read_qrels(DEMO / "qrels.txt")
    with workspace.store.together():
        replay(workspace)
        for prompt in workspace.prompts[:prompts]:
            for card in known(workspace.pool(prompt.id)).cards:
                verdict = "relevant" if truth.get(prompt.id, {}).get(card.memory.id) else "not"
                workspace.store.label("me", prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=1, titles=0)
