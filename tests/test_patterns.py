"""Every regular expression over a person's text is linear in its length: see patterns.py, which finds them all."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
ENDLESS = {
    "exponential": r"(?<!\w)(?:\w[ .\-_*]{1,3}){7,}\w(?!\w)",
    "quadratic": r"[ \t]+(?=\r?\n)",
}
"""Patterns that do not end, which the test has to find."""


def run(*command: str) -> str:
    """What a fresh Python prints. The patterns run in children of a process without threads."""
    return subprocess.run([sys.executable, *command], cwd=PROJECT, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_scan_of_a_hostile_note_ends() -> None:
    code = """if True:
        import json
        from engine.quality.safety.gate import cut_runs, scan_text
        from engine.quality.safety.lexicon import CONCEPTS, REPORT
        from tests.patterns import SIZE, in_child

        pieces = {
            "a form to sign": "Signed:" + "_" * 60 + "Date:2025-11-28 ",
            "an image": "A1b2C3d4" * 2500 + " ",
            "a line of JSON": json.dumps([{"url": "https://a.example/?q=<b>", "note": "never ask"}] * 40),
            "words of concepts": " ".join(word for word, bits in CONCEPTS.items() if not bits & REPORT) + " ",
        }
        texts = {name: cut_runs((piece * SIZE)[:SIZE]) for name, piece in pieces.items()}
        print(*(name for name, text in texts.items() if not in_child(lambda: scan_text(text))), sep=chr(10), end="")
    """
    assert run("-c", code) == ""


@pytest.mark.slow
def test_all_patterns_of_the_package_end_on_hostile_texts() -> None:
    first, *endless = run("-m", "tests.patterns").splitlines()
    assert (endless, int(first.split()[0]) >= 100) == ([], True)


@pytest.mark.slow
def test_a_pattern_that_does_not_end_is_found() -> None:
    code = (
        "import re, sys; from tests.patterns import FoundPattern, endless\n"
        "print(*(found.name for found in endless([FoundPattern('planted', re.compile(sys.argv[1]), False)], 2)))"
    )
    for kind, pattern in ENDLESS.items():
        assert run("-c", code, pattern).split() == ["planted"], kind
