"""The injected memories as a ranking, in the measures of TREC.

These measures divide by a fixed depth or by the number of relevant memories, however few were injected, so they punish
holding back. They allow comparisons with other collections; precision is what decides. Import this module only when the
ranking is asked for: loading ir-measures is slow.
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
class RankingMeasures:
    """The mean of each measure (0..1, by its name in ir-measures) over the `prompts` with a relevant memory.

    A prompt without an injected memory counts as 0, as with trec_eval -c. An unjudged memory counts as irrelevant,
    except in bpref.
    """

    prompts: int
    means: Mapping[str, float]


def ranked(rows: Iterable[Outcome], judgements: Judgements) -> RankingMeasures:
    """The measures of one system's *rows*, one for each prompt; the ranking is the injected set, best first."""
    wanted = [row for row in rows if any(judgements.get(row.prompt_id, {}).values())]
    if not wanted:
        return RankingMeasures(0, {})
    # numbers as ids: trec_eval's code crashes at an id that UTF-8 cannot hold
    topics = {row.prompt_id: str(number) for number, row in enumerate(wanted)}
    documents = TextNumbers()
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
    for metric in ir_measures.iter_calc(MEASURES, qrels, run):
        totals[str(metric.measure)] += metric.value
    return RankingMeasures(len(wanted), {name: total / len(wanted) for name, total in totals.items()})


class TextNumbers(dict[str, str]):
    """A number, as text, for every id that is asked for."""

    def __missing__(self, key: str) -> str:
        self[key] = str(len(self))
        return self[key]
