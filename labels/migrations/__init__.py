"""The label store's schema, step by step.

A step that has been released is never edited: a store remembers the names of the steps that built it. A store that
names a step missing from STEPS was made by a newer memsift.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from labels.migrations.labels import m002_labels, m006_sightings, m008_blindness
from labels.migrations.people import m004_people, m005_merged
from labels.migrations.retrievals import m001_retrievals, m003_judgements, m007_injected

if TYPE_CHECKING:
    from sqlite_utils.migrations import Migrations


def _migrations(name: str) -> Migrations:
    """The steps of *name*, still none.

    sqlite-utils loads numpy and pandas where they are installed, only to store their kinds of values, which are not
    used here. They take longer to load than everything else, so they are hidden meanwhile.
    """
    hidden = [package for package in ("numpy", "pandas") if package not in sys.modules]
    for package in hidden:
        sys.modules[package] = None  # type: ignore[assignment]
    try:
        from sqlite_utils.migrations import Migrations
    finally:
        for package in hidden:
            del sys.modules[package]
    return Migrations(name)


MIGRATIONS = _migrations("memsift.labels")

STEPS = (
    m001_retrievals,
    m002_labels,
    m003_judgements,
    m004_people,
    m005_merged,
    m006_sightings,
    m007_injected,
    m008_blindness,
)
"""All steps, oldest first."""

for step in STEPS:
    MIGRATIONS()(step)
