"""The checks by name, what they look at and what they find, and running them.

A new check is a function `find_NAME` in a module of `checks`, a line in words.txt, and one in MODULES.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import MissingLibraryError
from engine.installation import install_command
from engine.lean.record import Record
from engine.lean.sections import read_sections
from engine.quality.decisions import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.memory import Memory, Skipped
    from engine.phrases.file import PhraseRow


WORDS = dict(read_sections(__file__, "words.txt"))
"""The words and patterns of the checks, by the headings of words.txt."""

CHECKS = dict(line.split(": ", 1) for line in WORDS["checks"])
"""Each check and what it finds, in the order of the output."""

MODULES = dict.fromkeys(("safety", "age", "usage", "size", "fields", "asked", "phrases"), "memories")
"""The module of a check, where it has not the check's own name."""

BY_DEFAULT = tuple(name for name in CHECKS if name not in ("age", "asked", "phrases"))
"""The checks that run if none is named: four of five of their findings are right on real notes, or more."""

LIBRARIES = {"duplicates": "rapidfuzz", "secrets": "detect-secrets"}
"""The package that a check needs, as pip names it. The module's name has underscores."""

TAKE_OUT, LIST = "take out", "list"
"""Changes: take secrets out of the memory; bring its line in the list in step."""


class Finding(Record):
    """What a check has to say about a memory, and the command that settles it. `severity` is 0..1.

    `where` names a place: a field, a line, character offsets, or another memory. `memory_id` is empty for a finding
    about the root. `others` are ids of further memories that it is about. `action` is a command line, or a sentence
    where no command can do it. `change` is the change that cannot be wrong, for `engine.quality.fixing`: TAKE_OUT,
    or LIST with the name of a file; empty if a person has to look first.
    """

    check: str
    memory_id: str
    severity: float
    reason: str
    action: str
    where: str = ""
    others: tuple[str, ...] = ()
    change: tuple[str, ...] = ()


class Usage(Record):
    """What the hook's log and the labels say about a memory, in counts. The engine gets the labels' part passed in."""

    injected: int = 0
    relevant: int = 0
    irrelevant: int = 0


class CheckedRoot(Record):
    """What the checks look at: one root.

    `memories` are ordered by path. `risks` are those that an index knows, by id: these are not scanned again.
    `doubles` are files with the id of a memory. `project` is the folder of the repository that the root belongs to, or
    empty. `log_days` and `log_prompts`: how long the hook's log is. `now` is in seconds since 1970.
    `phrases`: memory id -> its phrases.
    """

    root: str
    memories: tuple[Memory, ...]
    notices: tuple[Skipped, ...] = ()
    doubles: tuple[Skipped, ...] = ()
    project: str = ""
    usage: Mapping[str, Usage] = {}
    log_days: float = 0.0
    log_prompts: int = 0
    max_risk: float = 0.5
    risks: Mapping[str, float] = {}
    now: float = 0.0
    phrases: Mapping[str, tuple[PhraseRow, ...]] = {}

    @property
    def active(self) -> list[Memory]:
        return [memory for memory in self.memories if memory.summary.status == "active"]


def findings(
    subject: CheckedRoot, names: Collection[str], decided: Mapping[tuple[str, str, str], str]
) -> list[Finding]:
    """The findings of the named checks, without those that a person dismissed: by check, then the severest first.

    Raises MissingLibraryError before any check runs.
    """
    _require_libraries(names)
    digests = {memory.summary.id: memory.summary.digest for memory in subject.memories}
    found: list[Finding] = []
    for name in CHECKS:
        if name in names:
            module = import_module(f"engine.quality.checks.{MODULES.get(name, name)}")
            left = [
                finding
                for finding in getattr(module, f"find_{name}")(subject)
                if decided.get((finding.check, finding.memory_id, digests.get(finding.memory_id, ""))) != ACCEPTED
            ]
            found += sorted(left, key=lambda finding: (-finding.severity, finding.memory_id, finding.where))
    return found


def _require_libraries(names: Collection[str]) -> None:
    for check, package in LIBRARIES.items():
        if check in names:
            try:
                import_module(package.replace("-", "_"))
            except ImportError as error:
                others = " ".join(f"--check {name}" for name in CHECKS if name not in LIBRARIES)
                raise MissingLibraryError(
                    f"The check {check} needs the package {package}, which cannot be imported ({error}). Install it "
                    f"with: {install_command()}. Other checks work without it: {others}"
                ) from None
