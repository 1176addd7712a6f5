"""The checks that look at one memory by itself: its safety, age, use, size, fields and phrases."""

from __future__ import annotations

from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

from engine.config import Config
from engine.errors import CurationError
from engine.phrases.measuring import FIRST, find_vague
from engine.phrases.writing import is_old
from engine.quality.registry import Finding, Usage
from engine.quality.safety import gate
from engine.search.phrases import MOST_PHRASES
from engine.stores.files import UnreadableFileError, read_text
from engine.stores.writing import writings_in
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

MOST_CHARACTERS = Config().max_characters
PER_TOKEN = 4
"""Characters of a token in most languages; a character beyond the Latin scripts counts as a token."""

SIZE_SEVERITY, FIELDS_SEVERITY, UNUSED_SEVERITY = 0.4, 0.3, 0.2
AGE_SEVERITY, MOST_AGE_SEVERITY = 0.2, 0.5
DAYS = {"session_summary": 90, "project": 180, "tech_debt": 365, "runbook": 365, "reference": 365}
MOST_DAYS = 730
"""Days after which a memory of a category is worth a look; MOST_DAYS for the other categories."""

LEAST_DAYS, LEAST_PROMPTS = 14.0, 100
"""A shorter log says nothing about a memory that was never injected."""

LEAST_INJECTED, LEAST_LABELS, MOST_RELEVANT = 3, 5, 0.34
"""Fewer injections or labels are no sign yet that a memory is mostly irrelevant."""

FULL_AT = 20
"""Injections from which a memory that is mostly irrelevant has its full severity."""

USUAL = 0.5
"""The share of memories with phrases from which on a memory without them is a finding."""

VAGUE_SEVERITY, OLD_SEVERITY, LACKING_SEVERITY = 0.3, 0.2, 0.1


def spoken(count: int) -> str:
    """A sentence for *count* memories that a person has to read."""
    return f"{counted(count, 'memory looks', 'memories look')} like a prompt injection"


def find_safety(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory at or above `max_risk`. Its severity is the risk."""
    for memory in subject.active:
        memory_id = memory.summary.id
        if subject.risks.get(memory_id, subject.max_risk) < subject.max_risk or not gate.risk(memory):
            continue
        result = gate.scan_text(gate.text_of(memory))
        if result.risk >= subject.max_risk:
            first = result.detections[0]
            reason, where = f"{first.category}: {first.reason}", f"characters {first.start} to {first.end}"
            accept = f"Then memsift quality accept {memory_id}, or memsift retire {memory_id}"
            action = f"Read it: memsift show {memory_id}. {accept}"
            yield Finding("safety", memory_id, result.risk, reason, action, where)


def find_age(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory that was not changed for long. Most are still true, so it runs on request."""
    for summary in (memory.summary for memory in subject.active):
        changed = seconds(summary.updated_at or summary.created_at)
        most = DAYS.get(summary.category, MOST_DAYS)
        days = 0.0 if changed is None else (subject.now - changed) / 86400
        if days > most:
            severity = round(min(MOST_AGE_SEVERITY, AGE_SEVERITY * days / most), 2)
            kind = summary.category.replace("_", " ")
            reason = f"last changed {days:,.0f} days ago; a {kind} is worth a look after {most}"
            still, gone = f"memsift quality accept {summary.id} --check age", f"memsift retire {summary.id}"
            action = f"Check it: memsift show {summary.id}. If it is still true, {still}, else {gone}"
            yield Finding("age", summary.id, severity, reason, action, "updated_at")


def find_usage(subject: CheckedRoot) -> Iterator[Finding]:
    """Memories that the hook never injected, and those that it injected often although they were not relevant.

    A memory that is newer than the log had no chance yet.
    """
    has_log = subject.log_days >= LEAST_DAYS and subject.log_prompts >= LEAST_PROMPTS
    for memory in (memory.summary for memory in subject.active):
        counts = subject.usage.get(memory.id, Usage())
        labels = counts.relevant + counts.irrelevant
        made = seconds(memory.created_at or memory.updated_at)
        is_older = made is not None and made < subject.now - subject.log_days * 86400
        if has_log and not counts.injected and is_older:
            reason = f"never injected in {subject.log_prompts:,} prompts of {subject.log_days:.0f} days"
            action = f"Give it a clearer title and tags (memsift edit {memory.id}), or memsift archive {memory.id}"
            yield Finding("usage", memory.id, UNUSED_SEVERITY, reason, action)
        elif counts.injected >= LEAST_INJECTED and labels >= LEAST_LABELS and counts.relevant <= MOST_RELEVANT * labels:
            severity = round(counts.irrelevant / labels * min(1.0, 0.5 + counts.injected / FULL_AT / 2), 2)
            reason = f"injected {counts.injected:,} times, but only {counts.relevant} of {labels} labels say relevant"
            action = f"Narrow its title and tags (memsift edit {memory.id}), or memsift retire {memory.id}"
            yield Finding("usage", memory.id, severity, reason, action)


def seconds(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 time; None for another text."""
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def tokens(text: str) -> int:
    """About how many tokens of a model *text* has."""
    wide = sum(character > "\u2e80" for character in text)
    return wide + (len(text) - wide + PER_TOKEN - 1) // PER_TOKEN


def find_size(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each text that is longer than all that the hook may put into a prompt.

    How much of MEMORY.md a client loads is for `drift`.
    """
    for memory in subject.active:
        count = len(memory.body)
        if count > MOST_CHARACTERS:
            reason = f"the text has {count:,} characters; a prompt gets {MOST_CHARACTERS:,} at most"
            action = f"Shorten it or make several memories of it: memsift edit {memory.summary.id}"
            yield Finding("size", memory.summary.id, SIZE_SEVERITY, reason, action, "text")


def find_fields(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory that breaks rules of its format. Formats that memsift only reads have none."""
    summaries = {memory.summary.file: memory.summary for memory in subject.active}
    for writing, files in writings_in(subject.root, summaries).items():
        for summary in map(summaries.__getitem__, files):
            try:
                wrong = writing.broken_rules(read_text(subject.root, summary.file))
            except (UnreadableFileError, CurationError, ValueError):
                continue
            if wrong:
                action = f"Correct it: memsift edit {summary.id} --set FIELD=VALUE"
                yield Finding("fields", summary.id, FIELDS_SEVERITY, "; ".join(wrong), action)


def count_of(subject: CheckedRoot) -> int:
    """The number of active memories with phrases."""
    return sum(memory.summary.id in subject.phrases for memory in subject.active)


def find_asked(subject: CheckedRoot) -> Iterator[Finding]:
    """Memories with old phrases; and those without any, where most memories have some."""
    is_usual = count_of(subject) >= USUAL * len(subject.active)
    for memory in (memory.summary for memory in subject.active):
        rows = subject.phrases.get(memory.id, ())
        again = f"memsift phrases write, or if they still fit memsift quality accept {memory.id} --check asked"
        if rows and is_old(rows, memory.digest):
            yield Finding("asked", memory.id, OLD_SEVERITY, "its phrases are older than its text", again)
        elif not rows and is_usual:
            reason = "no phrases, by which a prompt in other words finds it"
            yield Finding("asked", memory.id, LACKING_SEVERITY, reason, f"memsift phrases add {memory.id} PHRASE")


def find_phrases(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each phrase that finds many memories alike. Where its memory is accepted, the phrase stays."""
    texts = {name: [row.phrase for row in rows[:MOST_PHRASES]] for name, rows in subject.phrases.items()}
    for vague in find_vague(subject.active, texts) if texts else ():
        reason = f"the phrase says nothing: {vague.others:,} other memories come at least half as strong"
        if not 0 < vague.rank <= FIRST:
            reason += f", and its own is not among the first {FIRST}"
        action = f"memsift phrases remove {vague.memory_id} {quote(vague.phrase)}, or if it fits "
        action += f"memsift quality accept {vague.memory_id} --check phrases"
        yield Finding("phrases", vague.memory_id, VAGUE_SEVERITY, reason, action, where=vague.phrase)
