"""Prompts that are hard to answer, each with one memory among fillers: what must be injected, and what must stay out.

Every row of hard_pairs.txt runs through the pipeline with the default configuration.
"""

from typing import NamedTuple

import pytest

from engine.config import FTS5_BM25, MEMSIFT, Config
from engine.lean.sections import read_sections
from engine.memory import Memory
from tests.engine.builders import ask, injected, memory


class Row(NamedTuple):
    """A prompt, the only memory that it could be about, and whether that is injected, by which strategies."""

    prompt: str
    memory: Memory
    found: bool
    strategies: tuple[str, ...]


CONTEXT = """Recorded while the quarterly retrospective was fresh, with whoever attended. Nobody objected, alternatives
were weighed beforehand, and revisiting happens whenever circumstances differ enough to justify another conversation."""
"""What every memory says beside its point, so that all are of a natural length."""

FILLERS = """
Invoices are rounded per line and never per total
Feature flags live in LaunchDarkly and expire after a quarter
Postmortems are blameless and finished within five days
The kiosk prints receipts through a local spooler
Warehouse exports land in parquet every night
Translators receive strings on Thursdays
Customers of the pilot keep their grandfathered tariff
Screenshots are compared pixel by pixel in continuous integration
Holidays of the support rota are planned in spring
The mobile team ships fortnightly
Redis holds sessions and nothing that must survive
Avatars are cropped to squares by the uploader
Dashboards refresh each minute and page nobody
Kafka partitions follow the tenant
Secrets rotate monthly through Vault
Terraform plans are applied from the pipeline alone
The search page debounces typing for a quarter of a second
Dark mode follows the operating system
Webhooks are signed and retried with backoff
Soft deletion keeps rows for thirty days
Pull requests need two approvals
Fonts are subset and preloaded
Sentry samples a tenth of transactions
The legacy importer runs on a frozen virtual machine
Onboarding asks for a workspace name first
Payments are idempotent per order
Grafana alerts reach the duty phone
Archived projects are read-only
The changelog is written by hand
Stale branches are pruned on Fridays
""".strip().splitlines()

INDEXED = [memory(title, body=CONTEXT) for title in FILLERS]


def about(title: str, tag: str, body: str) -> Memory:
    tags = (tag,) if tag else ()
    return memory(title or "Agreed with everybody", *tags, body=f"{body}\n{CONTEXT}", memory_id="target")


def read_pairs() -> dict[str, list[Row]]:
    """The rows of each group in hard_pairs.txt."""
    groups: dict[str, list[Row]] = {}
    for heading, lines in read_sections(__file__, "hard_pairs.txt"):
        group, _, kind = heading.partition(": ")
        strategies = (MEMSIFT, FTS5_BM25) if kind == "both" else (MEMSIFT,)
        for line in lines:
            prompt, _, note = line.replace("␀", "\0").partition(" => ")
            title, tag, body = (*map(str.strip, note.split("|")), "", "")[:3]
            groups.setdefault(group, []).append(Row(prompt, about(title, tag, body), group != STAY_OUT, strategies))
    return groups


STAY_OUT = "stay out"
GROUPS = read_pairs()


@pytest.mark.parametrize("group", GROUPS)
def test_a_hard_pair(group: str) -> None:
    wrong = []
    for row in GROUPS[group]:
        for strategy in row.strategies:
            found = ask(row.prompt, *INDEXED, row.memory, config=Config(match_strategy=strategy))
            if ("target" in injected(found)) is not row.found:
                wrong.append((row.prompt, row.memory.summary.title, strategy))
    assert wrong == []
