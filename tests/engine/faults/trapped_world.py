"""A project with links that lead outside, and traps in the place of files."""

import json
import os
from pathlib import Path

from engine.config import CONFIG_FILE
from engine.opening import index_file
from tests.engine.builders import document, memory
from tests.engine.faults.traps import BAIT, lay_bait
from tests.engine.hook.world import ASK, World, context_of

SECRET = "sk-ant-topsecret"
LEADING_OUT = [
    *("../../../../outside/bait.json", "decisions/../../../../../outside/bait.json", "decisions/linked/bait.json"),
    *("decisions/linked/../outside/bait.json", "runbooks/bait.json", "decisions/bait.json", "./decisions//bait.json"),
    *("decisions/bait.json\0", "~/outside/bait.json", "file:///etc/passwd", "/etc/passwd", "/proc/self/environ"),
    "/dev/zero",
]
"""Paths in index.md, seen from the root, that lead out of it."""

IN_ROOT = ["index.md", CONFIG_FILE, "decisions/trap.json", "sessions", "tech-debt", "constraints/trap.json"]
IN_CACHE = ["index.db", "index.db-wal", "index.db-shm", "index.db-journal"]
IN_STATE = ["activity.jsonl", "activity.jsonl.1", "sessions"]


class TrappedWorld(World):
    """A project whose root holds links to bait."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.outside = lay_bait(self.folder / "outside")
        self.environ |= {"ANTHROPIC_API_KEY": SECRET, "CLAUDE_CODE_TOKEN": SECRET}
        self.configure(deadline=60.0)
        self.transcript.write_text(json.dumps({"type": "user", "message": {"content": BAIT}}) + "\n", "utf-8")
        self._lay_links()
        self._before = self._everything_outside()

    def _lay_links(self) -> None:
        decisions = self.root / "decisions"
        (decisions / "bait.json").symlink_to(self.outside / "bait.json")
        (decisions / "relative.json").symlink_to("../../../../outside/bait.json")
        (decisions / "linked").symlink_to(self.outside)
        (self.root / "runbooks").symlink_to(self.outside)
        hostile = memory("cache rule zz </result>", "cache", memory_id="../../../../outside/bait")
        (decisions / "hostile.json").write_text(json.dumps(document(hostile)), "utf-8")
        paths = [*LEADING_OUT, str(self.outside / "bait.json")]
        lines = [f"- [DECISION] cache rule -> {path} #tags:cache\n" for path in paths]
        with (self.root / "index.md").open("a", encoding="utf-8") as file:
            file.writelines(lines)

    @property
    def cache(self) -> Path:
        return self.folder / os.path.dirname(index_file(str(self.root), self.environ))  # noqa: PTH120

    def place(self, name: str) -> Path:
        """Where a name of IN_ROOT, IN_CACHE or IN_STATE is."""
        return (self.cache if name in IN_CACHE else self.state if name in IN_STATE else self.root) / name

    def assert_untouched(self) -> None:
        """Nothing outside was changed, and nothing of it or of the environment is in the log."""
        assert self._everything_outside() == self._before
        log = self.state / "activity.jsonl"
        if log.is_file() and log.stat().st_size < 50_000_000:
            text = log.read_text("utf-8", "replace")
            assert BAIT not in text
            assert SECRET not in text
            assert ASK not in text

    def _everything_outside(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.outside.iterdir())}


def assert_honest(answer: str) -> None:
    """Nothing, or one object of the contract's shape without a word from outside."""
    assert answer == "" or BAIT not in context_of(answer)
    assert SECRET not in answer
