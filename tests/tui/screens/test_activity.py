"""The hook's log as a list: which rows are shown, in which order, and the way from a row to Replay and Label."""

import json
import os
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.conversations.activity_log import LoggedPrompt
from engine.paths import state_dir
from engine.settings.muting import muted_session
from labels.records import CHOSEN, NOT_RELEVANT, RELEVANT, Gold
from tests.tui.apps import SMALL, current_prompt, press, reads, running, shown, starting_in, toasts, told, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, demo_prompts
from tui.workspace.activity_rows import NEWEST, RULES, SLOWEST, Week, read_activity, weeks_line, weeks_of
from tui.workspace.filtering import RowChoice, WordFilter

pytestmark = pytest.mark.anyio

KNOWN = demo_prompts("p01")[0]
LOGGED = "a prompt that only the log knows [/b] [link=x]y"
DAY = "2026-05-11T10:{:02d}:00Z"


def row(minute: int, text: str, **fields: Any) -> dict[str, Any]:
    digest = sha256(text.encode()).hexdigest()
    return {"time": DAY.format(minute), "prompt_sha256": digest, "injected": [], "ms": 20.0, **fields}


ROWS = [
    row(1, KNOWN.text, injected=["money-in-cents"], characters=300, session_id="abc", system="memsift"),
    row(2, LOGGED, prompt=LOGGED, reason="nothing matched", agent="gemini"),
    row(3, "unknown", ms=900.0, fallback="timeout", reason="every candidate was dropped"),
]


def log_of(rows: Iterable[dict[str, Any]]) -> Path:
    folder = Path(state_dir(str(DEMO_ROOT), os.environ))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "activity.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def test_weeks_tell_how_many_of_the_labelled_injections_were_relevant() -> None:
    """A week begins on Monday. A memory without a label, or of an unknown prompt, does not count."""
    monday, sunday, next_week = "2026-05-04T00:00:00Z", "2026-05-10T23:59:59Z", "2026-05-11T00:00:00Z"
    lines = [(monday, ("a", "b")), (sunday, ("a",)), (next_week, ("a", "c")), ("soon", ("a",)), ("2026-05-18", ("c",))]
    logged = [LoggedPrompt(time, "hash", "", "", "memsift", injected, (), "", "", 0, 0.0) for time, injected in lines]
    gold = [Gold("p1", memory, "", verdict, "single", 1) for memory, verdict in (("a", RELEVANT), ("b", NOT_RELEVANT))]
    weeks = weeks_of(logged, {"hash": "p1"}, gold)
    assert weeks == (Week("2026-05-04", 2, 3), Week("2026-05-11", 1, 1))
    assert [week.day for week in weeks] == ["4 May", "11 May"]
    assert weeks_line(weeks) == "relevant by week ▆█ 67 % to 100 %"
    assert weeks_line(weeks, in_words=True) == "relevant by week 67 % to 100 %"
    assert (weeks_line(weeks[:1]), weeks_of(logged, {}, gold)) == ("", ())


def times(pilot: Pilot[None]) -> list[str]:
    return [one.decision.time[14:16] for one in widget(pilot, "ActivityList").records]


async def loaded(pilot: Pilot[None], rows: int) -> None:
    await until(pilot, lambda: widget(pilot, "ActivityList").count == rows)


@pytest.mark.slow
async def test_the_log_is_filtered_and_sorted_and_says_what_happened(open_workspace: Opener) -> None:
    log_of(ROWS)
    async with starting_in("activity", open_workspace(prompts=[KNOWN])).run_test(size=(160, 48)) as pilot:
        await loaded(pilot, 3)
        assert times(pilot) == ["03", "02", "01"]
        await reads(pilot, "#detail-text", "The judge fell back: timeout.")
        await reads(pilot, "#detail-text", "memsift config set logging.prompts true")
        await press(pilot, "G")
        await reads(pilot, "#detail-text", KNOWN.text)
        await reads(pilot, "#detail-text", "✓ Money is integer cents in amount_cents")
        for choice, expected in [(1, ["01"]), (2, ["03", "02"]), (3, ["03"]), (4, ["03"])]:
            await press(pilot, "v", "home", *["down"] * choice, "enter")
            assert times(pilot) == expected
        await press(pilot, "escape", "O")
        assert times(pilot) == ["01", "02", "03"]
        await press(pilot, "o", "end", "enter")
        assert times(pilot)[0] == "03"
        await press(pilot, "slash", *"matched gemini")
        assert times(pilot) == ["02"]
        await reads(pilot, "#detail-text", "Gemini CLI")
        await press(pilot, "x", *"yz")
        await reads(pilot, "#detail-text", "No row fits the filter. Press esc to see all.")


async def test_enter_replays_a_prompt_of_the_log_and_t_adds_it_to_the_sample(open_workspace: Opener) -> None:
    log_of(ROWS)
    workspace = open_workspace(prompts=[KNOWN])
    async with running("activity", workspace) as pilot:
        await loaded(pilot, 3)
        await press(pilot, "enter")
        assert toasts(pilot)[-1] == "The text of this prompt is unknown, so it cannot be replayed."
        await press(pilot, "asterisk", "t")
        await told(pilot, "added to the sample")
        assert toasts(pilot)[-1] == (
            "1 added to the sample, chosen by hand: L labels them; 1 in the sample already; "
            "1 of unknown text, which cannot be labelled."
        )
        assert [(one.text, one.source) for one in workspace.prompts if one.source == CHOSEN] == [(LOGGED, CHOSEN)]
        await press(pilot, "home", "down", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "replay")
        await until(pilot, lambda: workspace.lists.find(current_prompt(pilot)).text == LOGGED)  # type: ignore[union-attr]
    again = open_workspace(prompts=[KNOWN])
    assert [one.text for one in again.lists.chosen] == [LOGGED]


async def test_an_empty_log_says_whether_the_hook_is_installed_and_a_new_line_appears_by_itself(
    open_workspace: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setattr("tui.screens.activity.CHECK_SECONDS", 0.05)
    async with starting_in("activity", open_workspace(prompts=())).run_test(size=SMALL) as pilot:
        await reads(pilot, "#detail-text", "`memsift install` puts it into the settings of Claude Code.")
        settings = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "memsift-hook"}]}]}}
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude" / "settings.json").write_text(json.dumps(settings))
        local = tmp_path / ".claude" / "settings.local.json"
        local.write_text(json.dumps({"disableAllHooks": True}))
        log_of([])
        await reads(pilot, "#detail-text", "keeps memsift's hook from running, by disableAllHooks")
        local.unlink()
        log_of([])
        await reads(pilot, "#detail-text", "The hook is installed, and has answered no prompt")
        log_of(ROWS)
        await loaded(pilot, 3)


@pytest.mark.slow
def test_a_hundred_thousand_entries_are_filtered_and_sorted_at_once(open_workspace: Opener) -> None:
    """Each within a time that a person does not notice; the limits are generous for a busy machine."""
    log_of(row(n % 60, f"prompt number {n}", prompt=f"prompt number {n}", ms=float(n % 700)) for n in range(100_000))
    workspace = open_workspace(prompts=())
    log = read_activity(workspace.index, (), workspace.store.path, os.environ)
    assert len(log.entries) == 100_000
    started = time.process_time()
    assert len(RULES.listed(log.entries, RowChoice(WordFilter("number 9999"), order=NEWEST))) == 19
    assert RULES.listed(log.entries, RowChoice(kind="slow", order=SLOWEST))[0].decision.ms == 699
    assert RULES.counts(log.entries)["silent"] == 100_000
    assert time.process_time() - started < 2.0


@pytest.mark.slow
async def test_the_hook_is_followed_and_muted_in_the_app(open_workspace: Opener) -> None:
    log_of(ROWS[:1])
    folder = state_dir(str(DEMO_ROOT), os.environ)
    async with running("activity", open_workspace(prompts=[KNOWN])) as pilot:
        await loaded(pilot, 1)
        for rows, is_live in ((2, False), (3, True)):
            if is_live:
                await press(pilot, "f")
                await reads(pilot, "#list", "following the hook")
            log_of(ROWS[:rows])
            await loaded(pilot, rows)
            assert widget(pilot, "ActivityList").cursor == (0 if is_live else 1), "the newest is the first row"
        for key, muted, said in (("1", "abc", "Muted in the session abc"), ("2", None, "Not muted any more")):
            await press(pilot, "Z", key)
            await until(pilot, lambda said=said: toasts(pilot)[-1].startswith(said))
            assert muted_session(folder, time.time()) == muted
            await reads(pilot, "#where", "hook muted · demo" if muted else "demo")
        assert "hook muted" not in shown(pilot, "#where")
