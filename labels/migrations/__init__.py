"""The label store's schema, step by step, a file for each.

A step that has been released is never edited: a store remembers the names of the steps it has seen, and a store that
names a step this list lacks was made by a newer memsift.
"""

from __future__ import annotations

from sqlite_utils.migrations import Migrations

from labels.migrations.injected import m007_injected
from labels.migrations.judgements import m003_judgements
from labels.migrations.labels import m002_labels
from labels.migrations.merged import m005_merged
from labels.migrations.people import m004_people
from labels.migrations.retrievals import m001_retrievals
from labels.migrations.sightings import m006_sightings

MIGRATIONS = Migrations("memsift.labels")

STEPS = (m001_retrievals, m002_labels, m003_judgements, m004_people, m005_merged, m006_sightings, m007_injected)
"""Every step there is, in order."""

for step in STEPS:
    MIGRATIONS()(step)
