"""Facts about memories beside their text: how often they were injected, their labels, prompts and changes."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.conversations.activity import LOG_FILE
from engine.conversations.activity_log import injections, read_log
from engine.curation.journal import Journal
from engine.errors import CurationError
from engine.lean.record import Record
from engine.paths import journal_file, project_of, state_dir, trust_file
from engine.phrases.file import phrases_files
from engine.quality.checks.memories import seconds
from engine.quality.registry import Usage
from engine.stores.files import is_inside
from engine.stores.roots import roots_in
from engine.stores.writing import writing_of
from tui.workspace.activity_rows import digest_of, weeks_of
from tui.workspace.curate.asked import read_asked
from tui.workspace.filtering import RowOrder
from tui.workspace.sources import file_stamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from engine.conversations.activity_log import LoggedPrompt
    from engine.curation.journal import Deed
    from engine.memory import MemorySummary
    from engine.quality.registry import Finding
    from engine.roots import OpenIndex
    from engine.stores.writing import Writing
    from tui.workspace.activity_rows import Week
    from tui.workspace.curate.asked import AskedAs

    T = TypeVar("T")

TOKENS_PER_WORD = 4 / 3
"""In most texts three words are about four tokens of a model."""

TITLE, CATEGORY, STATUS, UPDATED, INJECTED, PRECISION, TOKENS, FINDINGS = (
    *("title", "category", "status", "updated", "injected", "precision", "tokens", "findings"),
)
ANY = "any"
"""Narrows to the memories with a finding of any check."""

MOST_RELATED = 20
AUTO_MEMORY = "auto memory"


class Pulled(Record):
    """A prompt that pulled a memory in, the label of the pair, and the judge's decision; each may be empty."""

    prompt_id: str
    label: str = ""
    decision: str = ""


class Facts(Record):
    """Facts by memory id. `usage`: injections and labels of the present text. `words`: the number of words.

    `prompts`: the prompts for which a system injected the memory, as far as the annotator has labelled the memory or
    seen their results. The others are in `hidden`: their labels stay blind until a person asks to see them. `texts`:
    prompt id -> text. `deeds`: the changes in the journal, oldest first. `asked`: the phrases. `findings`: those of
    cheap checks, the worst first. `weeks`: the relevant ones of the hook's injections. `now`: the time of the reading,
    in seconds since 1970. `has_dates`: whether any memory has one.
    """

    usage: Mapping[str, Usage] = {}
    words: Mapping[str, int] = {}
    prompts: Mapping[str, tuple[Pulled, ...]] = {}
    hidden: Mapping[str, tuple[str, ...]] = {}
    texts: Mapping[str, str] = {}
    deeds: Mapping[str, tuple[Deed, ...]] = {}
    asked: Mapping[str, tuple[AskedAs, ...]] = {}
    findings: Mapping[str, tuple[Finding, ...]] = {}
    weeks: tuple[Week, ...] = ()
    now: float = 0.0
    has_dates: bool = False

    def known(self) -> dict[str, bool]:
        """Order of a fact -> whether any memory has it."""
        usage = self.usage.values()
        return {
            UPDATED: self.has_dates,
            TOKENS: bool(self.words),
            INJECTED: any(known.injected for known in usage),
            PRECISION: any(known.relevant or known.irrelevant for known in usage),
            FINDINGS: bool(self.findings),
        }

    def injected(self, memory_id: str) -> int:
        return self.usage[memory_id].injected if memory_id in self.usage else 0

    def labelled(self, memory_id: str) -> tuple[int, int]:
        """The number of labels that say relevant, and of labels with a verdict."""
        usage = self.usage.get(memory_id)
        return (usage.relevant, usage.relevant + usage.irrelevant) if usage else (0, 0)

    def found(self, memory_id: str) -> tuple[Finding, ...]:
        """The findings about a memory, the worst first."""
        return self.findings.get(memory_id, ())

    def days(self, memory: MemorySummary) -> float | None:
        """The days since the last change of a memory; None if that is not known."""
        changed = seconds(memory.updated_at or memory.created_at)
        return max(0.0, self.now - changed) / 86400 if self.now and changed is not None else None

    def tokens(self, memory_id: str) -> int:
        """About how many tokens of a model the text has; 0 if unknown."""
        return round(self.words.get(memory_id, 0) * TOKENS_PER_WORD)


NO_FACTS = Facts()


def read_facts(index: OpenIndex, store: Path, annotator: str, environ: Mapping[str, str], now: float) -> Facts:
    """The facts about the memories of *index*, without findings. Any thread may call it.

    Raises LabelStoreError and JournalError.
    """

    from labels.store import LabelStore

    summaries = index.summaries()
    digests = {summary.id: summary.digest for summary in summaries}
    with LabelStore.open(store) as labels:
        all_gold = labels.gold(index.root)
        outcomes = labels.outcomes(index.root)
        judged = labels.verdicts(index.root)
        texts = labels.prompt_texts()
        seen = labels.seen_prompts(annotator)
        own = {(label.memory_id, label.prompt_id) for label in labels.labels(annotator, root=index.root)}
    gold = [label for label in all_gold if digests.get(label.memory_id) == label.digest]
    pulled = dict.fromkeys((memory, outcome.prompt_id) for outcome in outcomes for memory in outcome.injected)
    about = {(label.memory_id, label.prompt_id): label for label in gold}
    verdicts = {pair: label.verdict for pair, label in about.items() if pair in pulled or not label.is_title}
    visible = [pair for pair in pulled if pair in own or pair[1] in seen]

    log = read_log(state_dir(roots_in(index.root)[0], environ))

    by_digest = {digest_of(text): text for text in texts.values()}
    answered = {
        (name, by_digest.get(logged.prompt_sha256, logged.prompt))
        for logged in log.decisions
        for name in logged.injected
    }
    answered |= {(memory, texts.get(prompt_id, "")) for memory, prompt_id in visible}

    def with_verdicts(memory: str, prompt_id: str) -> Pulled:
        decision = judged.get(prompt_id, {}).get((memory, digests.get(memory, "")), "")
        return Pulled(prompt_id, verdicts.get((memory, prompt_id), ""), decision)

    return Facts(
        usage=usage_of(log.decisions, [(memory, verdict) for (memory, _), verdict in verdicts.items()]),
        words=index.word_counts(),
        prompts=by_memory((memory, with_verdicts(memory, prompt_id)) for memory, prompt_id in visible),
        hidden=by_memory(pair for pair in pulled if not (pair in own or pair[1] in seen)),
        texts=texts,
        deeds=_deeds(index, environ),
        asked=read_asked(summaries, by_memory(answered), environ),
        weeks=weeks_of(log.decisions, {digest_of(text): name for name, text in texts.items()}, all_gold),
        now=now,
        has_dates=any(summary.updated_at or summary.created_at for summary in summaries),
    )


def stamps(index: OpenIndex, store: Path, environ: Mapping[str, str]) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of each file that `read_facts` reads."""
    log = f"{state_dir(roots_in(index.root)[0], environ)}/{LOG_FILE}"
    databases = (store, journal_file(environ))
    phrases = [path for root in roots_in(index.root) for path in phrases_files(root, environ)]
    others = (log, trust_file(environ), *phrases)
    return file_stamps([*(f"{database}{end}" for database in databases for end in ("", "-wal")), *others])


ORDERS = {
    "": RowOrder("Path, or the best match first"),
    TITLE: RowOrder("Title", lambda memory, _: memory.name.casefold(), is_rising=True),
    CATEGORY: RowOrder("Category", lambda memory, _: memory.category, is_rising=True),
    STATUS: RowOrder("Status", lambda memory, _: memory.status, is_rising=True),
    UPDATED: RowOrder("Age, the newest first", lambda memory, _: memory.updated_at),
    INJECTED: RowOrder("Injected by the hook, the most first", lambda memory, facts: facts.injected(memory.id)),
    PRECISION: RowOrder("Relevant of labelled, the best first", lambda memory, facts: _precision(facts, memory.id)),
    TOKENS: RowOrder("Tokens, the longest first", lambda memory, facts: facts.tokens(memory.id)),
    FINDINGS: RowOrder("Findings, the worst first", lambda memory, facts: _worst_and_number(facts.found(memory.id))),
}
"""The orders of the list in Browse. Their keys get the facts, too."""


def ordered(
    memories: Sequence[MemorySummary], order: str, facts: Facts, *, is_turned: bool = False
) -> Sequence[MemorySummary]:
    """*memories* in one of ORDERS. By precision, memories without labels are always last."""
    found = ORDERS[order].of(memories, facts, is_turned=is_turned)
    return sorted(found, key=lambda memory: not facts.labelled(memory.id)[1]) if order == PRECISION else found


class Narrowing(Record):
    """Which memories are listed: those of a category, of a status, and with a finding of a check, or of ANY.

    An empty text allows all.
    """

    category: str = ""
    status: str = ""
    check: str = ""

    def of(self, memories: Sequence[MemorySummary], facts: Facts) -> Sequence[MemorySummary]:
        """The memories that are listed, in the same order."""
        if self == EVERYTHING:
            return memories
        return [
            memory
            for memory in memories
            if self.category in ("", memory.category)
            and self.status in ("", memory.status)
            and (not self.check or any(self.check in (ANY, finding.check) for finding in facts.found(memory.id)))
        ]


EVERYTHING = Narrowing()


def counts(memories: Sequence[MemorySummary], facts: Facts) -> dict[str, Counter[str]]:
    """For each field of a narrowing, the number of memories with each value. Empty without findings."""
    checks = Counter(check for ones in facts.findings.values() for check in {finding.check for finding in ones})
    if checks:
        checks[ANY] = len(facts.findings)
    return {
        "category": Counter(memory.category for memory in memories),
        "status": Counter(memory.status for memory in memories),
        "check": checks,
    }


def _worst_and_number(found: Sequence[Finding]) -> tuple[float, int]:
    return (found[0].severity, len(found)) if found else (0.0, 0)


def said_in_file(root: str, text: str) -> tuple[str, list[tuple[str, bool]]]:
    """Why a memory with this file is not active, or an empty text; and the related files that the file names.

    Beside each related file: whether it is there, in the project around *root*.
    """
    try:
        writing, text = _writing(root, Path(root).stat().st_mtime_ns), text.removeprefix("\ufeff")
        reason, names = writing.reason(text), writing.related(text)[:MOST_RELATED]
    except (CurationError, OSError, ValueError, RecursionError):
        return "", []
    project = project_of(root)
    return reason, [(name, _is_there(project, name)) for name in names]


@lru_cache(maxsize=16)
def _writing(root: str, mtime_ns: int) -> Writing:  # noqa: ARG001 - a changed folder is looked at again
    return writing_of(root)


def _is_there(project: str, name: str) -> bool:
    """Whether the project has a file; False for every place outside the project."""
    try:
        path = Path(project) / name
        return bool(project and name) and is_inside(project, str(path)) and path.exists()
    except (OSError, ValueError):
        return False


def usage_of(decisions: Sequence[LoggedPrompt], verdicts: Iterable[tuple[str, str]]) -> dict[str, Usage]:
    """Memory id -> its injections in a log, and its labels. *verdicts*: a memory id and a verdict for each label."""
    from labels.records import NOT_RELEVANT, RELEVANT

    injected, counts = injections(decisions), Counter(verdicts)
    return {
        memory_id: Usage(injected.get(memory_id, 0), counts[memory_id, RELEVANT], counts[memory_id, NOT_RELEVANT])
        for memory_id in {*injected, *(memory_id for memory_id, _ in counts)}
    }


def by_memory(pairs: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    """Memory id -> its values, in the order of *pairs*."""
    found: dict[str, list[T]] = {}
    for memory_id, value in pairs:
        found.setdefault(memory_id, []).append(value)
    return {memory_id: tuple(values) for memory_id, values in found.items()}


def _precision(facts: Facts, memory_id: str) -> tuple[float, int]:
    """Sorts by the relevant share of the labels, then by their number."""
    relevant, labelled = facts.labelled(memory_id)
    return (relevant / max(labelled, 1), labelled)


def _deeds(index: OpenIndex, environ: Mapping[str, str]) -> dict[str, tuple[Deed, ...]]:
    """The changes in the journal, if there is a journal: memory id -> changes."""
    path = journal_file(environ)
    if not Path(path).exists():
        return {}
    shown = {(memory.root, memory.own.id): memory.id for memory in index.summaries()}
    with closing(Journal(path)) as journal:
        return by_memory(
            (shown.get((root, memory), memory), deed)
            for root in roots_in(index.root)
            for deed in journal.deeds(root=root)
            for memory in deed.memories
        )


def root_name(root: str) -> str:
    """The folder that a person knows: the project's, not `.claude/memory` inside it."""
    named = [part for part in Path(root).resolve().parts[1:] if part not in (".claude", "memory")]
    return named[-1] if named else root


def root_label(root: str) -> str:
    """A name that tells apart the roots that are open together: that of the project, its auto memory, or the folder."""
    parts = Path(root).parts
    is_auto = len(parts) > 3 and parts[-3] == "projects" and parts[-1] == "memory"
    return AUTO_MEMORY if is_auto else root_name(root)
