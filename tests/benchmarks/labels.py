"""The cost of a large label store: milliseconds of each query, and bytes on disk.

    python -m tests.benchmarks.labels [--prompts 10000] [--cards 5] [--rounds 5] [--folder FOLDER]

Two people label half of the prompts each, and a tenth of all together. Every prompt has retrievals of two systems with
eight candidates. "Between two cards" does all that the Label screen does: it writes the event, finds the next card and
makes the progress line. With --folder the store is kept for the next run.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from engine.judge.verdict import APPROVED, OK, REJECTED, Judgement, Verdict
from engine.memory import MemorySummary
from engine.prompt import Prompt
from engine.retrieval import HIGH, Candidate, Retrieval
from engine.settings.sources import read_config
from labels import runs
from labels.database import LabelDatabase
from labels.pooling import pool
from labels.records import NOT_RELEVANT, RELEVANT, Pool
from labels.store import LabelStore
from tests.engine.builders import memory, write_root
from tui.workspace.labelling import LabelQueue
from tui.workspace.workspace import Workspace

SYSTEMS = ("memsift", "memsift+judge")
CANDIDATES, INJECTED = 8, 3
MEMORIES = 500
TS = "2025-06-01T12:00:00.000+00:00"


def prompt(number: int) -> Prompt:
    return Prompt(f"{number:016x}", f"how does thing {number % MEMORIES} work together with the rest of it?")


def retrieval(number: int, system: str, summaries: list[MemorySummary], cards: int) -> Retrieval:
    """Candidates that overlap between the systems, so that both together inject *cards*."""
    judge = SYSTEMS.index(system)
    shift = (cards - INJECTED) * judge
    found, verdicts = [], []
    for rank in range(1, CANDIDATES + 1):
        one = summaries[(number * 7 + rank) % MEMORIES]
        injected = shift < rank <= shift + INJECTED
        dropped_by = None if injected else "judge" if judge else "cap"
        found.append(Candidate(one, rank, -9.0, 0, -9.0 + rank, 1.0, HIGH, ("thing",), None, 0.5, dropped_by))
        verdicts.append(Verdict(one.id, APPROVED if injected else REJECTED, OK, "It is about the same thing."))
    judgement = Judgement(OK, tuple(verdicts), "scripted", "none", "0123456789abcdef", 210.0) if judge else None
    return Retrieval(prompt(number), system, "auto", "memsift", tuple(found), judgement, "", 1.5)


def fill(path: Path, root: str, summaries: list[MemorySummary], prompts: int, cards: int) -> None:
    """Write the store in one transaction: a transaction for each key press would take too long."""
    db = LabelDatabase(path)
    with db.writing():
        made = {system: runs.record_run(db, root, system, "{}", "c", TS) for system in SYSTEMS}
        for one in summaries:
            runs.record_memory(db, one, "A body of some length. " * 20)
        for number in range(prompts):
            both = [retrieval(number, system, summaries, cards) for system in SYSTEMS]
            runs.record_prompt(db, prompt(number))
            for each in both:
                runs.record_results(db, made[each.system], each, TS)
            pooled = pool(both, 1)
            for card in pooled.cards:
                runs.record_card(db, pooled, card, TS)
            for who in annotators(number, prompts):
                press_all(db, who, number, pooled)
    db.close()


def annotators(number: int, prompts: int) -> list[str]:
    """Half of the prompts are ann's, half bob's, a tenth of all both's; the first is nobody's."""
    both = ["ann", "bob"]
    return [] if number == 0 else both if number % 10 == 0 else [both[number * 2 // prompts]]


def press_all(db: LabelDatabase, who: str, number: int, pooled: Pool) -> None:
    for card in pooled.cards:
        verdict = RELEVANT if hash((number, card.position, who)) % 3 == 0 else NOT_RELEVANT
        row = {"uid": f"{who}{number:08x}{card.position:08x}".ljust(32, "0"), "ts": TS, "session": "s", "source": ""}
        row |= {"annotator": who, "prompt_id": pooled.prompt.id, "action": "label", "verdict": verdict, "reason": ""}
        row |= {"memory_id": card.memory.id, "digest": card.memory.digest, "note": "", "blind": 1, "repeat": 0}
        row |= {"position": card.position, "seed": 1, "elapsed_ms": 3000, "guideline": "", "app_version": "0"}
        db.insert("label_event", row)


def between_two_cards(workspace: Workspace, queue: LabelQueue, one: Prompt) -> Callable[[], object]:
    """All work from a key press until the next card is shown."""
    cards = iter(range(10**9))

    def press() -> None:
        at = queue.position(one)
        assert at is not None
        card = at.pool.cards[next(cards) % len(at.pool.cards)]
        workspace.store.label("ann", one.id, card, RELEVANT, seed=1, blind=True, elapsed_ms=3000)
        at = queue.position(one)
        queue.after(one)
        queue.due(one)
        queue.progress(at)
        workspace.store.recent("ann", repeats=True)

    return press


def timed(what: str, action: Callable[[], object], rounds: int) -> None:
    """Print the medians of *rounds*: elapsed time and time of CPU."""
    waits, works = [], []
    for _ in range(rounds):
        start, worked = time.perf_counter(), time.process_time()
        action()
        works.append((time.process_time() - worked) * 1000)
        waits.append((time.perf_counter() - start) * 1000)
    print(f"{what:<42} {median(waits):9.1f} ms {median(works):9.1f} ms of CPU")


def measure(workspace: Workspace, rounds: int) -> None:
    store, root = workspace.store, workspace.index.root
    queue = LabelQueue(workspace)
    one = workspace.prompts[0]
    for system in SYSTEMS:
        workspace._retrievals[one.id, system] = retrieval(0, system, workspace.index.summaries(), 5)
    timed("between two cards", between_two_cards(workspace, queue, one), rounds * 10)
    timed("the queue, when the screen is opened", lambda: LabelQueue(workspace), rounds)
    questions: dict[str, Callable[[], object]] = {
        "labels of everybody": store.labels,
        "labels of one root": lambda: store.labels(root=root),
        "labels of one person": lambda: store.labels("ann"),
        "labels of one prompt": lambda: store.labels("ann", one.id),
        "gold": lambda: store.gold(root),
        "disputes": lambda: store.disputes(root),
        "repeats": lambda: store.repeats(root),
        "events, all": store.events,
        "events, the last 100": lambda: store.events("bob", 100),
        "recent, of somebody with no label": lambda: store.recent("nobody"),
        "outcomes": lambda: store.outcomes(root),
        "returned texts": lambda: store.returned_texts(root),
        "prompts that are left out": store.preferred_prompts,
        "undo and label again": lambda: store.undo("ann"),
    }
    for what, question in questions.items():
        timed(what, question, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--cards", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        root, path = folder / "memory", folder / "labels.db"
        if not root.exists():
            write_root(root, [memory(f"thing {number} works") for number in range(MEMORIES)])
        store = LabelStore.open(path)
        prompts = tuple(prompt(number) for number in range(options.prompts))
        workspace = Workspace(
            str(root), read_config(str(root), {}).config, store, prompts_of_files=prompts, annotator="ann"
        )
        if not store.events(limit=1):
            start = time.perf_counter()
            fill(path, workspace.index.root, workspace.index.summaries(), options.prompts, options.cards)
            print(f"{'filling the store':<42} {(time.perf_counter() - start) * 1000:9.0f} ms")
        print(f"{'labels':<42} {len(store.labels()):9,}")
        timed("opening the store", lambda: LabelStore.open(path).close(), options.rounds)
        measure(workspace, options.rounds)
        workspace.close()
        print(f"{'file':<42} {path.stat().st_size / 1e6:9.1f} MB")


if __name__ == "__main__":
    main()
