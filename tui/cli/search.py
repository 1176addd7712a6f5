"""`memsift search`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from engine.config import AUTO, SEARCH
from engine.errors import UnknownMemoryError
from engine.lean.record import replace
from engine.prompt import typed_prompt
from engine.roots import retrieve
from tui.cli.help import JudgedCommand
from tui.cli.options import judge_options, opened_cutoff, output_width, roots_option
from tui.workspace import opening
from tui.workspace.judge_options import JudgeOptions, opened_judge
from tui.workspace.stderr import report_fallback, report_notices, report_skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config
    from engine.explaining.explain import Explanation
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex, OpenRoot

OF_SEVERAL = (
    "each root is searched by itself, and their results take turns; with --mode auto all are searched together, as in "
    "the hook. Each result has its `root`."
)
PIPE_WIDTH = 100
MODE = "search: every match, for a person who searches. auto: as the hook, without weak matches."


@click.command(cls=JudgedCommand)
@click.argument("query")
@roots_option(OF_SEVERAL)
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=SEARCH, show_default=True, help=MODE)
@click.option("--include-retired", is_flag=True, help="Also find retired and archived memories.")
@click.option(
    "--max-results",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Limit of results. Default: max_results (10), or with --mode auto max_inject (3).",
)
@judge_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "text"]),
    default="json",
    show_default=True,
    help="JSON for programs or text for people.",
)
@click.option("--explain", is_flag=True, help="Add `explain` to each result, and list the `dropped` memories.")
@click.option(
    "--memory", "memory_id", metavar="ID", help="Explain this memory only, whether the query finds it or not."
)
def search(roots: tuple[str, ...], form: str, **options: Any) -> None:
    """Find memories by the words of QUERY, best first.

    If a judge is named, it leaves out unrelated memories.

    Output: {query, total_results, results: [{id, title, category, path, tags, status, snippet, updated_at, score,
    confidence, probability, matches}]}. `score` is negative, the best score is the lowest. `probability` is P(relevant)
    with --mode auto, from the cutoff; else null. `matches` are the character ranges of the words in `snippet`. With a
    judge, a result has its `verdict`.

    \b
    Fields of `explain`:
      outcome       injected, or the stage that dropped it: status, floor, cutoff,
                    judge, cap, pool (others were stronger), unmatched
      reason        the same as a sentence
      rank, gap     rank, and the strength by which it missed the stage's limit
      strength      the sum of the words' scores + bonus (for the number of words)
      floor, least, cutoff, pool
                    the limits, each with its value and the gap to it
      matched       words of the query in the memory: how (exact, phrase, stem,
                    beginning), memories with the word, idf, score, share,
                    is_earlier (only in the turns before), found
      missing       words of the query that are not in it
      nearest       similar words, such as another spelling
      advice        what would make it match
    """
    from tui.cli.search_results import joined_results

    wanted = Search(form=form, **options)
    click.echo(joined_results(wanted.over(opening.known_roots(roots, os.environ)), form))


@dataclass(frozen=True)
class Search:
    """The query and the options of a search, as on the command line."""

    query: str
    mode: str
    include_retired: bool
    max_results: int | None
    judge: JudgeOptions
    form: str
    explain: bool
    memory_id: str | None

    def over(self, roots: Sequence[str]) -> dict[str, str]:
        """Root -> output; all roots have one output with --mode auto.

        A root without the memory of --memory is left out; UnknownMemoryError if no root has it.
        """
        if self.mode == AUTO:
            return {roots[0]: self.in_roots(roots)}
        found: dict[str, str] = {}
        for root in roots:
            try:
                found[root] = self.in_roots([root])
            except UnknownMemoryError:
                if root == roots[-1] and not found:
                    raise
        return found

    def in_roots(self, roots: Sequence[str]) -> str:
        """The output over roots that are searched together. Raises UnknownMemoryError."""
        from tui.cli.search_results import result_text

        opened = [replace(root, config=self.limited(root.config)) for root in self.opened(roots)]
        config, cutoff = opened[0].config, opened[0].cutoff
        with opened_judge(self.judge, config) as asked, opening.opened_roots(opened) as index:
            if asked:
                asked.prepare()
            report_skipped(index.skipped)
            report_notices(index.notices)
            retrieval = retrieve(
                typed_prompt(self.query),
                index,
                config,
                mode=self.mode,
                judge=asked,
                cutoff=cutoff,
                include_retired=self.include_retired,
            )
            self.judge.refuse_a_miss(retrieval)
            is_one = self.memory_id is not None
            explained = self.explanations(retrieval, index, config) if self.explain or is_one else None
            text = result_text(retrieval, index, self.form, explained, output_width(PIPE_WIDTH), is_one=is_one)
        report_fallback(retrieval)
        return text

    def explanations(self, retrieval: Retrieval, index: OpenIndex, config: Config) -> dict[str, Explanation]:
        """Memory id -> explanation, of every candidate or of the memory of --memory. Raises UnknownMemoryError."""
        from engine.explaining.explain import explainer_of, near_ids

        explained = explainer_of(retrieval, index, config)
        if self.memory_id is None:
            asked = [candidate.memory.id for candidate in retrieval.candidates]
            return {memory_id: found for memory_id in asked if (found := explained(memory_id))}
        if explanation := explained(self.memory_id):
            return {self.memory_id: explanation}
        near = near_ids(self.memory_id, [summary.id for summary in index.summaries()])
        instead = f"There is {', '.join(map(repr, near))}." if near else "`memsift search` prints the ids of memories."
        raise UnknownMemoryError(f"There is no memory {self.memory_id!r} in this root. {instead}")

    def opened(self, roots: Sequence[str]) -> list[OpenRoot]:
        """The roots to search together. A cutoff takes part only with --mode auto; stderr tells if one is ignored."""
        found = opening.open_roots(roots, os.environ, self.judge)
        return [
            replace(root, cutoff=opened_cutoff(root.root, root.config) if self.mode == AUTO else None) for root in found
        ]

    def limited(self, config: Config) -> Config:
        """*config* with the limit of --max-results."""
        if not self.max_results:
            return config
        return replace(config, max_results=self.max_results, max_inject=self.max_results)
