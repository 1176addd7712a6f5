"""The hook's log as rows: each decision with the text of its prompt, narrowed and sorted."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from time import time as now
from typing import TYPE_CHECKING

from engine.agents.registry import title_of
from engine.conversations.activity import LOG_FILE
from engine.conversations.activity_log import FALLBACK, SILENT, SLOW, read_log
from engine.errors import MemsiftError
from engine.lean.record import Record, replace
from engine.paths import state_dir
from engine.prompt import typed_prompt
from engine.settings import muting
from engine.stores.roots import roots_in
from tui.workspace.filtering import RowKind, RowOrder, RowRules, folded
from tui.workspace.sources import file_stamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.conversations.activity_log import LoggedPrompt
    from engine.prompt import Prompt
    from engine.roots import OpenIndex
    from labels.records import Gold
    from tui.workspace.workspace import Workspace

NEWEST, SLOWEST, MOST, BY_PROMPT = "newest", "slowest", "most", "prompt"
LEVELS, MOST_WEEKS = "▁▂▃▄▅▆▇█", 12
NO_TEXT = "(its text was not kept)"


class ActivityEntry(Record):
    """A decision of the hook. `number` is its place in the log. `prompt`: its text, or empty if no file has it.

    `injected` are the names of the memories, or their ids if they are not there any more. `prompt_id` is the id of a
    prompt with this text that the workspace or the label store has; empty if there is none. `words` are its texts in
    lower case.
    """

    number: int
    decision: LoggedPrompt
    injected: tuple[str, ...]
    prompt: str
    prompt_id: str
    words: str

    @property
    def name(self) -> str:
        """The prompt's text, or a word about its absence."""
        return self.prompt or NO_TEXT

    @property
    def outcome(self) -> str:
        """The injected memories, or why there are none; and what the judge fell back to."""
        decision = self.decision
        said = ", ".join(self.injected) or decision.reason or "no memory"
        return f"{said} · fallback: {decision.fallback}" if decision.fallback else said


class Week(Record):
    """The injections of the hook in the week from Monday `first`, an ISO date: `relevant` of the `labelled` ones."""

    first: str
    relevant: int = 0
    labelled: int = 0

    @property
    def share(self) -> float:
        return self.relevant / self.labelled

    @property
    def day(self) -> str:
        """The Monday in words, as in "9 Nov"."""
        return f"{date.fromisoformat(self.first):%-d %b}"


def weeks_of(decisions: Iterable[LoggedPrompt], ids: Mapping[str, str], gold: Iterable[Gold]) -> tuple[Week, ...]:
    """The weeks of a log that have labelled injections, oldest first. *ids*: SHA-256 of a prompt's text -> its id."""
    from labels.records import NOT_RELEVANT, RELEVANT

    verdicts = {(label.prompt_id, label.memory_id): label.verdict for label in gold}
    found: dict[str, Counter[str]] = {}
    for decision in decisions if verdicts else ():
        with suppress(ValueError):
            day = date.fromisoformat(decision.time[:10])
            counts = found.setdefault((day - timedelta(days=day.weekday())).isoformat(), Counter())
            prompt_id = ids.get(decision.prompt_sha256, "")
            counts.update(verdicts.get((prompt_id, memory_id), "") for memory_id in decision.injected)
    weeks = (Week(first, c[RELEVANT], c[RELEVANT] + c[NOT_RELEVANT]) for first, c in sorted(found.items()))
    return tuple(week for week in weeks if week.labelled)


def weeks_line(weeks: Sequence[Week], *, in_words: bool = False) -> str:
    """The relevant share of the last weeks as bars, and of the first and last in percent; empty for a single week."""
    last = weeks[-MOST_WEEKS:]
    if len(last) < 2:
        return ""
    bars = "" if in_words else "".join(LEVELS[round(week.share * (len(LEVELS) - 1))] for week in last) + " "
    return f"relevant by week {bars}{100 * last[0].share:.0f} % to {100 * last[-1].share:.0f} %"


class ActivityLog(Record):
    """The entries of a log, newest first, and the number of lines that cannot be read.

    `weeks`: see `weeks_of`. `stamps`: size and time of its files. Of an empty log, `is_installed` says whether an agent
    runs the hook, and `stopped_by` is a sentence about the setting that keeps an installed hook from running, or empty.
    """

    entries: tuple[ActivityEntry, ...] = ()
    broken: int = 0
    weeks: tuple[Week, ...] = ()
    stamps: tuple[tuple[str, int, int], ...] = ()
    is_installed: bool = True
    stopped_by: str = ""


def log_stamps(roots: Iterable[str], environ: Mapping[str, str]) -> tuple[tuple[str, int, int], ...]:
    """Path, size and time of each file of the logs."""
    return file_stamps(f"{state_dir(root, environ)}/{name}" for root in roots for name in (f"{LOG_FILE}.1", LOG_FILE))


def read_activity(index: OpenIndex, prompts: Iterable[Prompt], store: Path, environ: Mapping[str, str]) -> ActivityLog:
    """The logs of the roots of *index*. A text that a log does not hold is looked for in *prompts* and the label store.

    Any thread may call it. Raises LabelStoreError.
    """
    from labels.store import LabelStore

    roots, names = roots_in(index.root), {memory.id: memory.name for memory in index.summaries()}
    stamps = log_stamps(roots, environ)
    log = read_log(*[state_dir(root, environ) for root in roots])
    texts = {digest_of(prompt.text): (prompt.id, prompt.text) for prompt in prompts}
    with LabelStore.open(store) as labels:
        for prompt_id, text in labels.prompt_texts().items():
            texts.setdefault(digest_of(text), (prompt_id, text))
        gold = [label for root in roots for name in labels.names_with(root) for label in labels.gold(name)]
    entries = [_entry(number, decision, texts, names) for number, decision in enumerate(log.decisions)]
    weeks = weeks_of(log.decisions, {digest: prompt_id for digest, (prompt_id, _) in texts.items()}, gold)
    is_installed, stopped_by = (True, "") if entries else _hook_state(environ)
    return ActivityLog(tuple(reversed(entries)), log.broken, weeks, stamps, is_installed, stopped_by)


EVERYWHERE, NEWEST_SESSION, NOWHERE = "today", "session", "off"
MUTES = {
    EVERYWHERE: "In this project, until the end of today",
    NEWEST_SESSION: "In the newest session that the hook saw here",
    NOWHERE: "Not at all: inject memories again",
}


def mute(root: str, how: str, environ: Mapping[str, str]) -> str:
    """Let the hook inject nothing for *root*, as one of MUTES says, and give a sentence about it.

    Raises MemsiftError if there is no session to mute.
    """
    folder = state_dir(root, environ)
    if how == NOWHERE:
        muting.unmute(folder)
        return f"Not muted any more: {root}."
    if how == EVERYWHERE:
        tomorrow = datetime.now().astimezone().date() + timedelta(days=1)
        muting.mute(folder, datetime.combine(tomorrow, time.min).astimezone().timestamp())
        return f"Muted until the end of today: {root}."
    found = [decision.session_id for decision in read_log(folder).decisions if decision.session_id]
    if not found:
        raise MemsiftError("The hook has logged no session here. It can still be muted in all, until the end of today.")
    muting.mute(folder, now() + muting.SESSION_S, found[-1])
    return f"Muted in the session {found[-1]}: {root}."


def is_muted(root: str, environ: Mapping[str, str]) -> bool:
    """Whether the hook of *root* is muted now, everywhere or in a session."""
    return muting.muted_session(state_dir(root, environ), now()) is not None


def _hook_state(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether a coding agent, started in this folder, runs the hook; if none, a setting that stops an installed one."""
    from engine.agents.prompt_hooks import hook_ruling, own_hooks
    from engine.agents.registry import all_agents
    from engine.agents.settings_files import settings_files

    found = [settings_files(agent, str(Path.cwd()), environ) for agent in all_agents()]
    rulings = [hook_ruling(files, environ) for files in found if own_hooks(files, environ)]
    if any(ruling.runs for ruling in rulings):
        return True, ""
    return False, next((f"{ruling.text}. {ruling.remedy}" for ruling in rulings if ruling.key), "")


def digest_of(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _entry(
    number: int, decision: LoggedPrompt, texts: Mapping[str, tuple[str, str]], names: Mapping[str, str]
) -> ActivityEntry:
    prompt_id, text = texts.get(decision.prompt_sha256, ("", ""))
    text = decision.prompt or text
    injected = tuple(names.get(memory_id, memory_id) for memory_id in decision.injected)
    said = (text, *decision.injected, *injected, decision.reason, decision.fallback)
    words = folded((*said, decision.time, decision.session_id, title_of(decision.agent)))
    return ActivityEntry(number, decision, injected, text, prompt_id, words)


RULES = RowRules(
    orders={
        NEWEST: RowOrder("When, the newest first"),
        BY_PROMPT: RowOrder("Prompt", lambda entry: entry.name.casefold(), is_rising=True),
        MOST: RowOrder("Injected memories, the most first", lambda entry: len(entry.decision.injected)),
        SLOWEST: RowOrder("Time, the slowest first", lambda entry: entry.decision.ms),
    },
    kinds={
        "": RowKind("all prompts"),
        "injected": RowKind("Injected something", lambda entry: bool(entry.decision.injected)),
        SILENT: RowKind("Silent: nothing was injected", lambda entry: entry.decision.is_of(SILENT)),
        SLOW: RowKind("Slow: half a second or more", lambda entry: entry.decision.is_of(SLOW)),
        FALLBACK: RowKind("Fallback: the judge could not answer", lambda entry: entry.decision.is_of(FALLBACK)),
    },
)
"""The entries as they stand in the log are the newest first."""


def prompt_of(entry: ActivityEntry, workspace: Workspace) -> Prompt | None:
    """The prompt of an entry as the workspace or the label store has it, with its turns; else its text alone.

    None if its text is unknown. Raises LabelStoreError.
    """
    known = workspace.lists.known(entry.prompt_id)
    if known or not entry.prompt:
        return known
    decision = entry.decision
    return replace(typed_prompt(entry.prompt), session_id=decision.session_id, timestamp=decision.time)


class SampledPrompts(Record):
    """The prompts that were added to the sample. `known` were in it before; of `unknown` no file has the text."""

    prompts: tuple[Prompt, ...]
    known: int
    unknown: int

    @property
    def sentence(self) -> str:
        parts = (
            [f"{len(self.prompts):,} added to the sample, chosen by hand: {{go.label}} labels them"]
            if self.prompts
            else []
        )
        parts += [f"{self.known:,} in the sample already"] if self.known else []
        parts += [f"{self.unknown:,} of unknown text, which cannot be labelled"] if self.unknown else []
        return f"{'; '.join(parts)}."


def add_to_sample(entries: Iterable[ActivityEntry], workspace: Workspace) -> SampledPrompts:
    """Add the prompts of *entries* to the labelled sample, as chosen by hand. Raises LabelStoreError."""
    prompts = [prompt_of(entry, workspace) for entry in entries]
    found = {prompt.id: prompt for prompt in prompts if prompt}
    added = []
    for prompt in found.values():
        workspace.lists.add(prompt)
        if workspace.lists.is_scratch(prompt):
            workspace.lists.choose(prompt)
            added.append(workspace.lists.find(prompt.id) or prompt)
    return SampledPrompts(tuple(added), len(found) - len(added), sum(prompt is None for prompt in prompts))
