"""The order of imported labels: their own times, or else none, as a file may be sorted by the labels themselves."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from labels.measure.evidence import evidence_from_store
from labels.measure.gate import PASS, Gate, gate_report
from labels.measure.intervals import Interval
from labels.measure.metrics import Ratio
from labels.measure.report import report_from_store
from labels.records import NOT_RELEVANT, RELEVANT
from labels.report.first_lines import scope_lines
from labels.report.notes import refusals, warnings
from labels.report.sections import summary
from labels.store import LabelStore
from tests.labels.samples import ROOT, record, retrieval, say
from tests.tui.cli.command_line import memsift

PROMPTS = [f"p{number:03}" for number in range(120)]
SORTED = dict.fromkeys(PROMPTS[:60], RELEVANT) | dict.fromkeys(PROMPTS[60:], NOT_RELEVANT)
"""Half of the prompts are relevant, and they come first."""

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store in which one memory was injected for each prompt."""
    path = tmp_path_factory.mktemp("replayed") / "labels.db"
    with LabelStore.open(path, now=lambda: LONG_AGO) as store, store.together():
        for name in PROMPTS:
            record(store, retrieval(["a"], prompt_id=name, text=f"prompt {name}"))
    return path.read_bytes()


@pytest.fixture
def db(tmp_path: Path, replayed: bytes) -> Path:
    path = tmp_path / "labels.db"
    path.write_bytes(replayed)
    return path


def import_labels(db: Path, form: str, verdicts: dict[str, str], annotator: str = "kim") -> None:
    path = db.parent / f"labels.{form}"
    lines = [line_of(form, number, *said) for number, said in enumerate(verdicts.items())]
    path.write_text("".join(f"{line}\n" for line in [*HEAD.get(form, []), *lines]), encoding="utf-8")
    done = memsift("import", path, "--format", form, "--annotator", annotator, "--db", db)
    assert f"{len(verdicts)} labels by {annotator}" in done.stderr, done.output


HEAD = {"csv": ["prompt_id,memory_id,digest,label:x"]}


def line_of(form: str, number: int, name: str, said: str) -> str:
    """A label in a format; JSON lines have rising times."""
    about = {"record": "event", "annotator": "x", "memory_id": "a", "digest": "digest-of-a"}
    at = {"prompt_id": name, "verdict": said, "ts": (LONG_AGO + timedelta(hours=number)).isoformat()}
    forms = {"csv": f"{name},a,digest-of-a,{said}", "qrels": f"{name} 0 a {int(said == RELEVANT)}"}
    return {**forms, "jsonl": json.dumps(about | at)}[form]


def order(db: Path) -> list[str]:
    """The judged prompts in the order in which the intervals see them."""
    with LabelStore.open(db) as store:
        known = evidence_from_store(store, ROOT, {"a": "digest-of-a"})
    return list(known.sample("bm25").judged)


@pytest.mark.parametrize("form", ["csv", "qrels"])
def test_labels_imported_in_the_order_of_relevance_give_an_interval_around_the_estimate(db: Path, form: str) -> None:
    import_labels(db, form, SORTED)
    with LabelStore.open(db) as store:
        (system,) = report_from_store(store, ROOT).systems
    assert system.precision.value == 0.5
    assert system.headline.live.low < 0.5 < system.headline.live.high
    assert order(db) != PROMPTS


def test_the_order_of_imported_labels_depends_on_neither_file_nor_store(db: Path, replayed: bytes) -> None:
    import_labels(db, "csv", SORTED)
    first, other = order(db), db.with_name("other.db")
    memsift("merge-labels", db, "--db", other)
    assert order(other) == first
    other.write_bytes(replayed)
    import_labels(other, "qrels", dict(reversed(SORTED.items())))
    assert order(other) == first


def test_imported_labels_with_times_keep_the_order_of_labelling(db: Path) -> None:
    """So a gate in CI looks at the same first prompts as the people who labelled them."""
    import_labels(db, "jsonl", dict(reversed(SORTED.items())))
    assert order(db) == PROMPTS[::-1]


@pytest.mark.parametrize("form", ["csv", "qrels"])
def test_what_was_judged_before_an_import_stays_before_it(db: Path, form: str) -> None:
    """A later look sees the prompts of earlier looks first, in the same order: else no interval holds at any look."""
    with LabelStore.open(db) as store:
        for name in ("p050", "p007", "p100"):
            say(store, f"{name} a")
    import_labels(db, form, {name: SORTED[name] for name in PROMPTS[10:40]})
    seen = order(db)
    assert seen[:3] == ["p050", "p007", "p100"]
    import_labels(db, form, {name: SORTED[name] for name in PROMPTS[60:90]}, "lee")
    assert order(db)[: len(seen)] == seen
    with LabelStore.open(db) as store:
        say(store, "p001 a")
    assert order(db)[-1] == "p001"
    assert len(order(db)) == 64


def test_two_people_who_imported_the_same_file_can_merge_their_stores(db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    memsift("merge-labels", db, "--db", other)
    for store in (db, other):
        import_labels(store, "csv", SORTED)
    done = memsift("merge-labels", other, "--db", db)
    assert (done.exit_code, "nothing new; 120 key presses already there" in done.stderr) == (0, True), done.output


@pytest.mark.parametrize("form", ["csv", "qrels"])
def test_labels_decide_a_gate_that_says_of_how_many_it_is_not_known_whether_they_were_blind(
    db: Path, form: str
) -> None:
    import_labels(db, form, dict.fromkeys(PROMPTS, RELEVANT))
    with LabelStore.open(db) as store:
        say(store, f"{PROMPTS[0]} a", blind=False)
        found = gate_report(
            evidence_from_store(store, ROOT, {"a": "digest-of-a"}), "bm25", Gate(0.8, Interval(0.8, 0.8))
        )
        report = report_from_store(store, ROOT, {"a": "digest-of-a"})
    assert found.decision.verdict == PASS
    assert list(refusals(found.system, found.caveats, found.evidence)) == []
    assert "Whether 120 imported labels were given blind is not known; they count." in warnings(found)
    assert (report.blind, report.blind_unknown) == (Ratio(0, 1), 120)
    assert scope_lines(report.evidence) == ("1 of 121 labels came after the ranks were seen: it counts.",)
    assert "given blind" not in summary(report)
