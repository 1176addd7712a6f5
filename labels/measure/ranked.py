"""What a system injects as a ranking, in the measures of TREC.

They divide by a fixed depth or by all that is relevant, however little was injected, so they punish holding back. They
are here to compare with other collections; precision is what decides. Import this only when it is asked for:
ir-measures costs as much to load as the rest of a report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ir_measures
from ir_measures import AP, RR, Bpref, P, Qrel, ScoredDoc, nDCG

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labels.records import Judgements, Outcome

MEASURES = (P @ 1, P @ 3, AP, nDCG @ 10, RR, Bpref)
"""P@k, MAP, nDCG (relevant or not), MRR and bpref, which looks at judged memories only."""


@dataclass(frozen=True)
class Ranked:
    """The mean of each measure, 0..1, over the `prompts` that have something relevant, by its name in ir-measures.

    A prompt that gets nothing counts as 0, as with trec_eval -c; a memory without a label as irrelevant, but for bpref.
    """

    prompts: int
    means: Mapping[str, float]


def ranked(rows: Iterable[Outcome], judgements: Judgements) -> Ranked:
    """The measures of one system's *rows*, one for each prompt; the ranking is the injected set, best first."""
    wanted = [row for row in rows if any(judgements.get(row.prompt_id, {}).values())]
    if not wanted:
        return Ranked(0, {})
    # ids of our own: trec_eval's code crashes at one that no UTF-8 can hold
    topics = {row.prompt_id: str(number) for number, row in enumerate(wanted)}
    documents = Numbers()
    qrels = [
        Qrel(topic, documents[memory_id], int(is_relevant))
        for prompt_id, topic in topics.items()
        for memory_id, is_relevant in judgements[prompt_id].items()
    ]
    run = [
        ScoredDoc(topics[row.prompt_id], documents[memory_id], 1.0 / rank)
        for row in wanted
        for rank, memory_id in enumerate(row.injected, start=1)
    ]
    totals = dict.fromkeys(map(str, MEASURES), 0.0)
    for found in ir_measures.iter_calc(MEASURES, qrels, run):
        totals[str(found.measure)] += found.value
    return Ranked(len(wanted), {name: total / len(wanted) for name, total in totals.items()})


class Numbers(dict[str, str]):
    """A number, as text, for every id that is asked for."""

    def __missing__(self, key: str) -> str:
        self[key] = str(len(self))
        return self[key]
