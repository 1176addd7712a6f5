"""The sources of a workspace: the files that its memories, settings and prompts come from, and reading them again."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.activity import LOG_FILE
from engine.config import CONFIG_FILE, SHARED_CUTOFF_FILE
from engine.cutoff import chosen_cutoff
from engine.errors import MemsiftError
from engine.opening import reread
from engine.paths import config_file, cutoff_file, state_dir, trust_file
from engine.root_search import trust_in
from engine.roots import OpenRoot
from engine.settings.sources import read_config, said
from tui.workspace.judge_options import make_judge
from tui.workspace.root.injections import with_hook_log
from tui.workspace.watching import MEMORIES, NO_CHANGES, PROMPTS, SETTINGS, Watched, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.claude_code.prompt_files import PromptReading
    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from tui.workspace.judge_options import JudgeOptions
    from tui.workspace.spending import Spending

REST = 20
"""After a reading, the same kind of file is not read again for this number of times its duration."""


@dataclass(frozen=True)
class Settings:
    """The settings as the hook takes them. `mistakes`: sentences about settings that have no effect.

    `others`: the roots that are open beside the first, with their own settings.
    """

    config: Config
    cutoff: Cutoff | None
    others: tuple[OpenRoot, ...] = ()
    notice: str = ""
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangedSources:
    """Files that were read again; None for files that did not change.

    `has_memories`: the memories may have changed, and if `is_reread` the index files hold them. `problem`: the error
    that ended the reading.
    """

    has_memories: bool = False
    is_reread: bool = True
    settings: Settings | None = None
    prompts: PromptReading | None = None
    problem: MemsiftError | None = None


@dataclass(frozen=True)
class Sources:
    """*others*: roots beside *root*. *prompts*: paths of files and folders. *is_trusted*: all of the root's
    configuration counts."""

    root: str
    environ: Mapping[str, str]
    judge: JudgeOptions
    prompts: tuple[str, ...] = ()
    is_trusted: bool = False
    spending: Spending | None = None
    others: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(map(os.path.realpath, (self.root, *self.others)))

    @property
    def watched(self) -> Watched:
        memories = [path for root in self.roots for path in (root, *([] if Path(root).is_dir() else [f"{root}-wal"]))]
        states = [state_dir(root, self.environ) for root in self.roots]
        shared = [str(Path(root, name)) for root in self.roots for name in (CONFIG_FILE, SHARED_CUTOFF_FILE)]
        settings = shared + [cutoff_file(state) for state in states]
        prompts = [*map(os.path.realpath, self.prompts), *(str(Path(state, LOG_FILE)) for state in states)]
        own = (config_file(self.environ), trust_file(self.environ))
        return Watched(tuple(memories), (*settings, *own), tuple(prompts))

    def settings(self) -> Settings:
        """The settings as they are now. As in the hook, a wrong value leaves the value of the weaker source."""
        first, *others = [self._settings_of(root) for root in (self.root, *self.others)]
        opened = [OpenRoot(root, own.config, own.cutoff) for root, own in zip(self.others, others, strict=True)]
        mistakes = dict.fromkeys(mistake for other in (first, *others) for mistake in other.mistakes)
        return Settings(first.config, first.cutoff, tuple(opened), first.notice, tuple(mistakes))

    def _settings_of(self, root: str) -> Settings:
        given = {**self.environ, **self.judge.flags}
        reading = read_config(root, given, is_trusted=self.is_trusted)
        config = self.judge.applied(reading.config, self.environ)
        cutoff, reason = chosen_cutoff(state_dir(root, self.environ), config, root, trust_in(self.environ))
        ignored = (f"The tuned cutoff is not used: it {reason}.",) if reason else ()
        return Settings(config, cutoff, (), reading.notice, (*said(reading), *ignored, *reading.remarks))

    def judge_of(self, config: Config) -> Judge | None:
        """The judge of changed settings. Nobody has agreed to its cost yet. Raises ConfigError."""
        return make_judge(self.judge, config, self.environ, self.spending.around if self.spending else None)

    def read_again(self, kinds: frozenset[str]) -> ChangedSources:
        """Read all files of these kinds. An error is in the result, not an exception."""
        try:
            is_reread = MEMORIES not in kinds or not [root for root in self.roots if not reread(root, self.environ)]
            prompts = self.read_prompts() if PROMPTS in kinds else None
            settings = self.settings() if SETTINGS in kinds else None
            return ChangedSources(MEMORIES in kinds, is_reread, settings, prompts)
        except MemsiftError as error:
            return ChangedSources(problem=error)

    def read_prompts(self) -> PromptReading:
        """The prompts of the files, as far as these exist, and those that only the hook's log tells."""
        from engine.claude_code.prompt_files import read_prompts

        return with_hook_log(read_prompts([*filter(os.path.exists, self.prompts)]), self.root, self.environ)


class Follower:
    """Reads files again that changed, and tells. `run` belongs into a thread of its own.

    *tell* is called in that thread, with something that was read or with a problem.
    """

    def __init__(
        self, sources: Sources, tell: Callable[[ChangedSources], object], watcher: Watcher | None = None
    ) -> None:
        self._sources = sources
        self._tell = tell
        self._watcher = watcher or Watcher(sources.watched)
        self.stop = self._watcher.stop

    def run(self) -> None:
        waiting, due = NO_CHANGES, 0.0
        for kinds in self._watcher.changes():
            waiting |= kinds
            began = time.monotonic()
            if waiting and began >= due:
                self._tell(self._sources.read_again(waiting))
                now = time.monotonic()
                waiting, due = NO_CHANGES, now + REST * (now - began)
