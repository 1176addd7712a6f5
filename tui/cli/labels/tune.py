"""`memsift tune`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.config import OFF, TITLE_TAGS
from engine.cutoff import chosen_cutoff, fit_of
from engine.errors import TuningError
from engine.paths import cutoff_file, state_dir
from engine.settings.roots import trust_in
from engine.settings.sources import trust_command
from engine.settings.trust import keeping_trust, trust_of
from tui.cli.declaring import command, option
from tui.cli.options import SHARE, TREC_FORM, EachRoot, Full, StoreFile, TextOrJson, Unjudged, opened_store
from tui.cli.output import text_width
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.tuning.examples import JudgedPrompt
    from labels.tuning.tuning import Tuning

    InUse = Mapping[str, Cutoff | None]
    """root -> the cutoff that the hook uses there today."""

SEVERAL = "several"
"""The kind of the cutoffs in use where the roots have different kinds."""

SURE = click.FloatRange(0.5, 1, max_open=True)
QRELS = f"Relevance labels {TREC_FORM}; "


@command()
def tune(
    target: Annotated[float | None, option("--target-precision", type=SHARE, metavar="P")],
    confidence: Annotated[float, option("--confidence", type=SURE, metavar="P", default=0.9)],
    roots: EachRoot,
    db: StoreFile,
    prompts: Annotated[tuple[str, ...], option("--prompts", metavar="FILE")],
    qrels: Annotated[str | None, option("--qrels", metavar="FILE", about=QRELS)],
    unjudged: Unjudged,
    apply: Annotated[bool, option("--apply")],
    others: Annotated[tuple[str, ...], option("--to", metavar="ROOT")],
    shared: Annotated[bool, option("--shared")],
    undo: Annotated[bool, option("--undo")],
    form: TextOrJson,
    is_full: Full,
) -> None:
    """Learn from labels which memories to leave out.

    The cutoff is a small model. It estimates the probability that a memory is relevant, P(relevant), and drops the
    memory below a threshold. The fit starts from the default model. It needs labels of at least 20 prompts, 5 relevant
    and 5 irrelevant memories; with 60 prompts most targets can be promised. Everything is measured on prompts that the
    model has not learned from. No judge is asked.

    Nothing is written without --apply. The exit code is 1 if the target cannot be promised.

    \b
    Examples:
      memsift tune --target-precision 0.8
      memsift tune --target-precision 0.8 --apply

    --target-precision: Precision to reach, between 0 and 1: relevant injected memories / injected memories.
    --confidence: Probability with which the target must be reached.
    --prompts: Prompts of --qrels. Repeatable.
    --apply: Write the model. Hook, app and commands use it from then on.
    --to: Also write the model to this root, which has no labels. With labels of 4 roots or more, it gets its own
        threshold, which promises the target if the root is like the others; below 4 roots, nothing is promised.
    --undo: Remove the written model; with --shared the model in the root.
    --root: one model for all roots with labels.
    --qrels: instead of the label store.
    --shared: Write the model into the root itself, as memsift-cutoff.json, for everybody who trusts this root. A
        model of your own comes before it.
    """
    found = opening.known_roots(roots, os.environ)
    if undo:
        if target is not None or apply or others:
            raise click.UsageError("--undo removes the model; it goes with neither --target-precision nor --apply.")
        for root in found:
            undo_tuning(root, is_shared=shared)
        return
    if shared and not apply:
        raise click.UsageError("--shared says where to write the model; it goes with --apply or --undo.")
    if target is None:
        raise click.UsageError("Name the precision to reach with --target-precision, such as 0.8.")
    if bool(prompts) != bool(qrels):
        raise click.UsageError("--prompts and --qrels go together: name both.")
    for root in found:
        for said in opening.about_move(root, os.environ):
            tell(said)
    targets = list(dict.fromkeys([*found, *(opening.resolve_root(root, os.environ) for root in others)]))
    config = config_of(targets)
    from engine.phrases.measuring import fit_difference
    from labels.tuning import forms
    from labels.tuning.fitting import prior_of
    from labels.tuning.tuning import tune as tuned

    trust = trust_in(os.environ)
    in_use = {root: chosen_cutoff([(state_dir(root, os.environ), root)], config, trust)[0] for root in found}
    kinds = {cutoff.kind if cutoff else OFF for cutoff in in_use.values()}
    kind = kinds.pop() if len(kinds) == 1 else SEVERAL
    if qrels:
        judged = judged_in_files(in_use, config, prompts, qrels, excludes=unjudged == "exclude")
    else:
        judged = judged_in_store(in_use, config, db)
    for root, cutoff in in_use.items():
        if cutoff and cutoff.place:
            has_phrases = any(prompt.has_phrases for prompt in judged if prompt.group == root)
            if said := fit_difference(cutoff.model, has_phrases=has_phrases):
                tell(f"{cutoff.place} {said}.")
    tuning = tuned(judged, target, confidence, config.max_inject, prior_of(config.match_strategy), kind)
    text = forms.format_text(tuning, text_width(), is_full=is_full, is_applied=apply)
    click.echo(forms.format_json(tuning) if form == "json" else text, nl=False)
    fails = [root for root in targets if not settle(root, tuning, config, others, writes=apply, is_shared=shared)]
    if fails:
        click.get_current_context().exit(1)
    if not apply:
        tell("Nothing was written.")


def config_of(roots: Sequence[str]) -> Config:
    """The configuration of the hook. Raises TuningError if *roots* differ, or if their strategy has no cutoff."""
    config, *others = (opening.settings_of(root, os.environ).config for root in roots)
    if any(fit_of(other) != fit_of(config) for other in others):
        raise TuningError("The roots search by different rules (memory-config.json): tune each by itself.")
    if config.match_strategy == TITLE_TAGS:
        raise TuningError(f"match_strategy {TITLE_TAGS!r} has no cutoff. Choose another in memory-config.json.")
    return config


def judged_in_store(in_use: InUse, config: Config, db: str | None) -> list[JudgedPrompt]:
    """The prompts with labels, without those that the report leaves out: they are no random sample."""
    from labels.measure.evidence import evidence_from_store
    from labels.tuning.examples import Truth, judged_prompts
    from tui.workspace.root_labels import let_labels_follow, present_digests

    judged: list[JudgedPrompt] = []
    with opened_store(db) as store:
        for root, cutoff in in_use.items():
            with opening.opened_index(root) as index:
                let_labels_follow(store, index)
                names = store.names_with(index.root)
                digests = present_digests(store, index)
                listed = [evidence_from_store(store, name, digests).listed or () for name in names]
                truth = Truth.from_gold(store.gold(), frozenset().union(*listed))
                left_out = store.prompts_by_hand() | store.preferred_prompts()
                by_id = {prompt.id: prompt for name in names for prompt in store.prompts(name)}
                kept = [prompt for prompt_id, prompt in by_id.items() if prompt_id not in left_out]
                judged += judged_prompts(kept, index, config, truth, root, cutoff)
    return judged


def judged_in_files(
    in_use: InUse, config: Config, prompts: tuple[str, ...], qrels: str, *, excludes: bool
) -> list[JudgedPrompt]:
    """The prompts with labels from files. Raises MemsiftError for an unreadable file, or if no id is in both."""
    from labels.exchange.trec import read_qrels
    from labels.tuning.examples import Truth, by_root, judged_prompts

    judgements = read_qrels(Path(qrels))
    reading = opening.project_prompts(prompts, os.environ)
    if not any(prompt.id in judgements for prompt in reading.prompts):
        raise TuningError(f"{qrels} has no row for any of the {len(reading.prompts):,} prompts. Check their ids.")
    truth = Truth.from_qrels(judgements, excludes=excludes)
    judged: list[JudgedPrompt] = []
    with ExitStack() as opened:
        indexes = {root: opened.enter_context(opening.opened_index(root)) for root in in_use}
        memories = {root: {summary.id for summary in index.summaries()} for root, index in indexes.items()}
        for root, own in by_root(reading.prompts, judgements, memories).items():
            judged += judged_prompts(own, indexes[root], config, truth, root, in_use[root])
    return judged


def settle(root: str, tuning: Tuning, config: Config, others: Sequence[str], *, writes: bool, is_shared: bool) -> bool:
    """Write the model to *root* if it may be used there; whether it keeps a promise, or needs none.

    stderr says why a model is not written, and what is not promised.
    """
    from labels.tuning.curve import MIN_GROUPS
    from labels.tuning.forms import promise_elsewhere
    from labels.tuning.tuning import ELSEWHERE, NO_PROMISE

    promise = tuning.promise_in(root)
    is_own = root in tuning.roots
    if not is_own and root not in {os.path.abspath(other) for other in others}:  # noqa: PTH100
        tell(f"{root} has no labels, so it gets no model. To write it there anyway: --to {root}")
        return True
    if promise is None:
        tell(f"{tuning.target:g} cannot be promised{'' if is_own else f' for {root}'}; nothing was written.")
        return False
    if promise == NO_PROMISE:
        needs = f"A promise for a root without labels needs labels of {MIN_GROUPS} roots"
        tell(f"{root} has no labels, so nothing is promised there. {needs}; there are labels of {tuning.groups}.")
    if promise == ELSEWHERE and tuning.elsewhere:
        tell(f"{root} has no labels. Promise there: {promise_elsewhere(tuning, tuning.elsewhere)}")
    if writes:
        with uninterrupted():
            apply_tuning(root, tuning, config, promise, is_shared=is_shared)
    return True


def apply_tuning(root: str, tuning: Tuning, config: Config, promise: str, *, is_shared: bool) -> None:
    from labels.store import utc_now
    from labels.tuning import forms

    made = forms.model_content(tuning, config, utc_now(), promise)
    if not is_shared:
        path = forms.write_model(state_dir(root, os.environ), made)
        tell(f"Written to {path}. The hook uses it from the next prompt on; memsift tune --undo removes it.")
        return
    tell(f"Written to {keeping_trust(root, os.environ, lambda: forms.share_model(root, made))}.")
    own = cutoff_file(state_dir(root, os.environ))
    if not trust_of(root, os.environ):
        tell(f"It counts only where the root is trusted. Here it is not: {trust_command(root)}")
    elif os.path.lexists(own):
        tell(f"Your own model, {own}, comes before it. memsift tune --undo removes yours.")


def undo_tuning(root: str, *, is_shared: bool) -> None:
    from labels.tuning import forms

    with uninterrupted():
        if is_shared:
            path = keeping_trust(root, os.environ, lambda: forms.share_model(root, None))
        else:
            path = forms.remove_model(state_dir(root, os.environ))
        tell(f"Removed {path}." if path else f"There is no {'shared' if is_shared else 'tuned'} cutoff to remove.")
