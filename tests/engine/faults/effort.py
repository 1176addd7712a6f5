"""How much to try: a sample by default, all of it where CI=true or MEMSIFT_LONG_TESTS is set."""

from __future__ import annotations

import os

IS_LONG = os.environ.get("CI") == "true" or bool(os.environ.get("MEMSIFT_LONG_TESTS"))


def tries(in_all: int, sample: int) -> int:
    return in_all if IS_LONG else sample
