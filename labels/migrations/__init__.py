"""The label store's schema, step by step.

A step that has been released is never edited: a store remembers the names of the steps that built it. A store that
names a step missing from STEPS was made by a newer memsift.
"""

from __future__ import annotations

from sqlite_utils.migrations import Migrations

from labels.migrations.labels import m002_labels, m006_sightings
from labels.migrations.people import m004_people, m005_merged
from labels.migrations.retrievals import m001_retrievals, m003_judgements, m007_injected

MIGRATIONS = Migrations("memsift.labels")

STEPS = (m001_retrievals, m002_labels, m003_judgements, m004_people, m005_merged, m006_sightings, m007_injected)
"""All steps, oldest first."""

for step in STEPS:
    MIGRATIONS()(step)
