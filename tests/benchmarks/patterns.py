"""How the time of each regular expression grows with the text: 16 kB and 64 kB of the worst hostile text.

    python -m tests.benchmarks.patterns [MODULE ...]

Prints both times and their ratio for the patterns of modules whose names begin with MODULE, as far as they take time at
all. A linear pattern has a ratio of about 4, a quadratic one of 16. A pattern that needs more than the limit of CPU is
named without a time.
"""

import sys

from tests.patterns import FoundPattern, find_patterns, in_child, worst_texts

QUARTER, WHOLE = 16_000, 64_000
LEAST_SECONDS = 0.05
"""Of shorter times a ratio says nothing."""


def print_ratio(found: FoundPattern) -> None:
    for short, long in zip(worst_texts(found, QUARTER), worst_texts(found, WHOLE), strict=True):
        quarter, whole = found.seconds(short), found.seconds(long)
        if whole >= LEAST_SECONDS:
            print(
                f"{whole / max(quarter, 1e-6):5.1f} {1000 * whole:9.1f} ms {found.name} {long[:30]!r} {long[-3:]!r}",
                flush=True,
            )


if __name__ == "__main__":
    for found in find_patterns(*sys.argv[1:]):
        if not in_child(lambda found=found: print_ratio(found)):
            print("    -      ended", found.name, flush=True)
