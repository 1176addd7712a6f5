"""Looking at everything that the hook needs, and saying how to mend what is wrong. Nothing here costs money."""

from __future__ import annotations

from engine.lean.record import Record

OK, NOTE, PROBLEM = STATUSES = ("ok", "note", "problem")
"""As it should be; good to know, but the hook works; the hook does not work as it should."""


class DoctorFinding(Record):
    """`fix` is a sentence for a person; empty where there is nothing to do."""

    check: str
    status: str
    text: str
    fix: str = ""


def ok(check: str, text: str) -> DoctorFinding:
    return DoctorFinding(check, OK, text)


def note(check: str, text: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(check, NOTE, text, fix)


def problem(check: str, text: str, fix: str) -> DoctorFinding:
    return DoctorFinding(check, PROBLEM, text, fix)
