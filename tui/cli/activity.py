"""`memsift activity`."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Annotated

import click

from engine.agents.registry import title_of
from engine.conversations.activity_log import FILTERS, LogTail, ledger, new_decisions, read_log
from engine.doctor.memories import MUTE_OFF, muted
from engine.lean.json_text import printed_json
from engine.lean.record import fields
from engine.paths import state_dir, state_home
from engine.wording import counted
from tui.cli.declaring import command, option
from tui.cli.options import EachRoot, ListForm, StoreFile
from tui.cli.output import output_of_roots, text_of
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from engine.conversations.activity_log import Log, LoggedPrompt
    from tui.cli.output import Output

SHOWN_HASH, SHOWN_PROMPT = 12, 60
LOOK_EVERY_S = 0.3
NO_LOG = "The hook has logged nothing here. Install it with memsift install, or find the fault with memsift doctor."


@command()
def activity(
    roots: EachRoot,
    kinds: Annotated[tuple[str, ...], option("--only", type=click.Choice(FILTERS))],
    last: Annotated[int, option("--last", metavar="N", type=click.IntRange(min=1), default=20)],
    memory_id: Annotated[str | None, option("--memory", metavar="ID")],
    follow: Annotated[bool, option("--follow")],
    no_root: Annotated[bool, option("--no-root")],
    db: StoreFile,
    form: ListForm,
) -> None:
    """Show the decisions of the hook: time, prompt, injected memories or the reason for none, and duration.

    A prompt is shown by the beginning of its SHA-256, or by its text if you allow that (memsift config set
    logging.prompts true). Counts of injections never change the ranking.

    Output: a line for each decision, the oldest first; or as JSON {decisions: [{time, prompt_sha256, prompt,
    session_id, system, injected, dropped, reason, fallback, characters, ms, agent}], broken}; `agent` is empty for
    Claude Code. With --memory: {memory, injected, first, last, dropped, relevant, irrelevant, tokens}. `tokens` is
    the approximate cost of its injections. With --follow, JSON is a line for each decision.

    \b
    Examples:
      memsift activity --only silent --last 50
      memsift activity --memory deploys-use-make

    --last: Show only the last N decisions.
    --memory: Instead of the list, show how often this memory was injected and relevant, and its cost in tokens.
    --follow: Print new decisions of all roots as they come, until Ctrl-C.
    --no-root: Show the log of prompts typed in folders without memories.
    --root: each root has its own log. Without the option, the logs of all roots are one list.
    --only: Only decisions that were silent (nothing injected), slow (500 ms or more) or a fallback (the judge gave
        no answer). Repeatable: all of them must hold.
    """
    if no_root and (roots or memory_id):
        raise click.UsageError("--no-root goes with neither --root nor --memory: this log belongs to no root.")
    if follow and memory_id:
        raise click.UsageError("--follow shows decisions, --memory sums them up: leave one out.")
    found = [] if no_root else opening.known_roots(roots, os.environ)
    for said in muted(found, os.environ):
        tell(f"{said}. To end it: {MUTE_OFF}")
    if follow:
        tails = [LogTail(state_dir(root, os.environ)) for root in found] or [LogTail(state_home(os.environ))]
        for text in followed(tails, kinds, last, form, time.sleep):
            click.echo(text, nl=False)
        return
    made = {"": _listed(read_log(state_home(os.environ)), kinds, last)} if no_root else {}
    for together in [[root] for root in found] if roots or no_root else [found]:
        log = read_log(*[state_dir(root, os.environ) for root in together])
        made[together[0]] = _ledger(together, memory_id, log, db) if memory_id else _listed(log, kinds, last)
    click.echo(output_of_roots(form, made), nl=False)


def followed(
    tails: Sequence[LogTail], kinds: Sequence[str], last: int, form: str, wait: Callable[[float], object]
) -> Iterator[str]:
    """The texts to print: at first the *last* decisions, then new ones, without end. *wait* gets seconds."""
    with contextlib.ExitStack() as opened:
        for tail in tails:
            opened.callback(tail.close)
        chosen = _chosen(new_decisions(tails), kinds)[-last:]
        while True:
            rows = (f"{printed_json(_row(decision))}\n" for decision in chosen)
            yield "".join(rows) if form == "json" else text_of(map(_line, chosen))
            wait(LOOK_EVERY_S)
            chosen = _chosen(new_decisions(tails), kinds)


def _chosen(log: Log, kinds: Sequence[str]) -> list[LoggedPrompt]:
    return [decision for decision in log.decisions if all(decision.is_of(kind) for kind in kinds)]


def _row(decision: LoggedPrompt) -> dict[str, Any]:
    return {**fields(decision), "dropped": [{"id": memory_id, "by": stage} for memory_id, stage in decision.dropped]}


def _listed(log: Log, kinds: Sequence[str], last: int) -> Output:
    chosen = _chosen(log, kinds)[-last:]
    if not log.decisions:
        tell(NO_LOG)
    if log.broken:
        tell(f"{counted(log.broken, 'line')} of the log cannot be read.")
    return {"decisions": [*map(_row, chosen)], "broken": log.broken}, text_of(map(_line, chosen))


def _line(decision: LoggedPrompt) -> str:
    prompt = " ".join(decision.prompt.split())[:SHOWN_PROMPT] or decision.prompt_sha256[:SHOWN_HASH]
    outcome = ", ".join(decision.injected) if decision.injected else f"nothing: {decision.reason or 'no memory'}"
    fallback = f"  fallback: {decision.fallback}" if decision.fallback else ""
    agent = f"  in {title_of(decision.agent)}" if decision.agent else ""
    return f"{decision.time}  {decision.ms:7.1f} ms  {prompt}  -> {outcome}{fallback}{agent}"


def _ledger(roots: Sequence[str], memory_id: str, log: Log, db: str | None) -> Output:
    from engine import inject
    from engine.quality.checks.memories import tokens
    from labels.records import NOT_RELEVANT, RELEVANT
    from tui.workspace.curate.curating import memories_of, named
    from tui.workspace.curate.findings import agreed_verdicts

    (found,) = named([memory_id], memories_of([*map(os.path.realpath, roots)]))
    counts = ledger(memory_id, log.decisions)
    verdicts = agreed_verdicts(found.root, {memory_id: found.memory.digest}, db, os.environ)
    relevant, irrelevant = (verdicts.count((memory_id, verdict)) for verdict in (RELEVANT, NOT_RELEVANT))
    mode = opening.settings_of(found.root, os.environ).config.output_mode
    cost = counts.injected * tokens(inject.entry(found.memory, "high", mode))
    row = {"memory": memory_id, **fields(counts), "dropped": dict(counts.dropped)}
    row |= {"relevant": relevant, "irrelevant": irrelevant, "tokens": cost}
    dropped = ", ".join(f"{count} by {stage}" for stage, count in counts.dropped) or "never"
    lines = [
        f"{memory_id}: injected {counted(counts.injected, 'time')}, about {counted(cost, 'token')}",
        f"  first {counts.first or 'never'}, last {counts.last or 'never'}",
        f"  dropped: {dropped}",
        f"  labels of its present text: {relevant} relevant, {irrelevant} not relevant",
    ]
    return row, text_of(lines)
