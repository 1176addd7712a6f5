"""Memories, roots, indexes and judges that the engine's tests build."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from engine.config import AUTO, MEMSIFT, Config
from engine.cutoff import Cutoff
from engine.judge.verdict import APPROVED, FLAGGED, OK, REJECTED, Judgement, Verdict
from engine.lean.record import replace
from engine.memory import Corpus, Memory, MemorySummary, Section, content_digest
from engine.opening import index_of
from engine.pipeline import OpenSystem, Query, first_pool, retrieve
from engine.prompt import Prompt, typed_prompt
from engine.retrieval import Retrieval, Session
from engine.search.index import Index
from engine.search.ranking import CandidatePool
from engine.stores.claude_memory import FOLDERS

NO_CUTOFF = {"MEMSIFT_CUTOFF": "off"}
"""The environment of tests that are not about the cutoff: with it, a root of a few similar memories stays silent."""

FOLDER_OF = {category: folder for folder, category in FOLDERS.items()}


def memory(
    title: str,
    *tags: str,
    body: str = "",
    category: str = "decision",
    status: str = "active",
    memory_id: str = "",
    updated_at: str = "2024-01-01T00:00:00Z",
) -> Memory:
    """A memory whose id is its title with dashes, unless one is given."""
    identity = memory_id or title.replace(" ", "-")[:80]
    sections = (Section("Context", tuple(body.splitlines())),) if body else ()
    path = f"{FOLDER_OF.get(category, 'decisions')}/{identity}.json"
    summary = MemorySummary(
        id=identity,
        category=category,
        title=title,
        tags=tags,
        path=f".claude/memory/{path}",
        file=f"/root/{path}",
        status=status,
        created_at=updated_at,
        updated_at=updated_at,
        digest=content_digest(category, title, tags, sections),
    )
    return Memory(summary, sections)


def fillers(count: int) -> list[Memory]:
    """Memories that share no word with any test's prompt: BM25 needs a corpus in which matches are rare."""
    return [memory(f"zz{number} filler", f"yy{number}", category="session_summary") for number in range(count)]


def open_index(
    *memories: Memory, module: str = "fts5", phrases: Mapping[str, Sequence[str]] | None = None
) -> closing[Index]:
    """An index of these memories, to be used in a `with`."""
    ordered = sorted(memories, key=lambda one: one.summary.path)
    return closing(index_of(Corpus("/root", tuple(ordered)), module, phrases=phrases))


def pool_of(
    index: Index,
    prompt: str,
    size: int = 15,
    strategy: str = MEMSIFT,
    *,
    mode: str = AUTO,
    include_retired: bool = True,
) -> CandidatePool:
    """The memories that a strategy finds for a prompt, before anything is dropped."""
    config = replace(Config(), match_strategy=strategy, max_results=size, noise_floor=0.0, min_strength=0.0)
    config = replace(config, judge=replace(config.judge, candidate_pool_size=size), max_inject=size)
    question = Query(typed_prompt(prompt), mode=mode, include_retired=include_retired)
    return first_pool(question, index, OpenSystem(config), size)[1]


def ask(
    prompt: str,
    *memories: Memory,
    config: Config | None = None,
    mode: str = AUTO,
    judge: FakeJudge | None = None,
    cutoff: Cutoff | None = None,
    session: Session | None = None,
    include_retired: bool = False,
    module: str = "fts5",
) -> Retrieval:
    """The answer of the pipeline over these memories, on 1 January 2026."""
    question = Query(typed_prompt(prompt), mode, session, include_retired)
    with open_index(*memories, module=module) as index:
        return retrieve(question, index, OpenSystem(config or Config(), cutoff, judge, now=lambda: 1_767_225_600.0))


def injected(retrieval: Retrieval) -> list[str]:
    """The ids of the injected memories."""
    return [one.memory.id for one in retrieval.injected]


def dropped(retrieval: Retrieval) -> dict[str, str]:
    """Id -> the stage that dropped it."""
    return {one.memory.id: one.dropped_by for one in retrieval.candidates if one.dropped_by}


def document(one: Memory) -> dict[str, object]:
    """A memory as the JSON of the claude-memory format."""
    summary = one.summary
    return {
        "schema_version": "1.0",
        "category": summary.category,
        "id": summary.id,
        "title": summary.title,
        "created_at": summary.created_at,
        "updated_at": summary.updated_at,
        "tags": list(summary.tags),
        "record_status": summary.status,
        "content": {section.heading.lower(): "\n".join(section.lines) for section in one.sections},
    }


def put(path: Path, text: str | bytes) -> None:
    """Write a file, in folders that are made if they are missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def write_memory(root: Path, one: Memory) -> Path:
    """Write one memory into its category's folder of *root*."""
    path = root / FOLDER_OF[one.summary.category] / f"{one.summary.id}.json"
    put(path, json.dumps(document(one), ensure_ascii=False))
    return path


def write_root(root: Path, memories: Iterable[Memory]) -> Path:
    """Write a claude-memory root: a JSON file per memory and the index.md that lists them."""
    root.mkdir(parents=True, exist_ok=True)
    lines = ["# Memory Index", ""]
    for one in memories:
        path = write_memory(root, one).relative_to(root).as_posix()
        tags = ",".join(one.summary.tags)
        lines.append(f"- [{one.summary.category.upper()}] {one.summary.title} -> .claude/memory/{path} #tags:{tags}")
    (root / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


class FakeJudge:
    """A judge that keeps the memories of certain ids, or fails with a status; `asked` holds the ids of every call."""

    def __init__(self, keep: Collection[str] = (), status: str = OK, detail: str = "") -> None:
        self._keep = keep
        self._status = status
        self._detail = detail
        self.asked: list[list[str]] = []

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:  # noqa: ARG002
        self.asked.append([one.id for one in candidates])
        return Judgement(
            status=self._status,
            verdicts=tuple(Verdict(one.id, self._decision(one.id), self._status) for one in candidates),
            provider="fake",
            model="fake",
            template_hash="0" * 16,
            elapsed_ms=1.0,
            detail=self._detail,
        )

    def close(self) -> None:
        """There is nothing to give back."""

    def _decision(self, memory_id: str) -> str:
        if self._status != OK:
            return FLAGGED
        return APPROVED if memory_id in self._keep else REJECTED
