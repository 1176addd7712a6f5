"""English words that carry no topic. Other languages have none: guessing them costs more than it saves."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    about above actually after again all also always am an and any anything are aren as at back be because been before
    being below best better between both but by can cannot continue could couldn did didn do does doesn doing don done
    down each either else ever every everything few for from further get gets getting give given go goes going good got
    had has hasn have haven having he hello help her here hers hey hi him his how however if in instead into is isn it
    its just keep know less let like ll look looks made make makes making many may maybe me mean might more most much
    must my need needs never new no nor not nothing now of off ok okay old on once one only onto or other our ours out
    over own per please proceed put quite rather re really right same say see seem seems shall she should shouldn show
    since so some something still such sure take tell than thank thanks that the their theirs them then there these they
    thing things think this those though through to too toward try trying two under until up upon us use used uses using
    ve very want wants was wasn way we well were weren what when where whether which while who whom whose why will wish
    with within without won work working works would wouldn yes yet you your yours
    """.split()
)
