"""The example projects as labelled prompts: the default model learns from them.

They are five invented projects, written for memsift, in `tests/example_projects`. `demo`, a library, is a root of
files; the others hold memories.jsonl.
"""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.config import Config
from engine.conversations.prompt_files import read_prompts
from engine.lean.record import replace
from engine.opening import index_of
from engine.prompt import Prompt
from engine.stores.roots import read_corpus
from labels.exchange.trec import read_qrels
from labels.tuning.examples import JudgedPrompt, Truth, judged_prompts
from tests.engine.builders import FOLDER_OF

TOP = Path(__file__).resolve().parent.parent.parent
DEMO = TOP / "tests/example_projects/demo"
FOLDERS = [DEMO, *sorted(path.parent for path in DEMO.parent.glob("*/memories.jsonl"))]


def example_projects(
    config: Config, change: Callable[[Prompt], Prompt | None] = lambda prompt: prompt
) -> dict[str, list[JudgedPrompt]]:
    """Name of a project -> its prompts, with the memories that reach the cutoff. The group is the project.

    *change* makes another prompt of each, or None to leave it out.
    """
    return {folder.name: project(folder, config, change) for folder in FOLDERS}


def project(folder: Path, config: Config, change: Callable[[Prompt], Prompt | None]) -> list[JudgedPrompt]:
    """The prompts of one project. No memory waits for approval: all were written for memsift."""
    prompts = [made for one in read_prompts([str(folder / "prompts.jsonl")]).prompts if (made := change(one))]
    truth = Truth.from_qrels(read_qrels(folder / "qrels.txt"), excludes=False)
    with TemporaryDirectory() as place:
        root = folder / "memory" if folder == DEMO else write_root(folder, Path(place))
        with closing(index_of(read_corpus(str(root)))) as index:
            return judged_prompts(prompts, index, replace(config, max_risk=1.0), truth, folder.name)


def write_root(folder: Path, root: Path) -> Path:
    """The memories of a project as files under *root*."""
    for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        path = root / FOLDER_OF[row["category"]] / f"{row['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line, encoding="utf-8")
    return root
