"""Fit the default model, and measure it on roots that it did not learn from: served, useful, false fires.

    python -m tests.benchmarks.served [--notes FOLDER] [--locomo FOLDER] [--write]

Learns from the corpus, the example projects, the labelled real roots under --notes (a folder a root; their prompts and
labels lie in the shared data) and the chat facts under --locomo. Each root is measured with a model that was fitted
without it, at the thresholds for 2, 10 and 25 % false fires on real roots. Real roots are measured once more with the
phrases of the shared data by which their notes are asked for, with the same model and with thresholds of their own; and
as a control with the phrases of other notes. --write puts the model of all roots, and the shares that were measured,
into engine/default_model.py, and the figures of the README into tests/benchmarks/served.json. Reliability is the mean
P(useful) : the share of useful, in bins of 30 candidates or more; "!" marks a difference above .1 that leaves the
share's interval.

    served       of the prompts that need a memory (grade 2), the share that gets such a memory
    useful       of the injected memories, the share with grade 1 or 2
    recall       of the needed memories, the share that is injected
    false fires  of the prompts for which nothing is useful, the share that gets something
"""

import argparse
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from engine.config import Config
from engine.default_model import FALSE_FIRES
from engine.memory import Corpus, Memory
from engine.opening import index_of
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Prompt, Turn
from engine.stores.roots import read_corpus
from labels.measure.intervals import wilson
from labels.tuning.curve import reaches
from labels.tuning.examples import Recorder
from labels.tuning.fitting import FeatureWeights, fit
from tests.benchmarks.locomo import collections
from tests.engine.builders import FOLDER_OF

TOP = Path(__file__).resolve().parent.parent.parent
DEMO = TOP / "tests/example_projects/demo"

REAL, TYPED, CORPUS, EXAMPLES, CHAT = "real", "typed", "corpus", "examples", "chat"
REPEATS = {REAL: 6, TYPED: 6, CORPUS: 2, EXAMPLES: 2, CHAT: 1}
"""How often the prompts of a set count."""

CHAT_SHARE = 5
"""One of so many chat prompts counts: there are ten times as many of them as of prompts on real roots."""

FEATURES = ("strength", "short", "short_rivals", "short_tag")
"""Features of the default model."""

LENGTHS = {40: "to 40", 150: "to 150", 600: "to 600"}
"""Words in the shortest memory that a prompt needs -> name of the group."""

LEARNED = Config(max_inject=4, max_risk=1.0, repeat_loaded=True)
MOST = 3


@dataclass(frozen=True)
class Graded:
    """A candidate: its grade 0..2 (None: not labelled), its features, and its P(useful) once a model gave one."""

    memory_id: str
    grade: int | None
    features: Mapping[str, float]


@dataclass(frozen=True)
class GradedPrompt:
    root: str
    set: str
    kind: str
    needs: bool
    is_useless: bool
    candidates: tuple[Graded, ...]
    length: str = ""


@dataclass
class LabelledRoot:
    """A root with prompts. `grade(prompt id, memory)` is the grade of a memory, None where nobody labelled it."""

    name: str
    set: str
    corpus: Corpus
    prompts: list[tuple[Prompt, str]]
    grades: Mapping[str, Mapping[str, int]]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    phrases: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def grade(self, prompt_id: str, memory_id: str) -> int | None:
        names = self.names.get(memory_id, ())
        return max((self.grades[prompt_id].get(name, 0) for name in names), default=None)


def graded(root: LabelledRoot, phrases: Mapping[str, Sequence[str]] | None = None) -> list[GradedPrompt]:
    """The prompts of a root with their candidates. *phrases*: memory id -> phrases by which it is asked for."""
    found = []
    words = {memory.summary.id: len(memory.body.split()) for memory in root.corpus.memories}
    with closing(index_of(root.corpus, phrases=phrases)) as index:
        held = {name for id_ in words for name in root.names.get(id_, ())}
        for prompt, kind in root.prompts:
            recorder = Recorder(LEARNED)
            candidates = retrieve(Query(prompt), index, OpenSystem(LEARNED, recorder)).candidates
            rows = [
                Graded(one.memory.id, root.grade(prompt.id, one.memory.id), recorder.seen[one.memory.id])
                for one in candidates
                if one.memory.id in recorder.seen
            ]
            grades = [grade for name, grade in root.grades[prompt.id].items() if name in held]
            needed = [length for id_, length in words.items() if root.grade(prompt.id, id_) == 2]
            length = next((name for most, name in LENGTHS.items() if min(needed) <= most), "longer") if needed else ""
            found.append(GradedPrompt(root.name, root.set, kind, 2 in grades, not grades, tuple(rows), length))
    return found


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def prompt_of(row: Mapping[str, Any]) -> Prompt:
    turns = tuple(Turn(turn["role"], turn["text"]) for turn in row.get("context", ()))
    return Prompt(row["id"], row["prompt"], turns)


def note_name(text: str) -> str:
    return re.sub(r":\d+$", "", text).partition("#")[0].rpartition("/")[2].removesuffix(".md").casefold()


def real_roots(notes: Path, shared: Path) -> Iterator[LabelledRoot]:
    """The yardstick's roots. Notes are named by their files; facts of an index file were not labelled."""
    grades: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for row in rows_in(shared / "labels.jsonl"):
        grades[row["root"]][row["id"]] = {note_name(f"{name}.md"): grade for name, grade in row["labels"].items()}
    written: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in rows_in(shared / "phrases.jsonl"):
        written[row["root"]][note_name(row["note"])] = row["phrases"]
    files = [shared / "prompts.jsonl", *sorted(notes.glob("prompts/*.jsonl"))]
    rows = list(chain.from_iterable(map(rows_in, files)))
    for name in dict.fromkeys(row["root"] for row in rows):
        own = [row for row in rows if row["root"] == name]
        corpus = read_corpus(str(notes / name))
        notes_of = {one.summary.id: note_name(one.summary.path) for one in corpus.memories}
        names = {id_: (file,) for id_, file in notes_of.items() if file not in ("memory", "readme", "index")}
        prompts = [(prompt_of(row), row["kind"]) for row in own]
        phrases = {id_: written[name][file] for id_, (file,) in names.items() if file in written[name]}
        yield LabelledRoot(name, TYPED if "context" in own[0] else REAL, corpus, prompts, grades[name], names, phrases)


def corpus_roots() -> Iterator[LabelledRoot]:
    for folder in sorted(path for path in (TOP / "tests/corpus").iterdir() if path.is_dir()):
        indexes = [path for path in folder.rglob("MEMORY.md") if "agent-memory" not in path.parts]
        if not indexes:
            continue
        corpus = read_corpus(str(indexes[0].parent))
        grades = {row["id"]: row["labels"] for row in rows_in(folder / "labels.jsonl")}
        labelled = {name for own in grades.values() for name in own}
        names = {one.summary.id: _names_of(one, folder, labelled) for one in corpus.memories}
        prompts = [(prompt_of(row), row["kind"]) for row in rows_in(folder / "prompts.jsonl")]
        yield LabelledRoot(folder.name, CORPUS, corpus, prompts, grades, names)


def _names_of(memory: Memory, folder: Path, labelled: set[str]) -> list[str]:
    """The names that labels may give to a memory: its file, and a part of the file whose first words it holds."""
    path = os.path.relpath(re.sub(r":\d+$", "", memory.summary.path), folder)
    text = " ".join(
        [memory.summary.title, *(line for section in memory.sections for line in (section.heading, *section.lines))]
    )
    parts = [name for name in labelled if name.startswith(f"{path}#") and name.partition("#")[2] in text]
    return [path, *parts]


def needed_in(folder: Path) -> Mapping[str, dict[str, int]]:
    """Prompt -> memory -> 2, for the memories that it needs."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for prompt_id, _, memory_id, grade in map(str.split, (folder / "qrels.txt").read_text("utf-8").splitlines()):
        if int(grade):
            grades[prompt_id][memory_id] = 2
    return grades


def example_roots() -> Iterator[LabelledRoot]:
    """`demo`, a library, is a root of files; the other projects hold memories.jsonl."""
    for folder in (DEMO, *sorted(path.parent for path in DEMO.parent.glob("*/memories.jsonl"))):
        with TemporaryDirectory() as place:
            corpus = read_corpus(str(folder / "memory" if folder == DEMO else write_root(folder, Path(place))))
        prompts = [(prompt_of(row), "") for row in rows_in(folder / "prompts.jsonl")]
        names = {one.summary.id: (one.summary.id,) for one in corpus.memories}
        yield LabelledRoot(folder.name, EXAMPLES, corpus, prompts, needed_in(folder), names)


def write_root(folder: Path, root: Path) -> Path:
    """The memories of a project as files under *root*."""
    for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        path = root / FOLDER_OF[row["category"]] / f"{row['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line, encoding="utf-8")
    return root


def chat_roots(folder: Path) -> Iterator[LabelledRoot]:
    rows = rows_in(folder / "prompts.jsonl")
    for name, memories in collections(folder).items():
        prompts = [(prompt_of(row), "") for row in rows if row["collection"] == name]
        names = {one.summary.id: (one.summary.id,) for one in memories}
        yield LabelledRoot(name, CHAT, Corpus(name, tuple(memories)), prompts, needed_in(folder), names)


def fitted(prompts: Iterable[GradedPrompt], features: Sequence[str] = FEATURES) -> FeatureWeights:
    rows, useful = [], []
    for number, prompt in enumerate(prompts):
        if prompt.set == CHAT and number % CHAT_SHARE:
            continue
        for one in prompt.candidates[:8]:
            if one.grade is not None:
                own = {name: one.features[name] for name in features}
                rows += [own] * REPEATS[prompt.set]
                useful += [one.grade > 0] * REPEATS[prompt.set]
    return fit(rows, useful)


Scored = list[tuple[GradedPrompt, list[tuple[float, int | None]]]]


def scored(prompts: Iterable[GradedPrompt], weights: FeatureWeights) -> Scored:
    """Each prompt with (P(useful), grade) of its candidates in rank order."""
    result = []
    for prompt in prompts:
        given = weights.probabilities([one.features for one in prompt.candidates]) if prompt.candidates else ()
        result.append((prompt, [(float(p), one.grade) for p, one in zip(given, prompt.candidates, strict=True)]))
    return result


def left_out(prompts: Sequence[GradedPrompt], asked: Sequence[GradedPrompt]) -> Scored:
    """The prompts *asked*, each root scored by a model that was fitted to *prompts* without it."""
    found: Scored = []
    for root in dict.fromkeys(prompt.root for prompt in asked):
        others = fitted(prompt for prompt in prompts if prompt.root != root)
        found += scored([prompt for prompt in asked if prompt.root == root], others)
    return found


def shuffled(phrases: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The phrases of other memories for each memory."""
    given = [*phrases.values()]
    return dict(zip(phrases, Random(1).sample(given, len(given)), strict=True))


def injected(row: Sequence[tuple[float, int | None]], least: float) -> list[int | None]:
    """The grades of the memories that a threshold lets through, as `engine.cutoff` does."""
    reached = zip(row, reaches([p for p, _ in row], least), strict=True)
    return [grade for (_, grade), is_kept in reached if is_kept][:MOST]


def threshold_for(rate: float, rows: Scored) -> float:
    """The least P(useful) that gives at most *rate* false fires."""
    tops = sorted((max((p for p, _ in row), default=0.0) for prompt, row in rows if prompt.is_useless), reverse=True)
    return tops[min(len(tops) - 1, int(rate * len(tops)))] + 1e-9 if tops else 1.0


def measured(rows: Scored, least: float) -> dict[str, tuple[int, int]]:
    """served, useful, recall of needed, false fires: (count, of)."""
    sums: dict[str, list[int]] = {name: [0, 0] for name in ("served", "useful", "recall", "false")}
    for prompt, row in rows:
        given = injected(row, least)
        if prompt.needs:
            sums["served"][0] += 2 in given
            sums["served"][1] += 1
            sums["recall"][0] += given.count(2)
            sums["recall"][1] += sum(one.grade == 2 for one in prompt.candidates)
        if prompt.is_useless:
            sums["false"][0] += bool(given)
            sums["false"][1] += 1
        sums["useful"][0] += sum(grade is not None and grade > 0 for grade in given)
        sums["useful"][1] += sum(grade is not None for grade in given)
    return {name: (part, of) for name, (part, of) in sums.items()}


def shown(numbers: Mapping[str, tuple[int, int]]) -> str:
    def one(name: str, part: int, of: int) -> str:
        between = wilson(part, of)
        return f"{name} {part / of:.2f} ({between.low:.2f}-{between.high:.2f}) of {of:3}" if between else f"{name} -"

    return "  ".join(one(name, *pair) for name, pair in numbers.items())


def first_needed(rows: Scored) -> str:
    need = [row for prompt, row in rows if prompt.needs]
    shares = (sum(any(grade == 2 for _, grade in row[:top]) for row in need) / len(need) for top in (1, 3, 10))
    return " / ".join(f"{share:.2f}" for share in shares)


def reliability(rows: Scored) -> str:
    """Mean P(useful) : share of useful, in bins of 30 candidates or more."""
    bins: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for _, row in rows:
        for p, grade in row[:8]:
            if grade is not None:
                bins[min(9, int(10 * p))].append((p, grade > 0))
    return "  ".join(_said(held) for _, held in sorted(bins.items()) if len(held) >= 30)


def _said(held: Sequence[tuple[float, int]]) -> str:
    said, useful = sum(p for p, _ in held) / len(held), sum(yes for _, yes in held)
    true, between = useful / len(held), wilson(useful, len(held))
    is_off = between and abs(said - true) > 0.1 and not between.low <= said <= between.high
    return f"{said:.2f}:{true:.2f}{'!' if is_off else ''} ({len(held)})"


MOST_ON_A_LINE = 4
"""Entries of a table in the written file that stand on one line."""


def write(weights: FeatureWeights, deviations: Mapping[str, float], rows: Scored, with_phrases: Scored) -> None:
    """Write the model. *rows* are those that its thresholds were measured on, also *with_phrases*."""
    file = TOP / "engine/default_model.py"
    text = file.read_text(encoding="utf-8")
    named = {name: round(weights.by_feature.get(name, 0.0), 4) for name in FEATURES}
    values = {
        "INTERCEPT": round(weights.intercept, 4),
        "WEIGHTS": named,
        "SCALES": {name: round(value, 4) for name, value in deviations.items()},
    }
    for ending, own in (("", rows), ("_WITH_PHRASES", with_phrases)):
        values[f"THRESHOLDS{ending}"] = {name: round(threshold_for(rate, own), 3) for name, rate in FALSE_FIRES.items()}
    found = {name: measured(rows, threshold_for(rate, rows)) for name, rate in FALSE_FIRES.items()}
    values["MEASURED"] = {
        name: tuple(round(part / of, 2) for part, of in (one["served"], one["useful"])) for name, one in found.items()
    }
    for name, value in values.items():
        body = f"{value}"
        if isinstance(value, dict):
            pairs = [f'"{key}": {number}' for key, number in value.items()]
            is_long = len(pairs) > MOST_ON_A_LINE
            body = "{\n    " + ",\n    ".join(pairs) + ",\n}" if is_long else f"{{{', '.join(pairs)}}}"
        text = re.sub(rf"(?ms)^({name}[^=\n]* = )(\{{.*?\}}|[^\n{{]*)$", rf"\g<1>{body}", text)
    file.write_text(text, encoding="utf-8")


FIGURES = TOP / "tests/benchmarks/served.json"
GROUPS = {
    "written in the note's words": lambda one: one.set == REAL and one.kind != "paraphrase",
    "avoid the note's words": lambda one: one.kind == "paraphrase",
    "typed": lambda one: one.set == TYPED,
}


def figures(rows: Scored, least: float) -> dict[str, Any]:
    """The README's figures, in percent: of each group of prompts, of prompts without a need, and of the roots."""

    def of(own: Scored) -> dict[str, int]:
        found = {name: pair for name, pair in measured(own, least).items() if name in ("served", "useful")}
        return {name: round(100 * part / of) for name, (part, of) in found.items()} | {"prompts": found["served"][1]}

    part, needless = measured([row for row in rows if row[0].set == REAL], least)["false"]
    roots = dict.fromkeys(prompt.root for prompt, _ in rows)
    return {
        "groups": {name: of([row for row in rows if fits(row[0])]) for name, fits in GROUPS.items()},
        "false fires": {"percent": round(100 * part / needless), "prompts": needless},
        "roots": {root: of([row for row in rows if row[0].root == root]) for root in roots},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--shared", type=Path, default=TOP.parent / "shared/data/yardstick")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    real = list(real_roots(given.notes, given.shared)) if given.notes else []
    roots = [*real, *corpus_roots(), *example_roots(), *(chat_roots(given.locomo) if given.locomo else ())]
    prompts = [prompt for root in roots for prompt in graded(root)]
    rows = left_out(prompts, prompts)
    weights = fitted(prompts)
    print(weights)
    asked = {
        "with phrases": left_out(prompts, [p for root in real for p in graded(root, phrases=root.phrases)]),
        "of other notes": left_out(prompts, [p for root in real for p in graded(root, phrases=shuffled(root.phrases))]),
    }
    sets = {name: [row for row in rows if row[0].set == name] for name in dict.fromkeys(root.set for root in roots)}
    real_rows = sets.get(REAL) or sets[CORPUS]
    thresholds = {name: threshold_for(rate, real_rows) for name, rate in FALSE_FIRES.items()}
    print("thresholds", {name: round(value, 3) for name, value in thresholds.items()})
    for name, least in thresholds.items():
        print(f"\n## {name}")
        for group, own in sets.items():
            print(f"{group:18} {shown(measured(own, least))}")
        print("by root, kind, words in the shortest needed memory")
        for by in attrgetter("set", "root"), attrgetter("set", "kind"), attrgetter("set", "length"):
            for group in dict.fromkeys(by(prompt) for prompt, _ in rows if prompt.set != CHAT and all(by(prompt))):
                print(f"  {' '.join(group):26} {shown(measured([row for row in rows if by(row[0]) == group], least))}")
    print("\nneeded in first 1 / 3 / 10, and reliability")
    for group, own in sets.items():
        print(f"{group:10} {first_needed(own)}   {reliability(own)}")
    print("\nphrases by which notes are asked for: their own, and those of other notes")
    for name, found in asked.items():
        for kind in (REAL, TYPED):
            own = [row for row in found if row[0].set == kind]
            print(f"{name:15} {kind:6} {first_needed(own)}   {reliability(own)}")
            for label, rate in FALSE_FIRES.items():
                least = threshold_for(rate, [row for row in found if row[0].set == REAL])
                print(f"  {label:9} {least:.3f} {shown(measured(own, least))}")
                for group in dict.fromkeys(prompt.kind for prompt, _ in own):
                    print(f"    {group:12} {shown(measured([row for row in own if row[0].kind == group], least))}")
    if given.write:
        import numpy as np

        held = [one.features for prompt in prompts for one in prompt.candidates[:8]]
        deviations = {name: float(np.std([row[name] for row in held])) for name in held[0]}
        with_phrases = [row for row in asked["with phrases"] if row[0].set == REAL]
        write(weights, deviations, real_rows, with_phrases)
        rate = FALSE_FIRES["balanced"]
        made = {
            "without phrases": figures([row for row in rows if row[0].set in (REAL, TYPED)], thresholds["balanced"]),
            "with phrases": figures(asked["with phrases"], threshold_for(rate, with_phrases)),
        }
        FIGURES.write_text(f"{json.dumps(made, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
