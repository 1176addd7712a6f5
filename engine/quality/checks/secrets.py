"""Passwords, keys and tokens in memories, found by detect-secrets. A finding never holds the secret itself."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.quality.registry import TAKE_OUT, Finding
from engine.quality.safety.gate import cut_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Memory
    from engine.quality.registry import CheckedRoot

TOO_LOUD = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
"""Plugins that take hashes, commits and addresses for secrets: notes are full of these."""

FILTERS = (
    "is_sequential_string",
    "is_potential_uuid",
    "is_likely_id_string",
    "is_templated_secret",
    "is_prefixed_with_dollar_sign",
)
"""The library's filters; the project's own stands in key_shapes."""

SEVERITY = 0.9


BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
SEVERAL = " \t\n`<>{}$"
"""Characters of a text that is no single secret: words, code, placeholders."""

WORD = re.compile(r"[\w+/~-]+(?:\.[\w+/~-]+)*={0,2}")
"""A key as a whole: the library often names only a part of it."""

LEAST = 6
"""Characters of a secret that can be taken out of a text without changing other words."""


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each line with a secret, and each kind of secret in it."""
    with _settings():
        for memory in subject.memories:
            found = [
                (where, kind) for where, line in _lines(memory) for kind in sorted({kind for kind, _ in _scanned(line)})
            ]
            change = (TAKE_OUT,) if found and secrets_in(memory) else ()
            action = f"Take it out with memsift edit {memory.summary.id}, and replace the secret where it is used"
            for where, kind in found:
                reason = f"looks like a secret: {kind}"
                yield Finding("secrets", memory.summary.id, SEVERITY, reason, action, where, (), change)


def secrets_of(memory: Memory) -> tuple[str, ...]:
    """The secrets of a memory that can be taken out without doubt, as they stand there. They are never shown."""
    with _settings():
        return secrets_in(memory)


@contextmanager
def _settings() -> Iterator[None]:
    """The library, set to the kinds of secrets that are looked for."""
    from detect_secrets.core.plugins.initialize import from_file
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import transient_settings

    from engine.quality.checks import key_shapes

    from_file(key_shapes.__file__)
    kinds: dict[str, type] = get_mapping_from_secret_type_to_class()
    names = {kind.__name__ for kind in kinds.values()}.difference(TOO_LOUD, key_shapes.REPLACED)
    plugins = [{"name": name} for name in sorted(names)]
    filters = [{"path": f"detect_secrets.filters.heuristic.{name}"} for name in FILTERS]
    filters.append({"path": f"{key_shapes.__name__}.{key_shapes.is_stand_in.__name__}"})
    with transient_settings({"plugins_used": plugins, "filters_used": filters}):
        yield


def _lines(memory: Memory) -> list[tuple[str, str]]:
    """The lines of a memory, each with its place: all that a model could be sent."""
    summary = memory.summary
    lines = [("title", summary.title), ("tags", ", ".join(summary.tags)), ("category", summary.category)]
    lines.append(("date", summary.updated_at or summary.created_at))
    lines += [("heading", section.heading) for section in memory.sections]
    return lines + [(f"line {number}", line) for number, line in enumerate(memory.body.splitlines(), 1)]


def _scanned(line: str) -> list[tuple[str, str]]:
    """The kind and the text, or a part of it, of each secret in a line. No secret is as long as a run that is cut."""
    from detect_secrets.core.scan import scan_line

    return [(secret.type, secret.secret_value or "") for secret in scan_line(cut_runs(line))]


def secrets_in(memory: Memory) -> tuple[str, ...]:
    """As `secrets_of`, within `_settings`. A secret of several words is left for a person, who sees where it ends."""
    from engine.quality.checks.key_shapes import NAME, is_stand_in

    found: set[str] = set()
    for _, line in _lines(memory):
        values = [value for _, value in _scanned(line) if value]
        if not BLOCK.search(line):
            found.update(values)
            found.update(word for word in WORD.findall(line) if any(value in word for value in values))
    single = [secret for secret in found if len(secret) >= LEAST and not any(sign in secret for sign in SEVERAL)]
    return tuple(sorted(secret for secret in single if not (NAME.fullmatch(secret) or is_stand_in(secret))))
