"""`memsift search`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from engine.config import AUTO, SEARCH, load_config
from engine.errors import UnknownMemoryError
from engine.lean.record import replace
from engine.pipeline import retrieve
from engine.prompt import typed_prompt
from tui.cli.options import judge_options, opened_cutoff, roots_option
from tui.workspace import opening
from tui.workspace.judge_options import JudgeOptions, opened_judge
from tui.workspace.stderr import report_fallback, report_skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config

OF_SEVERAL = "each is searched by itself; their results take turns, each with its `root`."


@click.command()
@click.argument("query")
@roots_option(OF_SEVERAL)
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=SEARCH, show_default=True, help="auto: as the hook.")
@click.option("--include-retired", is_flag=True, help="Find retired and archived memories too.")
@click.option("--max-results", type=click.IntRange(1, 1000), metavar="N", help="Default: 10, or 3 in auto mode.")
@judge_options
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="json", show_default=True)
@click.option(
    "--explain", is_flag=True, help="Say why each result is there, and in auto mode what was dropped, and why."
)
@click.option("--memory", "memory_id", metavar="ID", help="Explain what became of this memory, found or not.")
def search(
    query: str,
    roots: tuple[str, ...],
    mode: str,
    include_retired: bool,
    max_results: int | None,
    judge: JudgeOptions,
    form: str,
    explain: bool,
    memory_id: str | None,
) -> None:
    """Find memories that hold words of QUERY, best first. A judge, if one is named, leaves out the unrelated."""
    from tui.cli.search_results import of_search

    wanted = Search(query, mode, include_retired, max_results, judge, form, explain, memory_id)
    click.echo(of_search(wanted.over(opening.resolve_roots(roots, os.environ)), form))


@dataclass(frozen=True)
class Search:
    """What is searched for and how; None of `max_results` is what the root's configuration says."""

    query: str
    mode: str
    include_retired: bool
    max_results: int | None
    judge: JudgeOptions
    form: str
    explains: bool
    memory_id: str | None

    def over(self, roots: Sequence[str]) -> dict[str, str]:
        """What is printed of each root; one without the memory that was asked for is left out, unless all are."""
        found: dict[str, str] = {}
        for root in roots:
            try:
                found[root] = self.in_root(root)
            except UnknownMemoryError:
                if root == roots[-1] and not found:
                    raise
        return found

    def in_root(self, root: str) -> str:
        from tui.cli.search_results import explanations, output_width, printed

        config = self.config_of(root)
        explained = None
        with opened_judge(self.judge, config) as asked, opening.opened_index(root) as index:
            if asked:
                asked.prepare()
            report_skipped(index.skipped)
            retrieval = retrieve(
                typed_prompt(self.query),
                index,
                config,
                mode=self.mode,
                judge=asked,
                cutoff=opened_cutoff(root, config) if self.mode == AUTO else None,
                include_retired=self.include_retired,
            )
            self.judge.refuse_a_miss(retrieval)
            if self.explains or self.memory_id is not None:
                shown = self.memory_id
                explained = explanations(retrieval, index, config, shown, include_retired=self.include_retired)
            is_one = self.memory_id is not None
            text = printed(retrieval, index, self.form, explained, output_width(), is_one=is_one)
        report_fallback(retrieval)
        return text

    def config_of(self, root: str) -> Config:
        config = self.judge.applied(load_config(root, os.environ), os.environ)
        if not self.max_results:
            return config
        return replace(config, max_results=self.max_results, max_inject=self.max_results)
