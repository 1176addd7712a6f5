"""What-if gives the injected sets that the hook would give after the settings are saved."""

import os
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import product
from math import floor
from pathlib import Path
from typing import Any

import pytest

from engine.config import Config
from engine.cutoff import chosen_cutoff
from engine.judge.verdict import APPROVED, REJECTED
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.settings.sources import read_config
from engine.settings.values import write_settings
from tests.engine.faults.answers import tries
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, DEMO_ROOT, demo_prompts, fresh_cutoff, scripted
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.workspace.judging import JudgeOptions
from tui.workspace.opening import open_workspace
from tui.workspace.report import read_report
from tui.workspace.whatif.sample import KeptJudge, WhatIfSample, effect_of, read_sample
from tui.workspace.whatif.trial import (
    CUTOFF,
    JUDGE,
    KNOBS,
    MAX_INJECT,
    MIN_STRENGTH,
    NOISE_FLOOR,
    THRESHOLD,
    changes,
    moved,
    value_text,
    values_of,
    with_value,
)
from tui.workspace.workspace import Workspace

SETTINGS = {
    MAX_INJECT: (0, 1, 3, 5, 20),
    NOISE_FLOOR: (0.0, 0.4, 0.9),
    MIN_STRENGTH: (0.0, 0.8, 2.0),
    CUTOFF: ("off", "default", "tuned"),
    THRESHOLD: (None, 0.2, 0.9),
    JUDGE: (False, True),
}


def sample_of(workspace: Workspace) -> WhatIfSample:
    return read_sample(workspace.store, workspace.index)


def settings(slow: bool) -> list[dict[Any, Any]]:
    """Each value of each setting, with every other; else each with the defaults of the others, and some together."""
    if slow:
        return [dict(zip(SETTINGS, values, strict=True)) for values in product(*SETTINGS.values())]
    single = [{knob: value} for knob, values in SETTINGS.items() for value in values]
    with_judge = [{JUDGE: True, **one} for one in single]
    return [*single, *with_judge, {CUTOFF: "off", MAX_INJECT: 6, NOISE_FLOOR: 0.2, MIN_STRENGTH: 0.1}]


def check(open_workspace: Opener, tmp_path: Path, tried: list[dict[Any, Any]], prompts: tuple[str, ...]) -> None:
    root = tmp_path / "root"
    shutil.copytree(DEMO_ROOT, root)
    workspace = open_workspace(root=root, prompts=demo_prompts(*prompts), cutoff=fresh_cutoff())
    workspace.config = with_value(workspace.config, NOISE_FLOOR, 0.0)  # so that the judge is asked about more
    replay_and_label(workspace)
    sample = sample_of(workspace)
    known = 0
    for values in tried:
        write_settings(str(root), {knob.key: values.get(knob) for knob in KNOBS})
        saved = read_config(str(root), {}, is_trusted=True).config
        draft: Config = saved
        for knob, value in values.items():
            draft = with_value(draft, knob, value)
        cutoff = chosen_cutoff([(str(tmp_path / "state"), "")], draft, bool)[0]
        judge = scripted(saved) if saved.judge.enabled else None
        for one, found in zip(sample.prompts, sample.injected(draft, cutoff), strict=True):
            if found is not None:
                fresh = retrieve(Query(one.prompt), workspace.index, OpenSystem(saved, judge=judge, cutoff=cutoff))
                assert [each.memory.id for each in found] == [each.memory.id for each in fresh.injected], values
                known += 1
    assert known > 0.8 * len(sample.prompts) * len(tried)


@pytest.mark.slow
def test_the_injected_sets_are_those_of_a_fresh_retrieval_under_the_saved_settings(
    open_workspace: Opener, tmp_path: Path
) -> None:
    check(open_workspace, tmp_path, settings(slow=False), ("p01", "p02", "p06", "p13", "p27"))


@pytest.mark.long
@pytest.mark.slow
def test_so_they_are_for_every_combination_and_every_prompt(open_workspace: Opener, tmp_path: Path) -> None:
    check(open_workspace, tmp_path, [*settings(slow=True)][:: tries(1, 5)], ())


def test_over_several_roots_the_injected_sets_are_those_of_the_hook(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    shutil.copytree(DEMO_ROOT, first)
    shutil.copytree(DEMO_ROOT, second, ignore=lambda _, names: [one for one in names if one.endswith("-config.json")])
    for file in second.rglob("*a*.json"):  # the others are the same memory in both roots, which counts once
        file.write_text(file.read_text().replace('"title": "', '"title": "Again: '))
    write_settings(str(second), {MAX_INJECT.key: 1, NOISE_FLOOR.key: 0.5})
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join((DEMO / "prompts.jsonl").read_text().splitlines(keepends=True)[:5]))
    store, off = str(tmp_path / "labels.db"), JudgeOptions(is_off=True)
    workspace = open_workspace(str(first), [str(prompts)], off, store, os.environ, others=[str(second)])
    with closing(workspace):
        replay_and_label(workspace)
        sample, saved = sample_of(workspace), workspace.config
        drafts = [with_value(saved, knob, value) for knob in SETTINGS for value in SETTINGS[knob]]
        digests = sorted({one.digest for one in workspace.index.summaries()})
        decided = {digest: (APPROVED, REJECTED)[number % 2] for number, digest in enumerate(digests)}
        kept = [replace(one, decisions=decided) for one in sample.prompts]
        sample = WhatIfSample(workspace.index, kept, sample.evidence)
        names: set[str] = set()
        for draft in drafts:
            cutoff, judge = chosen_cutoff([], draft, bool)[0], KeptJudge(decided) if draft.judge.enabled else None
            system = OpenSystem(draft, cutoff=cutoff, judge=judge)
            fresh = [retrieve(Query(one.prompt), workspace.index, system).injected for one in kept]
            expected = [[each.memory.id for each in one] for one in fresh]
            found = [[each.memory.id for each in one or ()] for one in sample.injected(draft, cutoff)]
            assert found == expected, draft
            names.update(*expected)
    assert any("@" in name for name in names)


def test_the_saved_settings_have_the_numbers_of_the_report(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, cutoff=fresh_cutoff(), prompts=demo_prompts()[20:])
    replay_and_label(workspace)
    sample, config = sample_of(workspace), workspace.config
    found = sample.injected(config, workspace.cutoff)
    effect = effect_of(sample, (config, found), (config, found))
    report = {one.system: one for one in read_report(workspace).report.systems}["memsift+default"]
    assert effect.changed == 0
    assert not any(one.diff.is_changed for one in effect.rows)
    assert effect.saved == effect.draft
    assert (effect.saved.precision, effect.saved.served) == (report.headline, report.served)
    assert effect.saved.false_fires == report.false_fire_rate
    assert effect.saved.irrelevant == report.irrelevant_per_prompt
    assert effect.saved.lost == report.lost_per_prompt
    assert effect.saved.tokens > 20


def test_a_stricter_threshold_spares_and_loses_and_the_prompts_say_which(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, cutoff=fresh_cutoff(), prompts=demo_prompts()[:20])
    replay_and_label(workspace)
    sample, saved = sample_of(workspace), workspace.config
    draft = with_value(with_value(saved, THRESHOLD, 0.95), MAX_INJECT, 1)
    results = [(one, sample.injected(one, chosen_cutoff([], one, bool)[0])) for one in (saved, draft)]
    effect = effect_of(sample, results[0], results[1])
    before, after = effect.saved, effect.draft
    gone = [moved.is_relevant for change in effect.rows for moved in change.diff.lost]
    assert gone.count(None) == 0 < gone.count(False)
    assert before.irrelevant.part - after.irrelevant.part == gone.count(False)
    assert after.lost.part - before.lost.part == gone.count(True)
    assert after.fires.part < before.fires.part
    assert after.tokens < before.tokens
    changed = effect.rows[: effect.changed]
    assert all(row.diff.is_changed for row in changed)
    assert not any(row.diff.is_changed for row in effect.rows[effect.changed :])
    assert 0 < effect.changed < len(effect.rows)
    assert [one.diff.worth for one in changed] == sorted(one.diff.worth for one in changed)
    for one in changed:
        assert -one.diff.worth == sum(1 if moved.is_relevant else -1 for moved in one.diff.lost)


def test_a_prompt_without_a_kept_verdict_is_left_out_while_the_judge_is_on(open_workspace: Opener) -> None:
    prompts = demo_prompts("p01", "p02")
    workspace = open_workspace(prompts=prompts, cutoff=None)
    replay_and_label(workspace)
    other = open_workspace(judge=None, prompts=[*prompts, *demo_prompts("p06")])
    replay_and_label(other)
    sample, saved = sample_of(other), other.config
    assert sample.has_verdicts
    draft = with_value(saved, JUDGE, True)
    effect = effect_of(sample, (saved, sample.injected(saved, None)), (draft, sample.injected(draft, None)))
    assert (len(effect.rows), effect.left_out) == (2, 1)


def test_prompts_without_labels_and_typed_prompts_do_not_count_and_nobody_waits_for_stale_sets(
    open_workspace: Opener,
) -> None:
    typed = typed_prompt("how do sessions expire?")
    workspace = open_workspace(judge=None, prompts=[*demo_prompts("p01", "p02", "p06"), typed])
    replay_and_label(workspace, prompts=2)
    card = known(workspace.pool(typed.id)).cards[0]
    workspace.store.label("me", typed.id, card, "not", seed=1, blind=False, elapsed_ms=1)
    sample = sample_of(workspace)
    assert [one.prompt.id for one in sample.prompts] == ["p01", "p02"]
    asked: list[int] = []
    assert len(sample.injected(workspace.config, None, lambda: asked.append(1) or len(asked) > 1)) == 1


def test_a_knob_stops_at_its_limits_and_steps_from_the_value_in_use() -> None:
    config = read_config(str(DEMO_ROOT), dict(os.environ)).config
    cutoff = known(fresh_cutoff())
    assert value_text(config, THRESHOLD, cutoff) == f"{cutoff.threshold:.3g} (default)"
    stricter = moved(config, THRESHOLD, 2, cutoff)
    assert stricter.cutoff_threshold == floor(100 * cutoff.threshold + 2) / 100
    assert {0.2, 0.2345, "balanced"} < {*values_of(THRESHOLD, cutoff, {0.2345: 0.2345})}
    assert changes(config, stricter) == {("cutoff_threshold",): stricter.cutoff_threshold}
    assert moved(config, MAX_INJECT, -9, cutoff).max_inject == 0
    assert moved(config, NOISE_FLOOR, 99, cutoff).noise_floor == 1.0
    assert moved(config, CUTOFF, 9, cutoff).cutoff == "off"
    assert moved(config, THRESHOLD, 1, None) == config
    assert changes(config, moved(config, JUDGE, 1, cutoff)) == {("judge", "enabled"): True}
    assert value_text(config, CUTOFF, cutoff) == "default, untuned"
