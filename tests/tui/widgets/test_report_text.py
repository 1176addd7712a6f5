"""The report as text of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from engine.lean.record import replace
from engine.prompt import Prompt
from labels.measure.intervals import Interval
from labels.measure.report import report_from_store
from labels.store import LabelStore
from tests.labels.samples import card, failed, judged, record, retrieval
from tui.widgets.report_text import interval_bar, report_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as opened:
        yield opened


def text(store: LabelStore, width: int = 100) -> str:
    return report_text(report_from_store(store), width).plain


def label(store: LabelStore, memory_id: str, verdict: str, prompt_id: str = "p1") -> None:
    store.label("me", prompt_id, card(memory_id), verdict, seed=1, blind=True, elapsed_ms=100)


def line(shown: str, start: str) -> str:
    return next(one for one in shown.split("\n") if one.startswith(start))


def running(shown: str) -> list[str]:
    return shown[shown.index("Running") :].split("\n")


def test_an_empty_store_says_what_to_press(store: LabelStore) -> None:
    assert "Press r" in text(store)


def test_without_labels_it_says_that_precision_is_unknown(store: LabelStore) -> None:
    record(store, retrieval(["m1", "m2"]))
    shown = text(store)
    assert "press F4" in shown
    assert "1 prompt replayed" in shown
    assert line(shown, "bm25").split()[1] == "-"
    assert "●" not in shown


def test_each_system_has_its_precision_interval_and_counts(store: LabelStore) -> None:
    record(store, retrieval(["m1", "m2", "m3"]), judged(["m1"], ["m2", "m3"]))
    for memory_id, verdict in {"m1": "relevant", "m2": "not", "m3": "not"}.items():
        label(store, memory_id, verdict)
    shown = text(store)
    assert line(shown, "bm25  ").split()[1:7] == ["0.33", "0.02-0.91", "0.00-0.99", "1", "of", "3"]
    assert line(shown, "bm25+judge  ").split()[1] == "1.00"
    assert "3 labels by me: 1 relevant, 2 not. All were given blind" in shown


def test_what_does_not_fit_a_line_of_a_list_stands_under_its_beginning(store: LabelStore) -> None:
    record(store, retrieval(["m1"]))
    label(store, "m1", "relevant")
    shown = text(store, 40)
    limits = shown[shown.index("What these numbers cannot say") :].split("\n\n")[0].split("\n")[1:]
    assert {one[:2] for one in limits} == {"- ", "  "}


def test_kinds_of_prompts_are_shown_whole_at_eighty_columns(store: LabelStore) -> None:
    kinds = {"p1": "context-dependent", "p2": "nothing-relevant"}
    for prompt_id, kind in kinds.items():
        made = judged(["m1"], [], prompt_id=prompt_id)
        system = "memsift+judge"
        record(store, replace(made, prompt=Prompt(id=prompt_id, text="what of tokens?", kind=kind), system=system))
        label(store, "m1", "relevant", prompt_id)
    shown = text(store, 74)
    assert line(shown, "memsift+judge  context-dependent ")
    assert line(shown, " " * 15 + "nothing-relevant ")


def test_the_judge_is_graded_against_the_person(store: LabelStore) -> None:
    record(store, retrieval(["m1", "m2", "m3"]), judged(["m1", "m2"], ["m3"]))
    for memory_id, verdict in {"m1": "relevant", "m2": "not", "m3": "relevant"}.items():
        label(store, memory_id, verdict)
    shown = text(store)
    assert line(shown, "the judge kept it").split()[-2:] == ["1", "1"]
    assert line(shown, "the judge dropped it").split()[-2:] == ["1", "0"]


def test_failures_of_the_judge_are_counted(store: LabelStore) -> None:
    record(store, failed(["m1", "m2"]))
    assert any(one.startswith("bm25+judge") and "1 of 1" in one for one in running(text(store)))


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_the_intervals_stand_under_each_other_at_any_width(store: LabelStore, width: int) -> None:
    record(store, retrieval(["m1"]), judged(["m1"], []))
    label(store, "m1", "relevant")
    bars = [one for one in text(store, width).split("\n") if "●" in one]
    assert [one.split()[0] for one in bars] == ["bm25", "bm25+judge"]
    assert len({one.index("●") for one in bars}) == 1
    assert all(cell_len(one) <= width for one in bars)


def test_a_narrow_screen_shows_every_number_on_a_line_of_its_own(store: LabelStore) -> None:
    record(store, retrieval(["m1"]))
    label(store, "m1", "relevant")
    shown = text(store, 30)
    assert line(shown, "  precision:") == "  precision: 1.00"
    assert line(shown, "  lost per prompt:") == "  lost per prompt: 0.00 (0/1)"


@pytest.mark.parametrize(
    ("one", "point", "live", "drawn"),
    [
        ((0.3, 0.7), 0.5, (0.1, 0.9), "·──━━●━━──·"),
        ((0.3, 0.7), 0.5, (0.3, 0.7), "···━━●━━···"),
        ((0.0, 0.4), 0.0, (0.0, 0.6), "●━━━━──····"),
        ((0.6, 1.0), 1.0, (0.6, 1.0), "······━━━━●"),
        ((0.5, 0.5), 0.5, (0.5, 0.5), "·····●·····"),
    ],
)
def test_both_intervals_are_drawn_to_scale(
    one: tuple[float, float], point: float, live: tuple[float, float], drawn: str
) -> None:
    assert interval_bar(point, Interval(*one), Interval(*live), 11).plain == drawn


def test_names_out_of_a_file_are_not_parsed(store: LabelStore) -> None:
    record(store, retrieval(["[/b]"], system="bm25", prompt_id="[link=x]"))
    label(store, "[/b]", "relevant", prompt_id="[link=x]")
    assert "1 of 1" in text(store)
